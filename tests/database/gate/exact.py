"""The exact part of an answer: what the native statements of a plan return, before any noise."""

from __future__ import annotations

from collections import defaultdict

from tests.databases import Connection

from discreet.core.errors import DiscreetError
from discreet.gate.neighbours import Totals
from discreet.gate.parse import parse
from discreet.gate.plan import Plan, plan
from discreet.gate.run import statements
from discreet.gate.schema import Schema

SEED = 4711


def planned(question: str, schema: Schema) -> Plan | None:
    """None where it is refused."""
    try:
        return plan(parse(question), schema, frozenset())
    except DiscreetError:
        return None


def exact_totals(connection: Connection, asked: Plan) -> list[Totals]:
    """Runs everything that the gate would run, with a keyed hash that is the same every time."""
    found = []
    for keys in asked.grouping.sets:
        totals = Totals(keys, defaultdict(dict), defaultdict(dict))
        for statement in statements(asked, keys, SEED):
            for row in connection.execute(statement.sql.encode()):
                group, values = row[: len(keys)], [int(value) for value in row[len(keys) :]]  # type: ignore[call-overload]
                first = statement.measurements[0]
                if first.bins is not None:
                    totals.bins[first].setdefault(group, [0] * first.bins.number)[values[0]] += values[1]
                else:
                    for measurement, value in zip(statement.measurements, values, strict=True):
                        totals.numbers[measurement][group] = value
        found.append(totals)
    return found
