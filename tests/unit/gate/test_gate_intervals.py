"""Interval arithmetic: whatever the operands are within their bounds, the result is within its own."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from discreet.gate.intervals import LARGEST, Interval

numbers = st.fractions(min_value=-1000, max_value=1000, max_denominator=60)


@st.composite
def bounded(draw: st.DrawFn, whole: bool = False) -> tuple[Interval, Fraction]:
    """An interval and a number in it."""
    source = st.integers(-50, 50).map(Fraction) if whole else numbers
    low, number, high = sorted(draw(st.tuples(source, source, source)))
    return Interval(low, high), number


def towards_zero(number: Fraction) -> Fraction:
    return Fraction(math.trunc(number))


@given(bounded(), bounded())
def test_sums_differences_and_products_are_inside(a: tuple[Interval, Fraction], b: tuple[Interval, Fraction]) -> None:
    (left, x), (right, y) = a, b
    assert x + y in left + right
    assert x - y in left - right
    assert x * y in left * right
    assert -x in -left


@given(bounded(), bounded())
def test_quotients_are_inside_or_without_bounds(a: tuple[Interval, Fraction], b: tuple[Interval, Fraction]) -> None:
    (left, x), (right, y) = a, b
    quotient = left.divided_by(right, whole=False)
    if 0 in right:
        assert quotient is None
    else:
        assert quotient is not None
        assert x / y in quotient


@given(bounded(whole=True), bounded(whole=True))
def test_whole_quotients_are_inside(a: tuple[Interval, Fraction], b: tuple[Interval, Fraction]) -> None:
    (left, x), (right, y) = a, b
    quotient = left.divided_by(right, whole=True)
    assert quotient is not None
    assert y == 0 or towards_zero(x / y) in quotient


@given(bounded(), bounded())
def test_what_holds_both_holds_each(a: tuple[Interval, Fraction], b: tuple[Interval, Fraction]) -> None:
    (left, x), (right, y) = a, b
    assert x in left | right
    assert y in left | right


@given(bounded())
def test_absolute_values_and_roundings_are_inside(a: tuple[Interval, Fraction]) -> None:
    interval, x = a
    assert abs(x) in interval.absolute()
    assert {math.floor(x), math.ceil(x), round(x)} <= {n for n in range(-1001, 1002) if n in interval.widened(1)}
    assert abs(x) <= interval.reach


def test_an_interval_of_numbers_too_large_is_of_no_use() -> None:
    assert Interval.of(-LARGEST, LARGEST).usable
    assert not Interval.of(0, LARGEST + 1).usable
    assert Interval.of(3, -2) == Interval(Fraction(-2), Fraction(3))
