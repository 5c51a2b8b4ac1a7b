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
from discreet.gate.patterns import LONGEST_MATCHED, LONGEST_SEARCHED
from discreet.gate.printer import listed, printed
from discreet.gate.schema import Family
from discreet.gate.sources import Sources
from discreet.gate.totality import is_total
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
        ("LEAST(salary, 50000)", (0, 50_000)),
        ("GREATEST(salary, 50000)", (50_000, 200_000)),
        ("NULLIF(salary, 0)", (0, 200_000)),
        ("salary::int", (-0.5, 200_000.5)),
        ("(gender = 'F')::int", (0, 1)),
        ("hired - dob", (-50_000, 50_000)),
        ("extract(epoch FROM hired)", (-20_000 * 86_400, 30_000 * 86_400)),
        ("power(salary - 7, 2)", (0, 199_993**2)),
        ("width_bucket(salary, 0, 1000, 10)", (0, 11)),
        ("least(salary, 5000)", (0, 5000)),
        ("greatest(least(salary, 5000), 100)", (100, 5000)),
        ("least(salary, NULL)", (0, 200_000)),
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
    "date_bin": ("date_bin('7 days', hired, '2000-01-01')", MOMENTS),
    "timezone": ("hired::timestamptz AT TIME ZONE 'UTC'", MOMENTS),
    "age": ("age(hired, dob)", MOMENTS),
    "date": ("date(hired::timestamp)", MOMENTS),
    "make_date": ("make_date(salary::int, 1, 1)", NUMBERS),
    "to_char": ("to_char(hired, 'YYYY-MM')", MOMENTS),
    "ln": ("ln(salary)", NUMBERS),
    "log": ("log(2, salary)", NUMBERS),
    "log10": ("log10(salary)", NUMBERS),
    "exp": ("exp(salary / 10000)", NUMBERS),
    "power": ("power(salary, 2)", NUMBERS),
    "pow": ("pow(salary, 0.5)", NUMBERS),
    "width_bucket": ("width_bucket(salary, 0, 1000, 10)", NUMBERS),
    "initcap": ("initcap(name)", TEXTS),
    "reverse": ("reverse(name)", TEXTS),
    "md5": ("md5(name)", TEXTS),
    "octet_length": ("octet_length(name)", TEXTS),
    "lpad": ("lpad(name, 9)", TEXTS),
    "rpad": ("rpad(name, 9, 'x')", TEXTS),
    "starts_with": ("starts_with(name, 'a')", TEXTS),
    "split_part": ("split_part(name, ' ', 1)", TEXTS),
    "replace": ("replace(name, 'a', 'bb')", TEXTS),
    "translate": ("translate(name, 'a', 'b')", TEXTS),
    "concat": ("concat(name, dept)", TEXTS),
    "concat_ws": ("concat_ws('-', name, dept)", TEXTS),
    "regexp_replace": ("regexp_replace(name, 'a+', 'b')", TEXTS),
    "regexp_substr": ("regexp_substr(name, 'a+')", TEXTS),
    "regexp_count": ("regexp_count(name, 'a+')", TEXTS),
    "regexp_like": ("regexp_like(name, 'a+')", TEXTS),
    "regexp_instr": ("regexp_instr(name, 'a+')", TEXTS),
    "overlay": ("overlay(name PLACING 'x' FROM 2)", TEXTS),
    "cbrt": ("cbrt(salary)", NUMBERS),
}
OF_ARRAYS = {"cardinality": "cardinality(name)", "array_length": "array_length(name, 1)"}


