"""Each statistic as exact integers that take noise, and the number made of them afterwards.

``sensitivities`` and ``exact_parts`` are all that privacy rests on: the parts of a group are integers, one
person changes the j-th by no more than the j-th sensitivity, each takes noise paid by an equal share of the
price. ``assemble`` sees only noisy parts; what it does is post-processing and free.
"""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

from discreet.core.errors import InvalidParameterError
from discreet.dp.exact import (
    Numeric,
    decimal_above,
    decimal_below,
    exact,
    readable,
    readable_places,
    rounded,
    sqrt_above,
)
from discreet.dp.grid import Grid
from discreet.dp.sensitivity import (
    Neighbours,
    centred_squares_sensitivity,
    centred_sum_sensitivity,
    count_sensitivity,
    sum_sensitivity,
)
from discreet.dp.totals import Histogram, Totals


class Kind(StrEnum):
    """The statistics that can be released."""

    COUNT = "count"
    COUNT_DISTINCT = "count_distinct"
    SUM = "sum"
    AVG = "avg"
    VARIANCE = "variance"
    STDDEV = "stddev"
    MEDIAN = "median"
    QUANTILE = "quantile"

    @classmethod
    def _missing_(cls, value: object) -> Kind:
        raise InvalidParameterError(f"unknown kind {value!r}", "Use one of: " + ", ".join(cls) + ".")


COUNTS = frozenset({Kind.COUNT, Kind.COUNT_DISTINCT})
QUANTILES = frozenset({Kind.MEDIAN, Kind.QUANTILE})


def needed_grid(kind: Kind, grid: Grid | None) -> Grid:
    """The grid, which everything but a count needs."""
    if grid is None:
        raise InvalidParameterError(f"{kind} needs bounds", "Give a lower and an upper bound.")
    return grid


def sensitivities(kind: Kind, grid: Grid | None, neighbours: Neighbours, filtered: bool) -> tuple[int, ...]:
    """How much one person changes each part."""
    count = count_sensitivity(neighbours, filtered)
    if kind in COUNTS:
        return (count,)
    grid = needed_grid(kind, grid)
    if kind is Kind.SUM:
        return (sum_sensitivity(grid, neighbours, filtered),)
    first = centred_sum_sensitivity(grid, neighbours, filtered)
    if kind is Kind.AVG:
        return (count, first)
    return (count, first, centred_squares_sensitivity(grid, neighbours, filtered))


def exact_parts(kind: Kind, totals: Totals) -> tuple[int, ...]:
    """The integers to which noise is added.

    With c = lower + upper, twice the middle of the bounds, the centred sum is that of 2 x - c and the
    centred squares that of (2 x - c)**2: whole numbers, so nothing is rounded.
    """
    n = totals.count
    if kind in COUNTS:
        return (n,)
    grid = needed_grid(kind, totals.grid)
    if kind is Kind.SUM:
        return (totals.total,)
    c = grid.lower + grid.upper
    first = 2 * totals.total - c * n
    if kind is Kind.AVG:
        return (n, first)
    return (n, first, 4 * totals.squares - 4 * c * totals.total + c * c * n)


def assemble(kind: Kind, grid: Grid | None, noisy: tuple[int, ...], spreads: tuple[Fraction, ...]) -> int | Decimal:
    """The statistic from its noisy parts; *spreads*, the scales of their noise, decide the digits shown.

    count: never negative. avg: inside the bounds; the middle of them when there is nothing but noise.
    variance: of a sample (divided by n - 1), from 0 to (width/2)**2 * n/(n-1), its largest possible value;
    stddev: its root.
    """
    if kind in COUNTS:
        return max(noisy[0], 0)
    grid = needed_grid(kind, grid)
    if kind is Kind.SUM:
        step = grid.step
        return rounded(noisy[0] * step.numerator, step.denominator, _places_of_sum(spreads[0], step))
    n = max(noisy[0], 1)
    if kind is Kind.AVG:
        return _average(grid, n, noisy[1], spreads[1])
    variance = _variance(grid, n, noisy[1], noisy[2])
    spread = spreads[2] * grid.step**2 / (4 * n)
    if kind is Kind.VARIANCE:
        return readable(variance, spread)
    # The root's slope is least at the largest variance: digits enough there are enough everywhere.
    return readable(sqrt_above(variance), spread / max(grid.width * grid.step, grid.step))


def _average(grid: Grid, n: int, centred: int, spread: Fraction) -> Decimal:
    centred = min(max(centred, -grid.width * n), grid.width * n)
    step, places = grid.step, _places_of_average(n, spread * grid.step)
    average = rounded((centred + (grid.lower + grid.upper) * n) * step.numerator, 2 * n * step.denominator, places)
    # Rounding for the eye must not leave the bounds either.
    low, high = _shown_bounds(grid)
    return min(max(average, low), high)


@lru_cache(maxsize=64)
def _places_of_sum(spread: Fraction, step: Fraction) -> int:
    return readable_places(spread * step)


@lru_cache(maxsize=4096)
def _places_of_average(n: int, spread: Fraction) -> int:
    return readable_places(spread / (2 * n))


@lru_cache(maxsize=64)
def _shown_bounds(grid: Grid) -> tuple[Decimal, Decimal]:
    low, high = decimal_above(grid.lower * grid.step, 15), decimal_below(grid.upper * grid.step, 15)
    return (low, high) if low <= high else (high, high)


def _variance(grid: Grid, n: int, centred: int, squares: int) -> Fraction:
    width = grid.width
    centred = min(max(centred, -width * n), width * n)
    squares = min(max(squares, 0), width**2 * n)
    return Fraction(max(n * squares - centred**2, 0), 4 * n * max(n - 1, 1)) * grid.step**2


def parse_fraction(value: Numeric) -> Fraction:
    """A quantile's fraction from 0 to 1, to six digits: finer losses would not fit 64 bits at 10**12 rows."""
    fraction = exact(value, "fraction")
    if not 0 <= fraction <= 1:
        raise InvalidParameterError("fraction must lie between 0 and 1", "0.5 is the median.")
    return fraction.limit_denominator(10**6)


def bin_value(histogram: Histogram, chosen: int) -> Decimal:
    """The middle of the chosen bin."""
    width = histogram.bin_width
    return readable(histogram.lower + (Fraction(2 * chosen + 1, 2)) * width, width)
