"""What is measured: exact integers per group, each with the most that one person can change it.

A person has at most `rows` rows' worth in a group: a person with more counts as `rows` rows of the own average. That
is a function of this person's rows alone, so no order and no choice comes in; where something must be chosen (groups
in which rows count, distinct values, quantiles) a keyed hash with a fresh secret chooses.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property

from discreet.dp.grid import Grid
from discreet.dp.price import Accounting, Price
from discreet.dp.quantile import Side
from discreet.gate.bins import CalendarBins, EqualBins, LogarithmicBins, ValueBins
from discreet.gate.tree import Expression

SQUARES_BITS = 30  # squares of grid integers fit 64 bits
PAIR_BITS = 28  # so do sums of more than a hundred products, which a person may have
SUM_BITS = 40
# A quantile is off by half a bin, an eight-thousandth of its range, and by ranks that grow with the logarithm of this.
# As many as dp_median has: choosing takes about 15 ms a group.
BINS = 4096


class Quantity(StrEnum):
    """`ROWS` counts rows or values, `PEOPLE` persons, `VALUES` numbers on the grid; the others are made of these."""

    PEOPLE = "people"
    ROWS = "rows"
    VALUES = "values"
    TOTAL = "total"
    CENTRED = "centred"
    SQUARES = "squares"
    PRODUCTS = "products"
    DISTINCT = "distinct"
    DISTINCT_TOTAL = "distinct total"
    QUANTILE = "quantile"


@dataclass(frozen=True)
class Subject:
    """What is measured about: an argument (None for rows), under a FILTER, on a grid.

    `whole`: of a type of whole numbers, all with a place on the grid. `everybody`: each person adds a value, as
    what has no place on the grid counts as its lower end (gate/presence.py). `other`: what products are made with
    (gate/pairs.py).
    """

    argument: Expression | None = None
    condition: Expression | None = None
    grid: Grid | None = None
    whole: bool = False
    everybody: bool = False
    other: Expression | None = None
    other_grid: Grid | None = None


@dataclass(frozen=True)
class OwnEpsilon:
    """The epsilon that a call names for itself; its measurements, so many `parts`, share it evenly."""

    epsilon: Fraction
    parts: int

    @property
    def worth(self) -> Fraction:
        return self.epsilon / self.parts

    def price(self, accounting: Accounting | str) -> Price:
        return Price.of(self.epsilon, accounting).split(self.parts)[0]


@dataclass(frozen=True)
class Measurement:
    """One noisy number per group; measurements that are equal are made once. Without an `own` epsilon, it is paid
    from that of the question. `side`: not the quantile itself, but a value on this side of it.
    """

    quantity: Quantity
    subject: Subject
    fraction: Fraction | None = None
    bins: EqualBins | LogarithmicBins | CalendarBins | ValueBins | None = None
    own: OwnEpsilon | None = None
    side: Side | None = None

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """It is looked up for every number, and its parts are deep."""
        return hash((self.quantity, self.subject, self.fraction, self.bins, self.own, self.side))

    def sensitivity(self, rows: int, single: bool, groups: int = 1) -> int:
        """The most that adding or removing one person changes the numbers of so many groups, added up.

        The person has so many `rows` in all of them together, and counts in no more groups than that. With more than
        one row per person, scaled sums are cut to integers, hence in each group the 2 (of a centred sum, which is twice
        a sum) and the 4 + 8 reaches (of centred squares, 4 q - 4 c s + c² n with |c| at most 2 reaches). A product of
        centred values is at most that of the widths of both grids. Of distinct values, as many come or go as the
        person has, each at most as large as the grid reaches.
        """
        grid, filled = self.subject.grid, min(groups, rows)
        if self.quantity is Quantity.PEOPLE:
            return groups
        if self.quantity in (Quantity.ROWS, Quantity.VALUES, Quantity.DISTINCT):
            return rows
        assert grid is not None
        if self.quantity in (Quantity.TOTAL, Quantity.DISTINCT_TOTAL):
            return max(rows * grid.reach, filled)
        if self.quantity is Quantity.PRODUCTS:
            assert self.subject.other_grid is not None
            return max(rows * grid.width * self.subject.other_grid.width, filled)
        if self.quantity is Quantity.CENTRED:
            return max(rows * grid.width + (0 if single else 2 * filled), filled)
        if self.quantity is Quantity.SQUARES:
            return max(rows * grid.width**2 + (0 if single else (4 + 8 * grid.reach) * filled), filled)
        raise AssertionError("a quantile is chosen, not measured with additive noise")

    @property
    def changed(self) -> int | None:
        """The most that changing one row changes the number, where every person adds a value (gate/presence.py).

        None where it is no less than a removal plus an addition.
        """
        grid = self.subject.grid
        if not self.subject.everybody or grid is None:
            return None
        return {Quantity.TOTAL: max(grid.width, 1), Quantity.SQUARES: max(grid.width**2, 1)}.get(self.quantity)
