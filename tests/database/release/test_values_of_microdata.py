"""top_code, bottom_code, mask and add_noise: what becomes of a value."""

from __future__ import annotations

import math
from collections.abc import Iterator

import psycopg
import pytest
from dev.cluster import Cluster
from tests.databases import Connection, MakeRole, created
from tests.messages import refused


@pytest.fixture(scope="module")
def session(cluster: Cluster, template: str) -> Iterator[Connection]:
    with created(cluster, "values_of_microdata", template) as database:
        connection = database.connect()
        connection.execute("SELECT discreet.create_secret('noise')")
        yield connection


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("top_code(95, 90)", "90"),
        ("top_code(90, 90)", "90"),
        ("top_code(-3, 90)", "-3"),
        ("top_code(3000000000, 90)", "90"),
        ("top_code(95::smallint, 90)", "90"),
        ("top_code(95.5, 90)", "90"),
        ("top_code(89.50, 90)", "89.50"),
        ("top_code(1e300::float8, 90)", "90"),
        ("top_code(95::real, 90)", "90"),
        ("top_code('infinity'::float8, 90)", "90"),
        ("top_code('-infinity'::float8, 90)", "-Infinity"),
        ("top_code('NaN'::float8, 90)", "NaN"),
        ("top_code('NaN'::numeric, 90)", "NaN"),
        ("top_code('Infinity'::numeric, 90)", "90"),
        ("top_code(NULL::int, 90)", None),
        ("top_code(95, NULL)", None),
        ("top_code('2024-05-01'::date, '2020-01-01')", "2020-01-01"),
        ("top_code('infinity'::date, '2020-01-01')", "2020-01-01"),
        ("top_code('2024-05-01 10:00'::timestamp, '2020-01-01')", "2020-01-01 00:00:00"),
        ("bottom_code(5, 18)", "18"),
        ("bottom_code(18, 18)", "18"),
        ("bottom_code(19.5, 18)", "19.5"),
        ("bottom_code('-infinity'::float8, 18)", "18"),
        ("bottom_code('NaN'::float8, 18)", "NaN"),
        ("bottom_code(NULL::numeric, 18)", None),
        ("bottom_code('1890-01-01'::date, '1930-01-01')", "1930-01-01"),
        ("mask('Alexander')", "A********"),
        ("mask('4111111111111111', 0, 4)", "************1111"),
        ("mask('Zoë 😀!', 2, 1, '#')", "Zo###!"),
        ("mask('ab', 1, 1)", "**"),
        ("mask('a')", "*"),
        ("mask('')", ""),
        ("mask(NULL)", None),
        ("mask('secret', -2, -2)", "******"),
        ("mask('secret', 2000000000, 0)", "******"),
        ("mask('secret', NULL)", "******"),
    ],
)
def test_a_value_becomes(session: Connection, expression: str, expected: str | None) -> None:
    (row,) = session.execute(f"SELECT (discreet.{expression})::text").fetchall()
    assert row == (expected,)


@pytest.mark.parametrize("call", ["top_code(age, 90)", "bottom_code(age, 18)", "mask(name)"])
def test_the_expression_is_written_into_the_query(session: Connection, call: str) -> None:
    session.execute("CREATE TABLE IF NOT EXISTS person (name text, age int)")
    plan = session.execute(f"EXPLAIN (VERBOSE, COSTS OFF) SELECT discreet.{call} FROM person").fetchall()
    assert "discreet." not in str(plan)


def test_noise_keeps_what_is_not_there_or_not_finite(session: Connection) -> None:
    row = session.execute(
        "SELECT discreet.add_noise(NULL::float8, 1), discreet.add_noise('NaN'::float8, 1),"
        " discreet.add_noise('Infinity'::float8, 1), discreet.add_noise(NULL::numeric, 1),"
        " discreet.add_noise('NaN'::numeric, 1)::float8, discreet.add_noise(5.25, 0)"
    ).fetchone()
    assert row is not None
    assert row[0] is None
    assert row[3] is None
    assert math.isnan(float(str(row[1])))
    assert math.isnan(float(str(row[4])))
    assert row[2] == math.inf
    assert str(row[5]) == "5.25"


@pytest.mark.parametrize("deviation", ["-1", "'NaN'", "'Infinity'"])
def test_noise_without_a_sensible_deviation_is_refused(session: Connection, deviation: str) -> None:
    with refused("22023", "which is no standard deviation", "finite"):
        session.execute(f"SELECT discreet.add_noise(1::float8, {deviation})")


def test_noise_of_a_decimal_number_has_as_many_places(session: Connection) -> None:
    (row,) = session.execute("SELECT scale(discreet.add_noise(100.25, 10)), pg_typeof(discreet.add_noise(3, 1))::text")
    assert row == (2, "double precision")


@pytest.mark.parametrize("arguments", ["n::float8, 10", "n::float8, 10, n::text, 'noise'"])
def test_noise_has_the_mean_and_the_deviation_it_is_said_to_have(session: Connection, arguments: str) -> None:
    # 40000 draws: each statistic is normal, so beyond 6 standard errors with probability 2e-9; all are below 1e-7
    mean, deviation, tail = map(
        float,
        session.execute(
            f"""
            SELECT avg(z), stddev_pop(z), avg((abs(z) > 1)::int)
            FROM (SELECT (discreet.add_noise({arguments}) - n) / 10 AS z FROM generate_series(1, 40000) n) drawn
            """
        ).fetchone()
        or (),
    )
    draws = 40000
    assert abs(mean) < 6 / math.sqrt(draws)
    assert abs(deviation - 1) < 6 / math.sqrt(2 * draws)
    assert abs(tail - 0.3173105) < 6 * math.sqrt(0.3173105 * 0.6826895 / draws)


def test_noise_under_a_secret_is_the_same_when_asked_again(session: Connection) -> None:
    query = (
        "SELECT array_agg(discreet.add_noise(n::float8, 5, n::text, 'noise') ORDER BY n) FROM generate_series(1, 50) n"
    )
    assert session.execute(query).fetchall() == session.execute(query).fetchall()


def test_noise_without_a_secret_is_drawn_anew(session: Connection) -> None:
    # equal by chance with probability below 1e-15
    (row,) = session.execute("SELECT discreet.add_noise(1::float8, 5) = discreet.add_noise(1::float8, 5)")
    assert row == (False,)


def test_noise_under_a_secret_differs_by_value_record_and_deviation(session: Connection) -> None:
    # otherwise two of them would show their difference, or the value, without noise
    (row,) = session.execute(
        """
        SELECT count(DISTINCT round(z::numeric, 9)) FROM (VALUES
            (discreet.add_noise(0::float8, 1, 'a', 'noise')), (discreet.add_noise(8::float8, 1, 'a', 'noise') - 8),
            (discreet.add_noise(0::float8, 1, 'b', 'noise')), (discreet.add_noise(0::float8, 2, 'a', 'noise') / 2)) t(z)
        """
    )
    assert row == (4,)


def test_anybody_may_read_a_view_that_uses_them(session: Connection, cluster: Cluster, make_role: MakeRole) -> None:
    session.execute("CREATE OR REPLACE VIEW coded AS SELECT discreet.top_code(99, 90), discreet.mask('Ann')")
    session.execute("GRANT SELECT ON coded TO PUBLIC")
    with psycopg.connect(cluster.dsn("values_of_microdata", make_role("reader"))) as reader:
        assert reader.execute("SELECT * FROM coded").fetchall() == [(90, "A**")]
