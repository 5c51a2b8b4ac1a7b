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
from discreet.release.classes import Ints, numbered, summed
from discreet.release.hierarchy import Hierarchy
from discreet.release.problem import Claim, Flags, Table, Tick, most_rows, suppressed

MOST_NODES = 500_000
# rolled-up tables that are kept, and from how many combinations on it pays
SNAPSHOTS, WORTH_ROLLING = 40, 20_000


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
class Snapshot:
    levels: Ints
    table: Table


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
        self.snapshots = [Snapshot(self.nodes[0], table)]
        self.best: tuple[float, int] | None = None

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
        table = min(
            (snapshot for snapshot in self.snapshots if (snapshot.levels <= levels).all()),
            key=lambda snapshot: len(snapshot.table.count),
        ).table
        class_of, classes = self._classes(table, levels)
        out, rows, monotone = suppressed(self.claim, table, class_of, classes, self.most)
        self._remember(levels, table, class_of, classes)
        if not monotone:
            self.too_low |= (self.nodes <= levels).all(axis=1)
            return False
        self.high_enough |= (self.nodes >= levels).all(axis=1)
        if rows <= self.most and rows < table.rows:
            loss = self._loss(table, levels, out[class_of], rows)
            if self.best is None or (loss, node) < self.best:
                self.best = (loss, node)
        return True

    def _classes(self, table: Table, levels: Ints) -> tuple[Ints, int]:
        groups = (self.hierarchies[place].levels[level].group for place, level in enumerate(levels))
        return numbered([group[codes] for group, codes in zip(groups, table.codes, strict=True)])

    def _remember(self, levels: Ints, table: Table, class_of: Ints, classes: int) -> None:
        """A node that joined much is where more general ones start from."""
        if len(self.snapshots) > SNAPSHOTS or len(table.count) < WORTH_ROLLING or classes > len(table.count) // 2:
            return
        cell, cells = (class_of, classes) if table.values == 1 else numbered([class_of, table.sensitive])
        if cells > len(table.count) // 2:
            return
        index = np.zeros(cells, dtype=np.int64)
        index[cell] = np.arange(len(cell))
        self.snapshots.append(Snapshot(levels, table.rolled(index, summed(cell, table.count, cells))))

    def _loss(self, table: Table, levels: Ints, out: Flags, rows: int) -> float:
        """Mean over rows and columns of what was lost; a row that is left out has lost everything."""
        total = np.zeros(len(table.count))
        for place, level in enumerate(levels):
            total += self.losses[place][level][table.codes[place]]
        kept = float((total * table.count)[~out].sum())
        return (kept + rows * len(levels)) / (table.rows * len(levels))

    def _result(self, loss: float, node: int) -> Generalisation:
        levels = self.nodes[node]
        class_of, classes = self._classes(self.table, levels)
        out, rows, _ = suppressed(self.claim, self.table, class_of, classes, self.most)
        number = np.where(out, -1, np.cumsum(~out) - 1)
        return Generalisation(
            tuple(int(level) for level in levels), number[class_of], rows, loss, int(self.tried.sum()), len(self.nodes)
        )

    def finer(self, levels: tuple[int, ...]) -> Iterator[tuple[int, float]]:
        """For each column that could be a level finer, the share of the rows that k and l would then leave out."""
        for place, level in enumerate(levels):
            if level > 0:
                lower = np.array(levels) - np.eye(len(levels), dtype=np.int64)[place]
                class_of, classes = self._classes(self.table, lower)
                rows = suppressed(self.claim, self.table, class_of, classes, -1)[1]
                yield place, rows / self.table.rows

    def _why_impossible(self) -> str:
        rows, claim = self.table.rows, self.claim
        if rows < claim.k:
            return f"the table has {rows} rows, fewer than k = {claim.k}"
        if claim.l is not None and len(np.unique(self.table.sensitive)) < claim.l:
            return f"the sensitive column has fewer than l = {claim.l} values"
        return "no generalisation meets the claim"
