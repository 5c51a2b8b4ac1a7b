"""Complementary suppression: which cells are hidden besides the unsafe ones, and why that is enough.

A *cube* picks for each dimension two leaves, or one. Adding t to the table at the leaves with an even number of
second leaves, subtracting it at the others, and carrying both up through all margins, gives another table with the
same equations: the tensor product of the differences of two columns of sums. Where only hidden cells change, and none
falls below 0, a reader of the published cells cannot tell it from the true one. So a cube whose support is hidden
proves, in integers and for the whole table with all its margins and groups, that each of its cells may be larger by
the least cell that falls, and smaller by the least one that rises (for 2 x 2 x … cells: Repsilber's hypercubes,
1994).

For each unsafe cell the cheapest cube is sought that proves its interval, over all leaves of all dimensions at once.
A cell with a single contributor is in no cube but its own: that contributor, who knows it, learns nothing of others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameterError
from discreet.core.syntax import Json
from discreet.release.dimensions import Dimension, all_cells

Cell = tuple[int, ...]
Whole = NDArray[np.int64]
Marks = NDArray[np.bool_]
Costs = NDArray[np.float64]
Pair = tuple[int, int]

OPTIONS = (24, 96)
GRAND_TOTAL_COST = 1e9
HIDDEN_ALREADY = 1e-3
MOST_CUBES = 64
ENDLESS = 2**40
ALONE = -1


class NotProtectableError(InvalidParameterError):
    """A cell for which no complementary suppression was found."""


@dataclass(frozen=True)
class Need:
    """How far the true value of an unsafe cell must be from the ends of what can be told about it.

    Either up and down by so much each; or, for `width`, together by so much.
    """

    up: int
    down: int
    width: int | None = None

    def choices(self, value: int) -> Iterator[tuple[int, int]]:
        if self.width is None:
            yield self.up, min(self.down, value)
        else:
            yield max(self.width - value, 1), value
            if value > 1:
                yield max(self.width - 1, 1), 1

    def met_by(self, value: int, lower: float, upper: float) -> bool:
        if self.width is not None:
            return upper - lower >= self.width
        return upper - value >= self.up and value - lower >= min(self.down, value)


@dataclass(frozen=True)
class Cube:
    """A leaf for each dimension, and a second one or ALONE."""

    pairs: tuple[Pair, ...]

    def change(self, dimensions: tuple[Dimension, ...]) -> Whole:
        change = np.ones((), dtype=np.int64)
        for dimension, (first, second) in zip(dimensions, self.pairs, strict=True):
            line = dimension.sums[first] - (0 if second == ALONE else dimension.sums[second])
            change = np.multiply.outer(change, line)
        return change


@dataclass(frozen=True)
class Step:
    """A cube, and how often it is added for one other table and taken off for the second."""

    cube: Cube
    up: int
    down: int


@dataclass(frozen=True)
class Proof:
    """Two other tables with the same published cells: in one the cell is larger by `up`, in one smaller by `down`."""

    steps: tuple[Step, ...]

    @property
    def up(self) -> int:
        return sum(step.up for step in self.steps)

    @property
    def down(self) -> int:
        return sum(step.down for step in self.steps)

    def tables(self, dimensions: tuple[Dimension, ...], values: Whole) -> tuple[Whole, Whole]:
        higher, lower = values.copy(), values.copy()
        for step in self.steps:
            change = step.cube.change(dimensions)
            higher += step.up * change
            lower -= step.down * change
        return higher, lower

    def support(self, dimensions: tuple[Dimension, ...]) -> Marks:
        marks = np.zeros([len(each.labels) for each in dimensions], dtype=np.bool_)
        for step in self.steps:
            marks |= step.cube.change(dimensions) != 0
        return marks


def contracted(table: Costs, lines: list[Costs]) -> Costs:
    """For each choice of one line per dimension, the sum of the table weighted by their product."""
    for line in lines:
        table = np.tensordot(table, line, axes=(0, 1))
    return table


class Suppression:
    """Grows until every unsafe cell is proven; `hidden` is then what must not be published."""

    def __init__(
        self,
        dimensions: tuple[Dimension, ...],
        values: Whole,
        needs: dict[Cell, Need],
        singles: Marks,
        pulse: Callable[[int, int], None] = lambda done, of: None,
    ) -> None:
        self.dimensions = dimensions
        self.values = values
        self.needs = needs
        self.singles = singles
        self.pulse = pulse
        self.hidden: Marks = np.zeros(values.shape, dtype=np.bool_)
        for cell in needs:
            self.hidden[cell] = True
        self.proofs: dict[Cell, Proof] = {}
        self.weights: Costs = 1 + np.log2(1 + np.maximum(values, 0).astype(np.float64))
        self.weights[tuple(dimension.root for dimension in dimensions)] = GRAND_TOTAL_COST

    def run(self) -> None:
        for done, cell in enumerate(sorted(self.needs)):
            self.pulse(done, len(self.needs))
            self.protect(cell)

    def protect(self, cell: Cell) -> None:
        proof = self.by_one_cube(cell) or self.by_several(cell)
        if proof is None:
            name = ", ".join(each.labels[node] for each, node in zip(self.dimensions, cell, strict=True))
            raise NotProtectableError(
                f"the cell ({name}) cannot be protected: too little is in the other cells",
                "Merge categories, or give groups above them (hierarchies).",
            )
        self.proofs[cell] = proof
        self.hidden |= proof.support(self.dimensions)

    def by_one_cube(self, cell: Cell) -> Proof | None:
        """What the cheapest cube proves, of those that alone give the cell what it needs."""
        for options in OPTIONS:
            found = [
                best
                for up, down in self.needs[cell].choices(int(self.values[cell]))
                if (best := self.cheapest(cell, up, down, options, self.values, self.values)) is not None
            ]
            if found:
                _, cube = min(found, key=lambda each: each[0])
                return Proof((self.furthest(cube, self.values, self.values),))
        return None

    def by_several(self, cell: Cell) -> Proof | None:
        """Cubes one after the other, each a part of the way, until the cell has what it needs."""
        *_, (up, down) = self.needs[cell].choices(int(self.values[cell]))
        proof, part = Proof(()), 2
        while proof.up < up or proof.down < down:
            if part > max(up, down, 2) * 2 or len(proof.steps) > MOST_CUBES:
                return None
            higher, lower = proof.tables(self.dimensions, self.values)
            wanted = (min(-(-up // part), up - proof.up), min(-(-down // part), down - proof.down))
            best = self.cheapest(cell, max(wanted[0], 0), max(wanted[1], 0), OPTIONS[-1], higher, lower)
            if best is None:
                part *= 2
                continue
            proof = Proof((*proof.steps, self.furthest(best[1], higher, lower)))
        return proof

    def furthest(self, cube: Cube, higher: Whole, lower: Whole) -> Step:
        """As far as the cube goes from these tables before a cell would be negative."""
        change = cube.change(self.dimensions)
        falling, rising = higher[change < 0], lower[change > 0]
        return Step(cube, int(falling.min()) if falling.size else ENDLESS, int(rising.min()))

    def cheapest(
        self, cell: Cell, up: int, down: int, options: int, higher: Whole, lower: Whole
    ) -> tuple[float, Cube] | None:
        """The cube that hides least, of those that can be added `up` times to one table, and taken off the other."""
        # two cells with one contributor each have the same one when a person is in what they share
        related, shared = np.ones((), dtype=np.bool_), []
        for dimension, node in zip(self.dimensions, cell, strict=True):
            above, below = dimension.within[node], dimension.within[:, node]
            related = np.logical_and.outer(related, above | below)
            shared.append(np.where(above, node, np.arange(len(above))))
        blocked = (self.values <= 0) | (self.singles & ~(related & self.singles[np.ix_(*shared)]))
        cost = np.where(self.hidden, HIDDEN_ALREADY, self.weights)
        pairs, lines, used = [], [], []
        for axis, dimension in enumerate(self.dimensions):
            here: Json = (*cell[:axis], slice(None), *cell[axis + 1 :])
            chosen = self.options(dimension, cell[axis], cost[here], blocked[here], options)
            line = dimension.sums[[first for first, _ in chosen]].astype(np.float64)
            for row, (_, second) in enumerate(chosen):
                if second != ALONE:
                    line[row] -= dimension.sums[second]
            nodes = np.flatnonzero(line.any(axis=0))
            pairs.append(chosen)
            lines.append(line[:, nodes])
            used.append(nodes)
        part = np.ix_(*used)
        rising = (blocked[part] | (lower[part] < down)).astype(np.float64)
        falling = (blocked[part] | (higher[part] < up)).astype(np.float64)
        whole = [np.abs(line) for line in lines]
        in_the_way = contracted(rising + falling, whole) + contracted(rising - falling, lines)
        costs = np.where(in_the_way > 0.5, np.inf, contracted(cost[part], whole))
        best = np.unravel_index(int(costs.argmin()), costs.shape)
        if not np.isfinite(costs[best]):
            return None
        return float(costs[best]), Cube(tuple(choice[int(at)] for choice, at in zip(pairs, best, strict=True)))

    @staticmethod
    def options(dimension: Dimension, node: int, cost: Costs, blocked: Marks, most: int) -> list[Pair]:
        """Pairs of a leaf below the node and one elsewhere, or a leaf alone; those that are cheap along this line."""
        price = cost + 1e6 * blocked
        leaf_price = dimension.sums @ price
        below = np.flatnonzero(dimension.sums[:, node])
        alone = below[np.argsort(leaf_price[below], kind="stable")][: max(most // 8, 2)]
        chosen = [(int(leaf), ALONE) for leaf in alone]
        elsewhere = np.flatnonzero(dimension.sums[:, node] == 0)
        if elsewhere.size:
            shared = (dimension.sums[below] * price) @ dimension.sums[elsewhere].T
            together = leaf_price[below][:, None] + leaf_price[elsewhere][None, :] - 2 * shared
            for at in np.argsort(together, axis=None, kind="stable")[:most]:
                first, second = np.unravel_index(int(at), together.shape)
                chosen.append((int(below[first]), int(elsewhere[second])))
        return chosen


def disclosed(
    dimensions: tuple[Dimension, ...], values: Whole, hidden: Marks, needs: dict[Cell, Need], proofs: dict[Cell, Proof]
) -> list[Cell]:
    """Hidden cells without a proof: those that no proof changes, and unsafe ones whose interval is left too short.

    Exact, in integers, and independent of how the tables of a proof were found: they must add up, show the same
    published cells, and hold nothing negative.
    """
    free = np.zeros(values.shape, dtype=np.bool_)
    without = {cell for cell in needs if cell not in proofs}
    leaves = tuple(slice(each.leaves) for each in dimensions)
    for cell, proof in proofs.items():
        higher, lower = tables = proof.tables(dimensions, values)
        sound = all(
            (other >= 0).all()
            and (other == values)[~hidden].all()
            and (all_cells(dimensions, other[leaves]) == other).all()
            for other in tables
        )
        if sound and needs[cell].met_by(int(values[cell]), int(lower[cell]), int(higher[cell])):
            free |= (higher != values) | (lower != values)
        else:
            without.add(cell)
    left = {tuple(int(node) for node in cell) for cell in np.argwhere(hidden & ~free)}
    return sorted(without | left)
