"""Roots, logarithms and powers that do not exist on one row."""

import pytest
from tests.attacks.gate.asking import assert_no_oracle, naive_oracle
from tests.attacks.target import Target
from tests.databases import Connection

# each fails, or would, on the row of the secret alone
EXPRESSIONS = [
    "sqrt(CASE WHEN {} THEN -1 ELSE 1 END)",
    "ln(CASE WHEN {} THEN 0 ELSE 1 END)",
    "log(CASE WHEN {} THEN 0 ELSE 1 END)",
    "power(CASE WHEN {} THEN 0 ELSE 1 END, -1)",
    "(CASE WHEN {} THEN -1 ELSE 1 END) ^ 0.5",
    "exp(CASE WHEN {} THEN 100000 ELSE 1 END)",
    "factorial(CASE WHEN {} THEN -1 ELSE 1 END)",
    "acos(CASE WHEN {} THEN 2 ELSE 1 END)",
    "|/ (CASE WHEN {} THEN -1 ELSE 1 END)",
]


def test_a_naive_design_fails_on_the_row(target: Target) -> None:
    assert naive_oracle(target, EXPRESSIONS[0]) == ["2201F", "answer"]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_no_row_is_outside_their_domain(blind: Connection, expression: str) -> None:
    assert_no_oracle(blind, expression)
