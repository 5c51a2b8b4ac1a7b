from __future__ import annotations

import pytest
from tests.database.synthesis.clinic import DECLARED, TABLES
from tests.databases import Connection, Database


@pytest.fixture
def clinic(admin: Connection, curator: str, database: Database) -> Connection:
    """The curator, who holds a budget for the clinic."""
    admin.execute(TABLES.format(curator=curator))
    connection = database.connect(curator)
    for statement in DECLARED.format(curator=curator).strip().split(";\n"):
        connection.execute(statement)
    return connection
