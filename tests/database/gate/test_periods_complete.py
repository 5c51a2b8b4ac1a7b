"""Conditions about the time let no row be forgotten: PostgreSQL finds no more rows than a question in its periods."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction
from random import Random

import pytest
from tests.database.gate.exact import exact_totals
from tests.databases import Database
from tests.unit.gate.test_periods_decided import CONDITIONS

from discreet.core.errors import RefusedShapeError
from discreet.gate.parse import parse
from discreet.gate.plan import plan
from discreet.gate.schema import Column, Dataset, Protection, Relation, Schema

KEPT = Protection("people", "person", "noisy", 1, 1, None, None, True, True, time="t")
VISIT = Relation(
    "s", "visit",
    {
        "person": Column("person", "integer", identifies=True, not_null=True, number=1),
        "n": Column("n", "integer", (Fraction(0), Fraction(9)), number=2),
        "t": Column("t", "timestamp with time zone", number=3),
    },
    KEPT, (frozenset(["person"]),),
)  # fmt: skip
PEOPLE = Dataset(
    "people", "pure", "unbounded", Fraction(0), period=(1, 0), opened=(date(2026, 1, 1), date(2026, 12, 1)) * 2
)
SCHEMA = Schema({("s", "visit"): VISIT}, {"people": PEOPLE})
# every six hours, and around the edges of months and of summer time
ROWS = """
    CREATE SCHEMA s;
    CREATE TABLE s.visit (person int PRIMARY KEY, n int, t timestamptz);
    INSERT INTO s.visit SELECT row_number() OVER (), row_number() OVER () % 7, t FROM (
        SELECT timestamptz '2026-01-01 00:00+00' + n * interval '6 hours' FROM generate_series(0, 4 * 365 - 1) n
        UNION ALL SELECT make_timestamptz(2026, month, 1, 0, 0, 0, zone) + shift * interval '1 microsecond'
        FROM generate_series(2, 12) month, unnest(ARRAY['UTC', 'Europe/Berlin', 'America/New_York']) zone,
             generate_series(-1, 1) shift
        UNION ALL SELECT NULL FROM generate_series(1, 5)) rows(t);
"""


ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "America/Sao_Paulo"]
# around the first and last hours of months and weeks, and the hours that summer time skips and repeats
EDGES = [
    "2026-01-01 00:00", "2026-03-01 00:00", "2026-03-08 02:30", "2026-03-29 02:00", "2026-03-29 02:30", "2026-03-30",
    "2026-04-05 02:00", "2026-10-04 02:15", "2026-10-25 02:30", "2026-10-31 23:59:59.999999", "2026-11-01 01:30",
    "2026-12-31 23:30",
]  # fmt: skip


def timed(random: Random) -> str:
    """The time of a row in some words, compared with one or two moments."""
    zone, edge = random.choice(ZONES), random.choice(EDGES)
    unit = random.choice(["hour", "day", "week", "month", "quarter", "year"])
    shift = random.choice(["1 hour", "25 hours", "1 day", "1 month", "90 days"])
    offset = random.choice(["", "+00", "+05:30", "-03", "+10:30"])
    value, literal = random.choice(
        [
            ("t", f"'{edge}{offset}'"),
            ("t", f"timestamp '{edge}' AT TIME ZONE '{zone}'"),
            (f"t AT TIME ZONE '{zone}'", f"'{edge}'"),
            (f"date_trunc('{unit}', t)", f"'{edge}{offset}'"),
            (f"date_trunc('{unit}', t, '{zone}')", f"'{edge}{offset}'"),
            (f"date_trunc('{unit}', t AT TIME ZONE '{zone}')", f"'{edge}'"),
            ("t::date", f"'{edge[:10]}'"),
            (f"(t AT TIME ZONE '{zone}')::date", f"'{edge[:10]}'"),
            (f"t + interval '{shift}'", f"'{edge}{offset}'"),
            (f"t - interval '{shift}'", f"'{edge}{offset}'"),
            ("extract(year FROM t)", "2026"),
        ]
    )
    one = f"{value} {random.choice(['<', '<=', '=', '>=', '>', '<>'])} {literal}"
    two = f"{value} {random.choice(['BETWEEN', 'NOT BETWEEN'])} {literal} AND {literal}"
    return random.choice([one, one, one, two, f"{value} IN ({literal}, {literal})", f"{value} IS NOT NULL"])


def condition(random: Random, depth: int = 3) -> str:
    kind = random.choice(["time", "AND", "OR", "NOT", "truth"] if depth else ["time", "n"])
    if kind == "time":
        return timed(random)
    if kind == "n":
        return random.choice(["n > 3", "t IS NULL", "n IS NULL"])
    first, second = condition(random, depth - 1), condition(random, depth - 1)
    if kind == "NOT":
        return f"NOT ({first})"
    if kind == "truth":
        return f"({first}) {random.choice(['IS TRUE', 'IS FALSE', 'IS NOT TRUE', 'IS NOT FALSE'])}"
    return f"({first}) {kind} ({second})"


@pytest.mark.parametrize("period", [(1, 0), (3, 0), (0, 7), (0, 1)])
def test_no_row_is_left_out_at_the_edges_of_days_and_zones(
    database: Database, period: tuple[int, int], more: bool
) -> None:
    connection = database.connect()
    connection.execute("SET TimeZone = 'UTC'; SET jit = off")
    connection.execute(ROWS)
    for edge in EDGES:
        connection.execute(
            "INSERT INTO s.visit SELECT (SELECT max(person) FROM s.visit) + row_number() OVER (), 5,"
            " (%s::timestamp AT TIME ZONE zone) + shift * interval '30 minutes'"
            " FROM unnest(%s::text[]) zone, generate_series(-2, 2) shift",
            [edge, ZONES],
        )
    people = replace(PEOPLE, period=period, opened=(date(2025, 12, 1), date(2027, 1, 31)) * 2)
    schema, random = replace(SCHEMA, datasets={"people": people}), Random(f"edges {period}")
    narrowed = 0
    for _ in range(3000 if more else 150):
        question = f"SELECT count(*) FROM s.visit WHERE {condition(random)}"
        try:
            asked = plan(parse(question), schema, frozenset())
        except RefusedShapeError:
            continue
        assert asked.charged is not None
        narrowed += asked.charged.count < 13 * 30 // (period[0] * 30 + period[1])
        (totals,) = exact_totals(connection, asked)
        ((found,),) = [tuple(numbers.values()) for numbers in totals.numbers.values()]
        assert (found,) == connection.execute(question.encode()).fetchone(), question
    assert narrowed > 30


def test_no_row_that_meets_a_condition_is_left_out(database: Database) -> None:
    connection = database.connect()
    connection.execute("SET TimeZone = 'UTC'; SET jit = off")
    connection.execute(ROWS)
    for condition, _ in CONDITIONS:
        question = f"SELECT count(*) FROM s.visit WHERE {condition}"
        (totals,) = exact_totals(connection, plan(parse(question), SCHEMA, frozenset()))
        ((found,),) = [tuple(numbers.values()) for numbers in totals.numbers.values()]
        assert (found,) == connection.execute(question.encode()).fetchone(), condition
