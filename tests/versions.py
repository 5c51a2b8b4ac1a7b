"""What only some versions of PostgreSQL have, and what they call it."""

from __future__ import annotations

import pytest
from dev.postgresql import major


def since(version: int) -> pytest.MarkDecorator:
    return pytest.mark.skipif(major() < version, reason=f"PostgreSQL has it since version {version}")


def before(version: int) -> pytest.MarkDecorator:
    return pytest.mark.skipif(major() >= version, reason=f"PostgreSQL has it before version {version} only")


# plans with workers where they do not pay
FORCE_WORKERS = f"SET {'debug_parallel_query' if major() >= 16 else 'force_parallel_mode'} = on"
