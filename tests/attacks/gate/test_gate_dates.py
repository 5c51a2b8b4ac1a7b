"""Dates that do not exist, or are beyond the calendar, on one row."""

import pytest
from tests.attacks.gate.asking import assert_no_oracle, naive_oracle
from tests.attacks.target import Target
from tests.databases import Connection

# each fails, or would, on the row of the secret alone
EXPRESSIONS = [
    "(CASE WHEN {} THEN 'x' ELSE '2024-01-01' END)::date - DATE '2024-01-01'",
    "extract(year FROM CASE WHEN {} THEN 'infinity'::date ELSE '2024-01-01' END)::int",
    "make_date(CASE WHEN {} THEN 0 ELSE 1 END, 1, 1) - DATE '2024-01-01'",
    "DATE '2024-01-01' + CASE WHEN {} THEN 2147483647 ELSE 1 END - DATE '2024-01-01'",
    "extract(CASE WHEN {} THEN 'nothing' ELSE 'year' END FROM DATE '2024-01-01')",
    "date_part('year', DATE '2024-01-01' + make_interval(years => CASE WHEN {} THEN 300000 ELSE 1 END))",
    "to_date(CASE WHEN {} THEN 'x' ELSE '2024' END, 'YYYY') - DATE '2024-01-01'",
]


def test_a_naive_design_fails_on_the_row(target: Target) -> None:
    assert naive_oracle(target, EXPRESSIONS[0]) == ["22007", "answer"]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_no_date_fails_on_a_row(blind: Connection, expression: str) -> None:
    assert_no_oracle(blind, expression)
