"""What only later versions of PostgreSQL have."""

from __future__ import annotations

import pytest
from dev.postgresql import major


def since(version: int) -> pytest.MarkDecorator:
    return pytest.mark.skipif(major() < version, reason=f"PostgreSQL has it since version {version}")
