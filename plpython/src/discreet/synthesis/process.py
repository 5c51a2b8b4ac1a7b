"""The process that fits: it is told released numbers and declarations, and nothing else, and gives rows.

It runs apart from the server, with no connection to it but two pipes, and ends when these are closed.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from discreet.core.syntax import Json
from discreet.synthesis.frames import HEAD, Array, missing, packed, unpacked
from discreet.synthesis.junction import Clique
from discreet.synthesis.model import Codes, Measured, Model
from discreet.synthesis.rows import Column, array, column

PARENT_DIED = 1  # PR_SET_PDEATHSIG
# what is drawn at once; the rest of a large table waits as codes
FINAL_STEPS = 150
FINAL_CLOSE = 0.5
FINAL_ENOUGH = 1e-2
UNREAD = -1
# the attribute of a column that holds the person's key, and of one that holds that of the row's parent; without a
# table of parents every person has one, with the number of the person
PERSON, PARENT = -1, -2


class Part:
    """One problem: its model, and the rows that were drawn of it."""

    def __init__(self, message: dict[str, Json]) -> None:
        self.sizes = tuple(message["sizes"])
        self.model = Model(self.sizes, frozenset(message["drawn"]))
        self.cliques: list[Clique] = [tuple(clique) for clique in message["cliques"]]
        # the person's attribute that each given one is, by its number there
        self.given = {int(attribute): int(of) for attribute, of in message["given"].items()}
        self.counted_by = message["counted_by"]
        self.measured: list[Measured] = []

    def fitted(self) -> npt.NDArray[np.int64]:
        self.model.fit(self.measured)
        return self.counts()

    def counts(self) -> npt.NDArray[np.int64]:
        """Expected counts of all marginals, one after the other; UNREAD where one cannot be read."""
        found = []
        for clique, table in zip(self.cliques, self.model.marginals(self.cliques), strict=True):
            shape = [self.sizes[attribute] for attribute in clique]
            found.append(np.full(shape, UNREAD).ravel() if table is None else np.rint(table).ravel())
        return np.concatenate(found).astype(np.int64)


@dataclass(frozen=True)
class Parents:
    """How many rows each person has in another part, and the first of them."""

    number: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]

    def drawn(self, whose: npt.NDArray[np.int64], random: np.random.Generator) -> npt.NDArray[np.int64]:
        """The key of a row of the same person for each."""
        return self.first[whose] + random.integers(0, self.number[whose]) + 1


class Fitting:
    """Answers the messages of the worker."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(int.from_bytes(os.urandom(32)))
        self.parts: list[Part] = []
        self.people: list[Codes] = []
        self.before = 0  # people who were drawn and are not kept
        self.rows: dict[int, tuple[list[Codes], npt.NDArray[np.int64]]] = {}
        self.parent: dict[int, npt.NDArray[np.int64]] = {}
        self.writers: dict[int, list[tuple[int | None, Column]]] = {}

    def answered(self, message: dict[str, Json], arrays: list[Array]) -> bytes:
        return getattr(self, "do_" + message.pop("do"))(message, arrays)  # type: ignore[no-any-return]

    def do_begin(self, message: dict[str, Json], arrays: list[Array]) -> bytes:
        self.parts.append(Part(message))
        return packed({})

    def do_fit(self, message: dict[str, Json], arrays: list[Array]) -> bytes:
        """Adds measurements, and fits."""
        part = self.parts[message["part"]]
        for (clique, variance), counts in zip(message["measured"], arrays, strict=True):
            part.measured.append(Measured(tuple(clique), counts.astype(np.float64), variance))
        return packed({}, [part.fitted()])

    def do_settle(self, message: dict[str, Json], arrays: list[Array]) -> bytes:
        """The last fit of a part; how many rows it has, and what it says of all marginals."""
        part = self.parts[message["part"]]
        loss = part.model.fit(part.measured, FINAL_STEPS, FINAL_CLOSE, FINAL_ENOUGH)
        cells = sum(belief.size for belief in part.model.beliefs)
        return packed({"total": part.model.total, "loss": loss, "cells": cells}, [part.counts()])

    def do_write(self, message: dict[str, Json], arrays: list[Array]) -> bytes:
        """How the rows of a part are written: for each column its attribute and what it becomes."""
        self.writers[message["part"]] = [(told["attribute"], column(told, self.random)) for told in message["columns"]]
        return packed({})

    def do_people(self, message: dict[str, Json], arrays: list[Array]) -> bytes:
        """Draws so many more people, part 0; their numbers follow those of the ones before, who are kept if wanted."""
        drawn = self.parts[0].model.drawn(message["number"], self.random)
        if message["keep"] and self.people:
            drawn = [np.concatenate(pair) for pair in zip(self.people, drawn, strict=True)]
        elif not message["keep"]:
            self.before += len(self.people[0]) if self.people else 0
        self.people = drawn
        self.rows[0] = drawn, np.arange(self.before + 1, self.before + len(drawn[0]) + 1)
        return packed({"rows": self.before + len(drawn[0])})

    def do_visits(self, message: dict[str, Json], arrays: list[Array]) -> bytes:
        """Draws the rows of another part, for each person as many as the person's own attribute says.

        `parent`: the part with one of whose rows each is to be, of the same person; who has none there has none here.
        """
        part = self.parts[message["part"]]
        counted = self.people[part.counted_by].astype(np.int64) + message["least"]
        parents = self.parents(message["parent"], len(counted))
        if parents is not None:
            counted[parents.number == 0] = 0
        whose = np.repeat(np.arange(len(counted)), counted)[: message["most"]]
        if parents is not None:
            self.parent[message["part"]] = parents.drawn(whose, self.random)
        given = {attribute: self.people[of][whose] for attribute, of in part.given.items()}
        drawn = part.model.drawn(len(whose), self.random, given)
        self.rows[message["part"]] = drawn, whose + 1
        return packed({"rows": len(whose)})

    def parents(self, part: int | None, people: int) -> Parents | None:
        """The rows of another part by their people, whom they are in the order of."""
        if part is None:
            return None
        whose = self.rows[part][1] - 1
        number = np.bincount(whose, minlength=people)
        return Parents(number, np.cumsum(number) - number)

    def do_rows(self, message: dict[str, Json], arrays: list[Array]) -> bytes:
        """The texts of some rows, a column after the other; each is the array of its values."""
        codes, people = self.rows[message["part"]]
        first = message["start"] - (self.before if message["part"] == 0 else 0)
        some = slice(first, first + message["number"])
        numbers = np.arange(message["start"] + 1, message["start"] + 1 + len(people[some]))
        keys = {PERSON: people, PARENT: self.parent.get(message["part"], people)}
        texts = [
            array(writer(None if attribute is None or attribute < 0 else codes[attribute][some],
                         numbers if attribute is None or attribute >= 0 else keys[attribute][some]))
            for attribute, writer in self.writers[message["part"]]
        ]  # fmt: skip
        return packed({"columns": texts})


def serve(source: BinaryIO, target: BinaryIO) -> None:
    fitting = Fitting()
    while True:
        buffer = bytearray()
        while (wanted := missing(buffer)) > 0:
            more = source.read(wanted)
            if not more:
                return
            buffer += more
        target.write(fitting.answered(*unpacked(bytes(buffer))))
        target.flush()


def main(most_mb: int) -> None:
    """Serves until the worker closes the pipe, or ends."""
    ctypes.CDLL(None, use_errno=True).prctl(PARENT_DIED, signal.SIGKILL, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_AS, (most_mb * 2**20, most_mb * 2**20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    serve(sys.stdin.buffer, sys.stdout.buffer)


__all__ = ["HEAD", "Fitting", "main", "serve"]
