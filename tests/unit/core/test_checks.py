"""What CHECK constraints, as PostgreSQL prints them, say about a column."""

from __future__ import annotations

import pytest

from discreet.core.checks import Known, known_by

SAID = [
    ("((age >= 0) AND (age <= 120))", "integer", Known("0", "120")),
    ("((age > 0) AND (age < 10) AND (age > 3))", "integer", Known("3", "10")),
    ("((0 <= age) AND (120 > age))", "integer", Known("0", "120")),
    ("((age >= (0)::numeric) AND (age <= 100.5))", "numeric", Known("0", "100.5")),
    ("(age >= '-5'::integer)", "integer", Known("-5")),
    ("((age > (0)::double precision) OR (age IS NULL))", "real", Known("0")),
    ("(age >= '1900-01-01'::date)", "date", Known("1900-01-01")),
    ("(age = ANY (ARRAY[1, 2]))", "integer", Known(values=("1", "2"))),
    ("((age)::text = ANY ((ARRAY['x'::character varying, 'y'::character varying])::text[]))", "character varying",
     Known(values=("x", "y"))),
    ("((age = 'ab'::bpchar) OR (age = 'cd'::bpchar))", "character", Known(values=("ab", "cd"))),
]  # fmt: skip
UNSAID = [
    "(age OPERATOR(public.>=) 3)",
    "(age >= floor)",
    "((age > 0) OR (age < 5))",
    "((age = 1) OR (other = 2))",
    "(length(age) < 5)",
    "(age <> 3)",
    "(lower(age) = ANY (ARRAY['a'::text, 'b'::text]))",
    "((age)::integer >= 5)",
    "(age >= 'infinity'::date)",
    "(NOT (age >= 3))",
    "this is no SQL (",
]


@pytest.mark.parametrize(("check", "type_name", "known"), SAID)
def test_comparisons_and_lists_with_constants_are_read(check: str, type_name: str, known: Known) -> None:
    assert known_by([check], "age", type_name) == known


@pytest.mark.parametrize("check", UNSAID)
def test_whatever_else_a_constraint_says_is_left_out(check: str) -> None:
    type_name = "date" if "infinity" in check else "text" if "lower" in check else "integer"
    assert known_by([check], "age", type_name) == Known()


def test_several_constraints_hold_together() -> None:
    assert known_by(["(age >= 0)", "(age <= 99)", "(age >= 18)"], "age", "integer") == Known("18", "99")


def test_constraints_of_domains_are_about_value() -> None:
    assert known_by(["((VALUE >= 0) AND (VALUE <= 9))"], "value", "integer") == Known("0", "9")
