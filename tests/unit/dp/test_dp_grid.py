"""The grid: its formula, its two claims, its edges."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameterError
from discreet.dp.grid import Grid

bounds = st.tuples(
    st.decimals(min_value=-(10**9), max_value=10**9, places=6),
    st.decimals(min_value=-(10**9), max_value=10**9, places=6),
).map(sorted)


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        (0, 100, Grid(-33, 0, 100 * 2**33)),
        (-1, 1, Grid(-40, -(2**40), 2**40)),
        (0, 0, Grid(0, 0, 0)),
        (3, 3, Grid(-38, 3 * 2**38, 3 * 2**38)),
        (0, Fraction(1, 3), Grid(-41, 0, 2**41 // 3)),
        (Fraction(1, 3), Fraction(1, 3), Grid(-41, 2**41 // 3, 2**41 // 3)),
        (0, 2**50, Grid(10, 0, 2**40)),
    ],
)
def test_the_grid_follows_its_formula(lower: object, upper: object, expected: Grid) -> None:
    assert Grid.fit(lower, upper) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(("lower", "upper"), [(2, 1), ("NaN", 1), (0, "Infinity"), ("-inf", 0), ("", 1)])
def test_bounds_without_meaning_are_refused(lower: object, upper: object) -> None:
    with pytest.raises(InvalidParameterError):
        Grid.fit(lower, upper)  # type: ignore[arg-type]


@settings(deadline=None)
@given(bounds)
def test_grid_integers_have_at_most_forty_bits_and_use_them(pair: list[Decimal]) -> None:
    grid = Grid.fit(*pair)  # type: ignore[arg-type]
    assert grid.reach <= 2**40
    assert grid.reach >= 2**39 - 1 or pair == [0, 0]


@settings(deadline=None)
@given(bounds, st.fractions(min_value=0, max_value=1))
def test_a_value_within_bounds_is_off_by_at_most_half_a_step(pair: list[Decimal], share: Fraction) -> None:
    grid = Grid.fit(*pair)  # type: ignore[arg-type]
    value = Fraction(pair[0]) + share * (Fraction(pair[1]) - Fraction(pair[0]))
    error = abs(grid.place(value) * grid.step - value)
    inside = grid.lower * grid.step <= value <= grid.upper * grid.step
    assert error <= grid.step / 2 if inside else error < grid.step


@settings(deadline=None)
@given(bounds, st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12))
def test_every_value_lands_on_the_grid(pair: list[Decimal], value: Decimal) -> None:
    grid = Grid.fit(*pair)  # type: ignore[arg-type]
    assert grid.lower <= grid.place(value) <= grid.upper


def test_ten_to_the_twelfth_rows_do_not_overflow_128_bits() -> None:
    rows, largest = 10**12, Grid.fit(-1, 1).reach
    assert rows * largest < 2**127
    assert rows * largest**2 < 2**127


@pytest.mark.parametrize(("lower", "upper"), [(0, 100), (-1, 1), (Decimal("0.1"), Decimal("0.7")), (0, 10**12)])
def test_rounding_stays_below_one_percent_of_the_noise(lower: object, upper: object) -> None:
    grid = Grid.fit(lower, upper)  # type: ignore[arg-type]
    noise_of_sum = Fraction(grid.reach)  # the scale at epsilon 1, in steps
    # All values off by a whole step to the same side.
    assert noise_of_sum / 100 > 5 * 10**9
    # Independent roundings of half a step: standard deviation of at most sqrt(n) / 2, taken six times.
    assert noise_of_sum / 100 > 6 * 10**6 / 2
    # The centred sum of an average has noise width / (epsilon / 2) on doubled steps, so width on steps.
    assert Fraction(grid.width) / 100 > 10**9


def test_whole_numbers_are_on_the_grid() -> None:
    grid = Grid.fit(0, 10**12)
    assert all(grid.place(value) * grid.step == value for value in (0, 1, 17, 10**6 + 3, 10**12))
