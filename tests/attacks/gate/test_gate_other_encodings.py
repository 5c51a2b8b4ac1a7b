"""Other encodings: a text that Python's has no counterpart for ends the question, and tells that its row was read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dev.cluster import Cluster
from tests.attacks.gate.asking import ask
from tests.databases import Connection, Database, MakeRole
from tests.messages import refused

PEOPLE = """
    CREATE SCHEMA hr; CREATE TABLE hr.person (id int PRIMARY KEY, town text);
    INSERT INTO hr.person SELECT n, 'town' FROM generate_series(1, 600) n;
    INSERT INTO hr.person SELECT n, E'M\\374nchen \\201' FROM generate_series(601, 1200) n;
"""
PROTECT = "SELECT discreet.protect('hr.person', 'id', epsilon => 10, delta => 1e-6)"
ENCODE = "UPDATE pg_database SET encoding = pg_char_to_encoding('{}') WHERE datname = 'encoded'"


@pytest.fixture(params=["SQL_ASCII", "WIN1252", "LATIN1"])
def encoded(cluster: Cluster, template: str, request: pytest.FixtureRequest) -> Iterator[Database]:
    """A database in another encoding, with people one of whose texts is none of UTF8."""
    made = f"CREATE DATABASE encoded ENCODING '{request.param}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
    cluster.sql(made)
    database = Database(cluster, "encoded")
    try:
        admin = connected(database)
        admin.execute("SET client_min_messages = warning; CREATE EXTENSION discreet CASCADE")
        admin.execute(PEOPLE)
        yield database
    finally:
        database.close()
        cluster.sql("DROP DATABASE encoded")


def connected(database: Database, role: str = "postgres") -> Connection:
    connection = database.connect(role)
    connection.execute("SET client_encoding = 'UTF8'")
    return connection


def test_nothing_is_protected_there(encoded: Database) -> None:
    with refused("22023", "people are protected in UTF8 only", "CREATE DATABASE name ENCODING 'UTF8'"):
        connected(encoded).execute(PROTECT)
    connected(encoded).execute("SELECT discreet.protect('hr.person', NULL, policy => 'public')")


def test_no_question_is_answered_there(encoded: Database, cluster: Cluster, make_role: MakeRole) -> None:
    """As if the table had been protected elsewhere, and restored."""
    role = make_role("asker", "discreet_analyst")
    ((encoding,),) = connected(encoded).execute("SHOW server_encoding").fetchall()
    cluster.sql(ENCODE.format("UTF8"))
    connected(encoded).execute(f"{PROTECT}; SELECT discreet.grant_budget('hr.person', '{role}', 10, 1e-6)")
    cluster.sql(ENCODE.format(encoding))
    asking = connected(encoded, role)
    for where in ("town = 'town'", "town <> 'town'"):
        with refused("DP001", "the database is not in UTF8", "A DBA can help"):
            ask(asking, f"SELECT town, count(*) FROM hr.person WHERE {where} GROUP BY 1")
    assert connected(encoded).execute("SELECT count(*) FROM discreet._charge").fetchall() == [(0,)]


def test_who_installs_it_there_is_told(encoded: Database) -> None:
    check = "SELECT status, finding FROM discreet.check_installation() WHERE item = 'encoding'"
    ((status, finding),) = connected(encoded).execute(check).fetchall()
    assert status == "problem"
    assert "every question is refused" in str(finding)
