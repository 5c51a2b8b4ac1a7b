"""What is known of an expression's error holds in PostgreSQL's own arithmetic, for random expressions and numbers."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from random import Random

import psycopg
from pglast import ast, parse_sql
from tests.corpus.sample import HARMLESS
from tests.databases import Connection, Database

from discreet.core.printing import printed
from discreet.gate.post import PostProcessing
from discreet.gate.propagation import Dependence, dependence, released_aggregate, released_key

AGGREGATES = {"a": "int8", "b": "numeric", "c": "float8"}
KEYS = {"k": "text", "n": "integer"}
PAIRS = 12
# of numeric and double precision, the last digits are not promised
LAST_DIGITS = Fraction(1, 10**10)


class Expressions:
    """Writes numbers around a, b and c, in the ways that are followed and in some that are not."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def number(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.15:
            return self.random.choice([*AGGREGATES, *AGGREGATES, "n", self.constant()])
        x, y = self.number(depth - 1), self.number(depth - 1)
        return self.random.choice([
            f"({x} + {y})", f"({x} - {y})", f"({x} * {self.constant()})", f"({self.constant()} * {x})",
            f"({x} / {self.constant()})", f"(-{x})", f"round({x})", f"round({x}, {self.digits()})",
            f"trunc(({x})::numeric, {self.digits()})", f"floor({x})", f"ceil({x})", f"abs({x})",
            f"({x})::int", f"({x})::int8", f"({x})::numeric", f"({x})::float8", f"({x})::numeric(20, 2)",
            f"COALESCE({x}, {y})", f"GREATEST({x}, {y})", f"LEAST({x}, {self.constant()})",
            f"CASE WHEN k = 'x' THEN {x} ELSE {y} END", f"CASE k WHEN 'y' THEN {x} END",
            f"({x} * {y})", f"({x} / {y})", f"NULLIF({x}, {y})", f"CASE WHEN {x} > 0 THEN {y} END",
        ])  # fmt: skip

    def constant(self) -> str:
        written = self.random.choice(["{}", "{}", "{}.5", "0.{}", "'{}'", "(-{})", "({} / 2)", "({} + 0.25)"])
        return written.format(self.random.randint(1, 12))

    def digits(self) -> int:
        return self.random.randint(-2, 3)

    def row(self) -> dict[str, str]:
        """Values that are often whole, or a half, which is where roundings differ."""
        scale = 10 ** self.random.randint(0, 4)
        a = str(self.random.randint(-scale, scale))
        b, c = (str(Decimal(self.random.randint(-2 * scale, 2 * scale)) / 2) for _ in "bc")
        if self.random.random() < 0.5:
            b, c = (str(Decimal(self.random.randint(-1000 * scale, 1000 * scale)) / 1000) for _ in "bc")
        return {"a": a, "b": b, "c": c}


def followed(text: str) -> tuple[str, Dependence]:
    """An expression as the answer has it, and what is known of it."""
    post = PostProcessing(HARMLESS, (), lambda node: node if isinstance(node, ast.ColumnRef) else None)
    tree = post.rewrite(parse_sql(f"SELECT {text}")[0].stmt.targetList[0].val)
    columns = {name: released_aggregate(n, kind) for n, (name, kind) in enumerate(AGGREGATES.items())}
    columns |= {name: released_key(n, kind) for n, (name, kind) in enumerate(KEYS.items())}
    return printed(tree), dependence(tree, lambda node: columns[node.fields[-1].sval])


def evaluated(connection: Connection, sql: str, rows: list[dict[str, str]]) -> list[Fraction | None] | None:
    """None where PostgreSQL finds no operator for the types, or a number too large."""
    types = AGGREGATES | KEYS
    listed = ", ".join("(" + ", ".join(f"'{row[name]}'::{kind}" for name, kind in types.items()) + ")" for row in rows)
    try:
        found = connection.execute(
            f"SELECT ({sql})::numeric FROM (VALUES {listed}) AS measured({', '.join(types)})".encode()
        )
    except (psycopg.ProgrammingError, psycopg.DataError):
        return None
    return [None if value is None else Fraction(Decimal(str(value))) for (value,) in found.fetchall()]


def test_expressions_move_by_no_more_than_their_weights_and_slack(database: Database, more: bool) -> None:
    connection = database.connect()
    random = Random(20)
    writer, checked, written = Expressions(random), 0, 0
    while checked < (20_000 if more else 1000):
        sql, known = followed(text := writer.number(3))
        written += 1
        if known.unknown is not None:
            continue
        keys = [{"k": random.choice("xyz"), "n": str(random.randint(-9, 9))} for _ in range(PAIRS)]
        here, there = ([writer.row() | key for key in keys] for _ in "12")
        values = evaluated(connection, sql, here + there)
        if values is None:
            continue
        for exact, released, before, after in zip(here, there, values[:PAIRS], values[PAIRS:], strict=True):
            assert (before is None) == (after is None), text
            if before is None or after is None:
                continue
            moved = [abs(Fraction(exact[name]) - Fraction(released[name])) for name in AGGREGATES]
            most = known.slack + sum((weight * moved[n] for n, weight in known.weights), Fraction(0))
            assert abs(after - before) <= most + (abs(before) + abs(after) + 1) * LAST_DIGITS, (text, exact, released)
        checked += 1
    assert checked > written / 4
