"""Runs the native statements of a question: the exact totals of every group, which nobody sees before noise."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Any

from discreet.gate.measurements import BINS, Measurement, Quantity
from discreet.gate.plan import Plan
from discreet.gate.run import Statement, statements
from discreet.server.plpy import Plpy, Row

PROGRAM_LIMIT_EXCEEDED = "54000"


def totals(plpy: Plpy, plan: Plan, keys: tuple[int, ...]) -> dict[tuple[str | None, ...], dict[Measurement, Any]]:
    """Of every group of a grouping set, with a fresh secret for what a keyed hash chooses."""
    found: dict[tuple[str | None, ...], dict[Measurement, Any]] = {}
    for statement in statements(plan, keys, secrets.randbits(62)):
        for row in rows(plpy, statement):
            values = list(row.values())
            texts = dict(zip(keys, values[: len(keys)], strict=True))
            group = tuple(texts.get(position) for position in range(len(plan.grouping.keys)))
            of_group = found.setdefault(group, {})
            numbers = [int(number) for number in values[len(keys) :]]
            first = statement.measurements[0]
            if first.quantity is Quantity.QUANTILE:
                of_group.setdefault(first, [0] * BINS)[numbers[0]] += numbers[1]
            else:
                of_group.update(zip(statement.measurements, numbers, strict=True))
    return found


def rows(plpy: Plpy, statement: Statement) -> Iterable[Row]:
    """By the first way, or by the next where that meets a limit: of memory, of integers, or of types it knows."""
    *limited, last = statement.ways
    for sql in limited:
        try:
            with plpy.subtransaction():
                return plpy.execute(sql)
        except plpy.SPIError as error:
            if getattr(error, "sqlstate", None) != PROGRAM_LIMIT_EXCEEDED:
                raise
    return plpy.execute(last)
