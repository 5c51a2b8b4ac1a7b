"""What was answered about a table: who was together in every question, and which questions those were.

People who were in the same questions, with versions of their rows that changed between the same ones, are an *atom*.
The history is a fold over events, one for each answer that told something new; an event holds who was asked about, so
that nothing depends on what the rows have become since.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import RefusedShapeError
from discreet.core.syntax import Json

Numbers = NDArray[Any]
# a hash of the unit, a hash of this version of the row
PERSON = np.dtype([("person", "<u8"), ("version", "<u4")])
UNTOUCHED = -1
# codes up to this are counted in an array, others sorted
MOST_COUNTED = 1 << 22


@dataclass(frozen=True)
class Part:
    """Disjoint query sets, the groups of one grouping set under one FILTER; `columns`: whose sums are told of each."""

    sets: tuple[Numbers, ...]
    columns: tuple[int, ...]

    @classmethod
    def of(cls, sets: Iterable[bytes], columns: Iterable[int]) -> Part:
        return cls(tuple(np.frombuffer(people, dtype=PERSON) for people in sets), tuple(columns))


@dataclass(frozen=True)
class Rows:
    """The questions about one column: `entries[question, atom]` is the version that it touches, or UNTOUCHED.

    `numbers` count all questions that were not the same as an earlier one; dependent ones are dropped.
    """

    entries: Numbers
    numbers: tuple[int, ...] = ()
    asked: int = 0

    def refined(self, parents: Numbers) -> Rows:
        entries = self.entries[:, np.maximum(parents, 0)]
        entries[:, parents < 0] = UNTOUCHED
        return replace(self, entries=entries)

    def without(self, dropped: Iterable[int]) -> Rows:
        gone = set(dropped)
        kept = [place for place, number in enumerate(self.numbers) if number not in gone]
        if len(kept) == len(self.numbers):
            return self
        return replace(self, entries=self.entries[kept], numbers=tuple(self.numbers[place] for place in kept))

    def added(self, rows: Iterable[Numbers]) -> Rows:
        """With the questions that are not the same as one before."""
        known = {row.tobytes() for row in self.entries}
        new = []
        for row in rows:
            if row.tobytes() not in known:
                known.add(row.tobytes())
                new.append(row)
        numbers = (*self.numbers, *range(self.asked, self.asked + len(new)))
        return Rows(np.vstack([self.entries, *new]), numbers, self.asked + len(new)) if new else self


@dataclass(frozen=True)
class Event:
    """What an answer adds: people who were never asked about, whose versions are new, and who is in which set.

    Places are those in the order of all people's hashes, new ones included; group 0 has no person.
    """

    people: Numbers
    places: Numbers
    versions: Numbers
    groups: tuple[Numbers, ...]
    columns: tuple[tuple[int, ...], ...]
    dropped: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    def packed(self) -> bytes:
        # of one query set a bit tells who is in it
        groups = [np.packbits(group) if int(group.max(initial=0)) <= 1 else group for group in self.groups]
        arrays = [self.people, self.places, self.versions, *groups]
        head = {
            "arrays": [[array.dtype.str, len(array)] for array in arrays],
            "asked": max(map(len, self.groups), default=0),
            "bits": [packed is not group for packed, group in zip(groups, self.groups, strict=True)],
            "columns": self.columns,
            "dropped": {str(column): list(numbers) for column, numbers in self.dropped.items()},
        }
        return packed(head, arrays)

    @classmethod
    def unpacked(cls, data: bytes) -> Event:
        head, (people, places, versions, *groups) = unpacked(data)
        groups = [
            np.unpackbits(group, count=head["asked"]) if bits else group
            for group, bits in zip(groups, head["bits"], strict=True)
        ]
        dropped = {int(column): tuple(numbers) for column, numbers in head["dropped"].items()}
        return cls(people, places, versions, tuple(groups), tuple(map(tuple, head["columns"])), dropped)


@dataclass(frozen=True)
class History:
    """People ever asked about, sorted by hash, each with version and atom; what each atom was asked, by column.

    `versions_of_atoms`: how many versions of these people's rows came into questions, less one.
    """

    people: Numbers
    versions: Numbers
    atoms: Numbers
    versions_of_atoms: Numbers
    columns: Mapping[int, Rows]
    parents: Numbers
    starts: Numbers

    @classmethod
    def empty(cls) -> History:
        nobody, people = np.zeros(0, dtype=np.int32), np.zeros(0, "<u8")
        return cls(people, np.zeros(0, "<u4"), nobody, nobody, {}, nobody, starts_of(people))

    def rows(self, column: int) -> Rows:
        return self.columns.get(column, Rows(np.zeros((0, len(self.versions_of_atoms)), dtype=np.int32)))

    def sizes(self, known: Numbers) -> Numbers:
        """People of each atom, those aside whose values are known."""
        sizes = np.bincount(self.atoms, minlength=len(self.versions_of_atoms))
        if len(known) and len(self.people):
            place = find(self.people, self.starts, known)
            np.subtract.at(sizes, self.atoms[place[self.people[place] == known]], 1)
        return sizes

    def event(self, parts: Iterable[Part]) -> Event:
        """What answering these query sets, seen in one snapshot, would add."""
        parts = [part for part in parts if part.columns]
        asked = [np.concatenate([some["person"] for some in part.sets] or [self.people[:0]]) for part in parts]
        tokens = [np.concatenate([some["version"] for some in part.sets] or [self.versions[:0]]) for part in parts]
        found = [self.find(people) for people in asked]
        fresh = [people[~known] for people, (_, known) in zip(asked, found, strict=True)]
        new = np.unique(np.concatenate(fresh)) if fresh else self.people[:0]
        whole = self.with_people(new)
        groups, moved, changed = [], [self.people[:0].astype("<u4")], [self.versions[:0]]
        for part, people, versions, (places, _) in zip(parts, asked, tokens, found, strict=True):
            if len(new):
                places, _ = whole.find(people)
            numbers = np.repeat(np.arange(1, len(part.sets) + 1), [len(some) for some in part.sets])
            group = np.zeros(len(whole.people), dtype=np.min_scalar_type(len(part.sets)))
            group[places] = numbers
            if np.count_nonzero(group) != len(people):
                raise RefusedShapeError("a person has several rows", "The unit of an audited table must be unique.")
            groups.append(group)
            other = np.flatnonzero((whole.versions[places] != versions) | (whole.atoms[places] < 0))
            moved.append(places[other].astype("<u4"))
            changed.append(versions[other])
        # in one snapshot a row has one version, whatever sets it is in
        once, first = np.unique(np.concatenate(moved), return_index=True)
        columns = tuple(part.columns for part in parts)
        return Event(new, once, np.concatenate(changed)[first], tuple(groups), columns)

    def find(self, people: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
        """The places of people, and who of them is known here."""
        if not len(self.people):
            return np.zeros(len(people), dtype=np.int32), np.zeros(len(people), dtype=bool)
        places = find(self.people, self.starts, people)
        return places, self.people[places] == people

    def with_people(self, new: Numbers) -> History:
        if not len(new):
            return self
        places = np.searchsorted(self.people, new)
        people = np.insert(self.people, places, new)
        return replace(
            self,
            people=people,
            starts=starts_of(people),
            versions=np.insert(self.versions, places, 0),
            atoms=np.insert(self.atoms, places, UNTOUCHED),
        )

    def after(self, event: Event) -> History:
        """The history with one more answer. Atoms are divided; the rows of questions go with them."""
        whole = self.with_people(event.people)
        fresh = np.zeros(len(whole.people), dtype=np.int64)
        fresh[event.places] = 1
        versions = whole.versions.copy()
        versions[event.places] = event.versions
        codes = whole.atoms.astype(np.int64) + 1
        for values in (*([fresh] if len(event.places) or not event.groups else ()), *event.groups):
            atoms, number = numbered(codes * (int(values.max(initial=0)) + 1) + values)
            codes = atoms.astype(np.int64)
        anyone = np.zeros(number, dtype=np.int64)
        anyone[atoms] = np.arange(len(atoms))
        parents = whole.atoms[anyone].astype(np.int64)
        before = self.versions_of_atoms[np.maximum(parents, 0)] if len(self.versions_of_atoms) else 0 * parents
        version = np.where(parents < 0, 0, before + fresh[anyone]).astype(np.int32)
        columns = {column: rows.refined(parents) for column, rows in self.columns.items()}
        whole = replace(
            whole, versions=versions, atoms=atoms, versions_of_atoms=version, columns=columns, parents=parents
        )
        for groups, asked in zip(event.groups, event.columns, strict=True):
            of_atoms = groups[anyone]
            rows = [
                np.where(of_atoms == group, version, UNTOUCHED).astype(np.int32)
                for group in range(1, int(groups.max(initial=0)) + 1)
            ]
            for column in asked:
                columns[column] = whole.rows(column).added(rows)
        return replace(whole, columns=columns)

    def without(self, dropped: Mapping[int, Iterable[int]]) -> History:
        """Less questions that follow from others."""
        columns = {column: rows.without(dropped.get(column, ())) for column, rows in self.columns.items()}
        return replace(self, columns=columns)

    def packed(self) -> bytes:
        """All of it, to begin with instead of the events up to here."""
        arrays = [self.people, self.versions, self.atoms, self.versions_of_atoms]
        arrays += [rows.entries.reshape(-1) for rows in self.columns.values()]
        head = {
            "arrays": [[array.dtype.str, len(array)] for array in arrays],
            "columns": [[column, rows.numbers, rows.asked] for column, rows in self.columns.items()],
        }
        return packed(head, arrays)

    @classmethod
    def unpacked(cls, data: bytes) -> History:
        head, (people, versions, atoms, versions_of_atoms, *entries) = unpacked(data)
        columns = {
            column: Rows(flat.reshape(len(numbers), len(versions_of_atoms)), tuple(numbers), asked)
            for (column, numbers, asked), flat in zip(head["columns"], entries, strict=True)
        }
        parents = np.arange(len(versions_of_atoms))
        return cls(people, versions, atoms, versions_of_atoms, columns, parents, starts_of(people))


def unknown_people(query_set: Numbers, known: Numbers) -> int:
    """The people of a query set whose values are not known."""
    return len(query_set) - (int(np.isin(query_set["person"], known).sum()) if len(known) else 0)


def find(people: Numbers, starts: Numbers, wanted: Numbers) -> Numbers:
    """For each wanted hash the place of the first that is not below it, or the last place.

    Hashes are spread evenly: `starts_of` leads to within a few places.
    """
    last = len(people) - 1
    places = np.minimum(starts[(wanted >> np.uint64(64 - bits_of(people))).astype(np.int64)], last)
    behind = np.flatnonzero(people[places] < wanted)
    while len(behind):
        behind = behind[places[behind] < last]
        places[behind] += 1
        behind = behind[people[places[behind]] < wanted[behind]]
    return places


def starts_of(people: Numbers) -> Numbers:
    """Of each beginning of hashes the place of the first that has it, or would have."""
    counts = np.bincount((people >> np.uint64(64 - bits_of(people))).astype(np.int64), minlength=1 << bits_of(people))
    return np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int32)


def bits_of(people: Numbers) -> int:
    return len(people).bit_length() + 1


def numbered(codes: Numbers) -> tuple[Numbers, int]:
    """Each code's place among those that occur, and the number of these."""
    if not len(codes):
        return np.zeros(0, dtype=np.int32), 0
    if int(codes.max()) < MOST_COUNTED:
        there = np.bincount(codes) > 0
        return (np.cumsum(there) - 1).astype(np.int32)[codes], int(there.sum())
    found, places = np.unique(codes, return_inverse=True)
    return places.astype(np.int32), len(found)


def packed(head: Mapping[str, Json], arrays: list[Numbers]) -> bytes:
    text = json.dumps(head).encode()
    body = b"".join([struct.pack("<I", len(text)), text, *(array.tobytes() for array in arrays)])
    return zlib.compress(body, 1)


def unpacked(data: bytes) -> tuple[dict[str, Json], list[Numbers]]:
    body = zlib.decompress(data)
    (length,) = struct.unpack_from("<I", body)
    head = json.loads(body[4 : 4 + length])
    arrays, place = [], 4 + length
    for kind, number in head["arrays"]:
        arrays.append(np.frombuffer(body, dtype=kind, count=number, offset=place))
        place += arrays[-1].nbytes
    return head, arrays
