"""Arrays that are read or made beyond their bounds on one row."""

import pytest
from tests.attacks.gate.asking import assert_no_oracle, naive_oracle
from tests.attacks.target import Target
from tests.databases import Connection

# each fails, or would, on the row of the secret alone
EXPRESSIONS = [
    "(ARRAY[1, 2])[CASE WHEN {} THEN 2 ELSE 1 END]",
    "array_fill(1, ARRAY[CASE WHEN {} THEN -1 ELSE 1 END])[1]",
    "(string_to_array(name, ' '))[2]::int",
    "get_byte(name::bytea, CASE WHEN {} THEN 1000 ELSE 0 END)",
    "array_length(('{1,2' || CASE WHEN {} THEN '' ELSE '}' END)::int[], 1)",
    "cardinality(trim_array(ARRAY[1], CASE WHEN {} THEN 2 ELSE 1 END))",
]


def test_a_naive_design_fails_on_the_row(target: Target) -> None:
    assert naive_oracle(target, EXPRESSIONS[5]) == ["2202E", "answer"]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_no_array_is_an_oracle(blind: Connection, expression: str) -> None:
    assert_no_oracle(blind, expression)
