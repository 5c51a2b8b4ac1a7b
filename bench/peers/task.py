"""What every peer is asked, and how it answers: one JSON file in, one JSON document on standard output.

Runs inside the environment of a peer, so it needs nothing but Python.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# seconds of one question that are enough
LONG = 6


@dataclass(frozen=True)
class Question:
    """`measure`(`column`) by `key` of `table`, where a person, named by `unit`, has `rows` rows at most."""

    name: str
    measure: str
    column: str | None
    lower: int
    upper: int
    table: str
    key: str
    groups: int
    unit: str
    rows: int

    @property
    def by_person(self) -> bool:
        return self.rows > 1

    @property
    def sql(self) -> str:
        what = "count(*)" if self.column is None else f"{self.measure}({self.column})"
        return f"SELECT {self.key}, {what} AS answer FROM {self.table} GROUP BY {self.key}"


@dataclass(frozen=True)
class Task:
    host: str
    port: int
    epsilon: float
    delta: float
    repetitions: int
    questions: tuple[Question, ...]
    longest: float = LONG

    def dsn(self) -> str:
        return f"host={self.host} port={self.port} user=postgres dbname=postgres"


class CannotError(Exception):
    """The peer has no way to answer this."""


Answer = dict[int, float]


def answer_task(prepare: Callable[[Task], Callable[[Question], Callable[[], Answer]]]) -> None:
    """Times every question of the task: `prepare(task)(question)` gives what answers it, everything included."""
    with open(sys.argv[1]) as file:
        read = json.load(file)
    task = Task(**read | {"questions": tuple(Question(**each) for each in read["questions"])})
    peer = prepare(task)
    told: dict[str, Any] = {}
    for question in task.questions:
        try:
            told[question.name] = timed(peer(question), task.repetitions, task.longest)
        except CannotError as error:
            told[question.name] = {"cannot": str(error)}
        except Exception as error:
            reason = " ".join(str(error).split())[:120]
            told[question.name] = {"cannot": f"failed: {type(error).__name__}: {reason}"}
    json.dump(told, sys.stdout)


def timed(ask: Callable[[], Answer], repetitions: int, longest: float = LONG) -> dict[str, Any]:
    """So many times, after a first that is not counted; fewer when it takes longer than so many seconds."""
    seconds, answers = [], []
    for _ in range(1 + repetitions):
        start = time.perf_counter()
        answer = ask()
        seconds.append(time.perf_counter() - start)
        answers.append({str(int(group)): float(number) for group, number in answer.items()})
        if sum(seconds) > longest:
            break
    counted = slice(1 if len(seconds) > 1 else 0, None)
    return {"seconds": seconds[counted], "answers": answers[counted]}
