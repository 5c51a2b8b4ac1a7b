"""Trees in the catalogs are read by PostgreSQL's own reader, never as text."""

from __future__ import annotations

import pytest
from tests.databases import Connection

UNIONS = {
    "SELECT 1 AS n UNION ALL SELECT 2": True,
    "SELECT 1 AS n EXCEPT SELECT 2": True,
    "(SELECT 1 AS n UNION SELECT 2) ORDER BY 1 LIMIT 1": True,
    "SELECT n FROM (SELECT 1 AS n UNION SELECT 2) AS inner_union": False,
    "WITH u AS (SELECT 1 AS n UNION SELECT 2) SELECT n FROM u": False,
    "SELECT ' :setOperations {'::text AS n": False,
}


@pytest.mark.parametrize("select", UNIONS)
def test_the_outermost_query_of_a_view_is_a_union_or_not(admin: Connection, select: str) -> None:
    admin.execute(f"CREATE VIEW looked_at AS {select}")
    found = admin.execute(
        "SELECT discreet._tree_is_union(ev_action) FROM pg_rewrite WHERE ev_class = 'looked_at'::regclass"
    ).fetchall()
    assert found == [(UNIONS[select],)]


def test_the_columns_of_an_expression_are_found_and_texts_that_look_like_columns_are_not(admin: Connection) -> None:
    admin.execute("CREATE TABLE t (a int, b text, c text)")
    admin.execute("CREATE UNIQUE INDEX i ON t (lower(c), (b || ' :varattno 1 '))")
    found = admin.execute("SELECT discreet._tree_columns(indexprs) FROM pg_index WHERE indexrelid = 'i'::regclass")
    assert found.fetchall() == [([2, 3],)]


def test_an_index_over_the_whole_row_is_about_all_columns(admin: Connection) -> None:
    admin.execute("CREATE TABLE t (a int, b text)")
    admin.execute("CREATE FUNCTION code(t) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT $1.b $$")
    admin.execute("CREATE UNIQUE INDEX i ON t (code(t))")
    found = admin.execute("SELECT columns FROM discreet._unique_combinations('t'::regclass)").fetchall()
    assert found == [(["a", "b"],)]


def test_functions_are_found_wherever_they_are_called(admin: Connection) -> None:
    admin.execute(
        "CREATE VIEW looked_at AS WITH w AS (SELECT sum(length(relname)) OVER () AS n FROM pg_class)"
        " SELECT max(n) AS n, ' :funcid 1 '::text AS t FROM w WHERE n > (SELECT abs(-1))"
    )
    found = admin.execute(
        "SELECT p.proname::text FROM pg_rewrite, unnest(discreet._tree_calls(ev_action)) AS called(function)"
        " JOIN pg_proc p ON p.oid = called.function WHERE ev_class = 'looked_at'::regclass ORDER BY 1"
    ).fetchall()
    assert {name for (name,) in found} >= {"abs", "length", "max", "sum"}
