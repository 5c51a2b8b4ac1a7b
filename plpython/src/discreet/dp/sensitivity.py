"""How much one person can change what is released.

Unbounded neighbours: one person's row is added or removed. Bounded neighbours: one person's row is changed
into any other, NULL included; where a WHERE or a GROUP BY exists (*filtered*) the row may leave one
selection and enter another, which is a removal plus an addition and costs twice the unbounded sensitivity
over all groups together.
"""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from discreet.core.errors import InvalidParameterError
from discreet.dp.exact import Numeric, decimal_above, exact, sqrt_above
from discreet.dp.grid import Grid


class Neighbours(StrEnum):
    """What two neighbouring databases differ in."""

    UNBOUNDED = "unbounded"
    BOUNDED = "bounded"

    @classmethod
    def _missing_(cls, value: object) -> Neighbours:
        raise InvalidParameterError(f"unknown neighbours {value!r}", "Use 'unbounded' or 'bounded'.")


def _by_neighbours(added: int, changed: int, neighbours: Neighbours, filtered: bool) -> int:
    """*added*: one row more or less; *changed*: one row changed, without WHERE and GROUP BY."""
    if neighbours is Neighbours.BOUNDED:
        added = 2 * added if filtered else changed
    # A grid of a single point at zero still gets noise of one step: sensitivity zero has no mechanism.
    return max(added, 1)


def count_sensitivity(neighbours: Neighbours, filtered: bool) -> int:
    """Of a number of rows, of not-null values, or of distinct values: a changed row may become NULL."""
    return _by_neighbours(1, 1, neighbours, filtered)


def sum_sensitivity(grid: Grid, neighbours: Neighbours, filtered: bool) -> int:
    """Of a sum of grid integers: a row adds at most max(|lower|, |upper|), or moves by upper - lower."""
    return _by_neighbours(grid.reach, max(grid.width, grid.reach), neighbours, filtered)


def centred_sum_sensitivity(grid: Grid, neighbours: Neighbours, filtered: bool) -> int:
    """Of the sum of 2 x - (lower + upper): each term lies between -width and width."""
    return _by_neighbours(grid.width, 2 * grid.width, neighbours, filtered)


def centred_squares_sensitivity(grid: Grid, neighbours: Neighbours, filtered: bool) -> int:
    """Of the sum of (2 x - (lower + upper))**2: each term lies between 0 and width**2."""
    return _by_neighbours(grid.width**2, grid.width**2, neighbours, filtered)


def quantile_sensitivity(fraction: Fraction, neighbours: Neighbours, filtered: bool) -> int:
    """Of every loss of ``quantile.quantile_losses`` for the quantile a/b.

    The loss of a bin is the larger of 0, b below - a n and a n - b (below + inside). One row more adds 1 to
    n and 0 or 1 to below and to below + inside: both terms change by a or by b - a. The larger of terms
    that change by no more than max(a, b - a) changes by no more than that. One row changed leaves n and
    moves the two by at most one, so the terms by at most b; a row that becomes NULL is a removal.
    """
    a, b = fraction.numerator, fraction.denominator
    return _by_neighbours(max(a, b - a), b, neighbours, filtered)


def tail_sensitivity(fraction: Fraction, neighbours: Neighbours, filtered: bool) -> int:
    """Of every loss of ``quantile.tail_losses`` for the quantile a/b, or (b - a)/b, with a <= b/2.

    The loss of a bin is the larger of 0, 2 b beyond - t and t - 2 b (beyond + inside) with t = max(2 a n,
    min(2 b least, b n)). One row more adds 0 or 1 to beyond and to beyond + inside, and between 0 and b to
    t: both terms change by no more than 2 b. One row changed leaves n and t, and moves the other two by at
    most one, which is 2 b again; a row that becomes NULL is a removal.
    """
    return _by_neighbours(2 * fraction.denominator, 2 * fraction.denominator, neighbours, filtered)


def sensitivity(
    kind: str,
    lower: Numeric,
    upper: Numeric,
    n: int,
    neighbours: Neighbours | str = Neighbours.UNBOUNDED,
    may_be_null: bool = False,
) -> Decimal:
    """The global sensitivity of an exact statistic over *n* values between the bounds, for curators.

    count, count_distinct: 1. sum: max(|lower|, |upper|); bounded, upper - lower, since a value that is
    there before and after the change moves by no more; where it may also become NULL, or be NULL before,
    max(upper - lower, |lower|, |upper|). With R = upper - lower: avg R/n, for a removal moves the average
    by (average - x)/(n-1) <= R/n, an addition by less, a change by at most R/n. variance (of a sample)
    R**2/n: a change attains it, an addition moves it by at most R**2/(n+1), a removal by at most R**2/n.
    stddev R/sqrt(n), since |sqrt(v) - sqrt(w)| <= sqrt(|v - w|). median, quantile, min, max: R, because in
    the worst case one person decides (the released ones do better by choosing among bins). Rounded up.
    """
    low, high = exact(lower, "lower bound"), exact(upper, "upper bound")
    if low > high:
        raise InvalidParameterError("lower bound is above upper bound", "Give the smaller bound first.")
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise InvalidParameterError("n must be a positive whole number", "Give the number of values.")
    width, reach = high - low, max(abs(low), abs(high))
    changed = max(width, reach) if may_be_null else width
    total = reach if Neighbours(neighbours) is Neighbours.UNBOUNDED else changed
    known = {
        "count": Fraction(1),
        "count_distinct": Fraction(1),
        "sum": total,
        "avg": width / n,
        "variance": width**2 / n,
        "stddev": sqrt_above(width**2 / n),
        "median": width,
        "quantile": width,
        "min": width,
        "max": width,
    }
    if kind not in known:
        raise InvalidParameterError(f"unknown kind {kind!r}", "Use one of: " + ", ".join(known) + ".")
    return decimal_above(known[kind])
