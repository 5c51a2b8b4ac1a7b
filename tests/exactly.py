"""A question answered without noise: the stages of the gate, with the source of randomness replaced by zero."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from unittest import mock

from psycopg import sql
from tests.databases import Connection, Row

from discreet.core.errors import DiscreetError
from discreet.dp.additive import AdditiveNoise
from discreet.dp.choice import ExponentialChoice
from discreet.dp.joint import JointNoise, JointPart
from discreet.dp.price import Price
from discreet.dp.threshold import ThresholdedRelease
from discreet.gate.bins import EqualBins
from discreet.gate.constants import with_constants
from discreet.gate.excluded import groups_sql, listed_sql
from discreet.gate.finish import rows_sql
from discreet.gate.measure import Terms, domain_groups, measure
from discreet.gate.parse import function_names, parse
from discreet.gate.plan import Plan, plan
from discreet.gate.run import statements
from discreet.gate.schema import Schema, named_relations, schema_from_json
from discreet.worker.totals import Totals, put_rows

SEED = 4711
PRICE, DELTA = Fraction(100), Fraction(1, 10)
PINNED = "SET TimeZone = 'UTC'; SET jit = off; SET search_path = public, discreet"

Columns = list[tuple[str, int]]


@contextmanager
def without_noise() -> Iterator[None]:
    """Draws are 0, a group of one person is shown, and of candidates the first with the least loss is chosen."""

    def best(self: ExponentialChoice, groups: Sequence[Sequence[int]]) -> list[int]:
        return [min(range(len(losses)), key=losses.__getitem__) for losses in groups]

    with (
        mock.patch.object(AdditiveNoise, "draw", lambda self, how_many: [0] * how_many),
        mock.patch.object(AdditiveNoise, "spread", Fraction(1, 10**9)),
        mock.patch.object(JointNoise, "draw", lambda self, how_many: [(0,) * self.numbers] * how_many),
        mock.patch.object(JointPart, "spread", Fraction(1, 10**9)),
        mock.patch.object(ExponentialChoice, "release_many", best),
        mock.patch.object(ThresholdedRelease, "threshold", 1),
    ):
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


def asked_by(connection: Connection, question: str, role: str) -> Plan:
    """The plan of a question of a role; the questions within it are answered first."""
    schema, harmless = described(connection, question, role)

    def computed(expressions: Sequence[str]) -> list[tuple[str | None, str | None]]:
        ((texts,),) = connection.execute("SELECT discreet._constants(%s)", [list(expressions)])
        return list(zip(texts[::2], texts[1::2], strict=True))

    def planned(released: Sequence[str | None] | None) -> Plan:
        return plan(with_constants(parse(question), computed), schema, harmless, released=released)

    asked = planned(None)
    return planned(numbers_within(connection, asked)) if asked.subquestions else asked


def numbers_within(connection: Connection, asked: Plan) -> list[str | None]:
    """The answers of the questions within a question."""
    found = [answered(connection, one)[0][0][0] for one in asked.subquestions]
    return [None if number is None else str(number) for number in found]


def totals(connection: Connection, asked: Plan, keys: tuple[int, ...]) -> Totals:
    """What worker/totals.py reads, by statements that run here."""
    found: Totals = {}
    for statement in statements(asked, keys, SEED):
        rows = connection.execute(statement.sql.encode()).fetchall()
        put_rows(found, asked, statement, [list(row) for row in rows])
    return found


def known_texts(connection: Connection, asked: Plan) -> dict[int, list[str | None]]:
    """The groups that are known of the keys: by declared values, or by public rows, row by row."""
    keys = asked.grouping.keys
    public = next((key.listed for key in keys if key.listed is not None), None)
    if public is not None:
        rows = [json.loads(row) for (row,) in connection.execute(listed_sql(keys, public).encode())]
        return {place: [row[place] for row in rows] for place in range(len(keys))}
    return {
        place: list(
            dict.fromkeys(
                text for (text,) in connection.execute(groups_sql(key, asked.source, asked.conditions).encode())
            )
        )
        for place, key in enumerate(keys)
        if key.known
    }


def answered(connection: Connection, asked: Plan) -> tuple[list[Row], Columns]:
    """Rows, and names and types of columns, of the answer without noise."""
    rows: list[list[object]] = []
    texts = known_texts(connection, asked)
    for keys in asked.grouping.sets:
        terms = Terms.of(asked, Price.of(PRICE, asked.dataset.accounting), DELTA, keys)
        with without_noise():
            rows += measure(asked, terms, domain_groups(asked, keys, texts), totals(connection, asked, keys))
    held = sql.Literal(json.dumps(rows)).as_string(None)
    cursor = connection.execute(rows_sql(asked).replace("$1", f"{held}::jsonb", 1).encode())
    return cursor.fetchall(), columns(cursor)


def columns(cursor: Any) -> Columns:
    return [(column.name, column.type_code) for column in cursor.description]


# -- compared with PostgreSQL's own answer

WHOLE, NUMERIC, MOMENTS = {20, 21, 23}, 1700, {1114, 1184}


def same_types(given: tuple[str, int], wanted: tuple[str, int]) -> bool:
    """Whole numbers are of any whole type, and date_trunc() of a date has no zone: the hook of plain SQL casts them."""
    alike = (wanted[1] in WHOLE and given[1] in WHOLE | {NUMERIC}) or {given[1], wanted[1]} == MOMENTS
    return given[0] == wanted[0] and (given[1] == wanted[1] or alike)


def near(given: Any, wanted: Any, slack: float, width: float = 0) -> bool:
    """Equal, or as near as the grid and the bins of a quantile are fine: `width`, in the unit of the value.

    Moments are off by seconds, and days are the same, but for quantiles.
    """
    of_bins = slack > 0.01
    if isinstance(wanted, list) and isinstance(given, list):
        return len(given) == len(wanted) and all(near(*pair, slack, width) for pair in zip(given, wanted, strict=True))
    if isinstance(wanted, bool) or wanted is None or given is None or isinstance(wanted, str):
        return bool(given == wanted)
    if isinstance(wanted, timedelta):
        return abs(given - wanted).total_seconds() <= slack * max(abs(wanted).total_seconds(), 1)
    if isinstance(wanted, datetime):
        given, wanted = given.replace(tzinfo=None), wanted.replace(tzinfo=None)
        return abs((given - wanted).total_seconds()) <= slack * (10**9 if of_bins else 10**5) + width
    if isinstance(wanted, date):
        return abs((given - wanted).days) <= (slack * 10**5 if of_bins else 0) + width
    if isinstance(wanted, int | float | Decimal):
        return abs(float(given) - float(wanted)) <= slack * max(abs(float(wanted)), 1) + width
    return bool(given == wanted)


def same_row(given: Row, wanted: Row, slack: float, width: float = 0) -> bool:
    return len(given) == len(wanted) and all(near(*pair, slack, width) for pair in zip(given, wanted, strict=True))


def width_of_bins(asked: Plan) -> float:
    """The widest bin from which the plan chooses a number."""
    widths = [
        (each.bins.upper - each.bins.lower) / each.bins.number
        for each in asked.measurements
        if isinstance(each.bins, EqualBins)
    ]
    return float(max(widths, default=0))


def is_empty(row: Row) -> bool:
    """Whether a group has nobody in it: its last numbers are 0, or there are none."""
    return not row[-1] or isinstance(row[-1], str | bool)


def is_ordered(question: str) -> bool:
    """Whether the answer itself has an order."""
    return re.search(r"\border by\b[^()]*$", re.sub(r"\([^()]*\)", "", question), re.IGNORECASE) is not None


def differences(question: str, given: list[Row], wanted: list[Row], slack: float, width: float = 0) -> list[object]:
    """What differs: rows that are missing, in another order, or more than groups without people."""
    rest, found = list(given), []
    missing = []
    for row in wanted:
        place = next((n for n, one in enumerate(rest) if same_row(one, row, slack, width)), None)
        if place is None:
            missing.append(row)
        else:
            found.append((rest.pop(place), row))
    if missing:
        return ["missing", missing, "of", given]
    beyond = [row for row in rest if not is_empty(row)]
    if beyond:
        return ["beyond", beyond]
    kept = [row for row in given if any(row is one for one, _ in found)]
    if is_ordered(question) and not same_order(kept, wanted, slack, width):
        return ["order", kept, wanted]
    return []


def same_order(given: list[Row], wanted: list[Row], slack: float, width: float) -> bool:
    """Row by row the same, but for rows that agree in a column by which all are sorted."""
    sorts = [place for place in range(len(wanted[0])) if is_sorted([row[place] for row in wanted])] if wanted else []
    return all(
        same_row(mine, theirs, slack, width) or any(near(mine[place], theirs[place], slack, width) for place in sorts)
        for mine, theirs in zip(given, wanted, strict=True)
    )


def is_sorted(values: list[Any]) -> bool:
    if any(value is None or isinstance(value, list | bool) for value in values):
        return False
    return values in (sorted(values), sorted(values, reverse=True))


def refused(error: Exception) -> list[object]:
    """A question that fails differs, too."""
    return [type(error).__name__, error.message if isinstance(error, DiscreetError) else str(error)]
