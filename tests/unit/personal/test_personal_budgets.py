"""Budgets as whole numbers: prices go up, budgets go down."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameterError
from discreet.personal.budgets import MOST, STEPS, budget_of, price_of


@pytest.mark.parametrize(
    ("epsilon", "price"),
    [("0.1", 10_000), ("0.00001", 1), ("0.000001", 1), ("1/3", 33_334), ("100", MOST), ("100.1", MOST + 1)],
)
def test_a_price(epsilon: str, price: int) -> None:
    assert price_of(Fraction(epsilon)) == price


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=100), st.integers(0, MOST))
def test_nobody_pays_less_than_the_question_costs(epsilon: Fraction, budget: int) -> None:
    paid = budget // price_of(epsilon)
    assert paid * epsilon <= Fraction(budget, STEPS)


@pytest.mark.parametrize(("epsilon", "budget"), [("0", 0), ("0.123456", 12_345), ("0.000009", 0), ("100", MOST)])
def test_a_budget(epsilon: str, budget: int) -> None:
    assert budget_of(Decimal(epsilon)) == budget


@pytest.mark.parametrize("epsilon", ["-0.1", "100.00001", "NaN", "Infinity", "-Infinity", None])
def test_a_budget_without_sense_is_refused(epsilon: str | None) -> None:
    with pytest.raises(InvalidParameterError, match="epsilon"):
        budget_of(None if epsilon is None else Decimal(epsilon))


def test_what_three_bytes_hold_is_enough() -> None:
    assert MOST < 2**24
