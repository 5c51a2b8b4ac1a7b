"""Multidimensional local recoding: the space of quasi-identifiers is cut into boxes, as fine as the claim allows.

LeFevre, DeWitt, Ramakrishnan: Mondrian Multidimensional k-Anonymity (ICDE 2006), strict: all rows of a value stay
together. A box is cut at the median of its widest column, or of the next widest, where both halves meet k, l and t.
All boxes of a depth are cut at once, as arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.core.errors import InvalidParameterError
from discreet.release.classes import Composition, Ints, summed
from discreet.release.problem import Claim, Flags, Table, Tick


@dataclass(frozen=True)
class Cut:
    """A box that was cut: codes up to `last` of the column go to `low`, the others to `high`."""

    column: int
    last: int
    low: int
    high: int


@dataclass(frozen=True)
class Boxes:
    """The class of each combination, and the tree: boxes by number, from 0, each a cut or the number of a class."""

    class_of: Ints
    classes: int
    tree: dict[int, Cut | int]


def cut(claim: Claim, table: Table, tick: Tick) -> Boxes:
    codes = np.stack(table.codes)
    spread = np.maximum(codes.max(axis=1) - codes.min(axis=1), 1)
    totals = summed(table.sensitive, table.count, table.values)
    if (shortage := table.shortage(claim)) is not None:
        raise InvalidParameterError(shortage, "Ask for less.")
    weight = table.weight
    class_of = np.zeros(len(table.count), dtype=np.int64)
    tree: dict[int, Cut | int] = {}
    classes, boxes = 0, 1
    rows, box = np.arange(len(table.count), dtype=np.int64), np.zeros(1, dtype=np.int64)
    part = np.zeros(len(rows), dtype=np.int64)
    while len(rows):
        tick(f"{len(box)} boxes to cut, {classes} classes done")
        column, last = _cuts(claim, table, weight, codes, spread, totals, rows, part, len(box))
        done = column < 0
        number = np.where(done, np.cumsum(done) - 1 + classes, -1)
        ready = done[part]
        class_of[rows[ready]] = number[part[ready]]
        tree |= {int(box[each]): int(number[each]) for each in np.flatnonzero(done)}
        classes += int(done.sum())
        rows, part = rows[~ready], part[~ready]
        split = np.flatnonzero(~done)
        fresh = np.arange(2 * len(split), dtype=np.int64) + boxes
        boxes += len(fresh)
        for place, each in enumerate(split.tolist()):
            tree[int(box[each])] = Cut(
                int(column[each]), int(last[each]), int(fresh[2 * place]), int(fresh[2 * place + 1])
            )
        above = codes[column[part], rows] > last[part]
        renumbered = np.cumsum(~done) - 1
        part = 2 * renumbered[part] + above
        order = np.argsort(part, kind="stable")
        rows, part, box = rows[order], part[order], fresh
    # halves meet the claim, or are not made; only the whole was not looked at
    if classes == 1 and (sharing := table.sharing(claim)) is not None:
        raise InvalidParameterError(sharing, "Ask for less.")
    return Boxes(class_of, classes, tree)


def _cuts(
    claim: Claim,
    table: Table,
    weight: Ints,
    codes: Ints,
    spread: Ints,
    totals: Ints,
    rows: Ints,
    part: Ints,
    parts: int,
) -> tuple[Ints, Ints]:
    """For each part the column by which it is cut and the last code of its lower half; column -1 where it cannot be."""
    starts = np.searchsorted(part, np.arange(parts))
    inside = codes[:, rows]
    widths = np.maximum.reduceat(inside, starts, axis=1) - np.minimum.reduceat(inside, starts, axis=1)
    preferred = np.argsort(-(widths / spread[:, None]), axis=0, kind="stable")
    column, last = np.full(parts, -1, dtype=np.int64), np.zeros(parts, dtype=np.int64)
    size = summed(part, weight[rows], parts)
    open_parts = size >= 2 * claim.k
    for wish in preferred:
        trying = open_parts & (column < 0) & (widths[wish, np.arange(parts)] > 0)
        chosen = trying[part]
        if not chosen.any():
            continue
        cut_at, found = _medians(
            claim, weight, codes[wish[part[chosen]], rows[chosen]], rows[chosen], part[chosen], parts
        )
        found &= trying
        if claim.l is not None or claim.t is not None or table.people is not None:
            found &= _halves_meet(claim, table, totals, codes, wish, cut_at, rows, part, found)
        column[found], last[found] = wish[found], cut_at[found]
    return column, last


def _medians(claim: Claim, count: Ints, value: Ints, rows: Ints, part: Ints, parts: int) -> tuple[Ints, Flags]:
    """The code after which each part is cut most evenly, and whether both halves then have k rows.

    If the most even cut does not leave k rows on both sides, no other does. Where a person may be in several rows,
    `count` has each person in each of them, and the halves are checked again.
    """
    order = np.argsort(part * (int(value.max()) + 1) + value, kind="stable")
    value, part, weight = value[order], part[order], count[rows[order]]
    until = np.cumsum(weight)
    total = summed(part, weight, parts)
    below = until - (np.cumsum(total) - total)[part]
    ends = np.flatnonzero(np.append((part[1:] == part[:-1]) & (value[1:] != value[:-1]), False))
    found = np.zeros(parts, dtype=bool)
    cut_at = np.zeros(parts, dtype=np.int64)
    if not len(ends):
        return cut_at, found
    uneven = np.abs(2 * below[ends] - total[part[ends]])
    # the most even end of each part comes first
    best = ends[np.lexsort((uneven, part[ends]))]
    first = best[np.append(True, part[best][1:] != part[best][:-1])]
    cut_at[part[first]] = value[first]
    found[part[first]] = np.minimum(below[first], total[part[first]] - below[first]) >= claim.k
    return cut_at, found


def _halves_meet(
    claim: Claim,
    table: Table,
    totals: Ints,
    codes: Ints,
    wish: Ints,
    cut_at: Ints,
    rows: Ints,
    part: Ints,
    found: Flags,
) -> Flags:
    """Of the parts that would be cut, those whose halves both meet the claim."""
    chosen = found[part]
    here, inside = part[chosen], rows[chosen]
    above = codes[wish[here], inside] > cut_at[here]
    number = np.cumsum(found) - 1
    halves = 2 * number[here] + above
    people = None if table.people is None else table.people.only(inside)
    composition = Composition.of(
        halves, 2 * int(found.sum()), table.sensitive[inside], table.count[inside], table.values, people
    )
    good = composition.people >= claim.k
    if claim.l is not None:
        good &= (composition.cells_per_class >= claim.l) & ~composition.shared
    if claim.t is not None:
        good &= ~claim.far(replace(composition, totals=totals))
    met = np.zeros(len(found), dtype=bool)
    met[found] = good.reshape(-1, 2).all(axis=1)
    return met
