"""Division by zero on one row tells that the row is there."""

import pytest
from tests.attacks.gate.asking import assert_no_oracle, naive_oracle
from tests.attacks.target import Target
from tests.databases import Connection

# each fails, or would, on the row of the secret alone
EXPRESSIONS = [
    "1 / CASE WHEN {} THEN 0 ELSE 1 END",
    "1 % CASE WHEN {} THEN 0 ELSE 1 END",
    "mod(salary, CASE WHEN {} THEN 0 ELSE 1 END)",
    "bucket(salary, CASE WHEN {} THEN 0 ELSE 1 END)",
    "1 / (salary - 1007)",
    "1.0 / CASE WHEN {} THEN 0.0 ELSE 1.5 END",
    "salary / NULLIF(CASE WHEN {} THEN 0 ELSE 1 END, 0)",
    "CASE WHEN {} THEN 1 / (salary - salary) ELSE 1 END",
    "width_bucket(salary, 0, CASE WHEN {} THEN 0 ELSE 1 END, 5)",
]


def test_a_naive_design_fails_on_the_row(target: Target) -> None:
    assert naive_oracle(target, EXPRESSIONS[0]) == ["22012", "answer"]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_no_row_divides_by_zero(blind: Connection, expression: str) -> None:
    assert_no_oracle(blind, expression)
