"""Bins among which quantiles are chosen."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.dp.quantile import Side
from discreet.gate.bins import EqualBins, LogarithmicBins, readable_above, readable_below
from discreet.gate.intervals import Interval

sizes = st.fractions(min_value=Fraction(1, 10**6), max_value=10**18)


@pytest.mark.parametrize(
    ("interval", "whole", "expected"),
    [
        (Interval.of(0, 120), True, EqualBins(Fraction(-1, 2), Fraction(241, 2), 121, True)),
        (Interval.of(0, 120), False, EqualBins(Fraction(0), Fraction(120), 4096)),
        (Interval.of(Fraction(1, 2), Fraction(5, 2)), True, EqualBins(Fraction(1, 2), Fraction(5, 2), 2, True)),
        (Interval.of(Fraction(1, 3), Fraction(2, 3)), True, EqualBins(Fraction(1, 3), Fraction(2, 3), 4096)),
        (Interval.of(0, 4095), True, EqualBins(Fraction(-1, 2), Fraction(8191, 2), 4096, True)),
        (Interval.of(0, 4096), True, EqualBins(Fraction(0), Fraction(4096), 4096)),
        (Interval.of(10**15, 10**15 + 5), True, EqualBins(Fraction(10**15), Fraction(10**15 + 5), 4096)),
        (Interval.of(3, 3), True, EqualBins(Fraction(5, 2), Fraction(7, 2), 1, True)),
        (Interval.of(3, 3), False, EqualBins(Fraction(3), Fraction(3), 1)),
    ],
)
def test_whole_numbers_of_a_small_range_have_a_bin_each(interval: Interval, whole: bool, expected: EqualBins) -> None:
    assert EqualBins.fit(interval, whole, 4096) == expected


def test_the_ends_of_candidates_are_those_of_bins_and_the_bounds() -> None:
    ages = EqualBins.fit(Interval.of(0, 2), True, 4096)
    assert [ages.end(chosen, Side.LOWER) for chosen in range(4)] == [0, 0, 1, 2]
    assert [ages.end(chosen, Side.UPPER) for chosen in range(4)] == [0, 1, 2, 2]
    halves = EqualBins(Fraction(0), Fraction(1), 2)
    assert [halves.end(chosen, Side.LOWER) for chosen in range(3)] == [0, 0, Fraction(1, 2)]
    assert [halves.end(chosen, Side.UPPER) for chosen in range(3)] == [Fraction(1, 2), 1, 1]


def test_the_value_of_a_bin_is_its_middle() -> None:
    assert [EqualBins(Fraction(-1, 2), Fraction(5, 2), 3).value(place) for place in range(3)] == [0, 1, 2]
    assert EqualBins(Fraction(3), Fraction(3), 1).value(0) == 3


def test_bounds_are_outwards_to_one_two_or_five_times_a_power_of_ten() -> None:
    low, high = LogarithmicBins(False), LogarithmicBins(True)
    middle = low.middle
    of_100 = middle + 1 + (6 + 20) * 4 + 2  # 96 to 112
    assert (low.value(of_100), high.value(of_100)) == (50, 200)
    of_minus_100 = 2 * middle - of_100
    assert (low.value(of_minus_100), high.value(of_minus_100)) == (-200, -50)
    assert (low.value(middle), high.value(middle)) == (0, 0)
    assert (low.value(middle + 1), high.value(middle - 1)) == (Decimal("5E-7"), Decimal("-5E-7"))
    assert (low.value(0), high.value(low.number - 1)) == (-2 * 10**18, 2 * 10**18)


@given(st.integers(0, LogarithmicBins(True).number - 2), st.booleans())
def test_bounds_grow_with_their_bins(place: int, upper: bool) -> None:
    bins = LogarithmicBins(upper)
    assert bins.value(place) <= bins.value(place + 1)
    assert LogarithmicBins(False).value(place) <= LogarithmicBins(True).value(place)


@given(sizes)
def test_a_readable_number_is_the_next_on_its_side(size: Fraction) -> None:
    above, below = readable_above(size), readable_below(size)
    assert below <= size <= above
    assert above <= below * Decimal("2.5")
    assert {str(end.normalize().as_tuple().digits[0]) for end in (above, below)} <= {"1", "2", "5"}
    assert all(len(end.normalize().as_tuple().digits) == 1 for end in (above, below))
