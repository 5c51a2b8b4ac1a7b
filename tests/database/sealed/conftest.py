"""A shop with sealed columns."""

from __future__ import annotations

import pytest
from tests.databases import Connection, Database, MakeRole
from tests.sealed import Shop, opened


@pytest.fixture
def shop(database: Database, make_role: MakeRole) -> Shop:
    return opened(database, make_role)


@pytest.fixture
def app(shop: Shop) -> Connection:
    """The application, with the key open."""
    return shop.connect(shop.app)


@pytest.fixture
def outsider(shop: Shop) -> Connection:
    """The application, without the key."""
    return shop.connect(shop.app, key=False)
