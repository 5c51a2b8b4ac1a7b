"""A shop with sealed columns."""

from __future__ import annotations

import pytest
from tests.databases import Database, MakeRole
from tests.sealed import Shop, opened


@pytest.fixture
def shop(database: Database, make_role: MakeRole) -> Shop:
    return opened(database, make_role)
