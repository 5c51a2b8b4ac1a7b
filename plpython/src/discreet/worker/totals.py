"""Runs the native statements of a question: the exact totals of every group, which nobody sees before noise."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from typing import Any

from discreet.gate.finish import built
from discreet.gate.measurements import Measurement
from discreet.gate.plan import Plan
from discreet.gate.run import Statement, statements
from discreet.worker.acting import run_as
from discreet.worker.session import Session

PROGRAM_LIMIT_EXCEEDED = "54000"


Found = dict[tuple[str | None, ...], dict[Measurement, Any]]


def totals(session: Session, plan: Plan, keys: tuple[int, ...], role: int) -> Found:
    """Of every group of a grouping set, with a fresh secret for what a keyed hash chooses; read by this role."""
    found: Found = {}
    for statement in statements(plan, keys, secrets.randbits(62)):
        for values in rows(session, statement, role):
            put_row(found, plan, statement, values)
    return found


def put_row(found: Found, plan: Plan, statement: Statement, values: list[Any]) -> None:
    """Adds a row of a native statement to the totals."""
    keys = statement.keys
    texts = dict(zip(keys, values[: len(keys)], strict=True))
    group = tuple(texts.get(position) for position in range(len(plan.grouping.keys)))
    of_group = found.setdefault(group, {})
    numbers = [int(number) for number in values[len(keys) :]]
    first = statement.measurements[0]
    if first.bins is not None:
        of_group.setdefault(first, [0] * first.bins.number)[numbers[0]] += numbers[1]
    else:
        of_group.update(zip(statement.measurements, numbers, strict=True))


def rows(session: Session, statement: Statement, role: int) -> Iterator[list[Any]]:
    """By the first way, or by the next where that meets a limit: of memory, of integers, or of types it knows."""
    *limited, last = as_texts(statement)
    texts = None
    for sql in limited:
        try:
            texts = run_as(session, role, sql)
            break
        except session.SPIError as error:
            if getattr(error, "sqlstate", None) != PROGRAM_LIMIT_EXCEEDED:
                raise
    return (json.loads(text) for text in (run_as(session, role, last) if texts is None else texts))


def as_texts(statement: Statement) -> list[str]:
    """Its ways, each row as one text."""
    columns = [f"c{n}" for n in range(statement.columns)]
    names, row = ", ".join(columns), built("jsonb_build_array", columns)
    return [f"SELECT ({row})::pg_catalog.text FROM ({sql}) AS t({names})" for sql in statement.ways]
