"""Post-processing: what surrounds the aggregates is kept, with every name qualified and no way to run code."""

from __future__ import annotations

import pytest
from pglast import ast, parse_sql
from tests.corpus.sample import HARMLESS, planned

from discreet.core.errors import DiscreetError
from discreet.core.printing import printed
from discreet.gate.post import TYPES, PostProcessing
from discreet.gate.printer import printed as sql_of

KEPT = [
    "100.0 * a / b - c % 2",
    "(a + b) * (c - -a)",
    "-(-a)",
    "a - (b - c)",
    "a / (b / c)",
    "NOT (a > b AND b > c) OR c = a",
    "(a = b) IS TRUE",
    "(a IS NULL) = (b IS NOT NULL)",
    "a BETWEEN b + 1 AND c * 2",
    "a NOT BETWEEN 1 AND 2",
    "a IN (1, 2, b)",
    "a NOT IN (1)",
    "(a > b) = (b > c)",
    "a < b OR b <= c AND a <> 3",
    "CASE WHEN a > 1 THEN b ELSE c END",
    "CASE a WHEN 1 THEN 'x' END",
    "COALESCE(a, b, 0)",
    "NULLIF(a, b)",
    "GREATEST(a, LEAST(b, c))",
    "a IS DISTINCT FROM b",
    "round(a / 3.0, 2)",
    "a::text || 'it''s \\ %'",
    "a::numeric(10, 2)",
    "(a::int8 + 1)::text",
    "rank() OVER (ORDER BY a DESC)",
    "sum(a) OVER (PARTITION BY b ORDER BY c ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "a = ANY (ARRAY[1, 2])",
    "lower('Ä') LIKE 'a%'",
    "'a' ILIKE 'B\\_'",
    "-1::int",
    "(-1)::int",
    "2 ^ a * 3",
    "NULL IS NULL",
    "a > 1 IS NOT FALSE",
]


def expression(text: str) -> ast.Node:
    return parse_sql(f"SELECT {text}")[0].stmt.targetList[0].val


def rewritten(text: str, parameters: tuple[str | None, ...] = ()) -> ast.Node:
    post = PostProcessing(HARMLESS, parameters, lambda node: node if isinstance(node, ast.ColumnRef) else None)
    return post.rewrite(expression(text))


@pytest.mark.parametrize("text", KEPT)
def test_what_is_kept_can_be_printed_with_its_meaning(text: str) -> None:
    assert printed(rewritten(text))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a + 1", "(a OPERATOR(pg_catalog.+) 1)"),
        ("a / b", "(a OPERATOR(pg_catalog./) NULLIF(b, 0))"),
        ("a % 2", "(a OPERATOR(pg_catalog.%) NULLIF(2, 0))"),
        ("a / '2.5'", "(a OPERATOR(pg_catalog./) '2.5')"),
        ("a / '-0.0'", "(a OPERATOR(pg_catalog./) NULL)"),
        ("round(a)", "pg_catalog.round(a)"),
        ("a::text", "CAST(a AS pg_catalog.text)"),
        ("a::date", "CAST(a AS pg_catalog.date)"),
        ("$1", "'it''s'"),
        ("a > $2", "(a OPERATOR(pg_catalog.>) NULL)"),
    ],
)
def test_names_are_qualified_and_divisors_are_never_zero(text: str, written: str) -> None:
    assert printed(rewritten(text, ("it's", None))) == written


@pytest.mark.parametrize("name", sorted(TYPES))
def test_a_type_is_one_of_postgresql_itself(name: str) -> None:
    tree = rewritten(f'a::"{name}"')
    assert [part.sval for part in tree.typeName.names] == ["pg_catalog", name]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a::mine", "cast to mine"),
        ("a::pg_temp.int4", "cast to int4"),
        ("a::mine.int4", "cast to int4"),
        ("a::regclass", "cast to regclass"),
        ("a OPERATOR(mine.+) b", "operator of another schema"),
        ("a OPERATOR(mine.=) ANY (ARRAY[1])", "operator of another schema"),
        ("a OPERATOR(mine.=) ALL (ARRAY[1])", "operator of another schema"),
        ("mine.f(a)", "function mine.f"),
        ("nextval('s')", "function nextval"),
        ("rank() OVER (ORDER BY a USING <)", "USING"),
        ("sum(a ORDER BY b USING OPERATOR(mine.<))", "USING"),
        ("(SELECT 1)", "a subquery"),
        ("a COLLATE \"C\"", "COLLATE"),
        ("current_user", "time or user"),
        ("(a).b", "field or array"),
        ("a SIMILAR TO 'x'", "SIMILAR"),
        ("ROW(a, b)", "a row"),
        ("$1", "no value"),
    ],
)  # fmt: skip
def test_what_could_run_code_or_look_elsewhere_is_refused(text: str, words: str) -> None:
    with pytest.raises(DiscreetError, match=words):
        rewritten(text)


def test_names_of_any_spelling_are_quoted() -> None:
    plan = planned('SELECT dept AS "x""; DROP", count(*) AS "select" FROM hr.employee AS "e "" f" GROUP BY dept')
    assert plan.output == ('x"; DROP', "select")
    assert 'AS "x""; DROP"' in plan.answer_sql
    assert '"e "" f"."dept"' in sql_of(plan.grouping.keys[0].value)


def test_order_limit_and_distinct_are_kept() -> None:
    plan = planned(
        "SELECT DISTINCT dept AS d FROM hr.employee GROUP BY dept ORDER BY d DESC, count(*) LIMIT 2 OFFSET 1"
    )
    for kept in ("SELECT DISTINCT", "ORDER BY d DESC, measured.a0", "LIMIT 2", "OFFSET 1"):
        assert kept in plan.answer_sql


def test_having_filters_the_released_numbers() -> None:
    plan = planned("SELECT dept FROM hr.employee GROUP BY dept HAVING avg(salary) > 5 AND dept <> 'Sales'")
    condition = "((measured.a0 OPERATOR(pg_catalog.>) 5) AND (measured.k0 OPERATOR(pg_catalog.<>) 'Sales'))"
    assert f"WHERE {condition}" in plan.answer_sql
