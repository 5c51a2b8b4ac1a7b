"""A table of the curator's, and somebody who may only write to it."""

from __future__ import annotations

import pytest
from tests.databases import Connection, Database, MakeRole


@pytest.fixture
def staff(carol: Connection) -> str:
    carol.execute(
        """
        CREATE TABLE hr.staff (id int PRIMARY KEY, age int, salary numeric, position text, born date,
                               double numeric GENERATED ALWAYS AS (salary * 2) STORED);
        INSERT INTO hr.staff VALUES (1, 30, 100, 'CEO'), (2, NULL, 100, 'clerk'), (3, 40, 100, 'clerk');
        """
    )
    return "hr.staff"


@pytest.fixture
def writer(database: Database, carol: Connection, staff: str, make_role: MakeRole) -> Connection:
    """May write to the table, but not read it."""
    role = make_role("walter")
    carol.execute(f"GRANT USAGE ON SCHEMA hr TO {role}; GRANT INSERT ON hr.staff TO {role}")
    return database.connect(role)
