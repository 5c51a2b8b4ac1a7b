"""Plain SQL keeps types: what the client was told before is what arrives, exactly, and constants are of their types."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
from dev.cluster import Cluster
from tests.database.gate.conftest import Asker
from tests.database.gate.everything import HARDLY_NOISY, asker_of_everything
from tests.messages import refused


@pytest.fixture(scope="module")
def everything(cluster: Cluster, template: str) -> Iterator[Asker]:
    with asker_of_everything(cluster, template, "plain_types") as asker:
        yield asker


@pytest.fixture
def people(everything: Asker) -> Asker:
    everything.reset()
    everything.connection.execute(f"SET discreet.epsilon = {HARDLY_NOISY}")
    return everything


AGGREGATES = {
    "count(*)": "bigint", "count(t)": "bigint", "count(DISTINCT v)": "bigint",
    "sum(i2)": "bigint", "sum(i4)": "bigint", "sum(i8)": "numeric", "sum(n)": "numeric", "sum(f4)": "real",
    "sum(f8)": "double precision", "sum(i4 + 1)": "bigint", "sum(i4 + i8)": "numeric", "sum(s)": "numeric",
    "avg(i2)": "numeric", "avg(i4)": "numeric", "avg(i8)": "numeric", "avg(n)": "numeric",
    "avg(f4)": "double precision", "avg(f8)": "double precision", "stddev(i4)": "numeric",
    "variance(f8)": "double precision", "var_pop(n)": "numeric",
    "min(i2)": "smallint", "max(i4)": "integer", "max(i4 + 1)": "integer", "max(i8)": "bigint", "max(n)": "numeric",
    "max(f4)": "real", "max(f8)": "double precision", "max(d)": "date", "max(ts)": "timestamp without time zone",
    "max(tz)": "timestamp with time zone",
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY i4)": "double precision",
    "percentile_disc(0.5) WITHIN GROUP (ORDER BY i4)": "integer",
    "percentile_disc(0.5) WITHIN GROUP (ORDER BY d)": "date",
    "count(*)::int": "integer", "count(*)::text": "text", "avg(i4)::numeric(6, 1)": "numeric(6,1)",
    "round(avg(n), 1)": "numeric", "count(*) > 5": "boolean", "count(*) / 2": "bigint", "avg(i4)::float4": "real",
}  # fmt: skip


@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_an_aggregate_has_the_type_that_postgresql_gives_it(people: Asker, aggregate: str) -> None:
    cursor = people.connection.execute(f"SELECT {aggregate} FROM kinds.person".encode())
    assert cursor.pgresult is not None
    told = people.truth(f"SELECT format_type({cursor.pgresult.ftype(0)}, {cursor.pgresult.fmod(0)})")
    assert told == [(AGGREGATES[aggregate],)]
    assert cursor.fetchone() is not None


KEYS = [
    "i2", "b", "t", "v", "c", "d", "ts", "tz", "u", "m", "s", "y", "iv", "j", "a", "q", "nm", "bi", "tm", "upper(v)",
    "length(t)", "d + 1", "date_trunc('month', ts)", "extract(year FROM d)", "date_part('year', ts)", "m::text",
    "u::text", "i4 > 5", "left(v, 1)", "coalesce(v, 'none')", "CASE WHEN i4 > 3 THEN 'a' ELSE 'b' END", "i4 / 100",
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
def test_group_keys_arrive_as_they_are_in_the_table(people: Asker, key: str) -> None:
    """Each group has 30 people or more: none is below the threshold (at epsilon 50 and delta 1e-5 below 2)."""
    statement = f"SELECT {key}, count(*) FROM kinds.person WHERE i4 IS NOT NULL GROUP BY 1 HAVING count(*) > 29"
    assert sorted(people.plain(statement), key=repr) == sorted(people.truth(statement), key=repr)


@pytest.mark.parametrize("key", ["m", "i4", "i2", "i8", "n", "f8", "d", "tz", "u", "s", "v"])
def test_rows_without_a_value_are_a_group_with_a_null_key(people: Asker, key: str) -> None:
    assert people.plain(f"SELECT {key}, count(*) FROM kinds.person WHERE {key} IS NULL GROUP BY {key}") == [(None, 30)]


@pytest.mark.parametrize("key", ["b", "i2 % 2", "(i4 % 2)::bigint", "i4 % 2 = 0", "n::int % 2"])
def test_totals_of_rollup_have_null_keys(people: Asker, key: str) -> None:
    statement = f"SELECT {key}, count(*) FROM kinds.person WHERE b IS NOT NULL GROUP BY ROLLUP (1)"
    statement += " HAVING count(*) > 0 ORDER BY 1"  # a key that may be NULL has a group for it
    assert people.plain(statement) == people.truth(statement)


CONDITIONS = [
    "i2 = 5", "i8 = 5", "n = 5.33", "f4 = 0.5", "f8 > 1e-3", "f8 = 2.25", "t = 'a1'", "v = 'v1'",
    "c = 'c1'", "c = 'c1  '",
    "b", "b = true", "b = 't'", "NOT b", "b IS NOT TRUE", "d = '2024-01-02'", "ts > '2024-01-02 00:00'",
    "tz > '2024-01-02 00:00+02'", "u = 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", "m = 'sad'", "m <> 'sad'",
    "m IN ('sad', 'glad')", "m NOT IN ('sad')", "m IS DISTINCT FROM 'sad'", "m = 'Très \"odd\"'", "s = 40", "s > 40.5",
    "y = '\\x01'", "iv = '1 day'", "j = '{\"k\":1}'", "q = 'x'", "nm = 'nam'", "bi = B'101'", "tm = '10:00'",
    "u IN ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a10', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11')", "v IN ('v1', 'v2')",
    "v NOT IN ('v1', 'v2')", "c IN ('c1', 'c2')", "v LIKE 'v%'", "v NOT LIKE '%1'", "v ILIKE 'V_'", "c LIKE 'c1%'",
    "d IN ('2024-01-01', '2024-01-02')", "i4 IN (1, 2, 3)", "i8 IN (1, 2)", "n IN (1, 2.67)", "f8 IN (1, 2.5)",
    "i4 = ANY ('{1,2}')", "m = ANY ('{sad,\"Très \\\"odd\\\"\"}')", "t <> ALL (ARRAY['a1', 'a2'])",
    "v LIKE ANY ('{%1,%2}')",
    "i4 = ANY ('{}')", "i4 <> ALL ('{}')", "i4 BETWEEN 1 AND 5", "d BETWEEN '2024-01-02' AND CURRENT_DATE",
    "tz > now() - interval '100 years'", "v || t = 'v1a1'", "u IS NULL", "i4::text = '5'", "u::text LIKE 'a%1'",
    "m::text = 'sad'", "greatest(i4, i8) > 5", "coalesce(v, t) = 'v1'", "CASE WHEN b THEN i4 ELSE i8 END > 5",
    "CASE m WHEN 'sad' THEN 1 ELSE 2 END = 1", "(i4, v) = (1, 'v1')", "i4::float8 > 5", "n::int = 3",
    "d + 30 > '2024-02-01'",
    "ts + interval '1 month' > '2024-02-02 12:00'", "extract(dow FROM ts) = 2", "i4 % 2 = 0", "-i4 < -5", "abs(i4) = 5",
    "round(n, 1) = 3.3", "substring(t FROM 1 FOR 1) = 'a'", "trim(t) = 'a1'", "NULLIF(i4, 5) IS NULL",
    "s::numeric = 41",
]  # fmt: skip


@pytest.mark.parametrize("condition", CONDITIONS)
def test_constants_of_every_type_mean_what_they_mean_in_postgresql(people: Asker, condition: str) -> None:
    statement = f"SELECT count(*) FROM kinds.person WHERE {condition}"
    assert people.plain(statement) == people.truth(statement)


@pytest.mark.parametrize("style", ["German", "SQL, DMY", "Postgres, MDY", "ISO, YMD"])
def test_constants_are_read_by_the_settings_of_the_session(people: Asker, style: str) -> None:
    settings = (
        f"SET LOCAL DateStyle = '{style}'; SET LOCAL TimeZone = 'Asia/Kolkata'; SET LOCAL IntervalStyle = iso_8601"
    )
    answers = []
    for session in (people.connection, people.admin):
        with session.transaction():
            session.execute(settings.encode())
            ((day, moment, month),) = session.execute(
                "SELECT '20240102'::date::text, '20240102T0400'::timestamptz::text, interval '1 month'::text"
            ).fetchall()
            counts = f"""SELECT count(*) FILTER (WHERE d = '{day}'), count(*) FILTER (WHERE tz < '{moment}'),
                                count(*) FILTER (WHERE d + interval '{month}' > '20240201T120000'::timestamp)
                         FROM kinds.person"""
            answers.append(session.execute(counts.encode()).fetchall())
    assert answers[0] == answers[1]


# made of dates and timestamps, in the time zone of the session, here or in a subquery
WALL_CLOCKS = [
    "SELECT date_trunc('month', d), count(*) FROM kinds.person WHERE d IS NOT NULL GROUP BY 1",
    "SELECT date_trunc('year', d) + interval '1 month', count(*) FROM kinds.person WHERE d IS NOT NULL GROUP BY 1",
    "SELECT ts::timestamptz, count(*) FROM kinds.person WHERE ts IS NOT NULL GROUP BY 1 ORDER BY 1",
    "SELECT m, count(*) FROM (SELECT date_trunc('day', d) AS m FROM kinds.person WHERE b) t GROUP BY m ORDER BY m",
    "SELECT t.m FROM (SELECT date_trunc('day', d) AS m, count(*) FROM kinds.person WHERE b GROUP BY 1) t ORDER BY t.m",
    "SELECT tz, count(*) FROM kinds.person WHERE tz IS NOT NULL GROUP BY tz ORDER BY tz",
    "SELECT count(*), CURRENT_DATE, LOCALTIMESTAMP, CURRENT_TIMESTAMP FROM kinds.person WHERE d < CURRENT_DATE",
]


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/New_York", "Etc/GMT+12"])
@pytest.mark.parametrize("statement", WALL_CLOCKS)
def test_a_time_without_a_zone_gets_that_of_the_session(people: Asker, statement: str, zone: str) -> None:
    """A question and PostgreSQL in one transaction, for which time stands still."""
    with people.connection.transaction():
        people.plain(f"SET LOCAL TimeZone = '{zone}'")
        asked = people.plain(statement)
        now = people.plain("SELECT now()::text")[0][0]
    with people.admin.transaction():
        people.admin.execute(f"SET LOCAL TimeZone = '{zone}'")
        for name, kind in {
            "CURRENT_DATE": "date",
            "LOCALTIMESTAMP": "timestamp",
            "CURRENT_TIMESTAMP": "timestamptz",
        }.items():
            statement = statement.replace(name, f"timestamptz '{now}'::{kind}")
        assert asked == people.truth(statement)


def test_numbers_of_many_digits_lose_none(people: Asker) -> None:
    exact = "count(*) * 1000000000000000000000000.000001"
    ((answer,),) = people.plain(f"SELECT {exact} FROM kinds.person")
    assert answer == Decimal("330000000000000000000000000.000330")
    ((by_hand,),) = people.plain(f"SELECT * FROM discreet.query('SELECT {exact} FROM kinds.person') AS t(x numeric)")
    assert by_hand == answer
    ((as_json,),) = people.plain(
        f"SELECT x->>'n' FROM discreet.query_json('SELECT {exact} AS n FROM kinds.person') AS x"
    )
    assert Decimal(as_json) == answer
    third = "SELECT (count(*) / 3.0)::float8 FROM kinds.person WHERE i4 <= 100"
    assert people.plain(third) == people.truth(third)


def test_a_number_that_noise_puts_beyond_its_type_is_the_last_of_it(people: Asker) -> None:
    """At epsilon 0.001 a sum of 300 small numbers is beyond 32767 in one direction, or inside: never an error."""
    people.connection.execute("SET discreet.epsilon = 0.001")
    for _ in range(5):
        people.plain("SELECT * FROM discreet.query('SELECT sum(i2) FROM kinds.person', fresh => true) AS t(x smallint)")


def test_columns_of_other_number_are_refused_before_anything_is_paid(people: Asker) -> None:
    with refused("DP001", "the answer has 2 columns, and 1 are named", "Name all of them"):
        people.plain("SELECT * FROM discreet.query('SELECT b, count(*) FROM kinds.person GROUP BY b') AS t(x boolean)")
    assert people.charges() == []


def test_columns_of_types_that_do_not_fit_are_refused_before_anything_is_paid(people: Asker) -> None:
    with refused("DP001", "cannot cast type bigint to date", "types"):
        people.plain("SELECT * FROM discreet.query('SELECT count(*) FROM kinds.person') AS t(x date)")
    assert people.charges() == []
