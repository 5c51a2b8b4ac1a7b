"""Row expressions: bounds follow from those of the columns, and nothing that is let in can fail."""

from __future__ import annotations

import re

import pytest
from pglast import parse_sql
from tests.corpus.sample import SCHEMA, planned

from discreet.core.errors import DiscreetError
from discreet.gate.expressions import DEEPEST, Expressions
from discreet.gate.functions import FUNCTIONS
from discreet.gate.intervals import Interval
from discreet.gate.names import Names
from discreet.gate.printer import listed, printed
from discreet.gate.schema import Family
from discreet.gate.sources import Sources
from discreet.gate.tree import Expression
from discreet.gate.values import LONGEST_KEY, LONGEST_TEXT


def expressions(table: str = "hr.employee", parameters: tuple[str | None, ...] = ()) -> Expressions:
    (node,) = parse_sql(f"SELECT FROM {table}")[0].stmt.fromClause
    return Expressions(Names(Sources(SCHEMA, parameters).table(node).names, parameters))


def value(text: str, table: str = "hr.employee") -> Expression:
    return expressions(table).value(parse_sql(f"SELECT {text}")[0].stmt.targetList[0].val)


def sql(text: str, table: str = "hr.employee") -> str:
    return printed(value(text, table))


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("salary", (0, 200_000)),
        ("salary * 2 + 1", (1, 400_001)),
        ("-salary", (-200_000, 0)),
        ("1000 - salary / 10", (-19_000, 1000)),
        ("salary % 7", (-7, 7)),
        ("mod(salary, 100)", (-100, 100)),
        ("abs(salary - 50000)", (0, 150_000)),
        ("sign(salary)", (-1, 1)),
        ("round(salary)", (-1, 200_001)),
        ("sqrt(salary)", (0, 448)),
        ("CASE WHEN dept = 'Sales' THEN salary ELSE -5 END", (-5, 200_000)),
        ("COALESCE(salary, 300000)", (0, 300_000)),
        ("LEAST(salary, 50000)", (0, 200_000)),
        ("NULLIF(salary, 0)", (0, 200_000)),
        ("salary::int", (-0.5, 200_000.5)),
        ("(gender = 'F')::int", (0, 1)),
        ("hired - dob", (-3_652_059, 3_652_059)),
        ("extract(month FROM hired)", (1, 12)),
        ("length(name)", (0, 100_000)),
        ("bucket(salary, 7000)", (0, 196_000)),
        ("salary / 0", None),
    ],
)
def test_bounds_follow_from_those_of_the_columns(text: str, bounds: tuple[float, float] | None) -> None:
    if bounds is None:
        with pytest.raises(DiscreetError, match="near to 0"):
            value(text)
    else:
        interval = value(text).interval
        assert interval is not None
        assert (float(interval.lower), float(interval.upper)) == bounds


def test_whole_numbers_stay_whole_where_64_bits_are_not_enough() -> None:
    assert sql("age * age", "clinic.patient").count("int8") > 0
    wide = value("age * 100000000000000000 / 3", "clinic.patient")
    assert wide.family is Family.INT
    assert "int8" not in printed(wide)
    assert "pg_catalog.div(" in printed(wide)


def test_a_divisor_is_tested_before_the_division() -> None:
    assert "OPERATOR(pg_catalog.<>) 0" in sql("age / age", "clinic.patient")
    assert value("age / age", "clinic.patient").interval == Interval.of(-120, 120)


def test_a_cast_to_floating_point_cannot_fail() -> None:
    """1e-400 and 1e400 have no double: PostgreSQL's own cast would raise an error."""
    cast = value("salary::float8")
    assert cast.family is Family.FLOAT
    assert printed(cast).startswith("discreet._double(")
    assert value("salary::real").native_type == "real"


# every function that is let in: a call of it, and why no text makes it fail
TEXTS = "sees the beginning of each text only"
NUMBERS = "takes numbers, clamped to declared bounds, of which it makes numbers within others"
MOMENTS = "takes moments of the years 1 to 9999"
TOTAL = {
    "abs": ("abs(salary)", NUMBERS),
    "sign": ("sign(salary)", NUMBERS),
    "ceil": ("ceil(salary)", NUMBERS),
    "ceiling": ("ceiling(salary)", NUMBERS),
    "floor": ("floor(salary)", NUMBERS),
    "round": ("round(salary, 2)", NUMBERS),
    "trunc": ("trunc(salary, 2)", NUMBERS),
    "mod": ("mod(salary, 7)", NUMBERS),
    "sqrt": ("sqrt(salary)", NUMBERS),
    "bucket": ("bucket(salary, 7)", NUMBERS),
    "lower": ("lower(name)", TEXTS),
    "upper": ("upper(name)", TEXTS),
    "btrim": ("trim(name)", TEXTS),
    "ltrim": ("ltrim(name)", TEXTS),
    "rtrim": ("rtrim(name)", TEXTS),
    "length": ("length(name)", TEXTS),
    "char_length": ("char_length(name)", TEXTS),
    "left": ("left(name, 3)", TEXTS),
    "right": ("right(name, 3)", TEXTS),
    "substr": ("substr(name, 2)", TEXTS),
    "substring": ("substring(name, 2, 3)", TEXTS),
    "strpos": ("strpos(name, dept)", TEXTS),
    "position": ("position(dept IN name)", TEXTS),
    "extract": ("extract(year FROM hired)", MOMENTS),
    "date_part": ("date_part('year', hired)", MOMENTS),
    "date_trunc": ("date_trunc('year', hired)", MOMENTS),
}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_no_text_makes_a_function_fail(name: str) -> None:
    call, reason = TOTAL[name]
    texts = sum(call.count(column) for column in ("name", "dept"))
    assert (texts > 0) == (reason is TEXTS)
    assert len(re.findall(rf"_cut\([^()]*\([^()]*\), {LONGEST_TEXT}\)", sql(call))) == texts


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("name LIKE 'a%'", LONGEST_TEXT),
        ("name ILIKE 'a%'", LONGEST_TEXT),
        ("name NOT ILIKE 'a%'", LONGEST_TEXT),
        ("name ILIKE ANY ('{a}')", LONGEST_TEXT),
        ("name || 'a'", LONGEST_KEY),
    ],
)
def test_patterns_and_joined_texts_see_the_beginning_of_a_text(text: str, length: int) -> None:
    assert f'_cut(("employee"."name" COLLATE pg_catalog."default"), {length})' in sql(text)


