"""Tables of people whose values are of every kind, for questions about values and aggregates (values.sql).

Every value lies within its bounds, and every declared category has people: what a question means in PostgreSQL is thus
what it means in the gate, but for noise.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from tests.corpus.sample import number, protection, table, text

from discreet.gate.schema import Column, Dataset, Schema

PEOPLE = 2000

CITIES = ("Bergen", "Faro", "Kyoto", "Lima")
KINDS = ("acute", "check-up", "follow-up")
SECONDS = (0, 2 * 10**9)


def given(column: Column) -> Column:
    """A column that is never NULL."""
    return replace(column, not_null=True)


PERSON = table(
    "lab.person", protection("lab", "id", True, max_groups=4, max_rows=4),
    Column("id", "integer", identifies=True), text("name"), given(text("city", *CITIES)), text("code"),
    number("born", "date", -20_000, 15_000), number("joined", "timestamp without time zone", *SECONDS),
    number("seen", "timestamp with time zone", *SECONDS), number("age", "integer", 0, 120),
    number("height", "double precision", 100, 220), number("weight", "numeric", 30, 200),
    number("income", "numeric", 0, 100_000), given(Column("smoker", "boolean")), Column("tags", "text[]"),
    Column("info", "jsonb"), keys=("id",),
)  # fmt: skip
VISIT = table(
    "lab.visit", protection("lab", "person_id", False, max_groups=6, max_rows=6),
    Column("person_id", "integer", identifies=True), given(text("kind", *KINDS)),
    number("began", "timestamp without time zone", *SECONDS), number("ended", "timestamp without time zone", *SECONDS),
    number("cost", "numeric", 0, 500), number("score", "integer", -10, 10),
)  # fmt: skip
SCHEMA = Schema(
    {("lab", "person"): PERSON, ("lab", "visit"): VISIT},
    {"lab": Dataset("lab", "pure", "unbounded", Fraction(1, 10**6))},
)

DATA = f"""
    CREATE SCHEMA lab;
    CREATE TABLE lab.person (
        id int PRIMARY KEY, name text, city text NOT NULL, code text, born date, joined timestamp, seen timestamptz,
        age int, height float8, weight numeric, income numeric, smoker boolean NOT NULL, tags text[], info jsonb);
    INSERT INTO lab.person
    SELECT n, initcap(md5(n::text)), (ARRAY['Bergen', 'Faro', 'Kyoto', 'Lima'])[1 + n % 4],
           CASE WHEN n % 10 > 0 THEN format('%s-%s', chr(65 + n % 5), lpad((n % 70)::text, 3, '0')) END,
           date '1930-01-01' + n * 13 % 25000, timestamp '2015-01-01' + n * interval '37 hours 11 minutes',
           timestamptz '2020-01-01 00:00+00' + n * interval '29 hours 7 minutes', 18 + n * 11 % 70,
           150 + n * 31 % 500 / 10.0, 45.5 + n * 17 % 700 / 10.0, n * 7919 % 100000, n % 3 = 0,
           CASE n % 4 WHEN 0 THEN '{{}}'::text[] WHEN 1 THEN ARRAY['a', 'b'] WHEN 2 THEN ARRAY['b', NULL] END,
           jsonb_build_object('plan', (ARRAY['free', 'paid'])[1 + n % 2], 'seats', n % 6,
                              'geo', jsonb_build_array(n % 3, 'x'))
    FROM generate_series(1, {PEOPLE}) n;
    CREATE TABLE lab.visit (
        person_id int, kind text NOT NULL, began timestamp, ended timestamp, cost numeric, score int);
    INSERT INTO lab.visit
    SELECT p.id, (ARRAY['acute', 'check-up', 'follow-up'])[1 + (p.id + v) % 3],
           p.joined + v * interval '50 days',
           p.joined + v * interval '50 days' + (10 + p.id % 90) * interval '1 minute',
           (p.id * 13 + v * 7) % 500, (p.id + v) % 21 - 10
    FROM lab.person p, generate_series(1, 5) v WHERE v <= p.id % 6;
    ANALYZE
"""
