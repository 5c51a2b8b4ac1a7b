"""Exact numbers and roundings with a direction."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameterError
from discreet.dp.exact import (
    ceil_log2,
    decimal_above,
    decimal_below,
    exact,
    float_above,
    readable,
    sqrt_above,
)

positive = st.fractions(min_value=Fraction(1, 10**30), max_value=10**30)


@pytest.mark.parametrize("value", [0.1, "0.1", Decimal("0.1"), Fraction(1, 10)])
def test_a_number_is_what_was_written(value: object) -> None:
    assert exact(value, "x") == Fraction(1, 10)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value",
    ["NaN", "Infinity", "-inf", "", "one", math.nan, math.inf, True, None, b"1", "1e401", "1e-401", "sNaN"],
)
def test_what_is_no_finite_number_is_refused(value: object) -> None:
    with pytest.raises(InvalidParameterError, match="x "):
        exact(value, "x")  # type: ignore[arg-type]


@settings(deadline=None)
@given(positive)
def test_float_above_is_the_next_double_upwards(value: Fraction) -> None:
    result = float_above(value)
    assert Fraction(result) >= value
    assert Fraction(math.nextafter(result, 0)) < value


@settings(deadline=None)
@given(st.fractions(min_value=0, max_value=10**40))
def test_sqrt_above_is_just_above(value: Fraction) -> None:
    root = sqrt_above(value)
    assert root**2 >= value
    assert (root * (1 - Fraction(1, 2**63))) ** 2 <= value


@settings(deadline=None)
@given(positive)
def test_ceil_log2_is_the_smallest_power_that_covers(value: Fraction) -> None:
    exponent = ceil_log2(value)
    assert Fraction(2) ** (exponent - 1) < value <= Fraction(2) ** exponent


@settings(deadline=None)
@given(positive)
def test_decimals_enclose(value: Fraction) -> None:
    assert Fraction(decimal_below(value, 9)) <= value <= Fraction(decimal_above(value, 9))


@settings(deadline=None)
@given(st.fractions(min_value=-(10**12), max_value=10**12), positive)
def test_readable_is_off_by_less_than_a_thousandth_of_the_spread(value: Fraction, spread: Fraction) -> None:
    error = abs(Fraction(readable(value, spread)) - value)
    assert error <= max(spread / 1000, Fraction(0)) or error <= Fraction(1, 2)
    assert error <= Fraction(1, 2)
