"""The calculator for curators and the rules for neighbours."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameterError
from discreet.dp.grid import Grid
from discreet.dp.sensitivity import (
    Neighbours,
    centred_squares_sensitivity,
    centred_sum_sensitivity,
    count_sensitivity,
    quantile_sensitivity,
    sensitivity,
    sum_sensitivity,
)

UNBOUNDED, BOUNDED = Neighbours.UNBOUNDED, Neighbours.BOUNDED


@pytest.mark.parametrize(
    ("kind", "unbounded", "bounded"),
    [
        ("count", "1", "1"),
        ("count_distinct", "1", "1"),
        ("sum", "30", "50"),
        ("avg", "0.5", "0.5"),
        ("variance", "25", "25"),
        ("stddev", "5", "5"),
        ("median", "50", "50"),
        ("quantile", "50", "50"),
        ("min", "50", "50"),
        ("max", "50", "50"),
    ],
)
def test_the_calculator_knows_every_kind(kind: str, unbounded: str, bounded: str) -> None:
    assert sensitivity(kind, -20, 30, 100, "unbounded") == Decimal(unbounded)
    assert sensitivity(kind, -20, 30, 100, "bounded") == Decimal(bounded)


@pytest.mark.parametrize(
    "arguments",
    [
        ("mode", 0, 1, 10, "bounded"),
        ("sum", 1, 0, 10, "bounded"),
        ("sum", "NaN", 0, 10, "bounded"),
        ("sum", 0, "Infinity", 10, "bounded"),
        ("avg", 0, 1, 0, "bounded"),
        ("avg", 0, 1, -1, "bounded"),
        ("avg", 0, 1, True, "bounded"),
        ("sum", 0, 1, 10, "both"),
    ],
)
def test_the_calculator_refuses_what_has_no_meaning(arguments: tuple[object, ...]) -> None:
    with pytest.raises(InvalidParameterError):
        sensitivity(*arguments)  # type: ignore[arg-type]


def _variance(values: list[Fraction]) -> Fraction:
    return statistics.variance(values) if len(values) > 1 else Fraction(0)


def _average(values: list[Fraction]) -> Fraction:
    return statistics.mean(values) if values else Fraction(1, 2)


@pytest.mark.parametrize(("kind", "statistic"), [("avg", _average), ("variance", _variance)])
@settings(deadline=None)
@given(
    values=st.lists(
        st.sampled_from([Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3)]), min_size=1, max_size=8
    ),
    other=st.sampled_from([Fraction(0), Fraction(1), Fraction(2, 3)]),
)
def test_one_person_moves_a_statistic_by_no_more_than_the_calculator_says(
    kind: str, statistic: Callable[[list[Fraction]], Fraction], values: list[Fraction], other: Fraction
) -> None:
    here, n = statistic(values), len(values)
    for neighbour in ([*values, other], values[1:]):
        assert abs(statistic(neighbour) - here) <= sensitivity(kind, 0, 1, n, "unbounded")
    assert abs(statistic([other, *values[1:]]) - here) <= sensitivity(kind, 0, 1, n, "bounded")


def test_a_change_attains_the_variance_of_the_calculator() -> None:
    assert abs(_variance([Fraction(0), Fraction(1)]) - 0) == sensitivity("variance", 0, 1, 2, "bounded")


def test_sensitivities_on_the_grid() -> None:
    grid = Grid(0, -20, 30)
    assert count_sensitivity(UNBOUNDED, False) == count_sensitivity(UNBOUNDED, True) == 1
    assert (count_sensitivity(BOUNDED, False), count_sensitivity(BOUNDED, True)) == (1, 2)
    assert sum_sensitivity(grid, UNBOUNDED, True) == 30
    assert (sum_sensitivity(grid, BOUNDED, False), sum_sensitivity(grid, BOUNDED, True)) == (50, 60)
    assert centred_sum_sensitivity(grid, UNBOUNDED, False) == 50
    assert centred_sum_sensitivity(grid, BOUNDED, False) == centred_sum_sensitivity(grid, BOUNDED, True) == 100
    assert centred_squares_sensitivity(grid, BOUNDED, False) == 2500
    assert centred_squares_sensitivity(grid, BOUNDED, True) == 5000


def test_a_quantile_far_from_the_middle_is_more_sensitive() -> None:
    assert quantile_sensitivity(Fraction(1, 2), UNBOUNDED, True) == 1
    assert quantile_sensitivity(Fraction(9, 10), UNBOUNDED, True) == 9
    assert quantile_sensitivity(Fraction(9, 10), BOUNDED, False) == 10
    assert quantile_sensitivity(Fraction(9, 10), BOUNDED, True) == 18


def test_a_grid_of_one_point_still_gets_noise() -> None:
    grid = Grid.fit(0, 0)
    assert sum_sensitivity(grid, UNBOUNDED, True) == 1
    assert centred_squares_sensitivity(grid, UNBOUNDED, True) == 1
