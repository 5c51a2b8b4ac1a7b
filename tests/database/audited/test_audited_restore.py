"""A dump brings what was answered about audited tables, and under which names, to another database."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from tests.database.ops.test_dump_and_restore import Move, by_script, each_way
from tests.databases import Connection, Database, MakeRole

TABLE = """
    CREATE TABLE wage (id int PRIMARY KEY, gone int, "the wage" int NOT NULL, bonus int NOT NULL);
    INSERT INTO wage SELECT n, 0, n, n FROM generate_series(1, 200) n;
    ALTER TABLE wage DROP gone;
"""
PROTECTED = """
    SELECT discreet.protect('wage', 'id', {}policy => 'audited');
    SELECT discreet.describe_column('wage', 'id', visibility => 'public');
"""
SUM = "SELECT sum({}) FROM wage WHERE id BETWEEN {} AND 150"


def ending(session: Connection, question: str) -> object:
    try:
        session.execute(question.encode())
    except psycopg.Error as error:
        return error.sqlstate
    return "answer"


@each_way
def test_a_restored_dump_knows_what_was_answered(
    admin: Connection, database: Database, make_role: MakeRole, empty_database: Database, tmp_path: Path, move: Move
) -> None:
    """Also about a column whose number the dump changes."""
    role = make_role("asker", "discreet_analyst")
    admin.execute(TABLE + PROTECTED.format(""))
    admin.execute("SELECT discreet.grant_budget('public.wage', %s, 1)", [role])
    assert ending(database.connect(role), SUM.format('"the wage"', 100)) == "answer"
    move(database, empty_database, tmp_path)
    session = empty_database.connect(role)
    assert ending(session, SUM.format('"the wage"', 101)) == "DP006"
    assert ending(session, SUM.format("bonus", 101)) == "answer"
    state = empty_database.connect().execute("SELECT column_name, questions FROM discreet.audit_state('wage')")
    assert state.fetchall() == [("the wage", 1), ("bonus", 1)]


def test_a_restored_dump_knows_the_names_of_tables_that_are_gone(
    admin: Connection, database: Database, make_role: MakeRole, empty_database: Database, tmp_path: Path
) -> None:
    role = make_role("asker", "discreet_analyst")
    admin.execute(TABLE + PROTECTED.format(""))
    admin.execute("SELECT discreet.grant_budget('public.wage', %s, 1)", [role])
    assert ending(database.connect(role), SUM.format("bonus", 100)) == "answer"
    admin.execute("DROP TABLE wage")
    by_script(database, empty_database, tmp_path)
    restored = empty_database.connect()
    restored.execute(TABLE)
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="another table of the name"):
        restored.execute(PROTECTED.format("'public.wage', "))
