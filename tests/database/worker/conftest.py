"""A town in a database of the test's own."""

from __future__ import annotations

import pytest
from tests.database.worker.asking import Town
from tests.databases import Database, MakeRole


@pytest.fixture
def town(database: Database, make_role: MakeRole) -> Town:
    built = Town(database, make_role("ann", "discreet_analyst"), make_role("rita"))
    built.build()
    return built
