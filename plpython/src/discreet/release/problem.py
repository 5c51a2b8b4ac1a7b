"""What an anonymous table must satisfy, and what it costs: the same for every way of making one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.declarations import at_least, given, one_of
from discreet.core.errors import InvalidParameterError
from discreet.release import closeness
from discreet.release.classes import Composition, Ints, People, summed

Flags = NDArray[np.bool_]
METHODS = ("optimal", "mondrian")
ANONYMITY_DISTANCES = ("equal", "ordered")


@dataclass(frozen=True)
class Claim:
    """k, and if given distinct l and t, of a sensitive column; with the share of rows that may be left out."""

    k: int
    l: int | None = None  # noqa: E741
    t: Fraction | None = None
    distance: str = "equal"
    max_suppression: Fraction = Fraction(0)

    @classmethod
    def of(
        cls,
        k: int | None,
        l_wanted: int | None,
        t: float | None,
        distance: str | None,
        sensitive: str | None,
        max_suppression: float | None,
    ) -> Claim:
        at_least("k", k, 2)
        if l_wanted is not None:
            at_least("l", l_wanted, 2)
        if t is not None and not 0 <= t <= 1:
            raise InvalidParameterError(f"t is {t}, which is no distance", "Give a number from 0 to 1.")
        share = given("max_suppression", max_suppression)
        if not 0 <= share < 1:
            raise InvalidParameterError(
                f"max_suppression is {share}, which is no share of the rows", "Give a number from 0 to below 1."
            )
        if sensitive is None and (l_wanted is not None or t is not None):
            raise InvalidParameterError("l and t are about a sensitive column", "Name it: sensitive => 'disease'.")
        exact = None if t is None else Fraction(repr(t))
        return cls(
            given("k", k), l_wanted, exact, one_of("distance", distance, ANONYMITY_DISTANCES), Fraction(repr(share))
        )

    def far(self, composition: Composition) -> Flags:
        """Which classes are farther than t from the totals of the composition."""
        if self.t is None:
            return np.zeros(composition.classes, dtype=bool)
        measure = closeness.equal if self.distance == "equal" else closeness.ordered
        return measure(composition).beyond(self.t).astype(bool)


@dataclass(frozen=True)
class Table:
    """Distinct combinations of quasi-identifiers and a sensitive column (all 0 where there is none), and their rows.

    `people` says who is in which of them; without it every row is a person.
    """

    codes: list[Ints]
    sensitive: Ints
    values: int
    count: Ints
    people: People | None = None

    @property
    def rows(self) -> int:
        return int(self.count.sum())

    @property
    def weight(self) -> Ints:
        """How many people each combination has."""
        return self.count if self.people is None else self.people.weight

    def shortage(self, claim: Claim) -> str | None:
        """Why no table meets the claim, if so: there are too few people, or too few values."""
        many = self.rows if self.people is None else self.people.total
        if many < claim.k:
            return f"the table has {many} {'rows' if self.people is None else 'people'}, fewer than k = {claim.k}"
        if claim.l is not None and len(np.unique(self.sensitive)) < claim.l:
            return f"the sensitive column has fewer than l = {claim.l} values"
        return None

    def sharing(self, claim: Claim) -> str | None:
        """Why the whole table misses l, as one class, if so: some have many values, but one value all people have."""
        if claim.l is None:
            return None
        together = Composition.of(0 * self.sensitive, 1, self.sensitive, self.count, self.values, self.people)
        if not together.shared.any():
            return None
        return f"all people taken together share a value of the sensitive column, which is not l = {claim.l}"


def suppressed(claim: Claim, composition: Composition, most: int) -> tuple[Flags, int, bool]:
    """Which classes are left out so that the others meet the claim, and how many rows that are; stops beyond `most`.

    First those below k or l, which more general classes would only have less of; the last answer says whether these
    alone are within `most`. Then, for l, those in which all people share a value; and those beyond t of the rows that
    are left, until none is.
    """
    sizes = composition.sizes
    total = int(sizes.sum())
    out = composition.people < claim.k
    if claim.l is not None:
        out |= composition.cells_per_class < claim.l
    rows = int(sizes[out].sum())
    if rows > most or rows == total:
        return out, rows, False
    if claim.l is not None:
        out |= composition.shared
        rows = int(sizes[out].sum())
    while claim.t is not None and rows <= most and rows < total:
        far = claim.far(_without_absent(_only(composition, ~out)))
        if not far.any():
            break
        out[np.flatnonzero(~out)[far]] = True
        rows = int(sizes[out].sum())
    return out, rows, True


def _only(composition: Composition, kept: Flags) -> Composition:
    """Some of the classes, and the totals of these."""
    cells = kept[composition.class_of_cell]
    lengths = composition.cells_per_class[kept]
    value, count = composition.value[cells], composition.count[cells]
    return Composition(np.cumsum(lengths) - lengths, value, count, summed(value, count, composition.values))


def _without_absent(composition: Composition) -> Composition:
    """Values that no row has any more take no part in distances between ranks."""
    there = composition.totals > 0
    number = np.cumsum(there) - 1
    return Composition(composition.starts, number[composition.value], composition.count, composition.totals[there])


def most_rows(claim: Claim, rows: int) -> int:
    return math.floor(claim.max_suppression * rows)


Tick = Callable[[str], None]
