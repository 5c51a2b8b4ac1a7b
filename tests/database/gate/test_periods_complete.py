"""Conditions about the time let no row be forgotten: PostgreSQL finds no more rows than a question in its periods."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

from tests.database.gate.exact import exact_totals
from tests.databases import Database
from tests.unit.gate.test_periods_decided import CONDITIONS

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
    "people", "pure", "unbounded", Fraction(0), period=(1, 0), opened=(date(2026, 1, 1), date(2026, 12, 1))
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


def test_no_row_that_meets_a_condition_is_left_out(database: Database) -> None:
    connection = database.connect()
    connection.execute("SET TimeZone = 'UTC'; SET jit = off")
    connection.execute(ROWS)
    for condition, _ in CONDITIONS:
        question = f"SELECT count(*) FROM s.visit WHERE {condition}"
        (totals,) = exact_totals(connection, plan(parse(question), SCHEMA, frozenset()))
        ((found,),) = [tuple(numbers.values()) for numbers in totals.numbers.values()]
        assert (found,) == connection.execute(question.encode()).fetchone(), condition
