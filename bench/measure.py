"""Timing, and the lines of the table that it leads to."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import psycopg
from dev.cluster import Cluster

Connection = psycopg.Connection[tuple[object, ...]]
Action = Callable[[], object]


@dataclass(frozen=True)
class Subject:
    """The server that is measured, and how much."""

    cluster: Cluster
    rows: int
    repetitions: int

    def connect(self, user: str = "postgres", database: str = "postgres") -> Connection:
        return psycopg.connect(self.cluster.dsn(database, user), autocommit=True)


@dataclass(frozen=True)
class Line:
    """A line of the table: what native SQL takes, what discreet takes, and what the target is about."""

    name: str
    native: str
    discreet: str
    value: str
    target: str = ""
    met: bool | None = None


@dataclass(frozen=True)
class Sample:
    """Durations in seconds, or rates per second."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def milliseconds(self) -> str:
        """The median and, in brackets, the middle half of the values."""
        if len(self.values) == 1:
            return f"{1000 * self.median:.0f} ms (once)"
        low, _, high = statistics.quantiles(self.values, n=4, method="inclusive")
        digits = 2 if self.median < 0.1 else 0
        shown = [f"{1000 * value:.{digits}f}" for value in (self.median, low, high)]
        return "{} ms ({}-{})".format(*shown)

    def rate(self) -> str:
        return f"{self.median:.0f}/s ({min(self.values):.0f}-{max(self.values):.0f})"


def seconds(action: Action) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def alternate(repetitions: int, native: Action, discreet: Action) -> tuple[Sample, Sample]:
    """Durations of both, measured in turn, so that what else the machine does meets both alike."""
    return samples((seconds(native), seconds(discreet)) for _ in range(repetitions))


def samples(pairs: Iterable[tuple[float, float]]) -> tuple[Sample, Sample]:
    native, discreet = zip(*pairs, strict=True)
    return Sample(native), Sample(discreet)


def ratio(name: str, native: Sample, discreet: Sample, at_most: float | None = None) -> Line:
    value = discreet.median / native.median
    target, met = ("", None) if at_most is None else (f"<= {at_most:g}", value <= at_most)
    return Line(name, native.milliseconds(), discreet.milliseconds(), f"{value:.2f}", target, met)


def rate(connect: Callable[[], Connection], sessions: int, duration: float, statement: str) -> float:
    """How often a second so many sessions together get through a statement, each on a warm connection."""
    counts = [0] * sessions
    ready = threading.Barrier(sessions)

    def work(number: int) -> None:
        with connect() as connection:
            connection.execute(statement)
            ready.wait()
            end = time.perf_counter() + duration
            while time.perf_counter() < end:
                connection.execute(statement)
                counts[number] += 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(sessions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / duration
