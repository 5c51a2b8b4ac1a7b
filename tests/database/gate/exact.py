"""The exact part of an answer: what the native statements of a plan return, before any noise."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress

from psycopg.errors import ProgramLimitExceeded
from tests.databases import Connection, Row

from discreet.core.errors import DiscreetError
from discreet.gate.neighbours import Totals
from discreet.gate.parse import parse
from discreet.gate.plan import Plan, plan
from discreet.gate.run import Statement, statements
from discreet.gate.schema import Schema

SEED = 4711
RELEASED = "2"


def planned(question: str, schema: Schema) -> Plan | None:
    """None where it is refused. Questions within it are answered by a number that is as good as any."""
    try:
        found = plan(parse(question), schema, frozenset())
        inner = [RELEASED] * len(found.subquestions)
        return plan(parse(question), schema, frozenset(), released=inner) if inner else found
    except DiscreetError:
        return None


def rows_of(connection: Connection, statement: Statement) -> list[Row]:
    """By the first way that meets no limit, as worker/totals.py does."""
    *limited, last = statement.ways
    for sql in limited:
        with suppress(ProgramLimitExceeded), connection.transaction():
            return connection.execute(sql.encode()).fetchall()
    return connection.execute(last.encode()).fetchall()


def exact_totals(connection: Connection, asked: Plan) -> list[Totals]:
    """Runs everything that the gate would run, with a keyed hash that is the same every time."""
    found = []
    for keys in asked.grouping.sets:
        totals = Totals(keys, defaultdict(dict), defaultdict(dict))
        for statement in statements(asked, keys, SEED):
            for row in rows_of(connection, statement):
                group, values = row[: len(keys)], [int(value) for value in row[len(keys) :]]
                first = statement.measurements[0]
                if first.bins is not None:
                    for measurement in statement.measurements:  # quantiles of one value share its bins
                        totals.bins[measurement].setdefault(group, [0] * first.bins.number)[values[0]] += values[1]
                else:
                    for measurement, value in zip(statement.measurements, values, strict=True):
                        totals.numbers[measurement][group] = value
        found.append(totals)
    return found
