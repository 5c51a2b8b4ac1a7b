"""PostgreSQL gives the same for an expression, or a SELECT, as it was written and as discreet prints it."""

from __future__ import annotations

from random import Random

import psycopg
import pytest
from tests.databases import Connection, Database
from tests.unit.core.sql_shapes import SELECTS, at_random, parsed, parsed_expression, put_into

from discreet.core.printing import printed

TABLES = """
    CREATE SCHEMA s;
    CREATE TABLE s.t (a int, b int, "B" int);
    INSERT INTO s.t VALUES (1, 2, 3), (2, NULL, 1), (4, 2, NULL);
    CREATE TABLE s.u AS TABLE s.t;
    CREATE TABLE s.v AS TABLE s.t;
    CREATE TABLE s.w AS SELECT a + 1 AS a, b, "B" FROM s.t;
    CREATE TABLE s.name AS TABLE s.t;
    CREATE TABLE s.valued AS SELECT 3 AS i, 2.5 AS r, 'x1'::text AS c, true AS p, false AS q, NULL::boolean AS n,
        ARRAY[1, 2] AS l, timestamptz '2024-02-29 12:00+00' AS m, '{"k": [1]}'::jsonb AS j;
    SET search_path = s, pg_catalog;
    SET TimeZone = 'UTC';
"""
# those in quotes may become any type
LEAVES = ["i", "r", "c", "p", "q", "n", "l", "m", "j", "1", "-1", "2", ".5", "'1'", "'x'", r"'\'", "NULL", "true"]


@pytest.fixture
def connection(database: Database) -> Connection:
    connected = database.connect()
    connected.execute(TABLES)
    return connected


def outcome(connection: Connection, statement: str) -> str:
    try:
        return repr(connection.execute(statement.encode()).fetchall())
    except psycopg.Error as error:
        return f"SQLSTATE {error.sqlstate}"


def test_expressions_have_the_value_of_their_text(connection: Connection, more: bool) -> None:
    """Many are of types that do not fit: then both fail alike."""
    random, valued = Random(7), 0
    texts = (at_random(random, 2, LEAVES) for _ in range(100_000 if more else 4000))
    for text in texts:
        tree = parsed_expression(text)
        if tree is None or text in LEAVES:
            continue
        written = outcome(connection, f"SELECT {text} FROM valued")
        assert outcome(connection, f"SELECT {printed(tree)} FROM valued") == written, text
        valued += not written.startswith("SQLSTATE")
    assert valued > 100


def test_selects_have_the_rows_of_their_text(connection: Connection) -> None:
    random, valued = Random(7), 0
    for shape in SELECTS:
        texts = [text for text in put_into(shape, ["a", "a - (2 - 1)", "(a > 1 OR NULL) IS NULL"]) if parsed(text)]
        for text in random.sample(texts, min(len(texts), 40)):
            written = outcome(connection, text)
            assert outcome(connection, printed(parsed(text))) == written, text
            valued += not written.startswith("SQLSTATE")
    assert valued > 100
