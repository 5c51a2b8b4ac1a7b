"""What follows from a cross table with hidden cells: exact linear algebra, whoever hid them and how."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.release.dimensions import Dimension
from discreet.release.intervals import equations

Cell = tuple[int, ...]


def determined(
    dimensions: tuple[Dimension, ...], hidden: NDArray[np.bool_], known: frozenset[Cell] = frozenset()
) -> set[Cell]:
    """The hidden cells that follow from the published ones, and from known ones, by adding and subtracting."""
    unknown = [cell for cell in map(tuple, np.argwhere(hidden).tolist()) if cell not in known]
    number = {cell: at for at, cell in enumerate(unknown)}
    rows: list[dict[int, Fraction]] = []
    for parent, children in equations(dimensions):
        row = {number[cell]: Fraction(1) for cell in children if cell in number}
        if parent in number:
            row[number[parent]] = Fraction(-1)
        if row:
            rows.append(row)
    pivots: dict[int, dict[int, Fraction]] = {}
    for row in rows:
        row = reduced(row, pivots)
        if row:
            column = min(row)
            row = {at: value / row[column] for at, value in row.items()}
            pivots = {
                at: minus(other, row, other[column]) if column in other else other for at, other in pivots.items()
            }
            pivots[column] = row
    return {unknown[column] for column, row in pivots.items() if len(row) == 1}


def reduced(row: dict[int, Fraction], pivots: dict[int, dict[int, Fraction]]) -> dict[int, Fraction]:
    for column in sorted(row):
        if column in pivots and column in row:
            row = minus(row, pivots[column], row[column])
    return row


def minus(row: dict[int, Fraction], other: dict[int, Fraction], times: Fraction) -> dict[int, Fraction]:
    result = dict(row)
    for at, value in other.items():
        left = result.get(at, Fraction(0)) - times * value
        if left:
            result[at] = left
        else:
            result.pop(at, None)
    return result
