"""A regular expression that is broken, or takes hours, on one row."""

import pytest
from tests.attacks.gate.asking import assert_no_oracle, naive_oracle
from tests.attacks.target import Target
from tests.databases import Connection

# each fails, or would, on the row of the secret alone
EXPRESSIONS = [
    "(name ~ CASE WHEN {} THEN '(' ELSE 'a' END)::int",
    "(name LIKE CASE WHEN {} THEN 'a\\' ELSE 'a' END)::int",
    "(name SIMILAR TO CASE WHEN {} THEN '(' ELSE 'a' END)::int",
    "length(regexp_replace(name, CASE WHEN {} THEN '[' ELSE 'a' END, ''))",
    "(name LIKE 'a\\')::int",
    "length(substring(name from CASE WHEN {} THEN '(' ELSE 'a' END))",
    "(name ~ '(x+x+)+y')::int",
]


def test_a_naive_design_fails_on_the_row(target: Target) -> None:
    assert naive_oracle(target, EXPRESSIONS[0]) == ["2201B", "answer"]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_no_pattern_depends_on_a_row(blind: Connection, expression: str) -> None:
    assert_no_oracle(blind, expression)
