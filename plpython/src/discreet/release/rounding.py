"""Controlled rounding: every cell of a table becomes a multiple of the base, and all groups and totals still add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import LimitExceededError
from discreet.release.dimensions import Dimension
from discreet.release.intervals import equations

Whole = NDArray[np.int64]
KEYS = 2**32
BEYOND_NEIGHBOURS = 1000.0


class NotRoundableError(LimitExceededError):
    """No rounding was found in the time given."""


@dataclass(frozen=True)
class Rounded:
    values: Whole
    zero_restricted: bool

    def largest_change(self, original: Whole) -> int:
        return int(np.abs(self.values - original).max())


def controlled_round(
    dimensions: tuple[Dimension, ...], values: Whole, base: int, keys: Sequence[int], seconds: float
) -> Rounded:
    """The additive rounding that is nearest to what the keys would round each cell to by themselves.

    A key from 0 to 2^32 - 1 alone would send its cell up with probability remainder / base, so that the mean is kept.
    Additivity needs concessions: they are least in the sum over all cells. Where that is possible (always with one or
    two dimensions, since their equations form a network), multiples stay as they are and every other cell goes to one
    of its two neighbours; else some cells go further, as few as can be. The same keys give the same table.
    """
    flat = values.reshape(-1)
    floors = flat // base
    remainders = flat - floors * base
    draws = np.array(keys, dtype=np.float64) * (base / KEYS)
    upwards = np.where(remainders == 0, 0.0, (draws - remainders) / base)
    for beyond in (False, True):
        steps = solved(dimensions, values.shape, floors, remainders, upwards, beyond, seconds)
        if steps is not None:
            return Rounded(((floors + steps) * base).reshape(values.shape), not beyond)
    raise NotRoundableError(
        f"no rounding to base {base} that adds up was found in {seconds:g} seconds",
        "Give more seconds, a table with fewer cells or groups, or use random_round, which does not add up.",
    )


def solved(
    dimensions: tuple[Dimension, ...],
    shape: tuple[int, ...],
    floors: Whole,
    remainders: Whole,
    upwards: NDArray[np.float64],
    beyond: bool,
    seconds: float,
) -> Whole | None:
    """By how many multiples each cell is above its floor."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, hstack

    rows: list[int] = []
    columns: list[int] = []
    signs: list[int] = []
    known: list[int] = []
    for number, (parent, children) in enumerate(equations(dimensions)):
        places = [int(np.ravel_multi_index(cell, shape)) for cell in (parent, *children)]
        rows += [number] * len(places)
        columns += places
        signs += [-1] + [1] * len(children)
        known.append(int(floors[places[0]] - floors[places[1:]].sum()))
    matrix = csr_array((signs, (rows, columns)), shape=(len(known), floors.size), dtype=np.float64)
    cost, upper = upwards, np.where(remainders == 0, 0, 1)
    if beyond:
        # u says up or not; further steps up, and steps down, are there for a price
        further = np.full(2 * floors.size, BEYOND_NEIGHBOURS)
        cost, upper = np.concatenate([cost, further]), np.concatenate([upper, np.full(2 * floors.size, np.inf)])
        matrix = hstack([matrix, matrix, -matrix], format="csr")
    answer = milp(
        cost,
        integrality=np.ones(cost.size),
        bounds=Bounds(0, upper),
        constraints=LinearConstraint(matrix, known, known),
        options={"time_limit": seconds, "mip_rel_gap": 1e-3},
    )
    if answer.x is None:
        return None
    steps: Whole = np.rint(answer.x).astype(np.int64)
    if beyond:
        steps = steps[: floors.size] + steps[floors.size : 2 * floors.size] - steps[2 * floors.size :]
    return steps


def adds_up(dimensions: tuple[Dimension, ...], values: Whole) -> bool:
    return all(
        values[parent] == sum(int(values[child]) for child in children) for parent, children in equations(dimensions)
    )
