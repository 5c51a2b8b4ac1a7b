"""Rows that share their quasi-identifiers: the classes, what is in them, and how large they are.

Rows come as codes: every column is a list of small whole numbers in the order of its values, NULL is -1. All sums are
of whole numbers below 2^63.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

# beyond this many possible keys, keys are sorted instead of counted
COUNTED_KEYS = 1 << 24
LARGEST_KEY = 1 << 62


def numbered(columns: Sequence[Ints]) -> tuple[Ints, int]:
    """A number from 0 on for every row, the same for rows that agree in all columns; and how many there are."""
    key = np.zeros(len(columns[0]), dtype=np.int64)
    possible = 1
    for column in columns:
        if len(column) == 0:
            return key, 0
        lowest = int(column.min())
        width = int(column.max()) - lowest + 1
        if possible * width >= LARGEST_KEY:
            key, possible = dense(key, possible)
        key = key * width + (column - lowest)
        possible *= width
    return dense(key, possible)


def dense(key: Ints, possible: int) -> tuple[Ints, int]:
    """Numbers without gaps in place of keys from 0 to below `possible`."""
    if possible <= COUNTED_KEYS:
        there = np.zeros(possible, dtype=bool)
        there[key] = True
        numbers = np.cumsum(there, dtype=np.int64) - 1
        return numbers[key], int(numbers[-1]) + 1 if possible else 0
    values, inverse = np.unique(key, return_inverse=True)
    return inverse.astype(np.int64), len(values)


def summed(numbers: Ints, counts: Ints, groups: int) -> Ints:
    """Sum of the counts per group."""
    if int(counts.sum()) < 1 << 53:
        return np.bincount(numbers, weights=counts, minlength=groups).astype(np.int64)
    total = np.zeros(groups, dtype=np.int64)
    np.add.at(total, numbers, counts)
    return total


@dataclass(frozen=True)
class People:
    """Who is in which row, where a person may be in several: `alone` counts those who are in that row only.

    The others are listed: `person`, a number from 0 on, is in `row`, each pair once.
    """

    alone: Ints
    row: Ints
    person: Ints

    @classmethod
    def of(cls, rows: int, row: Ints, person: Ints) -> People:
        """From all pairs of a row and a person; -1 is no person."""
        row, person = row[person >= 0], person[person >= 0]
        several = np.bincount(person)[person] > 1
        number, _ = numbered([person[several]])
        return cls(np.bincount(row[~several], minlength=rows), row[several], number)

    def among(self, rows: Ints) -> People:
        """The same of some rows, among which are all that have a person."""
        place = np.zeros(len(self.alone), dtype=np.int64)
        place[rows] = np.arange(len(rows))
        return People(self.alone[rows], place[self.row], self.person)

    def within(self, group: Ints, groups: int) -> Ints:
        """How many different people are in each group of rows."""
        found = summed(group, self.alone, groups)
        if not len(self.row):
            return found
        many = int(self.person.max()) + 1
        pairs = np.unique(group[self.row] * many + self.person)
        return found + np.bincount(pairs // many, minlength=groups)

    @property
    def weight(self) -> Ints:
        """How many people are in each row."""
        return self.alone + np.bincount(self.row, minlength=len(self.alone))

    @property
    def total(self) -> int:
        return int(self.alone.sum()) + (int(self.person.max()) + 1 if len(self.person) else 0)

    def most_rows(self, group: Ints, count: Ints, groups: int) -> Ints:
        """At most so many records has one person in each group of rows, of which each stands for `count` records.

        Each person in a row has at least one of its records. Rows of group -1 do not count.
        """
        share = count - self.weight + 1
        found = np.zeros(groups, dtype=np.int64)
        there = (self.alone > 0) & (group >= 0)
        np.maximum.at(found, group[there], share[there])
        listed = group[self.row] >= 0
        if listed.any():
            row = self.row[listed]
            number, pairs = numbered([group[row], self.person[listed]])
            group_of = np.zeros(pairs, dtype=np.int64)
            group_of[number] = group[row]
            np.maximum.at(found, group_of, summed(number, share[row], pairs))
        return found

    def only(self, rows: Ints) -> People:
        """Some of the rows, in this order."""
        place = np.full(len(self.alone), -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        there = place[self.row] >= 0
        return People(self.alone[rows], place[self.row[there]], self.person[there])


@dataclass(frozen=True)
class Composition:
    """What the classes are made of: each cell is a value of a sensitive column in a class, cells in order of classes.

    `starts` is the first cell of each class, `totals` how often each value is in the whole table. No class is empty.
    `known_people` are those of each class and those of each cell, where a person may have several rows; otherwise
    rows stand for people.
    """

    starts: Ints
    value: Ints
    count: Ints
    totals: Ints
    known_people: tuple[Ints, Ints] | None = None

    @classmethod
    def of(
        cls, class_of: Ints, classes: int, value: Ints, count: Ints, values: int, people: People | None = None
    ) -> Composition:
        """From rows, each with its class, its value (below `values`) and how often it is there."""
        key = class_of * max(values, 1) + value
        if classes * values <= COUNTED_KEYS:
            total = summed(key, count, classes * values)
            cell = np.flatnonzero(total)
            total = total[cell]
        else:
            cell, inverse = np.unique(key, return_inverse=True)
            total = summed(inverse, count, len(cell))
        starts = np.searchsorted(cell, np.arange(classes, dtype=np.int64) * max(values, 1))
        made = cls(starts, cell % max(values, 1), total, summed(value, count, values))
        if people is None:
            return made
        holders = people.within(np.searchsorted(cell, key), len(cell))
        return replace(made, known_people=(people.within(class_of, classes), holders))

    @property
    def values(self) -> int:
        return len(self.totals)

    @property
    def classes(self) -> int:
        return len(self.starts)

    @property
    def sizes(self) -> Ints:
        return np.add.reduceat(self.count, self.starts) if self.classes else self.count[:0]

    @property
    def cells_per_class(self) -> Ints:
        return np.diff(np.append(self.starts, len(self.value)))

    @property
    def class_of_cell(self) -> Ints:
        return np.repeat(np.arange(self.classes, dtype=np.int64), self.cells_per_class)

    @property
    def people(self) -> Ints:
        """How many are in each class."""
        return self.sizes if self.known_people is None else self.known_people[0]

    @property
    def holders(self) -> Ints:
        """How many in a class have the value of a cell."""
        return self.count if self.known_people is None else self.known_people[1]

    @property
    def shared(self) -> NDArray[np.bool_]:
        """Classes in which all people have one value in common, whatever other values some have."""
        if not self.classes:
            return np.zeros(0, dtype=bool)
        return np.asarray(np.maximum.reduceat(self.holders, self.starts) >= self.people)

    def coarser(self, group_of_value: Ints, groups: int) -> Composition:
        """The same classes with values put together."""
        together = Composition.of(self.class_of_cell, self.classes, group_of_value[self.value], self.count, groups)
        return replace(together, totals=summed(group_of_value, self.totals, groups))


def with_null(codes: Ints, values: int) -> tuple[Ints, int]:
    """NULL, which is -1, becomes a value like others, and the last; also how many values there are then."""
    if not len(codes) or int(codes.min()) >= 0:
        return codes, values
    return np.where(codes < 0, values, codes), values + 1
