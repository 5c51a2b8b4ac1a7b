"""The released numbers: what the final functions of the SQL aggregates call."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from discreet.core.errors import InvalidParameterError
from discreet.dp.additive import DiscreteGaussian, DiscreteLaplace, additive_noise
from discreet.dp.estimate import (
    COUNTS,
    QUANTILES,
    Kind,
    assemble,
    bin_value,
    exact_parts,
    needed_grid,
    parse_fraction,
    sensitivities,
)
from discreet.dp.exact import Numeric, decimal_above
from discreet.dp.grid import Grid
from discreet.dp.price import Price
from discreet.dp.quantile import QuantileChoice
from discreet.dp.sensitivity import Neighbours
from discreet.dp.totals import Histogram, Totals


def release(
    kind: Kind | str,
    data: Totals | Histogram,
    price: Price,
    neighbours: Neighbours | str = Neighbours.UNBOUNDED,
    filtered: bool = True,
    fraction: Numeric | None = None,
) -> int | Decimal:
    """One noisy statistic of one group: an integer for counts, a decimal otherwise, never NULL and never an
    error.

    Guarantee: *price*, for all groups of one call site together. With unbounded neighbours a person is in
    one group (parallel composition); with bounded ones in at most two, which the doubled sensitivity
    covers: the two parts of the change add up in L1, and in L2 to less. *filtered* says that the question
    has a WHERE or a GROUP BY.
    """
    return release_many(kind, [data], price, neighbours, filtered, fraction)[0]


def release_many(
    kind: Kind | str,
    groups: Sequence[Totals | Histogram],
    price: Price,
    neighbours: Neighbours | str = Neighbours.UNBOUNDED,
    filtered: bool = True,
    fraction: Numeric | None = None,
) -> list[int | Decimal]:
    """The statistic of every group, each with noise of its own; all groups together cost *price*."""
    kind, neighbours = Kind(kind), Neighbours(neighbours)
    if kind in QUANTILES:
        return _quantiles(kind, groups, price, neighbours, filtered, fraction)
    totals = [group for group in groups if isinstance(group, Totals)]
    if len(totals) != len(groups):
        raise InvalidParameterError(f"{kind} is made from totals")
    if not totals:
        return []
    grid = totals[0].grid
    if any(group.grid != grid for group in totals):
        raise InvalidParameterError("groups of one call site share their bounds")
    mechanisms = _mechanisms(kind, grid, price, neighbours, filtered)
    exact_columns = zip(*(exact_parts(kind, group) for group in totals), strict=True)
    noisy_columns = [
        mechanism.release_many(column) for mechanism, column in zip(mechanisms, exact_columns, strict=True)
    ]
    spreads = tuple(mechanism.spread for mechanism in mechanisms)
    return [assemble(kind, grid, parts, spreads) for parts in zip(*noisy_columns, strict=True)]


@lru_cache(maxsize=64)
def _mechanisms(
    kind: Kind, grid: Grid | None, price: Price, neighbours: Neighbours, filtered: bool
) -> list[DiscreteLaplace | DiscreteGaussian]:
    needed = sensitivities(kind, grid, neighbours, filtered)
    shares = price.split(len(needed))
    return [additive_noise(sensitivity, share) for sensitivity, share in zip(needed, shares, strict=True)]


def _quantiles(
    kind: Kind,
    groups: Sequence[Totals | Histogram],
    price: Price,
    neighbours: Neighbours,
    filtered: bool,
    fraction: Numeric | None,
) -> list[int | Decimal]:
    if kind is Kind.MEDIAN:
        fraction = Fraction(1, 2)
    if fraction is None:
        raise InvalidParameterError("a quantile needs a fraction", "0.5 is the median.")
    wanted = parse_fraction(fraction)
    histograms = [group for group in groups if isinstance(group, Histogram)]
    if len(histograms) != len(groups):
        raise InvalidParameterError(f"{kind} is made from histograms")
    if len({(len(group.counts), group.lower, group.upper) for group in histograms}) > 1:
        raise InvalidParameterError("groups of one call site share their bounds")
    choice = QuantileChoice.of(wanted, price, neighbours, filtered)
    chosen = choice.release_many([group.counts for group in histograms])
    return [bin_value(group, index) for group, index in zip(histograms, chosen, strict=True)]


def error_95(
    kind: Kind | str,
    grid: Grid | None,
    price: Price,
    neighbours: Neighbours | str = Neighbours.UNBOUNDED,
    filtered: bool = True,
    rows: int | None = None,
) -> Decimal | None:
    """The half-width within which the noise stays with 95 % probability; None where it depends on the data.

    count, sum: from the price alone. avg: for a group of *rows* rows, by a union bound over sum and count:
    with 97.5 % each stays within s and c, and then the average is off by at most (s + c width) / 2 divided
    by rows - c, and never by more than the width. *rows* must be public or itself noisy.
    """
    kind, neighbours = Kind(kind), Neighbours(neighbours)
    if kind in COUNTS:
        return Decimal(_mechanisms(kind, grid, price, neighbours, filtered)[0].half_width())
    if kind is Kind.SUM:
        (mechanism,) = _mechanisms(kind, grid, price, neighbours, filtered)
        return decimal_above(mechanism.half_width() * needed_grid(kind, grid).step, 6)
    if kind is not Kind.AVG or rows is None:
        return None
    grid = needed_grid(kind, grid)
    of_count, of_sum = (
        mechanism.half_width(Fraction(975, 1000)) for mechanism in _mechanisms(kind, grid, price, neighbours, filtered)
    )
    certain = rows - of_count
    bound = Fraction(of_sum + of_count * grid.width, 2 * certain) if certain > 0 else Fraction(grid.width)
    return decimal_above(min(bound, Fraction(grid.width)) * grid.step, 6)
