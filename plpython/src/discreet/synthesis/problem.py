"""What is counted: attributes with their sizes, and the marginals that a synthetic table may be measured by.

All of it follows from declarations, so it tells nothing about a person.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from discreet.synthesis.junction import Clique, cells

Counts = npt.NDArray[np.int64]

# marginals with more cells than this are left out: their noise would drown them, and they fill the memory
MOST_CELLS = 20_000
MOST_CELLS_TOGETHER = 1_500_000
# three attributes at once are candidates only while there are few enough to read them off the model in every round
MOST_CANDIDATES = 700
# a marginal with the attribute that the publisher wants to predict weighs so many times as much
TARGET_WEIGHT = 4


@dataclass(frozen=True)
class Problem:
    """Attributes, by their sizes, of which a person adds at most `most_rows` rows.

    `given`: attributes whose values are drawn elsewhere (those of the person, for rows of a linked table); a marginal
    of these alone is no candidate. `target`: the attribute that the table is to predict, if there is one.
    """

    sizes: tuple[int, ...]
    most_rows: int = 1
    given: frozenset[int] = frozenset()
    target: int | None = None

    @property
    def drawn(self) -> frozenset[int]:
        """Attributes that are drawn here."""
        return frozenset(range(len(self.sizes))) - self.given

    @cached_property
    def single(self) -> tuple[Clique, ...]:
        """Marginals of one attribute; each is measured."""
        return tuple((attribute,) for attribute in range(len(self.sizes)))

    @cached_property
    def candidates(self) -> tuple[Clique, ...]:
        """Marginals of several attributes, small ones first, as far as there is room for their counts."""
        listed: list[Clique] = [
            clique
            for ways in (2, 3)
            for clique in _combinations(len(self.sizes), ways)
            if cells(self.sizes, clique) <= MOST_CELLS and not self.given.issuperset(clique)
        ]
        pairs: list[Clique] = [clique for clique in listed if len(clique) == 2]
        if len(listed) > MOST_CANDIDATES:
            listed = pairs
        kept: list[Clique] = []
        room = MOST_CELLS_TOGETHER
        for clique in sorted(listed, key=lambda c: (cells(self.sizes, c), c)):
            room -= cells(self.sizes, clique)
            if room >= 0:
                kept.append(clique)
        return tuple(sorted(kept, key=lambda c: (len(c), c)))

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """How much each candidate tells of all of them: the attributes it shares with each (AIM, section 4.3)."""
        sets = [frozenset(clique) for clique in self.candidates]

        def weight(of: frozenset[int]) -> int:
            favour = TARGET_WEIGHT if self.target in of else 1
            return favour * sum(len(of & other) for other in sets)

        return tuple(map(weight, sets))

    @cached_property
    def layout(self) -> Layout:
        return Layout(self.sizes, (*self.single, *self.candidates))


@dataclass(frozen=True)
class Layout:
    """Where the cells of each marginal are in one array; the last attribute of a marginal runs fastest."""

    sizes: tuple[int, ...]
    cliques: tuple[Clique, ...]

    @cached_property
    def starts(self) -> Mapping[Clique, int]:
        starts, at = {}, 0
        for clique in self.cliques:
            starts[clique] = at
            at += cells(self.sizes, clique)
        return starts

    @property
    def cells(self) -> int:
        return sum(cells(self.sizes, clique) for clique in self.cliques)

    def shape(self, clique: Clique) -> tuple[int, ...]:
        return tuple(self.sizes[attribute] for attribute in clique)

    def counts(self, counts: Counts, clique: Clique) -> Counts:
        """The counts of one marginal, an axis for each attribute."""
        start = self.starts[clique]
        return counts[start : start + cells(self.sizes, clique)].reshape(self.shape(clique))

    def spec(self) -> list[int]:
        """What the aggregate is told: attributes, their sizes, and for each marginal how many attributes and which."""
        return [len(self.sizes), *self.sizes, *_listed(self.cliques)]

    def counted(self, columns: Sequence[npt.NDArray[np.integer]]) -> Counts:
        """Counts of rows that are at hand as codes, as the aggregate would count them."""
        found = []
        for clique in self.cliques:
            flat = np.zeros(len(columns[0]), np.int64)
            for attribute in clique:
                flat = flat * self.sizes[attribute] + columns[attribute]
            found.append(np.bincount(flat, minlength=cells(self.sizes, clique)))
        return np.concatenate(found).astype(np.int64)


def _combinations(number: int, ways: int) -> Iterator[Clique]:
    return combinations(range(number), ways)


def _listed(cliques: Sequence[Clique]) -> Iterator[int]:
    for clique in cliques:
        yield len(clique)
        yield from clique


def decoded(packed: bytes) -> Counts:
    """Counts as the aggregate packs them: seven bits a byte, the lowest first, the eighth says that more follow."""
    data = np.frombuffer(packed, np.uint8)
    ends = data < 128
    number: npt.NDArray[np.int64] = np.cumsum(ends) - ends
    starts = np.flatnonzero(np.concatenate([[True], ends[:-1]])) if len(data) else np.zeros(0, np.int64)
    place = np.arange(len(data)) - starts[number] if len(data) else starts
    counts = np.zeros(int(ends.sum()), np.int64)
    np.add.at(counts, number, (data & 127).astype(np.int64) << (7 * place))
    return counts
