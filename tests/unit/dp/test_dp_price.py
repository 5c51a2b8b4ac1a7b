"""Prices and the parameters they are made of."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.core.errors import InvalidParameterError
from discreet.dp.price import Accounting, Price, parse_delta, parse_epsilon

HOSTILE = ["NaN", "Infinity", "-Infinity", "0", "-0", "-1", "5e-324", "1e-10", "100.0001", "1e308", "", "x"]


@pytest.mark.parametrize("value", [*HOSTILE, math.nan, math.inf, 5e-324, -1, 0, True, None])
def test_an_epsilon_without_meaning_is_refused(value: object) -> None:
    with pytest.raises(InvalidParameterError) as refusal:
        parse_epsilon(value)  # type: ignore[arg-type]
    assert refusal.value.hint


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-1", "-1e-9", "5e-324", "0.1000001", "1", "2", "", True])
def test_a_delta_without_meaning_is_refused(value: object) -> None:
    with pytest.raises(InvalidParameterError) as refusal:
        parse_delta(value)  # type: ignore[arg-type]
    assert refusal.value.hint


@pytest.mark.parametrize("value", ["0.1", 0.1, Decimal("0.1"), Fraction(1, 10)])
def test_an_epsilon_is_exact(value: object) -> None:
    assert parse_epsilon(value) == Fraction(1, 10)  # type: ignore[arg-type]


@pytest.mark.parametrize("parse", [parse_epsilon, parse_delta])
def test_a_number_of_many_digits_is_refused(parse: Callable[[Decimal | Fraction], Fraction]) -> None:
    """Its parts could not be written down when they are paid."""
    with pytest.raises(InvalidParameterError, match="too many digits"):
        parse(Decimal("0.0" + "7" * 100))
    assert parse(Decimal("0.0" + "7" * 99)) < 1
    assert parse(Fraction(1, 3**300 + 1) + Fraction(1, 100))


def test_delta_may_be_zero() -> None:
    assert parse_delta(0) == 0
    assert parse_delta("1e-6") == Fraction(1, 10**6)


def test_parts_of_a_price_add_up_to_it_exactly() -> None:
    for accounting in Accounting:
        price = Price.of("0.1", accounting)
        assert sum(part.amount for part in price.split(3)) == price.amount


def test_an_epsilon_costs_half_its_square_under_zcdp() -> None:
    assert Price.of(2, "zcdp") == Price(Accounting.ZCDP, Fraction(2))
    assert Price.of(2, "pure") == Price(Accounting.PURE, Fraction(2))


def test_an_unknown_accounting_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="accounting"):
        Price.of(1, "renyi")


@pytest.mark.parametrize("amount", [0, -1, "NaN", 101, Fraction(1, 10**40)])
def test_a_price_out_of_range_is_refused(amount: object) -> None:
    with pytest.raises(InvalidParameterError):
        Price(Accounting.PURE, amount)  # type: ignore[arg-type]


def test_a_price_is_not_split_into_nothing() -> None:
    with pytest.raises(InvalidParameterError):
        Price.of(1).split(0)
