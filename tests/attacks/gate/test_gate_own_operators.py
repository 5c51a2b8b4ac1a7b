"""Operators of the attacker: extra.= before pg_catalog in search_path."""

import pytest
from tests.attacks.gate.asking import what_runs
from tests.databases import Connection

EQUALS = """
    CREATE FUNCTION extra.eq(text, text) RETURNS boolean LANGUAGE sql AS $$SELECT extra.tell('equals')$$;
    CREATE OPERATOR extra.= (leftarg = text, rightarg = text, function = extra.eq)
"""
NUMBERS = """
    CREATE FUNCTION extra.f(bigint, bigint) RETURNS boolean LANGUAGE sql AS $$SELECT extra.tell('operator')$$;
    CREATE OPERATOR extra.@@ (leftarg = bigint, rightarg = bigint, function = extra.f);
    CREATE OPERATOR extra.> (leftarg = bigint, rightarg = bigint, function = extra.f);
    CREATE OPERATOR extra.= (leftarg = bigint, rightarg = bigint, function = extra.f);
    CREATE OPERATOR extra.<= (leftarg = bigint, rightarg = bigint, function = extra.f)
"""


def test_an_operator_before_pg_catalog_runs_in_plain_sql(blind: Connection) -> None:
    assert what_runs(blind, f"{EQUALS}; SET search_path = extra, pg_catalog; SELECT 'a'::text = 'b'", "SELECT 1") == []
    blind.execute("SET search_path = extra, pg_catalog")
    assert blind.execute("SELECT 'a'::text = 'b'").fetchall() == [(True,)]


@pytest.mark.parametrize(
    ("made", "question"),
    [
        (EQUALS, "SELECT count(*) FROM hr.person WHERE dept = 'dept 1' AND name LIKE 'n%' AND dept IN ('a', 'b')"),
        (EQUALS, "SELECT count(*) FROM hr.person WHERE NULLIF(dept, 'a') IS DISTINCT FROM 'b'"),
        (EQUALS, "SELECT count(*) FROM hr.person WHERE CASE dept WHEN 'dept 1' THEN true END"),
        (EQUALS, "SELECT dept = 'dept 1' AS one, count(DISTINCT dept) FROM hr.person GROUP BY 1"),
        (EQUALS, "SELECT count(*) FROM hr.person WHERE (dept, name) = ('a', 'b') OR dept = ANY (ARRAY['a', 'b'])"),
        (NUMBERS, "SELECT count(*) OPERATOR(extra.@@) ANY (ARRAY[1::bigint]) FROM hr.person"),
        (NUMBERS, "SELECT count(*) @@ 1::bigint FROM hr.person"),
        (NUMBERS, "SELECT count(*) > 1::bigint, count(*) IN (1::bigint), NULLIF(count(*), 2::bigint) FROM hr.person"),
        (
            NUMBERS,
            "SELECT count(*) FROM hr.person HAVING count(*) > 1::bigint ORDER BY count(*) USING OPERATOR(extra.>)",
        ),
        (NUMBERS, "SELECT extract(dow FROM day), count(*) FROM hr.visit GROUP BY 1"),
    ],
)
def test_operators_of_the_attacker_never_run(blind: Connection, made: str, question: str) -> None:
    assert what_runs(blind, made, question) == []
