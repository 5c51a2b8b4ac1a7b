"""Multidimensional local recoding: the space of quasi-identifiers is cut into boxes, as fine as the claim allows.

LeFevre, DeWitt, Ramakrishnan: Mondrian Multidimensional k-Anonymity (ICDE 2006), strict: all rows of a value stay
together. A box is cut at the median of its widest column, or of the next widest, where both halves meet k, l and t.
All boxes of a depth are cut at once, as arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameterError
from discreet.release.classes import Composition, Ints, summed
from discreet.release.problem import Claim, Flags, Table, Tick

Codes = NDArray[np.signedinteger]
# places per row beyond which these are sorted
SPARSE = 4


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
    if (shortage := table.shortage(claim)) is not None:
        raise InvalidParameterError(shortage, "Ask for less.")
    codes = _small(np.stack(table.codes))
    spread = np.maximum(codes.max(axis=1) - codes.min(axis=1), 1).astype(np.float64)
    totals = summed(table.sensitive, table.count, table.values)
    class_of = np.zeros(len(table.count), dtype=np.int64)
    tree: dict[int, Cut | int] = {}
    classes, boxes = 0, 1
    box = np.zeros(1, dtype=np.int64)
    open_rows = _Rows(np.arange(len(table.count)), codes, table.weight, np.zeros(1, dtype=np.int64))
    while open_rows.number:
        tick(f"{len(box)} boxes to cut, {classes} classes done")
        column, last = _cuts(claim, table, spread, totals, open_rows)
        done = column < 0
        number = np.where(done, np.cumsum(done) - 1 + classes, -1)
        part = open_rows.part
        ready = done[part]
        class_of[open_rows.rows[ready]] = number[part[ready]]
        tree.update(zip(box[done].tolist(), number[done].tolist(), strict=True))
        classes += int(done.sum())
        split = np.flatnonzero(~done)
        fresh = np.arange(2 * len(split), dtype=np.int64) + boxes
        boxes += len(fresh)
        cuts = [
            Cut(*each)
            for each in zip(
                column[split].tolist(), last[split].tolist(), fresh[::2].tolist(), fresh[1::2].tolist(), strict=True
            )
        ]
        tree.update(zip(box[split].tolist(), cuts, strict=True))
        open_rows, box = open_rows.split(column, last), fresh
    # halves meet the claim, or are not made; only the whole was not looked at
    if classes == 1 and (sharing := table.sharing(claim)) is not None:
        raise InvalidParameterError(sharing, "Ask for less.")
    return Boxes(class_of, classes, tree)


def _small(codes: Codes) -> Codes:
    """In as few bytes as hold all differences of codes: most time goes into reading them."""
    for kind in (np.int16, np.int32):
        if np.abs(codes).max(initial=0) <= np.iinfo(kind).max // 2:
            return codes.astype(kind)
    return codes


@dataclass(frozen=True)
class _Rows:
    """Combinations of the boxes that may be cut, those of a box together: their numbers, codes and weights.

    Parts are boxes by their place; `starts` is where each begins.
    """

    rows: Ints
    codes: Codes
    weight: Ints
    starts: Ints

    @property
    def number(self) -> int:
        return len(self.rows)

    @property
    def parts(self) -> int:
        return len(self.starts)

    @cached_property
    def lengths(self) -> Ints:
        return np.diff(self.starts, append=self.number)

    @cached_property
    def part(self) -> Ints:
        return np.repeat(np.arange(self.parts), self.lengths)

    @cached_property
    def widths(self) -> Codes:
        """Of each part in each column."""
        return np.stack(
            [np.maximum.reduceat(each, self.starts) - np.minimum.reduceat(each, self.starts) for each in self.codes]
        )

    def split(self, column: Ints, last: Ints) -> _Rows:
        """The lower and the upper half of each part that is cut, in this order; the others are left out."""
        kept = np.flatnonzero((column >= 0)[self.part])
        part = self.part[kept]
        above = self.codes[column[part], kept] > last[part]
        # a row moves behind those of its own half that are before it
        upper = np.cumsum(above)
        halves = np.bincount(2 * part + above, minlength=2 * self.parts)
        starts = np.cumsum(halves) - halves
        before = np.concatenate(([0], np.cumsum(halves[1::2])[:-1]))[part]
        rank_above = upper - above - before
        rank_below = np.arange(len(part)) - (starts[::2])[part] - rank_above
        order = np.empty(len(part), dtype=np.int64)
        order[starts[2 * part + above] + np.where(above, rank_above, rank_below)] = kept
        cut_parts = np.repeat(column >= 0, 2)
        return _Rows(self.rows[order], self.codes[:, order], self.weight[order], starts[cut_parts])


def _cuts(claim: Claim, table: Table, spread: NDArray[np.float64], totals: Ints, inside: _Rows) -> tuple[Ints, Ints]:
    """For each part the column by which it is cut and the last code of its lower half; column -1 where it cannot be."""
    parts = inside.parts
    preferred = np.argsort(-(inside.widths / spread[:, None]), axis=0, kind="stable")
    column, last = np.full(parts, -1, dtype=np.int64), np.zeros(parts, dtype=np.int64)
    open_parts = np.add.reduceat(inside.weight, inside.starts) >= 2 * claim.k
    for wish in preferred:
        trying = open_parts & (column < 0) & (inside.widths[wish, np.arange(parts)] > 0)
        if not trying.any():
            continue
        chosen = slice(None) if trying.all() else np.flatnonzero(trying[inside.part])
        part = inside.part[chosen]
        value = inside.codes[wish[part], np.arange(inside.number)[chosen]]
        cut_at, found = _medians(claim, inside.weight[chosen], value, part, parts)
        found &= trying
        if claim.l is not None or claim.t is not None or table.people is not None:
            found &= _halves_meet(claim, table, totals, inside, wish, cut_at, found)
        column[found], last[found] = wish[found], cut_at[found]
    return column, last


def _medians(claim: Claim, weight: Ints, value: Codes, part: Ints, parts: int) -> tuple[Ints, Flags]:
    """The code after which each part is cut most evenly, and whether both halves then have k rows.

    If the most even cut does not leave k rows on both sides, no other does. Where a person may be in several rows,
    `weight` has each person in each of them, and the halves are checked again.
    """
    lowest = int(value.min())
    width = int(value.max()) - lowest + 1
    place, weight = _weights(part * width + (value - lowest), weight, parts * width)
    part, value = np.divmod(place, width)
    value += lowest
    until = np.cumsum(weight)
    total = summed(part, weight, parts)
    below = until - (np.cumsum(total) - total)[part]
    ends = np.flatnonzero(part[1:] == part[:-1])
    found = np.zeros(parts, dtype=bool)
    cut_at = np.zeros(parts, dtype=np.int64)
    if not len(ends):
        return cut_at, found
    of_part = part[ends]
    uneven = np.abs(2 * below[ends] - total[of_part])
    starts = np.flatnonzero(np.diff(of_part, prepend=-1))
    least = np.minimum.reduceat(uneven, starts)
    # the first of the most even ends of each part
    even = np.flatnonzero(uneven == np.repeat(least, np.diff(starts, append=len(ends))))
    first = ends[even[np.diff(of_part[even], prepend=-1) > 0]]
    cut_at[part[first]] = value[first]
    found[part[first]] = np.minimum(below[first], total[part[first]] - below[first]) >= claim.k
    return cut_at, found


def _weights(place: Ints, weight: Ints, places: int) -> tuple[Ints, Ints]:
    """The different places in order, and the weight at each: counted where places are few, sorted elsewhere."""
    if places <= SPARSE * len(place):
        counted = summed(place, weight, places)
        there = np.flatnonzero(counted)
        return there, counted[there]
    order = np.argsort(place, kind="stable")
    place = place[order]
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    return place[starts], np.add.reduceat(weight[order], starts)


def _halves_meet(
    claim: Claim, table: Table, totals: Ints, inside: _Rows, wish: Ints, cut_at: Ints, found: Flags
) -> Flags:
    """Of the parts that would be cut, those whose halves both meet the claim."""
    chosen = np.flatnonzero(found[inside.part])
    here, rows = inside.part[chosen], inside.rows[chosen]
    above = inside.codes[wish[here], chosen] > cut_at[here]
    number = np.cumsum(found) - 1
    halves = 2 * number[here] + above
    people = None if table.people is None else table.people.only(rows)
    composition = Composition.of(
        halves, 2 * int(found.sum()), table.sensitive[rows], table.count[rows], table.values, people
    )
    good = composition.people >= claim.k
    if claim.l is not None:
        good &= (composition.cells_per_class >= claim.l) & ~composition.shared
    if claim.t is not None:
        good &= ~claim.far(replace(composition, totals=totals))
    met = np.zeros(len(found), dtype=bool)
    met[found] = good.reshape(-1, 2).all(axis=1)
    return met
