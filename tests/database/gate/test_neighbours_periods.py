"""With and without one person's rows of one period: no exact number differs by more than what the period has paid for.

Random rows with hostile times, random questions from a small grammar. A period that does not pay changes nothing at
all; without the timeless rows of a person, as many numbers differ as the lifetime has paid for. Mutants show that the
test would notice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import date
from fractions import Fraction
from random import Random
from typing import Any
from unittest import mock

import pytest
from tests.database.gate.exact import exact_totals, planned
from tests.databases import Connection, Database

from discreet.dp.price import Accounting, Price
from discreet.gate import plan as planning
from discreet.gate import printer, scans
from discreet.gate.neighbours import Totals, excess, numbers_moved
from discreet.gate.periods import Charged
from discreet.gate.plan import Plan
from discreet.gate.schema import Column, Dataset, Protection, Relation, Schema
from discreet.gate.terms import Terms

WORLDS, ASKED_EACH = 6, 60
OF_N = Fraction(-3), Fraction(5)
PEOPLE = range(1, 9)
MONTHS = [date(2026, month, 1) for month in range(1, 6)]
COLUMNS = {
    "visit": {"person": "integer", "n": "integer", "town": "text", "t": "timestamp with time zone"},
    "buy": {"person": "integer", "n": "integer", "town": "text", "t": "date"},
    "person": {"person": "integer", "n": "integer", "town": "text"},
    "note": {"person": "integer", "n": "integer", "town": "text"},
}
TIMES = {"visit": "t", "buy": "t"}


def declared(random: Random, kind: str) -> tuple[Fraction, Fraction] | None:
    """Bounds of a time, in days or seconds since 1970, within which not all rows lie; or none."""
    low, high = random.choice([0, 9, 40]), random.choice([75, 100, 160])
    new_year = (date(2026, 1, 1) - date(1970, 1, 1)).days
    unit = 1 if kind == "date" else 86_400
    bounds = Fraction((new_year + low) * unit), Fraction((new_year + high) * unit)
    return bounds if kind.startswith(("date", "timestamp")) and random.random() < 0.4 else None


def schema(random: Random, bounds: bool = True) -> Schema:
    found: dict[tuple[str | None, str], Relation] = {}
    for name, columns in COLUMNS.items():
        groups, rows = random.randint(1, 3), random.randint(1, 4)
        total = random.choice([None, random.randint(rows, rows * groups)])
        kept = Protection(
            "people", "person", "noisy", groups, rows, None, None, name == "person", True, max_total_rows=total,
            time=TIMES.get(name),
        )  # fmt: skip
        described = {
            column: Column(
                column, kind, OF_N if column == "n" else declared(random, kind) if bounds else None,
                ("a", "b", "c") if column == "town" else None, identifies=column == "person",
                not_null=column == "person" and name == "person", number=place,
            )
            for place, (column, kind) in enumerate(columns.items(), start=1)
        }  # fmt: skip
        keys = (frozenset(["person"]),) if name == "person" else ()
        found["w", name] = Relation("w", name, described, kept, keys)
    opened = (date(2025, 12, 1), date(2026, 6, 1)) * 2
    people = Dataset("people", "pure", "unbounded", Fraction(1, 1000), period=(1, 0), opened=opened)
    return Schema(found, {"people": people})


def script(random: Random) -> str:
    lines = ["CREATE SCHEMA w"]
    for name, columns in COLUMNS.items():
        listed = ", ".join(f"{column} {kind}" for column, kind in columns.items())
        lines.append(f"CREATE TABLE w.{name} ({listed})")
        for person in PEOPLE:
            for _ in range(1 if name == "person" else random.choice([0, 1, 3, 12])):
                month = random.choice(["2025-12", *(f"2026-0{n}" for n in range(1, 6)), "2026-01", "2026-02"])
                edge = random.choice(["01", "01", "10", "28"])
                time = random.choice([f"'{month}-{edge}'"] * 12 + ["NULL", "'infinity'", "'-infinity'", "'2031-01-01'"])
                values = [str(person), random.choice(["-9", "-3", "0", "5", "7", "NULL"])]
                values.append(random.choice(["'a'", "'b'", "'c'", "'d'", "NULL"]))
                lines.append(f"INSERT INTO w.{name} VALUES ({', '.join(values + [time] * (name in TIMES))})")
    return "SET TimeZone = 'UTC';" + ";".join(lines)


def condition(random: Random, alias: str) -> str:
    day = random.choice(["2026-01-01", "2026-02-01", "2026-02-10", "2026-03-01", "2026-05-01"])
    other = random.choice(["2026-01-31", "2026-02-28", "2026-03-01", "2026-04-30"])
    return random.choice(
        [
            f"{alias}.t >= '{day}'", f"{alias}.t < '{day}'", f"{alias}.t BETWEEN '{day}' AND '{other}'",
            f"date_trunc('month', {alias}.t) = '2026-02-01'", f"({alias}.t < '{day}' OR {alias}.t IS NULL)",
            f"NOT ({alias}.t < '{day}')", f"({alias}.t < '{day}' OR {alias}.n > 1)", "true",
            f"{alias}.t >= '2026-02-01' AND {alias}.t < '2026-03-01'", f"{alias}.t::date <= '{other}'",
        ]
    )  # fmt: skip


AGGREGATES = [
    "count(*)", "count(n)", "sum(n)", "avg(n)", "variance(n)", "count(DISTINCT person)", "count(DISTINCT n)",
    "percentile_disc(0.5) WITHIN GROUP (ORDER BY n)", "sum(n) FILTER (WHERE n > 0)",
]  # fmt: skip


def question(random: Random) -> str:
    dated = random.choice(["visit", "buy"])
    first, second = condition(random, "v"), condition(random, "b")
    rows = random.choice(
        [
            f"w.{dated} v WHERE {first}",
            f"w.{dated} v WHERE {first}",
            f"(SELECT * FROM w.{dated} v WHERE {first}) q",
            f"w.{dated} v JOIN w.person p USING (person) WHERE {first}",
            f"w.{dated} v LEFT JOIN w.note p USING (person) WHERE {first}",
            f"w.person p LEFT JOIN w.{dated} v ON v.person = p.person AND {first}",
            f"w.visit v JOIN w.buy b ON v.person = b.person WHERE {first} AND {second}",
            f"w.visit v LEFT JOIN w.buy b ON v.person = b.person AND {second} WHERE {first}",
            f"w.person p WHERE EXISTS (SELECT FROM w.{dated} v WHERE v.person = p.person AND {first})",
            f"w.visit v WHERE {first} AND NOT EXISTS (SELECT FROM w.buy b WHERE v.person = b.person AND {second})",
            f"(SELECT person, n, town FROM w.{dated} v WHERE {first} UNION ALL SELECT person, n, town FROM w.{dated} b"
            f" WHERE {second}) q",
            f"(SELECT person, least(greatest(count(*), 0), 5) AS n, min(town) AS town FROM w.{dated} v WHERE {first}"
            " GROUP BY person) q",
            f"(SELECT person, n, town, row_number() OVER (PARTITION BY person ORDER BY t) AS r FROM w.{dated} v"
            f" WHERE {first}) q WHERE r < 3",
            f"(SELECT DISTINCT ON (person) * FROM w.{dated} v WHERE {first} ORDER BY person, t) q",
        ]
    )
    several = ("JOIN" in rows and " USING" not in rows) or "EXISTS" in rows
    alias = rows.split(" ")[1] + "." if several and rows.startswith("w.") else ""
    if " USING" in rows:
        alias = "v."
    shown = random.choice(AGGREGATES).replace("(n", f"({alias}n").replace("BY n", f"BY {alias}n")
    shown = shown.replace("WHERE n", f"WHERE {alias}n").replace("DISTINCT n", f"DISTINCT {alias}n")
    shown = shown.replace("person", f"{alias}person")
    group = random.choice(["", "", f" GROUP BY {alias}town"])
    return f"SELECT {shown} FROM {rows}{group}"


def accepted(random: Random, known: Schema, wanted: int) -> list[tuple[str, Plan]]:
    found, written = list[tuple[str, Plan]](), 0
    while len(found) < wanted:
        one, written = question(random), written + 1
        plan = planned(one, known)
        if plan is not None:
            found.append((one, plan))
    assert len(found) > written / 3
    return found


def pays(charged: Charged, month: date | None) -> bool:
    return charged.undated if month is None else charged.calendar.number(month.toordinal() - 1) in charged.numbers


def without(connection: Connection, person: int, month: date | None) -> None:
    for table in TIMES:
        held = f"t >= '{month}' AND t < date '{month}' + interval '1 month'"
        if month is None:
            held = "t IS NULL OR t IN ('infinity', '-infinity')"
        connection.execute(f"DELETE FROM w.{table} WHERE person = {person} AND ({held})".encode())


def told(totals: Totals) -> list[object]:
    return [{one: numbers for one, numbers in kind.items() if numbers} for kind in (totals.numbers, totals.bins)]


def beyond_lifetime(asked: Plan, here: Totals, there: Totals) -> Iterator[str]:
    """Of additive numbers: all together move by no more than group privacy covers."""
    assert asked.charged is not None
    terms, times = Terms.of(asked, Price(Accounting.PURE, Fraction(1)), Fraction(0), here.keys), asked.charged.lifetime
    for measurement in asked.measurements:
        if measurement.bins is None:
            moved = sum(numbers_moved(here.numbers[measurement], there.numbers[measurement]).values())
            if moved > terms.in_all(measurement) * terms.acts * times:
                yield f"{measurement} moved by {moved}"


def findings(here: Connection, there: Connection, random: Random, asked: list[tuple[str, Plan]]) -> Iterator[object]:
    for one, plan in asked:
        assert plan.charged is not None
        before = exact_totals(here, plan)
        for month in [*random.sample(MONTHS, 2), None]:
            person = random.choice(PEOPLE)
            there.execute("BEGIN")
            without(there, person, month)
            after = exact_totals(there, plan)
            there.execute("ROLLBACK")
            if not pays(plan.charged, month):
                if list(map(told, before)) != list(map(told, after)):
                    yield one, person, month, "does not pay, and changes the answer"
                continue
            for some, others in zip(before, after, strict=True):
                found = excess(plan, some, others)
                if found:
                    yield one, person, month, found
        person = random.choice(PEOPLE)
        there.execute("BEGIN")
        for table in COLUMNS.keys() - TIMES.keys():
            there.execute(f"DELETE FROM w.{table} WHERE person = {person}".encode())
        after = exact_totals(there, plan)
        there.execute("ROLLBACK")
        for some, others in zip(before, after, strict=True):
            for found_beyond in beyond_lifetime(plan, some, others):
                yield one, person, "lifetime", found_beyond


@pytest.fixture
def connections(database: Database) -> tuple[Connection, Connection]:
    here, there = database.connect(), database.connect()
    for connection in (here, there):
        connection.execute("SET jit = off; SET TimeZone = 'UTC'")
    return here, there


def test_a_period_of_a_person_changes_no_more_than_it_has_paid_for(
    connections: tuple[Connection, Connection], more: bool
) -> None:
    here, there = connections
    kinds = set()
    for number in range(WORLDS * (20 if more else 1)):
        random = Random(f"periods {number}")
        here.execute(script(random).encode())
        asked = accepted(random, schema(random), ASKED_EACH)
        assert list(findings(here, there, random, asked)) == []
        kinds |= {(plan.by_period, plan.charged.changes, plan.charged.timeless) for _, plan in asked if plan.charged}
        here.execute("DROP SCHEMA w CASCADE")
    assert len(kinds) >= 6


def no_changes() -> AbstractContextManager[Any]:
    held = scans.charged_rows
    return mock.patch.object(planning, "charged_rows", lambda *given: with_charged(held(*given), changes=False))


def no_periods_apart() -> AbstractContextManager[Any]:
    held = scans.charged_rows
    return mock.patch.object(planning, "charged_rows", lambda *given: with_charged(held(*given), time=None))


def with_charged(found: Any, **changed: object) -> Any:
    rows, charged, read = found
    return rows, replace(charged, **changed), read


def scans_of_all_rows() -> AbstractContextManager[Any]:
    return mock.patch.object(printer, "dated", return_value="true")


@pytest.mark.parametrize("mutant", [no_changes, no_periods_apart, scans_of_all_rows])
def test_a_mutant_is_noticed(connections: tuple[Connection, Connection], mutant: Any) -> None:
    here, there = connections
    for number in range(WORLDS):
        random = Random(f"periods {number}")
        here.execute(script(random).encode())
        with mutant():
            asked = accepted(random, schema(random, bounds=False), ASKED_EACH)
            noticed = next(findings(here, there, random, asked), None)
        here.execute("DROP SCHEMA w CASCADE")
        if noticed:
            return
    pytest.fail("nothing was noticed")
