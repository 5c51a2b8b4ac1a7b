"""Quantiles: the private choice of a bin, by how many rows it is away from the rank wanted.

``QuantileEnd`` chooses a value that lies below a quantile, or above it, so that two of them are an interval around it.

``quantile_losses`` are for ranks in the middle. Near the ends they fail: of max, the 1-quantile, every bin beyond the
largest value would have loss 0, and the answer would be any of them. ``tail_losses`` look for a rank that lies far
enough inside for the noise not to reach the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from discreet.dp.choice import ExponentialChoice
from discreet.dp.price import Price
from discreet.dp.sensitivity import Neighbours, quantile_sensitivity, tail_sensitivity

# Up to this distance from an end, losses that are safe there cost at most 1 % of noise.
TAIL = Fraction(1, 100)


@dataclass(frozen=True)
class QuantileChoice:
    """The private choice of the bin that holds a quantile.

    Distribution: ``choice`` over ``losses``. Precondition and guarantee are those of ``ExponentialChoice``, at the
    sensitivity of the losses for a person of so many rows.

    Utility: with w = ``choice.half_width`` the chosen loss exceeds the least by no more than w, with 95 %. In a tail,
    ranks count from its end and the loss is 2 b times a number of rows. The rank wanted is at least
    k = floor(w / 2b) + 1 (``least_rank``), so if there are 2 k values or more, every bin beyond the outermost value
    has a loss of 2 b k > w, while the bin that holds the rank has none. Hence with 95 % the bin chosen does not lie
    beyond that of the outermost value, and fewer than 2 k values lie beyond it (for min and max; for the quantile a/b
    of n values, fewer than max(k, n a/b) + k). With fewer than 2 k values the median is looked for: there noise hides
    the ends.
    """

    fraction: Fraction
    choice: ExponentialChoice

    @classmethod
    def of(
        cls,
        fraction: Fraction,
        price: Price,
        neighbours: Neighbours = Neighbours.UNBOUNDED,
        filtered: bool = True,
        rows: int = 1,
    ) -> QuantileChoice:
        """`rows`: the most that one person has."""
        limit = tail_sensitivity if is_tail(fraction) else quantile_sensitivity
        return cls(fraction, ExponentialChoice(limit(fraction, neighbours, filtered) * rows, price))

    @property
    def unit(self) -> int:
        """What a row counts in a loss."""
        return self.fraction.denominator * (2 if is_tail(self.fraction) else 1)

    def half_width(self, bins: int) -> int:
        """With 95 % the bin chosen is no more rows than this away from holding the rank wanted."""
        return -(-self.choice.half_width(bins) // self.unit)

    def least_rank(self, bins: int) -> int:
        """k: how far from the end of a tail the rank wanted lies at least; a constant of price and bins."""
        return self.choice.half_width(bins) // self.unit + 1

    def losses(self, counts: Sequence[int]) -> list[int]:
        """For every bin, how far it is from holding the quantile."""
        if is_tail(self.fraction):
            return tail_losses(counts, self.fraction, self.least_rank(len(counts)))
        return quantile_losses(counts, self.fraction)

    def release(self, counts: Sequence[int]) -> int:
        """The bin chosen."""
        return self.release_many([counts])[0]

    def release_many(self, groups: Sequence[Sequence[int]]) -> list[int]:
        """A bin for every group; the price covers all of them together."""
        return self.choice.release_many([self.losses(counts) for counts in groups])


class Side(StrEnum):
    """On which side of a quantile a value is to lie."""

    LOWER = "lower"
    UPPER = "upper"


# an end lies on the wrong side of its quantile with no more than this probability
END_MISSED = Fraction(1, 200)
# percentile_cont and percentile_disc of n values are between those of the ranks n f - 2 and n f + 2
RANKS_BETWEEN = 2


@dataclass(frozen=True)
class QuantileEnd:
    """The private choice of a value that is not above the quantile a/b (`LOWER`), or not below it (`UPPER`).

    Candidates: the bins, and beyond them, on this side, the bound of the column (first or last candidate).
    Distribution: ``choice`` over ``losses``: those of ``quantile_losses`` with d = ``distance`` rows put at the bound,
    which is a candidate of its own, and a rank wanted that is d rows nearer to the bound than that of the quantile.

    Privacy: d is a constant of price and number of bins, so adding or removing a row changes a loss by as much as
    without these rows: the rank wanted, times b, moves by a, the ends of a bin, times b, by 0 or b. That is
    ``quantile_sensitivity``, for which ``ExponentialChoice`` keeps its guarantee.

    Utility: the rank wanted lies within the ranks of all candidates, so that one of them has loss 0, and with
    probability 1 - END_MISSED the one chosen is no more than h rows away from holding it (h: ``half_width``). With
    d = h + 2: for LOWER, the bin chosen has at most n a/b + h - d = n a/b - 2 rows below it, so the value at every rank
    from there on is not below its lower end; the bound is below all values. UPPER is the mirror image.
    """

    fraction: Fraction
    side: Side
    choice: ExponentialChoice

    @classmethod
    def of(cls, fraction: Fraction, side: Side, price: Price, rows: int = 1) -> QuantileEnd:
        """`rows`: the most that one person has."""
        sensitivity = quantile_sensitivity(fraction, Neighbours.UNBOUNDED, True) * rows
        return cls(fraction, side, ExponentialChoice(sensitivity, price))

    @property
    def unit(self) -> int:
        """What a row counts in a loss."""
        return self.fraction.denominator

    def half_width(self, bins: int) -> int:
        """The bin chosen is no more rows than this away from holding the rank wanted, but for END_MISSED."""
        return -(-self.choice.half_width(bins + 1, 1 - END_MISSED) // self.unit)

    def distance(self, bins: int) -> int:
        """d: how many rows nearer to the bound than the quantile the rank wanted is."""
        return self.half_width(bins) + RANKS_BETWEEN

    def losses(self, counts: Sequence[int]) -> list[int]:
        """For every candidate, how far it is from holding the rank wanted."""
        distance = self.distance(len(counts))
        wanted = self.fraction.numerator * sum(counts)
        if self.side is Side.LOWER:
            return _distances([distance, *counts], self.unit, wanted)
        return _distances([*counts, distance], self.unit, wanted + self.unit * distance)

    def release(self, counts: Sequence[int]) -> int:
        """The candidate chosen."""
        return self.release_many([counts])[0]

    def release_many(self, groups: Sequence[Sequence[int]]) -> list[int]:
        """A candidate for every group; the price covers all of them together."""
        return self.choice.release_many([self.losses(counts) for counts in groups])


def is_tail(fraction: Fraction) -> bool:
    """Whether a quantile lies so near to an end that the end must be kept away from."""
    return min(fraction, 1 - fraction) <= TAIL


def quantile_losses(counts: Sequence[int], fraction: Fraction) -> list[int]:
    """For every bin, how many rows it is away from holding the quantile a/b, times b.

    With n rows, *below* of them in lower bins and *inside* in the bin, the bin holds the ranks from below
    to below + inside; its loss is the distance of a n from b times that interval. So a wide bin, or one
    with many equal values, has loss 0 if the quantile is among them, and the bins between the two middle
    values have loss 0 too.
    """
    a, b = fraction.numerator, fraction.denominator
    return _distances(counts, b, a * sum(counts))


def tail_losses(counts: Sequence[int], fraction: Fraction, least: int) -> list[int]:
    """As ``quantile_losses``, times 2 b, for a rank from the nearer end of n a/b, or `least` if that is more.

    Of fewer than 2 `least` rows the rank is n/2. Hence 2 b times the rank is max(2 a n, min(2 b least, b n)).
    """
    if fraction > Fraction(1, 2):
        return tail_losses(counts[::-1], 1 - fraction, least)[::-1]
    a, b, n = fraction.numerator, fraction.denominator, sum(counts)
    return _distances(counts, 2 * b, max(2 * a * n, min(2 * b * least, b * n)))


def _distances(counts: Sequence[int], unit: int, wanted: int) -> list[int]:
    """Of `wanted` from the ranks that each bin holds, in parts of which a row has `unit`."""
    losses, below = [], 0
    for inside in counts:
        losses.append(max(0, unit * below - wanted, wanted - unit * (below + inside)))
        below += inside
    return losses
