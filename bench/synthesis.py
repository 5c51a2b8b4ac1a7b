"""Synthetic tables of census-like rows: how long they take, how close they come, and what memory they need.

The census has a million rows of 12 columns; the survey has 100,000 rows of 30, whose first 12 are those of the census.
Closeness is the mean total variation distance of all marginals of two and of three columns; beside it stands that of a
fresh sample of the same population. What a model trained on the table is worth: `python -m bench.synthesis_target`.
Peers on the same rows, each of which needs an hour and an idle core: `python -m bench.synthesis_peers`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.measure import Connection, Line, Subject

ROWS, DELTA = 1_000_000, "1e-9"
EPSILONS = (1, 3, 10)
SIZES = (16, 9, 16, 7, 15, 6, 5, 2, 42, 2, 20, 8)
MOST_SECONDS, MOST_SERVER_MB, MOST_FITTING_MB = 30, 20, 500
# what the best peer of the prototype came to, two and three columns together
BEST_PAIRS, BEST_TRIPLES = 0.0156, 0.0448
SURVEY_ROWS = 100_000
SURVEY_SIZES = (*SIZES, 4, 3, 2, 12, 5, 2, 8, 3, 2, 6, 10, 2, 4, 3, 24, 2, 5, 7)

Columns = list[npt.NDArray[np.int64]]


def names(sizes: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(f"c{n}" for n in range(len(sizes)))


NAMES = names(SIZES)


def population(rows: int, seed: int, sizes: tuple[int, ...] = SIZES) -> Columns:
    """Categories that hang together by three hidden numbers of each person; the same population for every seed."""
    shape, random = np.random.default_rng(7), np.random.default_rng(seed)
    hidden = random.normal(size=(rows, 3))
    columns = []
    for size in sizes:
        weights, bend, noise = shape.normal(size=3), shape.normal(), shape.uniform(0.3, 1.2)
        value = hidden @ weights + 0.7 * bend * hidden[:, 0] * hidden[:, 1] + noise * random.normal(size=rows)
        cuts = np.sort(shape.normal(scale=1.5, size=size - 1))
        columns.append(shape.permutation(size)[np.searchsorted(cuts, value)])
    return columns


def load(subject: Subject) -> None:
    load_table(subject, "census", min(subject.rows, ROWS), SIZES)


def load_table(subject: Subject, table: str, rows: int, sizes: tuple[int, ...]) -> None:
    """A table of that name, protected in a dataset of the same name, with room for many synthetic tables."""
    columns = ", ".join(f"{name} smallint NOT NULL" for name in names(sizes))
    with subject.connect() as connection:
        connection.execute(f"CREATE TABLE {table} (id int PRIMARY KEY, {columns})".encode())
        with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN".encode()) as copy:
            for row in zip(range(rows), *(column.tolist() for column in population(rows, 1, sizes)), strict=True):
                copy.write_row(row)
        connection.execute(f"ANALYZE {table}".encode())
        connection.execute("SELECT discreet.create_dataset(%s, 1000, 1e-3)", [table])
        connection.execute("SELECT discreet.protect(%s, 'id', dataset => %s)", [table, table])
        for name, size in zip(names(sizes), sizes, strict=True):
            connection.execute(
                "SELECT discreet.describe_column(%s, %s, categories => %s::text[])",
                [table, name, [str(n) for n in range(size)]],
            )
        connection.execute("SELECT discreet.grant_budget(%s, 'postgres', 1000, 1e-3)", [table])


@dataclass(frozen=True)
class Closeness:
    """Mean total variation distances."""

    pairs: float
    triples: float

    @classmethod
    def of(cls, here: Columns, there: Columns, sizes: tuple[int, ...] = SIZES) -> Closeness:
        from discreet.synthesis.problem import Layout

        means = []
        for ways in (2, 3):
            layout = Layout(sizes, tuple(combinations(range(len(sizes)), ways)))
            one, two = layout.counted(here) / len(here[0]), layout.counted(there) / len(there[0])
            means.append(float(np.abs(one - two).sum()) / 2 / len(layout.cliques))
        return cls(*means)

    def __str__(self) -> str:
        return f"{self.pairs:.4f} / {self.triples:.4f}"


class Peaks:
    """The largest memory of the session and of the process that fits, while something runs."""

    def __init__(self, session: int) -> None:
        self.session = session
        self.peaks: dict[str, int] = {}
        self._over = threading.Event()
        self._watch = threading.Thread(target=self.watch)

    def __enter__(self) -> Peaks:
        self._watch.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._over.set()
        self._watch.join()

    def watch(self) -> None:
        while not self._over.wait(0.05):
            for place in Path("/proc").iterdir():
                if not place.name.isdigit():
                    continue
                try:
                    words = (place / "cmdline").read_bytes()
                    kind = (
                        "fitting" if b"discreet.synthesis.process" in words
                        else "session" if int(place.name) == self.session
                        else None
                    )  # fmt: skip
                    if kind is not None:
                        self.peaks[kind] = max(self.peaks.get(kind, 0), memory(place))
                except (OSError, IndexError):
                    continue


def memory(process: Path) -> int:
    """What it has of its own now, in MB: shared buffers belong to all processes."""
    line = next(line for line in (process / "status").read_text().splitlines() if line.startswith("RssAnon"))
    return int(line.split()[1]) // 1024


def synthesized(
    connection: Connection, epsilon: int, target: str | None = None, table: str = "census"
) -> tuple[float, Columns, dict[str, int]]:
    """Seconds, rows, and peaks of memory in MB; that of the session is what it grew by."""
    connection.execute(f"DROP TABLE IF EXISTS {table}_copy".encode())
    session = connection.info.backend_pid
    before = memory(Path(f"/proc/{session}"))
    with Peaks(session) as watched:
        start = time.perf_counter()
        connection.execute(
            "SELECT discreet.synthesize(%s, %s, %s, %s, target => %s)",
            [table, f"{table}_copy", epsilon, Decimal(DELTA), target],
        )
        taken = time.perf_counter() - start
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {table}_copy TO STDOUT".encode()) as copy,
    ):
        rows = np.loadtxt((bytes(line).decode() for line in copy), dtype=np.int64)
    peaks = watched.peaks | {"session": watched.peaks.get("session", before) - before}
    return taken, list(rows.T[1:]), peaks


def lines(
    subject: Subject, table: str, number: int, sizes: tuple[int, ...], epsilon: int, floor: Closeness, source: Columns
) -> Iterator[Line]:
    with subject.connect() as connection:
        taken, rows, peaks = synthesized(connection, epsilon, table=table)
    found = Closeness.of(source, rows, sizes)
    name = f"synthesize {number:,} × {len(sizes)}, epsilon {epsilon}, delta {DELTA}"
    targeted = (table, number, epsilon) == ("census", ROWS, 1)
    yield Line(
        f"{name}: time", "", f"{taken:.1f} s", f"{taken:.1f} s",
        f"<= {MOST_SECONDS} s" if targeted else "", taken <= MOST_SECONDS if targeted else None,
    )  # fmt: skip
    yield Line(
        f"{name}: error of pairs / triples; native: a fresh sample", str(floor), str(found), str(found),
        f"<= {BEST_PAIRS} / {BEST_TRIPLES}" if targeted else "",
        found.pairs <= BEST_PAIRS and found.triples <= BEST_TRIPLES if targeted else None,
    )  # fmt: skip
    yield Line(
        f"{name}: memory of the session, of the fit", "", f"+{peaks['session']} MB, {peaks['fitting']} MB", "",
        f"<= {MOST_SERVER_MB} MB, {MOST_FITTING_MB} MB",
        peaks["session"] <= MOST_SERVER_MB and peaks["fitting"] <= MOST_FITTING_MB,
    )  # fmt: skip


def census(subject: Subject) -> Iterator[Line]:
    number = min(subject.rows, ROWS)
    source = population(number, 1)
    floor = Closeness.of(source, population(number, 2))
    for epsilon in EPSILONS:
        yield from lines(subject, "census", number, SIZES, epsilon, floor, source)


def survey(subject: Subject) -> Iterator[Line]:
    number = min(subject.rows, SURVEY_ROWS)
    load_table(subject, "survey", number, SURVEY_SIZES)
    source = population(number, 1, SURVEY_SIZES)
    floor = Closeness.of(source, population(number, 2, SURVEY_SIZES), SURVEY_SIZES)
    yield from lines(subject, "survey", number, SURVEY_SIZES, 1, floor, source)
