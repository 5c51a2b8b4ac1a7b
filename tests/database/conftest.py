"""A curator with tables of her own: what most database tests begin with."""

from __future__ import annotations

import pytest
from tests.databases import Connection, Database, MakeRole

TABLES = """
    CREATE SCHEMA hr AUTHORIZATION {curator};
    SET ROLE {curator};
    CREATE TYPE hr.mood AS ENUM ('sad', 'glad');
    CREATE TABLE hr.person (
        id int PRIMARY KEY, name text, dept text, salary numeric(10,2), born date, seen timestamptz,
        mood hr.mood, smoker boolean);
    INSERT INTO hr.person SELECT n, 'name ' || n, 'dept ' || n % 3, n * 100 FROM generate_series(1, 20) n;
    RESET ROLE;
"""


@pytest.fixture
def curator(admin: Connection, make_role: MakeRole) -> str:
    """A login role that is a curator and owns schema hr with table hr.person."""
    role = make_role("carol", "discreet_curator")
    admin.execute(TABLES.format(curator=role))
    return role


@pytest.fixture
def carol(database: Database, curator: str) -> Connection:
    """The curator's connection."""
    return database.connect(curator)


@pytest.fixture
def person(carol: Connection) -> str:
    """Table hr.person, protected in dataset people."""
    carol.execute("SELECT discreet.create_dataset('people', 2, 1e-6)")
    carol.execute("SELECT discreet.protect('hr.person', 'id', dataset => 'people')")
    return "hr.person"
