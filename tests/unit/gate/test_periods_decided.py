"""Which periods a question pays from follows from its conditions, at the scan."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from fractions import Fraction

import pytest

from discreet.core.errors import DiscreetError
from discreet.gate.parse import parse
from discreet.gate.periods import Calendar, Charged, Opened
from discreet.gate.plan import Plan, plan
from discreet.gate.run import statements
from discreet.gate.schema import Column, Dataset, Protection, Relation, Schema

FIRST, LAST = date(2026, 1, 1), date(2026, 12, 1)


def relation(name: str, columns: dict[str, str], time: str | None, single: bool = False) -> Relation:
    kept = Protection("people", "person", "noisy", 2, 3, None, None, single, True, time=time)
    found = {
        column: Column(column, kind, (Fraction(0), Fraction(9)) if column == "n" else None, number=place)
        for place, (column, kind) in enumerate(columns.items(), start=1)
    }
    return Relation("s", name, found, kept)


RELATIONS = [
    relation("visit", {"person": "integer", "n": "integer", "t": "timestamp with time zone"}, "t"),
    relation("buy", {"person": "integer", "n": "integer", "day": "date"}, "day"),
    relation("log", {"person": "integer", "n": "integer", "at": "timestamp without time zone"}, "at"),
    relation("person", {"person": "integer", "n": "integer"}, None, single=True),
]
PEOPLE = Dataset("people", "pure", "unbounded", Fraction(1, 1000), period=(1, 0), opened=(FIRST, LAST, FIRST, LAST))
SCHEMA = Schema({("s", one.name): one for one in RELATIONS}, {"people": PEOPLE})
ALL = "1-12?"


def asked(question: str) -> Plan:
    return plan(parse(question), SCHEMA, frozenset())


def charged(question: str) -> Charged:
    found = asked(question).charged
    assert found is not None
    return found


def told(found: Charged) -> str:
    """1-3: January to March of 2026; ?: undated rows."""
    months = [number - 2026 * 12 + 1 for number in found.numbers]
    parts: list[list[int]] = []
    for month in months:
        if parts and parts[-1][-1] == month - 1:
            parts[-1].append(month)
        else:
            parts.append([month])
    spans = [str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts]
    return ",".join(spans) + ("?" if found.undated else "")


CONDITIONS = [
    ("true", ALL),
    ("t >= '2026-02-01' AND t < '2026-03-01'", "2"),
    ("t >= '2026-02-01' AND t <= '2026-03-01'", "2-3"),
    ("'2026-03-01' > t AND t > '2026-01-31 23:59:59.999999'", "2"),
    ("t BETWEEN '2026-02-03' AND '2026-04-05'", "2-4"),
    ("t NOT BETWEEN '2026-02-01' AND '2026-11-30'", "1,11-12"),
    ("t >= '2026-10-15'", "10-12"),
    ("t < '2026-03-01 00:00+00'", "1-2"),
    ("t < '2026-03-01 00:00+01'", "1-2"),
    ("t < '2026-03-01 00:00-01'", "1-3"),
    ("t = '2026-05-05'", "5"),
    ("t <> '2026-05-05'", "1-12"),
    ("t IN ('2026-05-05', '2026-09-09')", "5,9"),
    ("t NOT IN ('2026-05-05', '2026-09-09')", "1-12"),
    ("t IS NULL", "?"),
    ("t IS NOT NULL", ALL),
    ("NOT t IS NOT NULL", "?"),
    ("t IS NULL OR t >= '2026-11-01'", "11-12?"),
    ("t IS NOT DISTINCT FROM '2026-05-05'", "5"),
    ("t IS DISTINCT FROM '2026-05-05'", ALL),
    ("NOT (t < '2026-11-01')", "11-12"),
    ("NOT (t < '2026-11-01' OR n > 3)", "11-12"),
    ("NOT (t < '2026-11-01' AND n > 3)", ALL),
    ("(t < '2026-02-01' OR t >= '2026-12-01') AND n > 3", "1,12"),
    ("t < '2026-02-01' OR n > 3", ALL),
    ("(t < '2026-02-01') IS TRUE", "1"),
    ("(t < '2026-02-01') IS FALSE", "2-12"),
    ("(t < '2026-02-01') IS NOT TRUE", ALL),
    ("(t < '2026-02-01') = true", ALL),
    ("CASE WHEN n > 1 THEN t END < '2026-02-01'", ALL),
    ("coalesce(t, '2026-02-02') < '2026-02-01'", ALL),
    ("date_trunc('month', t) = '2026-03-01'", "3"),
    ("date_trunc('month', t) = '2026-03-02'", "12"),
    ("date_trunc('month', t) > '2026-03-01'", "4-12"),
    ("date_trunc('month', t) >= '2026-03-02'", "4-12"),
    ("date_trunc('quarter', t) = '2026-04-01'", "4-6"),
    ("date_trunc('year', t) = '2026-01-01'", "1-12"),
    ("date_trunc('week', t) = '2026-03-30'", "3-4"),
    ("date_trunc('day', t) <= '2026-01-31'", "1"),
    ("date_trunc('month', t, 'Europe/Berlin') = '2026-03-01 00:00+01'", "2-3"),
    ("t::date = '2026-02-28'", "2"),
    ("t::date <= '2026-02-28'", "1-2"),
    ("t::date < '2026-03-01'", "1-2"),
    ("date(t) > '2026-10-31'", "11-12"),
    ("t AT TIME ZONE 'Europe/Berlin' >= '2026-11-01'", "10-12"),
    ("t AT TIME ZONE 'Europe/Berlin' < '2026-02-01 01:00'", "1"),
    ("t AT TIME ZONE 'Europe/Berlin' < '2026-02-01 01:01'", "1-2"),
    ("date_trunc('month', t AT TIME ZONE 'America/New_York') = '2026-03-01'", "3-4"),
    ("t + interval '1 day' < '2026-02-02'", "1"),
    ("t - interval '1 hour' >= '2026-10-31 23:00'", "11-12"),
    ("t + interval '1 month' < '2026-03-20'", "1-2"),
    ("extract(year FROM t) = 2026", "1-12"),
    ("extract(year FROM t) < 2026", "0"),
    ("date_part('year', t) >= 2026", "1-12"),
    ("extract(month FROM t) = 3", ALL),
    ("to_char(t, 'YYYY-MM') = '2026-03'", ALL),
    ("t < '2026-02-01' AND t > '2026-05-01'", "12"),
    ("t >= '2027-03-01'", "15"),
    ("t >= '2025-11-05' AND t < '2026-01-10'", "-1-1"),
    ("t < '2025-12-01'", "-1"),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "periods"), CONDITIONS)
def test_conditions_about_the_time_decide(condition: str, periods: str) -> None:
    assert told(charged(f"SELECT count(*) FROM s.visit WHERE {condition}")) == periods


@pytest.mark.parametrize(
    ("question", "periods"),
    [
        ("SELECT count(*) FROM s.buy WHERE day <= '2026-02-28'", "1-2"),
        ("SELECT count(*) FROM s.buy WHERE day + 30 < '2026-03-03'", "1"),
        ("SELECT count(*) FROM s.log WHERE at < '2026-03-01'", "1-2"),
        ("SELECT count(*) FROM s.log WHERE at AT TIME ZONE 'UTC' < '2026-02-28'", "1-2"),
        ("SELECT count(*) FROM (SELECT * FROM s.visit) v WHERE v.t < '2026-03-01'", "1-2"),
        ("SELECT count(*) FROM (SELECT n, date_trunc('month', t) AS m FROM s.visit) v WHERE m < '2026-03-01'", "1-2"),
        ("WITH v AS (SELECT * FROM s.visit WHERE t < '2026-06-01') SELECT count(*) FROM v WHERE t > '2026-05-01'", "5"),
        # what is computed within a person is computed from all rows below it
        ("SELECT count(*) FROM (SELECT t, lag(n) OVER (PARTITION BY person ORDER BY t) AS b FROM s.visit) v"
         " WHERE t >= '2026-02-01' AND t < '2026-03-01'", ALL),
        ("SELECT count(*) FROM (SELECT person, count(*) AS c, max(t) AS last FROM s.visit GROUP BY person) v"
         " WHERE last < '2026-03-01'", ALL),
        ("SELECT count(*) FROM (SELECT person, count(*) AS c FROM s.visit WHERE t < '2026-03-01' GROUP BY person) v"
         " WHERE c > 1", "1-2"),
        ("SELECT count(*) FROM (SELECT DISTINCT ON (person) t FROM s.visit ORDER BY person, t) v"
         " WHERE t < '2026-03-01'", ALL),
        ("SELECT count(*) FILTER (WHERE t < '2026-03-01') FROM s.visit", ALL),
        ("SELECT count(*) FROM s.visit v JOIN (VALUES (1), (2)) l(m) ON v.n = l.m WHERE t < '2026-03-01'", "1-2"),
        ("SELECT count(*) FROM s.visit v JOIN generate_series(1, 3) AS l(m) ON v.n = l.m"
         " WHERE t < '2026-03-01'", "1-2"),
        ("SELECT count(*) FROM s.visit v JOIN s.buy b ON v.person = b.person"
         " WHERE v.t < '2026-02-01' AND b.day >= '2026-11-01'", "1,11-12"),
        ("SELECT count(*) FROM s.visit v JOIN s.buy b ON v.person = b.person AND v.t < '2026-02-01'"
         " AND b.day < '2026-02-01'", "1"),
        ("SELECT count(*) FROM s.visit v LEFT JOIN s.buy b ON v.person = b.person AND b.day < '2026-02-01'"
         " WHERE v.t < '2026-03-01'", "1-2"),
        ("SELECT count(*) FROM s.visit v LEFT JOIN s.buy b ON v.person = b.person AND v.t < '2026-02-01'"
         " AND b.day < '2026-02-01' WHERE v.t < '2026-04-01'", "1-3"),
        ("SELECT count(*) FROM s.visit v LEFT JOIN s.buy b ON v.person = b.person"
         " WHERE v.t < '2026-02-01' AND b.day < '2026-02-01'", ALL),
        ("SELECT count(*) FROM s.person p WHERE EXISTS (SELECT FROM s.visit v WHERE v.person = p.person"
         " AND v.t < '2026-03-01')", "1-2"),
        ("SELECT count(*) FROM s.visit a WHERE t < '2026-02-01' AND NOT EXISTS (SELECT FROM s.visit b"
         " WHERE a.person = b.person AND b.t >= '2026-12-01')", "1,12"),
        ("SELECT count(*) FROM (SELECT person, t FROM s.visit WHERE t < '2026-02-01' UNION ALL"
         " SELECT person, t FROM s.visit WHERE t >= '2026-12-01') u", "1,12"),
        ("SELECT count(*) FROM (SELECT person, t FROM s.visit UNION ALL SELECT person, t FROM s.visit) u"
         " WHERE t < '2026-02-01'", "1"),
    ],
)  # fmt: skip
def test_each_scan_is_decided_where_it_stands(question: str, periods: str) -> None:
    assert told(charged(question)) == periods


@pytest.mark.parametrize(
    ("question", "apart", "changes"),
    [
        ("SELECT count(*) FROM s.visit", True, False),
        ("SELECT count(*) FROM (SELECT * FROM (SELECT * FROM s.visit) a) b", True, False),
        ("SELECT count(*) FROM s.visit v JOIN s.person p ON v.person = p.person", True, False),
        ("SELECT count(*) FROM s.visit v LEFT JOIN s.person p ON v.person = p.person", True, True),
        ("SELECT count(*) FROM s.person p LEFT JOIN s.visit v ON v.person = p.person", False, True),
        ("SELECT count(*) FROM s.visit v JOIN s.buy b ON v.person = b.person", False, True),
        ("SELECT count(*) FROM (SELECT person, t FROM s.visit UNION ALL SELECT person, t FROM s.visit) u", True, False),
        ("SELECT count(*) FROM (SELECT person, n FROM s.visit UNION ALL SELECT person, n FROM s.buy) u", False, True),
        ("SELECT count(*) FROM (SELECT person, n FROM s.visit UNION ALL SELECT person, n FROM s.person) u",
         False, True),
        ("SELECT count(*) FROM (SELECT person, count(*) AS c FROM s.visit GROUP BY person) v", False, True),
        ("SELECT count(*) FROM (SELECT n, row_number() OVER (PARTITION BY person ORDER BY t) AS r FROM s.visit) v",
         False, True),
        ("SELECT count(*) FROM s.visit v WHERE EXISTS (SELECT FROM s.visit w WHERE w.person = v.person AND w.n > 1)",
         False, True),
        ("SELECT count(*) FROM s.visit v WHERE EXISTS (SELECT FROM s.person w WHERE w.person = v.person AND w.n > 1)",
         True, True),
        ("SELECT sum((SELECT count(*) FROM s.visit w WHERE w.person = p.person AND w.n > 1)) FROM s.person p",
         False, True),
        # of one period, taking it away takes all of a person's rows away
        ("SELECT count(*) FROM (SELECT person, count(*) AS c FROM s.visit WHERE t < '2026-02-01' GROUP BY person) v",
         False, False),
        ("SELECT count(*) FROM s.person p LEFT JOIN s.visit v ON v.person = p.person AND v.t < '2026-02-01'",
         False, True),
        ("SELECT avg(n) FROM s.person", False, False),
    ],
)  # fmt: skip
def test_where_periods_meet_within_a_person_a_change_is_covered(question: str, apart: bool, changes: bool) -> None:
    try:
        found = charged(question)
    except DiscreetError as refused:
        pytest.skip(f"{refused.message}")
    assert (found.time is not None, found.changes) == (apart, changes)


def test_every_scan_is_filtered() -> None:
    for question in (
        "SELECT count(*), avg(n) FROM s.visit WHERE t < '2026-02-01' AND t >= '2026-01-01'",
        "SELECT count(*) FROM s.person p WHERE EXISTS (SELECT FROM s.visit v WHERE v.person = p.person)",
    ):
        found = asked(question)
        for statement in statements(found, found.grouping.sets[0], 1):
            for sql in statement.ways:
                scans = sql.count('"visit" AS')
                assert 0 < scans == len(re.findall(r'FROM "s"\."visit" AS "\w+" WHERE \(\("\w+"\."t" OPER', sql))


@pytest.mark.parametrize(
    "calendar", [Calendar(1), Calendar(3), Calendar(12), Calendar(0, 1), Calendar(0, 7), Calendar(0, 30)]
)
def test_periods_cover_every_day_once(calendar: Calendar) -> None:
    for day in [*range(0, 800), *range(730_000, 731_500), *range(3_652_059 - 500, 3_652_059)]:
        number = calendar.number(day)
        assert calendar.begin(number) <= day < calendar.begin(number + 1)


def test_weeks_begin_on_monday() -> None:
    calendar = Calendar(0, 7)
    assert calendar.first_day(calendar.number(date(2026, 7, 8).toordinal() - 1)) == date(2026, 7, 6)


def test_a_date_far_away_opens_no_thousands_of_periods() -> None:
    with pytest.raises(DiscreetError, match="2000 periods away"):
        charged("SELECT count(*) FROM s.visit WHERE t = '9000-01-01'")
    with pytest.raises(DiscreetError, match="2000 periods away"):
        charged("SELECT count(*) FROM s.visit WHERE t = '0001-01-01'")


def bounded(condition: str, low: int = 20_514, high: int = 20_604) -> Charged:
    """A count, where all times are declared to be in these days since 1970: 2026-03-02 to 2026-05-31."""
    visit = RELATIONS[0]
    time = replace(visit.columns["t"], bounds=(Fraction(low * 86_400), Fraction(high * 86_400)))
    columns = {**visit.columns, "t": time}
    schema = Schema({("s", "visit"): replace(visit, columns=columns)}, {"people": PEOPLE})
    found = plan(parse(f"SELECT count(*) FROM s.visit WHERE {condition}"), schema, frozenset()).charged
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("condition", "periods", "clipped"),
    [
        ("true", "3-5?", True),
        ("n > 3", "3-5?", True),
        ("t >= '2026-04-10'", "4-5", True),
        ("t < '2026-04-10'", "3-4", True),
        ("t >= '2026-04-10' AND t < '2026-05-10'", "4-5", False),
        ("t >= '0050-01-01' AND t < '2026-05-10'", "3-5", True),
        ("t >= '2026-05-01' AND t < '9000-05-10'", "5", True),
        ("t = '9000-01-01'", "12", True),
        ("t IS NULL", "?", False),
        ("t >= '2026-01-01' AND t < '2026-02-01'", "12", True),
    ],
)
def test_periods_outside_declared_bounds_are_neither_read_nor_opened(
    condition: str, periods: str, clipped: bool
) -> None:
    found = bounded(condition)
    assert (told(found), found.clipped) == (periods, clipped)


def test_bounds_far_away_are_no_reason_to_read_more_than_was_opened() -> None:
    assert told(bounded("t >= '2026-05-01'", -100_000, 200_000)) == "5-12"


def test_days_are_kept_for_longer_than_one_question_may_read() -> None:
    """A dataset of days answers after ten years, too, about any year of these."""
    opened = (date(2016, 1, 1), date(2026, 12, 1)) * 2
    schema = replace(SCHEMA, datasets={"people": replace(PEOPLE, period=(0, 1), opened=opened)})
    for year in (2016, 2026):
        question = f"SELECT count(*) FROM s.visit WHERE t >= '{year}-02-01' AND t < '{year}-02-08'"
        found = plan(parse(question), schema, frozenset()).charged
        assert found is not None
        assert found.count == 7
    with pytest.raises(DiscreetError, match="would read 3988 periods, more than 2000"):
        plan(parse("SELECT count(*) FROM s.visit"), schema, frozenset())


def test_open_ends_reach_to_what_was_opened() -> None:
    opened = Opened(Calendar(1), 24312, 24323, 24312, 24323)
    assert list(opened.within(None, None)) == list(range(24312, 24324))
    assert len(opened.within(None, 0)) == 1
