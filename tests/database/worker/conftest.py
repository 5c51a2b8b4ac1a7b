"""A town in a database of the test's own, and whether the server has workers."""

from __future__ import annotations

import psycopg
import pytest
from tests.database.worker.asking import Town
from tests.databases import Connection, Database, MakeRole


@pytest.fixture
def town(database: Database, make_role: MakeRole) -> Town:
    built = Town(database, make_role("ann", "discreet_analyst"), make_role("rita"))
    built.build()
    return built


@pytest.fixture
def workers(admin: Connection) -> None:
    """Skips the test where the server knows no workers."""
    try:
        admin.execute("SHOW discreet.workers")
    except psycopg.errors.UndefinedObject:
        pytest.skip("the worker is not built yet")
