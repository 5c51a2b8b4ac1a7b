"""The numbers made of noisy parts: right without noise, inside their range with any noise."""

from __future__ import annotations

import statistics
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameterError
from discreet.dp.estimate import Kind, assemble, bin_value, exact_parts, parse_fraction
from discreet.dp.grid import Grid
from discreet.dp.totals import Histogram, Totals

FINE = (Fraction(1, 10**6),) * 3

bounds = st.tuples(st.decimals(-1000, 1000, places=3), st.decimals(-1000, 1000, places=3)).map(sorted)
grids = bounds.map(lambda pair: Grid.fit(*pair))  # type: ignore[arg-type]
noisy_parts = st.tuples(st.integers(-(10**6), 10**6), st.integers(-(2**70), 2**70), st.integers(-(2**120), 2**120))
spreads = st.tuples(*[st.fractions(min_value=Fraction(1, 1000), max_value=2**100)] * 3)


def without_noise(kind: Kind, values: list[Fraction], grid: Grid) -> Fraction:
    placed = [grid.place(value) for value in values]
    totals = Totals(len(placed), sum(placed), sum(x * x for x in placed), grid)
    return Fraction(assemble(kind, grid, exact_parts(kind, totals), FINE))


@settings(deadline=None)
@given(st.lists(st.integers(-20, 30).map(Fraction), min_size=2, max_size=20))
def test_without_noise_every_estimate_is_the_statistic(values: list[Fraction]) -> None:
    grid = Grid.fit(-20, 30)
    assert without_noise(Kind.COUNT, values, grid) == len(values)
    assert without_noise(Kind.SUM, values, grid) == sum(values)
    assert abs(without_noise(Kind.AVG, values, grid) - statistics.mean(values)) < Fraction(1, 10**6)
    assert abs(without_noise(Kind.VARIANCE, values, grid) - statistics.variance(values)) < Fraction(1, 10**6)
    deviation = Fraction(statistics.stdev(values))
    assert abs(without_noise(Kind.STDDEV, values, grid) - deviation) < Fraction(1, 10**6)


@settings(deadline=None)
@given(grids, noisy_parts, spreads)
def test_an_average_stays_inside_its_bounds(
    grid: Grid, parts: tuple[int, int, int], noise: tuple[Fraction, ...]
) -> None:
    average = assemble(Kind.AVG, grid, parts[:2], noise[:2])
    if grid.width:
        assert grid.lower * grid.step <= average <= grid.upper * grid.step
    else:
        assert abs(Fraction(average) - grid.lower * grid.step) <= abs(grid.lower * grid.step) / 10**14


@settings(deadline=None)
@given(grids, noisy_parts, spreads)
def test_a_variance_stays_inside_its_range(
    grid: Grid, parts: tuple[int, int, int], noise: tuple[Fraction, ...]
) -> None:
    rows = max(parts[0], 1)
    largest = Fraction(grid.width**2, 4) * grid.step**2 * (Fraction(rows, rows - 1) if rows > 1 else 1)
    assert 0 <= assemble(Kind.VARIANCE, grid, parts, noise) <= largest + 1
    assert 0 <= Fraction(assemble(Kind.STDDEV, grid, parts, noise)) ** 2 <= (largest + 1) * 2


@settings(deadline=None)
@given(st.integers(-(10**9), 10**9))
def test_a_count_is_never_negative(noisy: int) -> None:
    assert assemble(Kind.COUNT, None, (noisy,), FINE[:1]) == max(0, noisy)
    assert assemble(Kind.COUNT_DISTINCT, None, (noisy,), FINE[:1]) == max(0, noisy)


def test_nothing_at_all_averages_to_the_middle() -> None:
    grid = Grid.fit(10, 30)
    assert assemble(Kind.AVG, grid, (0, 0), FINE[:2]) == 20
    assert assemble(Kind.VARIANCE, grid, (0, 0, 0), FINE) == 0


def test_digits_follow_the_noise() -> None:
    grid = Grid.fit(0, 1)
    parts = (2**40 * 10 // 3,)
    assert assemble(Kind.SUM, grid, parts, (Fraction(2**40),)) == Decimal("3.3333")
    assert assemble(Kind.SUM, grid, parts, (Fraction(2**60),)) == Decimal("3")


@pytest.mark.parametrize("kind", [Kind.SUM, Kind.AVG, Kind.VARIANCE, Kind.STDDEV])
def test_what_needs_bounds_is_refused_without(kind: Kind) -> None:
    with pytest.raises(InvalidParameterError, match="bounds"):
        exact_parts(kind, Totals(1))


def test_totals_and_histograms_are_checked() -> None:
    for broken in ({"count": -1}, {"count": 1, "squares": -1}):
        with pytest.raises(InvalidParameterError):
            Totals(**broken)  # type: ignore[arg-type]
    for counts, lower, upper in (((), 0, 1), ((-1,), 0, 1), ((1,), 1, 0)):
        with pytest.raises(InvalidParameterError):
            Histogram(counts, Fraction(lower), Fraction(upper))


@settings(deadline=None)
@given(bounds, st.integers(1, 50).flatmap(lambda bins: st.tuples(st.just(bins), st.integers(0, bins - 1))))
def test_a_bins_value_lies_in_the_bin(pair: list[Decimal], drawn: tuple[int, int]) -> None:
    bins, chosen = drawn
    histogram = Histogram((1,) * bins, Fraction(pair[0]), Fraction(pair[1]))
    value = Fraction(bin_value(histogram, chosen))
    if histogram.bin_width >= 1:
        left = histogram.lower + chosen * histogram.bin_width
        assert left <= value <= left + histogram.bin_width
    assert histogram.lower <= value <= histogram.upper


@pytest.mark.parametrize("fraction", [-1, "1.01", "NaN", "Infinity", ""])
def test_a_fraction_without_meaning_is_refused(fraction: object) -> None:
    with pytest.raises(InvalidParameterError):
        parse_fraction(fraction)  # type: ignore[arg-type]


def test_a_fraction_is_kept_to_six_digits() -> None:
    assert parse_fraction("0.25") == Fraction(1, 4)
    assert parse_fraction("0.33333333333333") == Fraction(1, 3)
    assert parse_fraction(Fraction(1, 10**7)) == 0
