"""Runs the native statements of a question: the exact totals of every group, which no session sees before noise."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence

from discreet.core.syntax import SqlValue
from discreet.gate.measurements import Measurement
from discreet.gate.plan import Plan
from discreet.gate.run import Statement, statements
from discreet.worker.acting import run_as_joined
from discreet.worker.session import Session

PROGRAM_LIMIT_EXCEEDED = "54000"

Totals = dict[Measurement, dict[tuple[str | None, ...], SqlValue]]


def totals(session: Session, plan: Plan, keys: tuple[int, ...], role: int) -> Totals:
    """Of every group of a grouping set, with a fresh secret for what a keyed hash chooses; read by this role."""
    found: Totals = {}
    for statement in statements(plan, keys, secrets.randbits(62)):
        put_rows(found, plan, statement, rows(session, statement, role))
    return found


def put_rows(found: Totals, plan: Plan, statement: Statement, rows: Sequence[list[SqlValue]]) -> None:
    """Adds rows of a native statement to the totals."""
    width = len(statement.keys)
    places = [statement.keys.index(key) if key in statement.keys else None for key in range(len(plan.grouping.keys))]
    columns = [found.setdefault(measurement, {}) for measurement in statement.measurements]
    bins = statement.measurements[0].bins
    groups = [tuple([None if place is None else values[place] for place in places]) for values in rows]
    if bins is None:
        for place, column in enumerate(columns, start=width):
            column.update(zip(groups, [int(values[place]) for values in rows], strict=True))
        return
    for group, (chosen, number) in zip(groups, (values[width:] for values in rows), strict=True):
        for column in columns:
            filled = column.setdefault(group, {})
            filled[int(chosen)] = filled.get(int(chosen), 0) + int(number)


def rows(session: Session, statement: Statement, role: int) -> list[list[SqlValue]]:
    """By the first way, or by the next where that meets a limit: of memory, of integers, or of types it knows."""
    *limited, last = statement.as_texts
    joined = None
    for sql in limited:
        try:
            joined = run_as_joined(session, role, sql)
            break
        except session.SPIError as error:
            if getattr(error, "sqlstate", None) != PROGRAM_LIMIT_EXCEEDED:
                raise
    joined = run_as_joined(session, role, last) if joined is None else joined
    return list(json.loads(f"[{joined}]"))
