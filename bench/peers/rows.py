"""Rows of PostgreSQL as arrays of numpy, for libraries that have no database: by COPY, which is the fastest way."""

from __future__ import annotations

import io
from typing import Any

import numpy
import psycopg

from bench.peers.task import Question, Task


def columns(task: Task, question: Question) -> dict[str, Any]:
    names = [question.key, *([question.column] if question.column else []), question.unit]
    names = names if question.by_person else names[:-1]
    statement = f"COPY (SELECT {', '.join(names)} FROM {question.table}) TO STDOUT (FORMAT csv)"
    with psycopg.connect(task.dsn()) as connection, connection.cursor().copy(statement) as copied:
        text = b"".join(bytes(block) for block in copied)
    table = numpy.loadtxt(io.BytesIO(text), dtype=numpy.int64, delimiter=",", ndmin=2)
    return {name: table[:, place] for place, name in enumerate(names)}
