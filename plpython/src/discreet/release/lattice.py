"""Full-domain generalisation of least loss: every column is put to one level, and some rows are left out.

The combinations of levels form a lattice. More general combinations have larger classes, so rows that must be left out
for k and distinct l never become more on the way up (Samarati 2001): a combination that leaves out too many rules out
all below it, one that does not vouches for all above. As in Flash (Kohlmayer et al. 2012) chains through the undecided
part are searched by halving. The rest is visited in the order of a lower bound of the loss, so the best is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameterError
from discreet.release.classes import LARGEST_KEY, Composition, Ints, numbered, summed
from discreet.release.hierarchy import Hierarchy
from discreet.release.problem import Claim, Flags, Table, Tick, most_rows, suppressed

MOST_NODES = 500_000
# combinations of levels of half the columns whose numbers are kept; each takes 8 bytes per combination of values
HALVES = 24


@dataclass(frozen=True)
class Generalisation:
    """The best levels; the class of each combination, or -1 where it is left out; and how the search went."""

    levels: tuple[int, ...]
    class_of: Ints
    suppressed: int
    loss: float
    tried: int
    nodes: int


@dataclass(frozen=True)
class Half:
    """Some columns at some levels: the number of each combination, how many there are, and what each of them loses."""

    number: Ints
    numbers: int
    loss: NDArray[np.float64]


class Search:
    def __init__(self, claim: Claim, table: Table, hierarchies: list[Hierarchy], tick: Tick) -> None:
        self.claim, self.table, self.hierarchies, self.tick = claim, table, hierarchies, tick
        self.most = most_rows(claim, table.rows)
        heights = [len(hierarchy.levels) for hierarchy in hierarchies]
        if np.prod(heights, dtype=float) > MOST_NODES:
            raise InvalidParameterError(
                f"{np.prod(heights, dtype=float):.0f} combinations of levels are too many to search",
                "Give hierarchies of fewer levels, or take method => 'mondrian'.",
            )
        self.nodes: Ints = np.indices(heights).reshape(len(heights), -1).T.astype(np.int64)
        self.strides = np.array([int(np.prod(heights[place + 1 :])) for place in range(len(heights))], dtype=np.int64)
        self.losses = [[level.loss for level in hierarchy.levels] for hierarchy in hierarchies]
        self.bound = self._bounds()
        self.too_low = np.zeros(len(self.nodes), dtype=bool)
        self.high_enough = np.zeros(len(self.nodes), dtype=bool)
        self.tried = np.zeros(len(self.nodes), dtype=bool)
        middle = (len(hierarchies) + 1) // 2
        self.parts = (range(middle), range(middle, len(hierarchies)))
        self.halves: dict[tuple[int, tuple[int, ...]], Half] = {}
        self.count_bits = int(table.count.max()).bit_length()
        self.best: tuple[float, int] | None = None
        self.totals = summed(table.sensitive, table.count, max(table.values, 1))

    def _bounds(self) -> NDArray[np.float64]:
        """The loss of each node without suppression: with it, a row that is left out loses everything."""
        bound = np.zeros(len(self.nodes))
        for place, losses in enumerate(self.losses):
            rows = summed(self.table.codes[place], self.table.count, len(losses[0]))
            mean = np.array([float((rows * loss).sum()) for loss in losses]) / self.table.rows
            bound += mean[self.nodes[:, place]]
        return bound / len(self.losses)

    def run(self) -> Generalisation:
        top = len(self.nodes) - 1
        if not self._try(top):
            raise InvalidParameterError(self._why_impossible(), "Ask for less, or allow more suppression.")
        while (node := self._most_promising()) is not None:
            if self.high_enough[node]:
                self._try(node)
            else:
                self._halve(self._chain(node))
        if self.best is None:
            raise InvalidParameterError(self._why_impossible(), "Ask for less, or allow more suppression.")
        loss, node = self.best
        return self._result(loss, node)

    def _most_promising(self) -> int | None:
        """The node of the lowest bound that could still be better than the best one."""
        open_nodes = ~(self.too_low | self.tried)
        if self.best is not None:
            open_nodes &= self.bound < self.best[0]
        candidates = np.flatnonzero(open_nodes)
        return int(candidates[np.argmin(self.bound[candidates])]) if len(candidates) else None

    def _chain(self, node: int) -> list[int]:
        """Nodes from this one upwards, each time by the level that loses least, up to one that is high enough."""
        chain = [node]
        while not self.high_enough[chain[-1]]:
            levels = self.nodes[chain[-1]]
            above = [
                chain[-1] + int(self.strides[place])
                for place, hierarchy in enumerate(self.hierarchies)
                if levels[place] + 1 < len(hierarchy.levels)
            ]
            chain.append(min(above, key=lambda each: (bool(self.too_low[each]), float(self.bound[each]))))
        return chain

    def _halve(self, chain: list[int]) -> None:
        low, high = 0, len(chain) - 1
        while low < high:
            middle = (low + high) // 2
            if self.too_low[chain[middle]]:
                low = middle + 1
            elif self.high_enough[chain[middle]] or self._try(chain[middle]):
                high = middle
            else:
                low = middle + 1

    def _try(self, node: int) -> bool:
        """Whether few enough rows are left out for k and l; then all above are as good, otherwise all below as bad."""
        self.tried[node] = True
        self.tick(f"{int(self.tried.sum())} of {len(self.nodes)} combinations of levels tried")
        levels = self.nodes[node]
        composition, lost = self._classes(levels)
        out, rows, monotone = suppressed(self.claim, composition, self.most)
        if not monotone:
            self.too_low |= (self.nodes <= levels).all(axis=1)
            return False
        self.high_enough |= (self.nodes >= levels).all(axis=1)
        if rows <= self.most and rows < self.table.rows:
            loss = self._loss(composition, lost, out, rows)
            if self.best is None or (loss, node) < self.best:
                self.best = (loss, node)
        return True

    def _half(self, side: int, levels: tuple[int, ...]) -> Half:
        """Neighbours in the lattice differ in one level: of most nodes one half is known already."""
        known = self.halves.pop((side, levels), None)
        if known is None:
            places = self.parts[side]
            chosen = [self.hierarchies[place].levels[level] for place, level in zip(places, levels, strict=True)]
            groups = [level.group[self.table.codes[place]] for place, level in zip(places, chosen, strict=True)]
            number, numbers = numbered(groups) if groups else (0 * self.table.count, 1)
            member = np.zeros(numbers, dtype=np.int64)
            member[number] = np.arange(len(number))
            loss = np.zeros(numbers)
            for place, level in zip(places, levels, strict=True):
                loss += self.losses[place][level][self.table.codes[place][member]]
            known = Half(number, numbers, loss)
            while len(self.halves) >= HALVES:
                self.halves.pop(next(iter(self.halves)))
        self.halves[side, levels] = known
        return known

    def _numbers(self, levels: Ints) -> tuple[Ints, Half, Half]:
        """The class of each combination of values, with gaps in the numbers."""
        middle = len(self.parts[0])
        one = self._half(0, tuple(levels[:middle].tolist()))
        two = self._half(1, tuple(levels[middle:].tolist()))
        return one.number * two.numbers + two.number, one, two

    def _classes(self, levels: Ints) -> tuple[Composition, NDArray[np.float64]]:
        """The classes at these levels, and what a row of each loses; counts ride in the last bits of what is sorted."""
        key, one, two = self._numbers(levels)
        values = max(self.table.values, 1)
        people = self.table.people
        if people is not None or (one.numbers * two.numbers * values) << self.count_bits >= LARGEST_KEY:
            number, classes = numbered([key])
            composition = Composition.of(number, classes, self.table.sensitive, self.table.count, values, people)
            which = np.zeros(classes, dtype=np.int64)
            which[number] = key
            return composition, one.loss[which // two.numbers] + two.loss[which % two.numbers]
        packed = np.sort((key * values + self.table.sensitive) << self.count_bits | self.table.count)
        cell, count = packed >> self.count_bits, packed & ((1 << self.count_bits) - 1)
        first = np.flatnonzero(np.append(True, cell[1:] != cell[:-1]))
        cell, count = cell[first], np.add.reduceat(count, first)
        which = cell // values
        starts = np.flatnonzero(np.append(True, which[1:] != which[:-1]))
        which = which[starts]
        composition = Composition(starts, cell % values, count, self.totals)
        return composition, one.loss[which // two.numbers] + two.loss[which % two.numbers]

    def _loss(self, composition: Composition, lost: NDArray[np.float64], out: Flags, rows: int) -> float:
        """Mean over rows and columns of what was lost; a row that is left out has lost everything."""
        kept = float((lost * composition.sizes)[~out].sum())
        return (kept + rows * len(self.losses)) / (self.table.rows * len(self.losses))

    def _result(self, loss: float, node: int) -> Generalisation:
        levels = self.nodes[node]
        class_of, _ = numbered([self._numbers(levels)[0]])
        out, rows, _ = suppressed(self.claim, self._classes(levels)[0], self.most)
        number = np.where(out, -1, np.cumsum(~out) - 1)
        return Generalisation(
            tuple(int(level) for level in levels), number[class_of], rows, loss, int(self.tried.sum()), len(self.nodes)
        )

    def finer(self, levels: tuple[int, ...]) -> Iterator[tuple[int, float]]:
        """For each column that could be a level finer, the share of the rows that would then be left out."""
        for place, level in enumerate(levels):
            if level > 0:
                lower = np.array(levels) - np.eye(len(levels), dtype=np.int64)[place]
                rows = suppressed(self.claim, self._classes(lower)[0], self.table.rows)[1]
                yield place, rows / self.table.rows

    def _why_impossible(self) -> str:
        return self.table.shortage(self.claim) or "no generalisation meets the claim"
