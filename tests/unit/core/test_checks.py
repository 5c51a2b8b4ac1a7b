"""What CHECK constraints, as PostgreSQL prints them, say about a column."""

from __future__ import annotations

from decimal import Decimal

import pytest

from discreet.core.checks import MOST_CATEGORIES, Implied, Known, implied, known_by
from discreet.core.declarations import LONGEST_CATEGORY

SAID = [
    ("((VALUE >= 0) AND (VALUE <= 120))", "integer", Known("0", "120")),
    ("((VALUE > 0) AND (VALUE < 10) AND (VALUE > 3))", "integer", Known("3", "10")),
    ("((0 <= VALUE) AND (120 > VALUE))", "integer", Known("0", "120")),
    ("((VALUE >= (0)::numeric) AND (VALUE <= 100.5))", "numeric", Known("0", "100.5")),
    ("(VALUE >= '-5'::integer)", "integer", Known("-5")),
    ("((VALUE)::integer >= 5)", "integer", Known("5")),
    ("((VALUE > (0)::double precision) OR (VALUE IS NULL))", "real", Known("0")),
    ("(VALUE >= '1900-01-01'::date)", "date", Known("1900-01-01")),
    ("(VALUE = ANY (ARRAY[1, 2]))", "integer", Known(values=("1", "2"))),
    ("((VALUE)::text = ANY ((ARRAY['x'::character varying, 'y'::character varying])::text[]))", "character varying",
     Known(values=("x", "y"))),
    ("((VALUE = 'ab'::bpchar) OR (VALUE = 'cd'::bpchar))", "character", Known(values=("ab", "cd"))),
]  # fmt: skip
UNSAID = [
    "(VALUE OPERATOR(public.>=) 3)",
    "(VALUE >= floor)",
    "((VALUE > 0) OR (VALUE < 5))",
    "((VALUE = 1) OR (other = 2))",
    "(length(VALUE) < 5)",
    "(VALUE <> 3)",
    "(lower(VALUE) = ANY (ARRAY['a'::text, 'b'::text]))",
    "(VALUE >= 'infinity'::date)",
    "(NOT (VALUE >= 3))",
    "this is no SQL (",
]


@pytest.mark.parametrize(("check", "type_name", "known"), SAID)
def test_comparisons_and_lists_with_constants_are_read(check: str, type_name: str, known: Known) -> None:
    assert known_by([check], type_name) == known


@pytest.mark.parametrize("check", UNSAID)
def test_whatever_else_a_constraint_says_is_left_out(check: str) -> None:
    type_name = "date" if "infinity" in check else "text" if "lower" in check else "integer"
    assert known_by([check], type_name) == Known()


def test_several_constraints_hold_together() -> None:
    assert known_by(["(VALUE >= 0)", "(VALUE <= 99)", "(VALUE >= 18)"], "integer") == Known("18", "99")


IMPLIED = [
    ("integer", None, ("((VALUE >= 0) AND (VALUE <= 120))",), Implied((Decimal(0), Decimal(120)))),
    ("integer", None, ("(VALUE >= 0)",), Implied()),
    ("integer", None, ("(VALUE > 5)", "(VALUE < 3)"), Implied()),
    ("integer", None, ("(VALUE = ANY (ARRAY[3, 1, 1]))",), Implied((Decimal(1), Decimal(3)), ("3", "1"))),
    ("integer", None, ("((VALUE)::numeric = ANY (ARRAY[1, 2.5]))",), Implied()),
    ("smallint", None, ("(VALUE = ANY (ARRAY[1, 40000]))",), Implied()),
    ("numeric", None, ("(VALUE = ANY (ARRAY[1.0, 1.00, 2]))",), Implied((Decimal(1), Decimal(2)), ("1.0", "2"))),
    ("numeric", None, ("(VALUE = ANY (ARRAY[1, 'NaN'::numeric]))",), Implied()),
    ("date", None, ("((VALUE >= '1970-01-02'::date) AND (VALUE <= '1970-01-03'::date))",),
     Implied((Decimal(1), Decimal(2)))),
    ("date", None, ("(VALUE = ANY (ARRAY['1970-01-02'::date]))",), Implied()),
    ("character", None, ("(VALUE = ANY (ARRAY['a '::bpchar, 'a'::bpchar, 'b'::bpchar]))",),
     Implied(categories=("a", "b"))),
    ("text", None, ("(VALUE = ANY (ARRAY['1'::text, '2'::text]))",), Implied(categories=("1", "2"))),
    ("text", None, (f"(VALUE = '{'x' * (LONGEST_CATEGORY + 1)}'::text)",), Implied()),
    ("shop.tier", ("gold", "tin"), (), Implied(categories=("gold", "tin"))),
    ("shop.tier", ("gold", "tin"), ("(VALUE = ANY (ARRAY['tin'::shop.tier]))",), Implied(categories=("tin",))),
    ("shop.tier", tuple(map(str, range(MOST_CATEGORIES + 1))), (), Implied()),
    ("boolean", None, ("(VALUE = true)",), Implied()),
    ("public.citext", None, ("(VALUE = 'a'::public.citext)",), Implied()),
]  # fmt: skip


@pytest.mark.parametrize(("type_name", "labels", "checks", "expected"), IMPLIED)
def test_a_column_declares_what_its_type_and_checks_allow(
    type_name: str, labels: tuple[str, ...] | None, checks: tuple[str, ...], expected: Implied
) -> None:
    assert implied(type_name, labels, checks) == expected


CAST = [
    ("numeric", "((VALUE)::integer = 5)"),
    ("text", "((VALUE)::numeric = ANY (ARRAY[(1)::numeric, (2)::numeric]))"),  # '1.0' is allowed, too
    ("integer", "((VALUE)::text = ANY (ARRAY['1'::text]))"),
    ("text", "((VALUE)::bpchar = 'x'::bpchar)"),
]


@pytest.mark.parametrize(("type_name", "check"), CAST)
def test_a_cast_that_holds_several_values_to_be_one_says_nothing(type_name: str, check: str) -> None:
    assert implied(type_name, None, (check,)) == Implied()
