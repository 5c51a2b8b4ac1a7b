"""Releases from end to end: types, ranges, empty input, refusals, stated errors."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameterError
from discreet.dp.estimate import QUANTILES, Kind
from discreet.dp.grid import Grid
from discreet.dp.price import Accounting, Price
from discreet.dp.release import error_95, release, release_many
from discreet.dp.totals import Histogram, Totals

GRID = Grid.fit(0, 100)
ROWS = 10**6
VALUE = GRID.place(40)
MANY = Totals(ROWS, ROWS * VALUE, ROWS * VALUE**2, GRID)
EMPTY = Totals(0, 0, 0, GRID)
BINS = Histogram((0,) * 40 + (ROWS,) + (0,) * 59, Fraction(0), Fraction(100))


def data(kind: Kind, empty: bool = False) -> Totals | Histogram:
    if kind in QUANTILES:
        return Histogram((0,) * 100, Fraction(0), Fraction(100)) if empty else BINS
    return EMPTY if empty else MANY


@pytest.mark.parametrize("accounting", Accounting)
@pytest.mark.parametrize(
    ("kind", "expected", "tolerance"),
    [
        # Each tolerance is at least 500 times the scale of the noise: a false alarm is below e**-400.
        ("count", ROWS, 1000),
        ("count_distinct", ROWS, 1000),
        ("sum", 40 * ROWS, 100 * 1000),
        ("avg", 40, 1),
        ("variance", 0, 50),
        ("median", 40, 1),
        ("quantile", 40, 1),
    ],
)
def test_many_rows_give_the_statistic(kind: str, expected: int, tolerance: int, accounting: Accounting) -> None:
    for neighbours in ("unbounded", "bounded"):
        released = release(kind, data(Kind(kind)), Price.of(1, accounting), neighbours, True, "0.3")
        assert abs(released - expected) <= tolerance  # type: ignore[operator]


@pytest.mark.parametrize("kind", Kind)
def test_counts_are_integers_and_the_rest_decimals(kind: Kind) -> None:
    released = release(kind, data(kind), Price.of(1), fraction=Fraction(1, 2))
    assert type(released) is (int if kind in (Kind.COUNT, Kind.COUNT_DISTINCT) else Decimal)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(Kind), st.sampled_from(["1e-9", "0.01", "1", "100"]), st.sampled_from(Accounting))
def test_empty_input_gives_a_number_in_range(kind: Kind, epsilon: str, accounting: Accounting) -> None:
    released = release(kind, data(kind, empty=True), Price.of(epsilon, accounting), fraction=Fraction(1, 2))
    assert Decimal(released).is_finite()
    if kind is not Kind.SUM:
        assert released >= 0
    if kind in (Kind.AVG, Kind.MEDIAN, Kind.QUANTILE, Kind.STDDEV):
        assert released <= Decimal("100") * Decimal("1.5")


def test_an_empty_average_with_hardly_any_noise_is_the_middle() -> None:
    # At epsilon 100 the count has no noise but for a chance below e**-49, and the average noise of scale 1.
    assert abs(release("avg", EMPTY, Price.of(100)) - 50) < 30  # type: ignore[operator]


def test_a_single_point_is_released_as_such() -> None:
    grid = Grid.fit(3, 3)
    assert release("avg", Totals(5, 5 * grid.lower, 5 * grid.lower**2, grid), Price.of(1)) == 3
    zero = Grid.fit(0, 0)
    assert release("avg", Totals(5, 0, 0, zero), Price.of(1)) == 0
    assert release("median", Histogram((5,), Fraction(3), Fraction(3)), Price.of(1)) == 3


def test_groups_of_one_call_site_are_released_together() -> None:
    released = release_many("sum", [MANY, EMPTY], Price.of(1))
    assert len(released) == 2
    assert released[0] > 30 * ROWS > released[1]
    assert release_many("sum", [], Price.of(1)) == []
    assert release_many("median", [], Price.of(1)) == []


def test_groups_with_other_bounds_are_another_call_site() -> None:
    with pytest.raises(InvalidParameterError, match="bounds"):
        release_many("sum", [MANY, Totals(1, 1, 1, Grid.fit(0, 7))], Price.of(1))
    with pytest.raises(InvalidParameterError, match="bounds"):
        release_many("median", [BINS, Histogram((1, 2), Fraction(0), Fraction(1))], Price.of(1))


@pytest.mark.parametrize(
    ("kind", "group"),
    [("mode", MANY), ("median", MANY), ("sum", BINS), ("sum", Totals(1)), ("quantile", BINS)],
)
def test_what_cannot_be_released_is_refused(kind: str, group: Totals | Histogram) -> None:
    with pytest.raises(InvalidParameterError):
        release(kind, group, Price.of(1))


def test_stated_errors_follow_from_price_and_sensitivity() -> None:
    price = Price.of(1)
    assert error_95("count", None, price) == 3
    assert error_95("count", None, price, "bounded", True) == 6
    # ln(20) * 100
    assert error_95("sum", GRID, price) == pytest.approx(Decimal("299.573"), abs=Decimal("0.01"))
    assert error_95("variance", GRID, price) is None
    assert error_95("median", GRID, price) is None
    assert error_95("avg", GRID, price) is None


def test_the_stated_error_of_an_average_shrinks_with_the_rows_and_never_exceeds_the_bounds() -> None:
    errors = [error_95("avg", GRID, Price.of(1), rows=rows) for rows in (0, 1, 100, 10**4, 10**6)]
    assert errors[:2] == [100, 100]
    assert sorted(errors, reverse=True) == errors  # type: ignore[type-var]
    assert errors[-1] is not None
    assert errors[-1] < Decimal("0.001")


def test_gaussian_errors_are_smaller_for_the_same_wish() -> None:
    pure, gaussian = (error_95("sum", GRID, Price.of(1, accounting)) for accounting in Accounting)
    assert gaussian is not None
    assert pure is not None
    assert gaussian < pure
