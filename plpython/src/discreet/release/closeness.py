"""t-closeness: how far the values in a class are spread otherwise than those in the whole table.

Li, Li, Venkatasubramanian: t-Closeness, Privacy Beyond k-Anonymity and l-Diversity (ICDE 2007). The distance of two
distributions is the earth mover's, over one of three ground distances; results are fractions, nothing is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.release.classes import Composition, Ints


@dataclass(frozen=True)
class Distances:
    """The distance of each class: `numerator` over `denominator` times the size of the class."""

    numerator: Ints
    sizes: Ints
    denominator: int

    def largest(self) -> Fraction:
        """Exact: floats only choose the classes that are compared as fractions."""
        ratio = self.numerator / self.sizes
        near = (ratio >= ratio.max() * (1 - 1e-9)).astype(bool)
        pairs = set(zip(self.numerator[near].tolist(), self.sizes[near].tolist(), strict=True))
        fractions = (Fraction(above, below) for above, below in pairs)
        return max(fractions) / self.denominator

    def beyond(self, t: Fraction) -> Ints:
        """Which classes are farther than t, exactly; as 0 and 1."""
        limit = t * self.denominator
        if int(self.numerator.max(initial=0)) * limit.denominator < 1 << 62 and (
            int(self.sizes.max(initial=0)) * limit.numerator < 1 << 62
        ):
            return (self.numerator * limit.denominator > self.sizes * limit.numerator).astype(np.int64)
        pairs = zip(self.numerator.tolist(), self.sizes.tolist(), strict=True)
        return np.array([above > limit * below for above, below in pairs], dtype=np.int64)


def wide(numbers: Ints, composition: Composition) -> Ints:
    """The same numbers, without a largest one where products of them could pass 2^63."""
    rows = int(composition.totals.sum())
    return numbers if rows * rows * (composition.values + 1) < 1 << 62 else numbers.astype(object)


def equal(composition: Composition) -> Distances:
    """Every two values are equally far apart: half the sum of all differences, or the sum of the positive ones."""
    totals, sizes = composition.totals, composition.sizes
    rows = int(totals.sum())
    size = wide(np.repeat(sizes, composition.cells_per_class), composition)
    excess = wide(composition.count, composition) * rows - totals[composition.value] * size
    return Distances(np.add.reduceat(np.maximum(excess, 0), composition.starts), sizes, rows)


def ordered(composition: Composition) -> Distances:
    """Values have an order, and neighbours are 1 / (m - 1) apart: the mean of the differences of the cumulated shares.

    Between two values of a class its cumulated share stands still while that of the table grows, so the sum over the
    gap is two sums of the table's, split where the table overtakes. Only values that are there take part.
    """
    totals, sizes = composition.totals, composition.sizes
    if composition.values < 2:
        return Distances(np.zeros(composition.classes, dtype=np.int64), sizes, 1)
    rows = int(totals.sum())
    cumulated = np.cumsum(totals)
    until = np.append(0, np.cumsum(cumulated))
    ends = np.append(composition.starts[1:], len(composition.value)) - 1
    size = wide(np.repeat(sizes, composition.cells_per_class), composition)
    passed = np.cumsum(composition.count)
    before = passed[composition.starts] - composition.count[composition.starts]
    own = wide(passed - np.repeat(before, composition.cells_per_class), composition)
    following = np.append(composition.value[1:], composition.values)
    following[ends] = composition.values
    # the last value of all adds nothing: both shares are 1
    gaps = _gap(cumulated, until, own * rows, size, composition.value, np.minimum(following, composition.values - 1))
    zeros = np.zeros_like(sizes)
    first = _gap(cumulated, until, zeros, wide(sizes, composition), zeros, composition.value[composition.starts])
    return Distances(np.add.reduceat(gaps, composition.starts) + first, sizes, rows * (composition.values - 1))


def _gap(cumulated: Ints, until: Ints, share: Ints, size: Ints, low: Ints, high: Ints) -> Ints:
    """Sum of |share - cumulated[i] * size| over low <= i < high."""
    overtaken = np.searchsorted(cumulated, (share // size).astype(np.int64), side="right")
    middle = np.clip(overtaken, low, np.maximum(low, high))
    high = np.maximum(low, high)
    below = (middle - low) * share - (until[middle] - until[low]) * size
    above = (until[high] - until[middle]) * size - (high - middle) * share
    return below + above


def hierarchical(composition: Composition, levels: list[tuple[Ints, int]]) -> Fraction:
    """Values are leaves of a tree of height H; the distance of two is the height of their lowest common node over H.

    The earth mover's distance on such a tree is the mean, over the heights 0 to H - 1, of the equal distance between
    the nodes of that height. `levels` says to which node of each height a value belongs, from the values themselves on.
    """
    parts = [equal(composition.coarser(node_of_value, nodes)) for node_of_value, nodes in levels]
    numerator = np.sum([part.numerator.astype(object) for part in parts], axis=0)
    together = Distances(numerator, parts[0].sizes, parts[0].denominator)
    return together.largest() / len(levels)
