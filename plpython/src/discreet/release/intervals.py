"""What a reader of the published cells can tell about the hidden ones: the exact interval of each.

The attacker knows every published cell, all the equations of groups and totals, and that nothing is negative. The
values a hidden cell can have are then those between two optima of a linear program over the hidden cells; HiGHS finds
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameterError, LimitExceededError
from discreet.release.dimensions import Dimension

Cell = tuple[int, ...]
Whole = NDArray[np.int64]
Marks = NDArray[np.bool_]
Equation = tuple[Cell, list[Cell]]

NEAR = 1e-6
# seconds that one program may take: nothing cancels it
LONGEST_PROGRAM = 60.0
LIMITED = {"time_limit": LONGEST_PROGRAM}


def equations(dimensions: tuple[Dimension, ...]) -> Iterator[Equation]:
    """Every group or total with the cells that it is the sum of, along each dimension."""
    for axis, dimension in enumerate(dimensions):
        others = [range(len(each.labels)) for at, each in enumerate(dimensions) if at != axis]
        for parent, children in dimension.children.items():
            for rest in product(*others):
                yield (*rest[:axis], parent, *rest[axis:]), [(*rest[:axis], child, *rest[axis:]) for child in children]


@dataclass(frozen=True)
class Component:
    """Hidden cells that have to do with each other: coefficients times their values equals what is known."""

    cells: tuple[Cell, ...]
    rows: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    known: tuple[int, ...]


def components(dimensions: tuple[Dimension, ...], values: Whole, hidden: Marks) -> list[Component]:
    """The equations among hidden cells, apart where they share none."""
    above: dict[Cell, Cell] = {}

    def top(cell: Cell) -> Cell:
        while above.setdefault(cell, cell) != cell:
            above[cell] = above[above[cell]]
            cell = above[cell]
        return cell

    used = []
    for parent, children in equations(dimensions):
        terms = [(cell, 1) for cell in children if hidden[cell]]
        if hidden[parent]:
            terms.append((parent, -1))
        if not terms:
            continue
        published = sum(int(values[cell]) for cell in children if not hidden[cell])
        known = (0 if hidden[parent] else int(values[parent])) - published
        used.append((terms, known))
        for cell, _ in terms[1:]:
            above[top(cell)] = top(terms[0][0])
    members: dict[Cell, list[Cell]] = {}
    for found in np.argwhere(hidden):
        cell = tuple(int(node) for node in found)
        members.setdefault(top(cell), []).append(cell)
    by_top: dict[Cell, list[tuple[list[tuple[Cell, int]], int]]] = {}
    for terms, known in used:
        by_top.setdefault(top(terms[0][0]), []).append((terms, known))
    made = []
    for name, cells in members.items():
        number = {cell: index for index, cell in enumerate(cells)}
        rows = by_top.get(name, [])
        made.append(
            Component(
                tuple(cells),
                tuple(
                    (tuple(number[cell] for cell, _ in terms), tuple(sign for _, sign in terms)) for terms, _ in rows
                ),
                tuple(known for _, known in rows),
            )
        )
    return made


def intervals(
    component: Component, wanted: Iterable[Cell] | None = None, pulse: Callable[[], None] = lambda: None
) -> dict[Cell, tuple[float, float]]:
    """The least and the largest value that each cell can have."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    size = len(component.cells)
    columns = [column for row, _ in component.rows for column in row]
    signs = [sign for _, row in component.rows for sign in row]
    starts = np.cumsum([0, *(len(row) for row, _ in component.rows)])
    matrix = csr_array((signs, columns, starts), shape=(len(component.rows), size))
    chosen = set(component.cells if wanted is None else wanted)
    found = {}
    for index, cell in enumerate(component.cells):
        if cell not in chosen:
            continue
        ends = []
        for direction in (1.0, -1.0):
            pulse()
            objective = np.zeros(size)
            objective[index] = direction
            if component.rows:
                solved = linprog(
                    objective, A_eq=matrix, b_eq=component.known, bounds=(0, None), method="highs", options=LIMITED
                )
            else:
                solved = linprog(objective, bounds=(0, None), method="highs", options=LIMITED)
            if solved.status == 1:
                raise LimitExceededError(
                    f"a linear program over {size} hidden cells took more than {LONGEST_PROGRAM:g} seconds",
                    "Give a table with fewer cells or groups.",
                )
            if solved.status == 3:
                ends.append(np.inf)
            elif solved.status == 0:
                ends.append(float(direction * solved.fun))
            else:
                raise InvalidParameterError(
                    "the cells do not add up",
                    "Totals and groups must be the sums of their cells, and nothing negative.",
                )
        found[cell] = ends[0], ends[1]
    return found


def audit(
    dimensions: tuple[Dimension, ...], values: Whole, hidden: Marks, pulse: Callable[[], None] = lambda: None
) -> dict[Cell, tuple[float, float]]:
    """The interval of every hidden cell."""
    found: dict[Cell, tuple[float, float]] = {}
    for component in components(dimensions, values, hidden):
        found |= intervals(component, pulse=pulse)
    return found


def is_told(interval: tuple[float, float]) -> bool:
    """Whether an interval leaves one value only, as far as floating point can tell."""
    lower, upper = interval
    return bool(np.isfinite(upper) and upper - lower <= NEAR * max(1.0, abs(upper)))