@pytest.mark.parametrize(
    "call",
    ["repeat(name, 9)", "lpad(name, 9)", "rpad(name, 9)", "replace(name, 'a', 'bb')", "translate(name, 'a', 'b')",
     "initcap(name)", "reverse(name)", "concat(name, name)", "format('%s', name)", "md5(name)", "to_char(salary, '9')",
     "encode(name::bytea, 'hex')", "regexp_replace(name, 'a', 'b')", "quote_literal(name)", "to_json(name)"],
)  # fmt: skip
def test_other_functions_of_which_texts_grow_are_refused(call: str) -> None:
    with pytest.raises(DiscreetError, match=r"function|a cast"):
        value(call)


@pytest.mark.parametrize("text", ["round(salary, 31)", "trunc(salary, -1)", "left(name, 1000001)", "substr(name, 0)"])
def test_lengths_and_digits_have_limits(text: str) -> None:
    with pytest.raises(DiscreetError, match="an argument that is not from"):
        value(text)


def test_infinite_dates_do_not_pass_a_choice() -> None:
    assert sql("COALESCE(hired, dob)").count("'10000-01-01'") == 2


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("gender", ("'F'::pg_catalog.text", "'M'::pg_catalog.text", "'X'::pg_catalog.text")),
        ("gender = 'F'", ("true", "false")),
        ("CASE WHEN salary > 1 THEN 'a' WHEN salary > 0 THEN 'b' ELSE 'a' END", ("'a'", "'b'")),
        ("extract(quarter FROM hired)", tuple(f"{n}::pg_catalog.numeric" for n in range(1, 5))),
        ("CASE WHEN salary > 1 THEN dept ELSE 'none' END", None),
        ("upper(gender)", None),
        ("zip", None),
    ],
)
def test_values_known_without_data_are_listed(text: str, domain: tuple[str, ...] | None) -> None:
    found = value(text).domain
    assert (None if found is None else tuple(map(listed, found))) == domain


def test_buckets_are_listed_up_to_a_limit() -> None:
    assert len(value("bucket(salary, 1000)").domain or ()) == 201
    assert value("bucket(salary, 1)").domain is None


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function_is_called_with_the_right_number_of_arguments(name: str) -> None:
    least, most = FUNCTIONS[name].arity
    for count in (least - 1, most + 1):
        with pytest.raises(DiscreetError, match="a call that is not"):
            value(f'"{name}"({", ".join(["salary"] * count)})')


@pytest.mark.parametrize(
    "call", ["lower(DISTINCT name)", "lower(VARIADIC name)", "abs(salary) FILTER (WHERE true)", "abs(salary) OVER ()"]
)
def test_a_function_is_not_called_as_an_aggregate(call: str) -> None:
    with pytest.raises(DiscreetError, match=r"as an aggregate|in an expression"):
        value(call)


def test_a_refused_expression_leaves_no_depth_behind() -> None:
    scope = expressions()
    refused = parse_sql("SELECT f(1)")[0].stmt.targetList[0].val
    for _ in range(2 * DEEPEST):
        with pytest.raises(DiscreetError, match="function f"):
            scope.value(refused)
    assert printed(scope.value(parse_sql("SELECT 1")[0].stmt.targetList[0].val)) == "1"


def test_depth_is_limited() -> None:
    with pytest.raises(DiscreetError, match="nested too deeply"):
        value("1" + "+1" * DEEPEST)


@pytest.mark.parametrize(
    "text",
    [
        "sqrt(" * 40 + "salary" + ")" * 40,
        "salary / (1 + " * 40 + "salary" + ")" * 40,
        "NULLIF(" * 40 + "salary" + ", 1)" * 40,
        "(" * 40 + "salary = 1" + ")::int = 1" * 40,
    ],
)
def test_an_expression_that_doubles_with_every_level_is_refused(text: str) -> None:
    with pytest.raises(DiscreetError, match=r"grows too long|near to 0|of kinds|together|is not true"):
        value(text)


def test_columns_of_subqueries_count_as_often_as_they_are_written() -> None:
    question = "SELECT dept || dept AS t FROM hr.employee"
    for _ in range(15):
        question = f"SELECT t || t || t || t AS t FROM ({question}) s"
    with pytest.raises(DiscreetError, match="grows too long"):
        planned(f"SELECT count(t) FROM ({question}) s")


def test_parameters_are_read_as_literals() -> None:
    scope = expressions(parameters=("7", None))
    condition = parse_sql("SELECT salary > $1 AND zip IS DISTINCT FROM $2")[0].stmt.targetList[0].val
    assert printed(scope.condition(condition)).count("NULL") == 1
    with pytest.raises(DiscreetError, match=r"\$3 has no value"):
        scope.value(parse_sql("SELECT $3")[0].stmt.targetList[0].val)
