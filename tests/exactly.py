"""A question answered without noise: the stages of the gate, with the source of randomness replaced by zero."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any
from unittest import mock

from psycopg import sql
from tests.databases import Connection

from discreet.dp.noise import IntegerNoise, NoisyChoice
from discreet.dp.price import Price
from discreet.gate.constants import with_constants
from discreet.gate.excluded import groups_sql
from discreet.gate.finish import rows_sql
from discreet.gate.measure import Terms, domain_groups, measure
from discreet.gate.parse import function_names, parse
from discreet.gate.plan import Plan, plan
from discreet.gate.run import statements
from discreet.gate.schema import Schema, named_relations, schema_from_json
from discreet.worker.totals import Totals, put_rows

SEED = 4711
PRICE, DELTA = Fraction(50), Fraction(1, 100)


@contextmanager
def without_noise() -> Iterator[None]:
    """Draws are 0, and of candidates the first with the least loss is chosen."""

    def nothing(self: IntegerNoise, how_many: int) -> list[int]:
        return [0] * how_many

    def least(self: NoisyChoice, losses: Sequence[int]) -> int:
        return losses.index(min(losses))

    with mock.patch.object(IntegerNoise, "draw", nothing), mock.patch.object(NoisyChoice, "draw", least):
        yield


def described(connection: Connection, question: str, role: str) -> tuple[Schema, frozenset[str]]:
    """The tables of a question as the ledger describes them to a role."""
    tree = parse(question)
    request = {
        "role": role,
        "path": ["public"],
        "relations": list(named_relations(tree)),
        "functions": sorted(function_names(tree)),
    }
    ((told,),) = connection.execute("SELECT discreet._ledger_describe(%s)", [json.dumps(request)])
    return schema_from_json(told), frozenset(told["harmless"])


def totals(connection: Connection, asked: Plan, keys: tuple[int, ...]) -> Totals:
    found: Totals = {}
    for statement in statements(asked, keys, SEED):
        rows = connection.execute(statement.sql.encode()).fetchall()
        put_rows(found, asked, statement, [list(row) for row in rows])
    return found


def answered(connection: Connection, question: str, role: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Names and rows of the answer of a superuser's connection to a question of a role."""
    schema, harmless = described(connection, question, role)

    def computed(expressions: Sequence[str]) -> list[tuple[str | None, str | None]]:
        ((texts,),) = connection.execute("SELECT discreet._constants(%s)", [list(expressions)])
        return list(zip(texts[::2], texts[1::2], strict=True))

    def planned(released: list[str] | None = None) -> Plan:
        return plan(with_constants(parse(question), computed), schema, harmless, released=released)

    asked = planned()
    inner = [str(run(connection, one)[1][0][0]) for one in asked.subquestions]
    return run(connection, planned(inner) if inner else asked)


def run(connection: Connection, asked: Plan) -> tuple[list[str], list[tuple[Any, ...]]]:
    rows: list[list[object]] = []
    for keys in asked.grouping.sets:
        texts = {
            place: [row[0] for row in connection.execute(
                groups_sql(asked.grouping.keys[place], asked.source, asked.conditions).encode())]
            for place in keys if asked.grouping.keys[place].domain is not None
        }  # fmt: skip
        terms = Terms.of(asked, Price.of(PRICE, asked.dataset.accounting), DELTA, keys)
        with without_noise():
            rows += measure(asked, terms, domain_groups(asked, keys, texts), totals(connection, asked, keys))
    held = sql.Literal(json.dumps(rows)).as_string(None)
    cursor = connection.execute(rows_sql(asked).replace("$1", f"{held}::jsonb", 1).encode())
    return [column.name for column in cursor.description or ()], cursor.fetchall()
