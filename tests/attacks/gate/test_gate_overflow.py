"""Overflow: numbers that are too large for their type fail, and tell the row that has them."""

import pytest
from tests.attacks.gate.asking import ask, assert_no_oracle, how_it_ends, naive_oracle, protect
from tests.attacks.target import Target
from tests.databases import Connection

EXPRESSIONS = [
    "CASE WHEN {} THEN 9223372036854775807 ELSE 0 END + 1",
    "CASE WHEN {} THEN 2147483647 ELSE 0 END * 2",
    "(CASE WHEN {} THEN 1e40 ELSE 1 END)::int",
    "(CASE WHEN {} THEN 99999999999999999999 ELSE 1 END)::int8",
    "(CASE WHEN {} THEN 300000 ELSE 1 END)::int2",
    "CASE WHEN {} THEN 1e59 ELSE 1 END * 1e59",
    "round(salary, CASE WHEN {} THEN 2147483647 ELSE 1 END)",
    "- CASE WHEN {} THEN (-9223372036854775808) ELSE 0 END",
]


def test_a_naive_design_fails_on_the_row(target: Target) -> None:
    assert naive_oracle(target, EXPRESSIONS[0]) == ["22003", "answer"]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_no_row_overflows(blind: Connection, expression: str) -> None:
    assert_no_oracle(blind, expression)


@pytest.mark.parametrize(
    "asked", ["sum(x)", "avg(x)", "sum(x * x)", "sum(-x)", "sum(abs(x))", "stddev(x)", "sum(x - 1)"]
)
def test_no_sum_of_the_largest_numbers_overflows(gated: Target, blind: Connection, asked: str) -> None:
    ends = 9223372036854775807
    rows = f"SELECT n, CASE WHEN n % 3 = 0 THEN -{ends} - 1 ELSE {ends} END FROM generate_series(1, 300) n"
    protect(gated, "large", "id int PRIMARY KEY, x int8", rows, x=(-ends, ends))
    assert how_it_ends(blind, f"SELECT {asked} FROM extra.large") == "answer"


def test_the_answer_itself_does_not_overflow(gated: Target, blind: Connection) -> None:
    """At the smallest epsilon noise is larger than the answer's type."""
    protect(gated, "small", "id int PRIMARY KEY, x int", "SELECT 1, 1", x=(-(2**31), 2**31 - 1))
    for asked in ("count(*)", "sum(x)", "avg(x)", "max(x)"):
        assert len(ask(blind, f"SELECT {asked} FROM extra.small", "1e-9")) == 1
