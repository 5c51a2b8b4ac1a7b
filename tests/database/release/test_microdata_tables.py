"""discreet.microaggregate and swap write tables that are what they claim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from dev.cluster import Cluster
from tests.databases import Connection, Database, MakeRole, created

PEOPLE = """
    CREATE SCHEMA hr;
    CREATE TABLE hr.people AS
        SELECT n AS id, 'd' || n % 5 AS district, (n * 37) % 61 + 20 AS age,
               CASE n % 2 WHEN 0 THEN 'f' ELSE 'm' END AS sex,
               ((n * 7919) % 1009)::numeric(10, 2) AS income, date '1950-01-01' + (n * 131) % 15000 AS born
        FROM generate_series(1, 203) n;
    CREATE TABLE hr.nobody (LIKE hr.people);
"""


@pytest.fixture(scope="module")
def shared(cluster: Cluster, template: str) -> Iterator[Database]:
    with created(cluster, "microdata_tables", template) as database:
        database.connect().execute(PEOPLE)
        yield database


@pytest.fixture
def people(shared: Database) -> Iterator[Connection]:
    """A session in one database for all tests here; what a test writes is gone afterwards."""
    with psycopg.connect(shared.dsn(), autocommit=False) as connection:
        yield connection
        connection.rollback()


def report(connection: Connection, call: str) -> Any:
    return connection.execute(f"SELECT discreet.{call}").fetchall()[0][0]


def rows(connection: Connection, query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query).fetchall()


def test_means_of_at_least_k_records_replace_the_values(people: Connection) -> None:
    found = report(people, "microaggregate('hr.people', '{age,income,born}', 4, 'means')")
    assert found["rows"] == 203
    assert found["smallest_group"] >= 4
    assert found["largest_group"] <= 7
    assert 0 < found["variance_lost"] < 1
    assert rows(
        people, "SELECT min(c) >= 4, sum(c) FROM (SELECT count(*) c FROM hr.means GROUP BY age, income, born) t"
    ) == [(True, 203)]
    original, means = (
        rows(people, f"SELECT avg(age)::float8, avg(income)::float8, count(DISTINCT id) FROM hr.{name}")[0]
        for name in ("people", "means")
    )
    assert abs(original[0] - means[0]) < 0.6
    assert abs(original[1] - means[1]) < 0.01
    assert original[2] == means[2]
    types = (
        "SELECT array_agg(format_type(atttypid, atttypmod) ORDER BY attnum) FROM pg_attribute"
        " WHERE attnum > 0 AND attrelid = '{}'::regclass"
    )
    assert rows(people, types.format("hr.people")) == rows(people, types.format("hr.means"))


def test_every_mean_is_that_of_its_group(people: Connection) -> None:
    report(people, "microaggregate('hr.people', '{income}', 5, 'means')")
    wrong = rows(
        people,
        "SELECT count(*) FROM (SELECT avg(p.income) - min(m.income) AS off FROM hr.people p JOIN hr.means m USING (id)"
        " GROUP BY m.income) t WHERE abs(off) > 0.006",
    )
    assert wrong == [(0,)]


def test_what_is_missing_stays_missing_and_lonely_patterns_are_emptied(people: Connection) -> None:
    people.execute(
        """
        CREATE TABLE hr.gaps (a float8, b int);
        INSERT INTO hr.gaps SELECT n, n FROM generate_series(1, 9) n;
        INSERT INTO hr.gaps SELECT n, NULL FROM generate_series(1, 4) n;
        INSERT INTO hr.gaps VALUES ('NaN', 5), ('Infinity', 6), (NULL, NULL);
        """
    )
    found = report(people, "microaggregate('hr.gaps', '{a,b}', 3, 'out')")
    assert found["emptied"] == 2
    assert rows(people, "SELECT count(*), count(a), count(b) FROM hr.out") == [(16, 13, 9)]
    assert rows(people, "SELECT count(*) FROM hr.out WHERE b IS NULL AND a IS NOT NULL") == [(4,)]


def test_rows_do_not_keep_their_order(people: Connection) -> None:
    # 203 rows in their old order by chance: probability below 1e-300
    report(people, "microaggregate('hr.people', '{age}', 3, 'means')")
    assert rows(people, "SELECT id FROM hr.means") != rows(people, "SELECT id FROM hr.people")


def test_those_at_risk_exchange_their_district_and_counts_stay(people: Connection) -> None:
    found = report(people, "swap('hr.people', '{district}', '{sex}', '{district,age,sex}', 'swapped', 2)")
    assert found["at_risk"] > 100
    assert found["swapped"] >= found["at_risk"] - found["at_risk_without_partner"]
    counts = "SELECT district, sex, count(*) FROM hr.{} GROUP BY 1, 2 ORDER BY 1, 2"
    assert rows(people, counts.format("people")) == rows(people, counts.format("swapped"))
    moved = rows(people, "SELECT count(*) FROM hr.people p JOIN hr.swapped s USING (id) WHERE p.district <> s.district")
    assert moved == [(found["swapped"],)]
    same = rows(
        people,
        "SELECT bool_and((p.age, p.sex, p.income) = (s.age, s.sex, s.income))"
        " FROM hr.people p JOIN hr.swapped s USING (id)",
    )
    assert same == [(True,)]


def test_a_share_of_those_not_at_risk_is_swapped_too(people: Connection) -> None:
    assert report(people, "swap('hr.people', '{district}', '{}', '{sex}', 'none', 2)")["swapped"] == 0
    found = report(people, "swap('hr.people', '{district}', '{}', '{sex}', 'some', 2, 0.2)")
    assert found["at_risk"] == 0
    assert 40 <= found["swapped"] <= 42


@pytest.mark.parametrize(
    ("call", "sqlstate", "message"),
    [
        ("microaggregate('hr.people', '{sex}', 3, 'o')", "22023", "column sex is of type text"),
        ("microaggregate('hr.people', '{age}', 1, 'o')", "22023", "k is 1"),
        ("microaggregate('hr.people', '{age}', 300, 'o')", "22023", "not 300 records"),
        ("microaggregate('hr.people', '{nix}', 3, 'o')", "42703", "no column nix"),
        ("microaggregate('hr.people', '{}', 3, 'o')", "22023", "must name columns"),
        ("microaggregate('hr.people', '{age}', NULL, 'o')", "22023", "k must not be NULL"),
        ("microaggregate('hr.people', '{age}', 3, 'hr.people')", "42710", "there is a relation"),
        ("microaggregate('hr.nobody', '{age}', 3, 'o')", "22023", "has no rows"),
        ("swap('hr.people', '{sex}', '{sex}', '{age}', 'o')", "22023", "cannot be exchanged and stay"),
        ("swap('hr.people', '{sex}', '{}', '{age}', 'o', rate => 2)", "22023", "rate is 2"),
        ("swap('hr.people', '{sex}', '{}', '{age}', 'o', 0)", "22023", "k is 0"),
        ("swap('hr.people', '{sex}', '{}', NULL, 'o')", "22023", "quasi_identifiers must not be NULL"),
        ("swap('hr.people', NULL, '{}', '{sex}', 'o')", "22023", "exchange must not be NULL"),
    ],
)
def test_what_makes_no_sense_is_refused(people: Connection, call: str, sqlstate: str, message: str) -> None:
    with pytest.raises(psycopg.Error) as caught:
        people.execute(f"SELECT discreet.{call}")
    assert caught.value.sqlstate == sqlstate
    assert message in str(caught.value.diag.message_primary)


def test_they_read_with_the_rights_of_the_caller(shared: Database, make_role: MakeRole) -> None:
    with psycopg.connect(shared.dsn(make_role("dora", "discreet_curator")), autocommit=True) as dora:
        for call in ("microaggregate('hr.people', '{age}', 3, 'o')", "swap('hr.people', '{sex}', '{}', '{age}', 'o')"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                dora.execute(f"SELECT discreet.{call}")