@pytest.mark.parametrize("name", sorted(OF_ARRAYS))
def test_elements_are_counted_of_arrays_alone(name: str) -> None:
    with pytest.raises(DiscreetError, match="something other than an array"):
        value(OF_ARRAYS[name])


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - OF_ARRAYS))
def test_no_text_makes_a_function_fail(name: str) -> None:
    call, reason = TOTAL[name]
    texts = sum(call.count(column) for column in ("name", "dept"))
    assert (texts > 0) == (reason is TEXTS)
    most = "|".join(map(str, (LONGEST_TEXT, LONGEST_KEY, LONGEST_MATCHED, LONGEST_SEARCHED)))
    assert len(re.findall(rf"_cut\([^()]*\([^()]*\), ({most})\)", sql(call))) == texts


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
    ["repeat(name, 9)", "format('%s', name)", "encode(name::bytea, 'hex')", "quote_literal(name)", "to_json(name)"],
)
def test_other_functions_of_which_texts_grow_are_refused(call: str) -> None:
    with pytest.raises(DiscreetError, match=r"function|a cast"):
        value(call)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("replace(name, 'a', dept)", "not a constant text"),
        (f"replace(name, 'a', '{'b' * 101}')", "not a constant text of at most 100"),
        ("lpad(name, 1001)", "not from 0 to 1000"),
        ("split_part(name, ' ', 0)", "place 0"),
        ("regexp_replace(name, 'a', '\\1')", "part of what was found"),
        ("regexp_replace(name, 'a', 'b', 'x')", "field that is not known"),
        ("to_char(salary, '9')", "other than a date"),
        ("to_char(hired, 'TMMonth')", "depend on settings"),
        ("to_char(hired::timestamptz, 'HH24 TZ')", "depend on settings"),
        ("hired::timestamptz AT TIME ZONE 'Atlantis'", "time zone that is not known"),
        ("date_bin('1 month', hired, '2000-01-01')", "constant number of days"),
        ("date_bin('-1 day', hired, '2000-01-01')", "constant number of days"),
        ("date_bin('1 day', hired, dob)", "origin that is no constant"),
        ("exp(salary)", "exp() of a number that may be large"),
        ("power(salary, -1)", "may come near to 0"),
        ("power(salary, salary)", "exponent is no constant"),
        ("power(salary, 50)", "may be large"),
        ("log(1, salary)", "base that is not above 0"),
        ("width_bucket(salary, 5, 5, 3)", "equal"),
        ("width_bucket(salary, 0, 5, 0)", "not from 1"),
        ("concat(hired)", "concat() of date"),
        ("(regexp_match(name, 'a', 'g'))[1]", "field that is not known"),
        ("(regexp_match(name, '(a+)+'))[1]", "repeats what is repeated"),
        ("(regexp_match(name, 'a'))[0]", "not from 1"),
        ("(regexp_match(name, 'a'))[1:2]", "a field or array element"),
        ("(string_to_array(name, 'a'))[1]", "an element of string_to_array()"),
        ("overlay(name PLACING 'x' FROM 0)", "not from 1"),
        ("ltrim(name, dept)", "not a constant text"),
        ("make_date(salary, 1, 1)", "other than whole numbers"),
    ],
)
def test_arguments_that_would_make_it_fail_are_refused(call: str, words: str) -> None:
    with pytest.raises(DiscreetError) as refusal:
        value(call)
    assert words in refusal.value.message


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+", "(a|b*)*", "((a?)+)+", "(a*){2,}", r"(a)\1", "(?=a)", "(?!a)", "(?<=a)", "(?i)a", "***=a", "a{101}",
     "a{2,1}", "(a", "a)", "[a", "a{x", "a\\", "a" * 201],
)  # fmt: skip
def test_patterns_that_may_take_long_are_refused(pattern: str) -> None:
    for call in (f"name ~ '{pattern}'", f"name !~* '{pattern}'", f"regexp_count(name, '{pattern}') > 0"):
        with pytest.raises(DiscreetError, match="pattern"):
            value(call)


@pytest.mark.parametrize(
    "pattern", ["^A", "(ab)+", "(ab|c){1,3}$", "a*b+c?", "(?:x+|y)z", r"\\d{3}-[0-9]*", "[]a)]", "[[:alpha:]]+"]
)
def test_patterns_that_are_fast_are_let_in(pattern: str) -> None:
    assert is_total(value(f"name ~ '{pattern}'"))


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
