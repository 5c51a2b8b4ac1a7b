"""Where the exact aggregate lies, given how far the numbers are off that it was made of.

Each number is released with noise, and with the probability of a half-width it lies within `widths` of the exact one.
Then the exact aggregate lies within the range that is given here; all of it is post-processing of released numbers.
Ranges are added, multiplied and divided end by end, so that it does not matter which numbers are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.dp.exact import sqrt_above
from discreet.dp.grid import Grid
from discreet.dp.quantile import Side
from discreet.gate import pairs
from discreet.gate.aggregates import Aggregate
from discreet.gate.bins import EqualBins
from discreet.gate.measurements import Measurement

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Range:
    """Numbers from `lower` to `upper`; None: there is no end on this side."""

    lower: Fraction | None
    upper: Fraction | None

    @classmethod
    def around(cls, middle: Fraction, width: Fraction) -> Range:
        return cls(middle - width, middle + width)

    def within(self, lower: Fraction | None, upper: Fraction | None) -> Range:
        """What of it lies between these bounds, which the exact number keeps; the nearer bound where nothing does."""
        low = lower if self.lower is None or (lower is not None and self.lower < lower) else self.lower
        high = upper if self.upper is None or (upper is not None and self.upper > upper) else self.upper
        if low is not None and high is not None and low > high:
            low = high = lower if self.upper is not None and lower is not None and self.upper < lower else upper
        return Range(low, high)

    def plus(self, other: Range) -> Range:
        return Range(
            None if self.lower is None or other.lower is None else self.lower + other.lower,
            None if self.upper is None or other.upper is None else self.upper + other.upper,
        )

    def scaled(self, by: Fraction) -> Range:
        ends = [None if end is None else end * by for end in (self.lower, self.upper)]
        return Range(*ends) if by >= 0 else Range(ends[1], ends[0])

    def minus(self, other: Range) -> Range:
        return self.plus(other.scaled(-ONE))

    def times(self, other: Range) -> Range:
        ends = [self.lower, self.upper, other.lower, other.upper]
        if any(end is None for end in ends):
            return EVERYTHING
        products = [a * b for a in ends[:2] for b in ends[2:] if a is not None and b is not None]
        return Range(min(products), max(products))

    def over(self, other: Range) -> Range:
        """A quotient; unlimited where the divisor may be 0."""
        if other.lower is None or other.upper is None or other.lower <= 0 <= other.upper:
            return EVERYTHING
        return self.times(Range(1 / other.upper, 1 / other.lower))

    @property
    def squared(self) -> Range:
        if self.lower is None or self.upper is None:
            return Range(ZERO, None)
        least = ZERO if self.lower <= 0 <= self.upper else min(abs(self.lower), abs(self.upper)) ** 2
        return Range(least, max(self.lower**2, self.upper**2))

    @property
    def root(self) -> Range:
        """Of numbers that are not below 0."""
        low = ZERO if self.lower is None or self.lower <= 0 else sqrt_above(self.lower) * (1 - Fraction(1, 2**60))
        return Range(low, None if self.upper is None else sqrt_above(max(self.upper, ZERO)))

    def off(self, shown: Fraction) -> Fraction | None:
        """The most that a number within it is away from the one that is shown; None: there is no limit."""
        if self.lower is None or self.upper is None:
            return None
        return max(self.upper - shown, shown - self.lower, ZERO)


EVERYTHING = Range(None, None)


def mean_of(total: int, most: int, count: int, widths: tuple[int, int]) -> Range:
    """T/N, of which T' and n are released, where one value has at most `most`; `widths`: those of T and N.

    T'/n - T/N is (T' - T)/n + (T/N) (N - n)/n, and |T/N| is at most `most`. A released number below 1 is taken for 1,
    which is nearer to every N of which there is a mean.
    """
    n = max(count, 1)
    return Range.around(Fraction(total, n), Fraction(widths[0] + most * widths[1], n))


def count_range(count: int, width: int, least: int) -> Range:
    return Range.around(Fraction(count), Fraction(width)).within(Fraction(least), None)


def sample_factor(count: int, width: int) -> Range:
    """n / (n - 1), which falls with n; a variance of a sample has at least two values."""
    n = count_range(count, width, 2)
    assert n.lower is not None
    most = n.lower / (n.lower - 1)
    return Range(ONE if n.upper is None else n.upper / (n.upper - 1), most)


def population(grid: Grid, sums: tuple[int, int], count: int, widths: tuple[int, int, int]) -> tuple[Range, Range]:
    """Mean, as a distance from the middle of the bounds, and variance, of the centred sum and the centred squares.

    Both in the unit of the argument; `widths`: of count, sum and squares.
    """
    width, (of_count, of_sum, of_squares) = grid.width, widths
    mean = mean_of(sums[0], width, count, (of_sum, of_count)).within(Fraction(-width), Fraction(width))
    squares = mean_of(sums[1], width**2, count, (of_squares, of_count)).within(ZERO, Fraction(width**2))
    variance = squares.minus(mean.squared).within(ZERO, Fraction(width**2))
    return mean.scaled(grid.step / 2), variance.scaled(grid.step**2 / 4)


def spread_range(aggregate: Aggregate, parts: Sequence[int], widths: Mapping[Measurement, int]) -> Range:
    """Of variances and standard deviations."""
    grid, (count, centred, squares) = aggregate.grid, parts
    assert grid is not None
    of = [widths[measurement] for measurement in aggregate.measurements]
    _, variance = population(grid, (centred, squares), count, (of[0], of[1], of[2]))
    if not aggregate.kind.endswith("_pop"):
        variance = variance.times(sample_factor(count, of[0]))
    return variance.root if aggregate.kind.startswith("stddev") else variance


class PairRanges:
    """Of what gate/pairs.py makes of six sums."""

    def __init__(self, aggregate: Aggregate, parts: Sequence[int], widths: Mapping[Measurement, int]) -> None:
        grid, other = aggregate.grid, aggregate.measurements[-1].subject.other_grid
        assert grid is not None and other is not None
        self.count, y, x, yy, xx, xy = parts
        of = [widths[measurement] for measurement in aggregate.measurements]
        self.of_count = of[0]
        mean_y, self.var_y = population(grid, (y, yy), self.count, (of[0], of[1], of[3]))
        mean_x, self.var_x = population(other, (x, xx), self.count, (of[0], of[2], of[4]))
        most = grid.width * other.width
        products = mean_of(xy, most, self.count, (of[5], of[0])).within(Fraction(-most), Fraction(most))
        unit = grid.step * other.step / 4
        self.covariance = products.scaled(unit).minus(mean_y.times(mean_x)).within(-most * unit, most * unit)
        self.mean_y, self.mean_x = (
            mean.plus(Range.around(Fraction(some.lower + some.upper) * some.step / 2, ZERO))
            for mean, some in ((mean_y, grid), (mean_x, other))
        )

    @property
    def n(self) -> Range:
        return count_range(self.count, self.of_count, 0)

    @property
    def correlation(self) -> Range:
        return self.covariance.over(self.var_x.times(self.var_y).root).within(-ONE, ONE)

    @property
    def slope(self) -> Range:
        return self.covariance.over(self.var_x)


PAIRS: dict[str, Callable[[PairRanges], Range]] = {
    "corr": lambda found: found.correlation,
    "covar_pop": lambda found: found.covariance,
    "covar_samp": lambda found: found.covariance.times(sample_factor(found.count, found.of_count)),
    "regr_avgx": lambda found: found.mean_x,
    "regr_avgy": lambda found: found.mean_y,
    "regr_count": lambda found: found.n,
    "regr_intercept": lambda found: found.mean_y.minus(found.slope.times(found.mean_x)),
    "regr_r2": lambda found: found.correlation.squared.within(ZERO, ONE),
    "regr_slope": lambda found: found.slope,
    "regr_sxx": lambda found: found.var_x.times(found.n),
    "regr_sxy": lambda found: found.covariance.times(found.n),
    "regr_syy": lambda found: found.var_y.times(found.n),
}


def quantile_range(aggregate: Aggregate, parts: Sequence[int]) -> Range:
    """Between the ends that were chosen (dp/quantile.py); where none was, the bound of the column."""
    bins = aggregate.measurements[0].bins
    assert isinstance(bins, EqualBins)
    chosen = {m.side: part for m, part in zip(aggregate.measurements, parts, strict=True)}
    lower = bins.end(chosen.get(Side.LOWER, 0), Side.LOWER)
    upper = bins.end(chosen.get(Side.UPPER, bins.number), Side.UPPER)
    return Range(min(lower, upper), max(lower, upper))


def range_of(aggregate: Aggregate, parts: Sequence[int], widths: Mapping[Measurement, int]) -> Range:
    """Where the exact aggregate lies: of variances, of aggregates of two numbers, and of quantiles."""
    if aggregate.kind in pairs.KINDS:
        return PAIRS[aggregate.kind](PairRanges(aggregate, parts, widths))
    if aggregate.measurements[0].bins is not None:
        return quantile_range(aggregate, parts)
    return spread_range(aggregate, parts, widths)
