"""Full-domain generalisation of least loss: every column is put to one level, and some rows are left out.

The combinations of levels form a lattice. More general combinations have larger classes, so rows that must be left out
for k and distinct l never become more on the way up (Samarati 2001): a combination that leaves out too many rules out
all below it, one that does not vouches for all above. As in Flash (Kohlmayer et al. 2012) chains through the undecided
part are searched by halving. The rest is visited in the order of a lower bound of the loss, so the best is found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameterError, LimitExceededError
from discreet.release.classes import LARGEST_KEY, Composition, Ints, numbered, summed
from discreet.release.hierarchy import Hierarchy
from discreet.release.problem import Claim, Flags, Table, Tick, most_rows, suppressed

MOST_NODES = 500_000
# combinations of levels at which cells are kept, for others above them
KEPT = 40
# what a short word holds
LARGEST_SHORT_KEY = 2**31 - 1


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
class Cells:
    """What is left of the table at some levels: of each combination the groups, the sensitive value, and its rows."""

    levels: Ints
    groups: list[Ints]
    sensitive: Ints
    count: Ints


class Search:
    def __init__(self, claim: Claim, table: Table, hierarchies: list[Hierarchy], tick: Tick) -> None:
        self.claim, self.table, self.hierarchies, self.tick = claim, table, hierarchies, tick
        self.most = most_rows(claim, table.rows)
        heights = [len(hierarchy.levels) for hierarchy in hierarchies]
        if np.prod(heights, dtype=float) > MOST_NODES:
            raise LimitExceededError(
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
        groups = [hierarchy.levels[0].group[codes] for hierarchy, codes in zip(hierarchies, table.codes, strict=True)]
        self.cells = [Cells(self.nodes[0], groups, table.sensitive, table.count)]
        self.parents: dict[tuple[int, int, int], Ints] = {}
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
        composition, groups = self._classes(levels)
        out, rows, monotone = suppressed(self.claim, composition, self.most)
        if not monotone:
            self.too_low |= (self.nodes <= levels).all(axis=1)
            return False
        self.high_enough |= (self.nodes >= levels).all(axis=1)
        if rows <= self.most and rows < self.table.rows:
            loss = self._loss(composition, self._lost(groups(), levels), out, rows)
            if self.best is None or (loss, node) < self.best:
                self.best = (loss, node)
        return True

    def _above(self, place: int, low: int, high: int) -> Ints:
        """The group at one level of each group at a lower level of a column."""
        known = self.parents.get((place, low, high))
        if known is None:
            levels = self.hierarchies[place].levels
            known = np.zeros(len(levels[low].labels), dtype=np.int64)
            known[levels[low].group] = levels[high].group
            self.parents[place, low, high] = known
        return known

    def _groups(self, cells: Cells, levels: Ints) -> list[Ints]:
        pairs = zip(cells.levels.tolist(), levels.tolist(), strict=True)
        return [
            cells.groups[place] if low == high else self._above(place, low, high)[cells.groups[place]]
            for place, (low, high) in enumerate(pairs)
        ]

    def _classes(self, levels: Ints) -> tuple[Composition, Callable[[], list[Ints]]]:
        """The classes at these levels, in the order of their groups, and these of each column, when asked for.

        They are made from the fewest cells that are known at lower levels (roll-up, LeFevre et al. 2005).
        """
        known = (each for each in self.cells if (each.levels <= levels).all())
        cells = min(known, key=lambda each: len(each.count))
        groups = self._groups(cells, levels)
        widths = [len(self.hierarchies[place].levels[level].labels) for place, level in enumerate(levels.tolist())]
        values = max(self.table.values, 1)
        bits = int(cells.count.max()).bit_length()
        if self.table.people is not None or (math.prod(widths) * values) << bits >= LARGEST_KEY:
            number, classes = numbered(groups)
            composition = Composition.of(number, classes, cells.sensitive, cells.count, values, self.table.people)
            member = np.zeros(classes, dtype=np.int64)
            member[number] = np.arange(len(number))
            return composition, lambda: [group[member] for group in groups]
        # counts ride in the last bits of what is sorted, in words that are as short as they can be
        is_short = (math.prod(widths) * values) << bits <= LARGEST_SHORT_KEY
        packed: NDArray[np.int32 | np.int64] = np.zeros(len(cells.count), dtype=np.int32 if is_short else np.int64)
        for group, width in zip([*groups, cells.sensitive], [*widths, values], strict=True):
            packed *= width
            np.add(packed, group, out=packed, casting="unsafe")
        packed <<= bits
        np.bitwise_or(packed, cells.count, out=packed, casting="unsafe")
        packed.sort()
        cell, count = packed >> bits, packed & ((1 << bits) - 1)
        first = np.flatnonzero(np.append(True, cell[1:] != cell[:-1]))
        cell, count = cell[first].astype(np.int64), np.add.reduceat(count, first, dtype=np.int64)
        which, sensitive = (cell, 0 * cell) if values == 1 else np.divmod(cell, values)
        starts = np.flatnonzero(np.append(True, which[1:] != which[:-1]))
        if 2 * len(cell) <= len(cells.count):
            # the first is the table itself
            kept = Cells(levels, _decoded(which, widths), sensitive, count)
            self.cells = [*self.cells[:1], *self.cells[1:][-KEPT:], kept]
        return Composition(starts, sensitive, count, self.totals), lambda: _decoded(which[starts], widths)

    def _lost(self, groups: list[Ints], levels: Ints) -> NDArray[np.float64]:
        """What a row loses that is in these groups."""
        lost = np.zeros(len(groups[0]))
        for place, level in enumerate(levels.tolist()):
            of_group = np.zeros(len(self.hierarchies[place].levels[level].labels))
            of_group[self.hierarchies[place].levels[level].group] = self.losses[place][level]
            lost += of_group[groups[place]]
        return lost

    def _loss(self, composition: Composition, lost: NDArray[np.float64], out: Flags, rows: int) -> float:
        """Mean over rows and columns of what was lost; a row that is left out has lost everything."""
        kept = float((lost * composition.sizes)[~out].sum())
        return (kept + rows * len(self.losses)) / (self.table.rows * len(self.losses))

    def _result(self, loss: float, node: int) -> Generalisation:
        levels = self.nodes[node]
        class_of, _ = numbered(self._groups(self.cells[0], levels))
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
        return self.table.shortage(self.claim) or self.table.sharing(self.claim) or "no generalisation meets the claim"


def _decoded(key: Ints, widths: list[int]) -> list[Ints]:
    """The groups of each column, from keys that hold one after the other."""
    groups: list[Ints] = []
    for width in reversed(widths):
        key, group = np.divmod(key, width)
        groups.insert(0, group)
    return groups
