"""Cell keys, random rounding, perturbation: the same people give the same number, however they are asked for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dev.cluster import Cluster
from tests.databases import Connection, created
from tests.messages import refused

KEYS = 2**32


@pytest.fixture(scope="module")
def session(cluster: Cluster, template: str) -> Iterator[Connection]:
    with created(cluster, "cell_keys", template) as database:
        connection = database.connect()
        connection.execute("SELECT discreet.create_secret('cells')")
        connection.execute(
            "CREATE TABLE person AS SELECT n AS id, n % 7 AS town, n % 2 = 0 AS adult FROM generate_series(1, 900) n"
        )
        yield connection


def one(session: Connection, expression: str) -> object:
    return session.execute(f"SELECT {expression}").fetchall()[0][0]


def test_record_keys_are_even_and_follow_from_the_secret(session: Connection) -> None:
    # 20000 keys in 16 bins: each count is binomial, beyond 7 deviations with probability below 1e-10
    counts = session.execute(
        "SELECT k / (2^28)::bigint, count(*) FROM"
        " (SELECT discreet.record_key(n, 'cells') k FROM generate_series(1, 20000) n) t GROUP BY 1"
    ).fetchall()
    assert sorted(int(str(bin_)) for bin_, _ in counts) == list(range(16))
    assert all(abs(int(str(count)) - 1250) < 7 * 34.3 for _, count in counts)
    session.execute("SELECT discreet.create_secret('other')")
    assert one(session, "discreet.record_key('a', 'cells') <> discreet.record_key('a', 'other')")


def test_the_key_of_a_cell_depends_on_its_people_only(session: Connection) -> None:
    ways = [
        "SELECT discreet.cell_key(discreet.record_key(id, 'cells')) FROM person WHERE town = 3",
        "SELECT discreet.cell_key(discreet.record_key(id, 'cells')) FROM person WHERE NOT town <> 3",
        "SELECT discreet.cell_key(k ORDER BY id DESC) FROM"
        " (SELECT id, discreet.record_key(id::text, 'cells') k FROM person WHERE town + 0 IN (3)) t",
        "SELECT sum(k)::bigint % 4294967296 FROM"
        " (SELECT town, adult, discreet.cell_key(discreet.record_key(id, 'cells')) k FROM person GROUP BY 1, 2) t"
        " WHERE town = 3",
    ]
    assert len({session.execute(way).fetchall()[0] for way in ways}) == 1
    assert one(session, "discreet.cell_key(k) FROM (SELECT 1::bigint AS k WHERE false) t") == 0


def test_asking_again_averages_nothing_out(session: Connection) -> None:
    query = """
        SELECT town, discreet.random_round(count(*), 10, discreet.cell_key(discreet.record_key(id, 'cells'))),
               discreet.perturb(count(*), discreet.cell_key(discreet.record_key(id, 'cells')), discreet.ptable(1.5, 4))
        FROM person WHERE {} GROUP BY town ORDER BY town
    """
    answers = [session.execute(query.format(words)).fetchall() for words in ("adult", "NOT NOT adult", "id % 2 < 1")]
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("value", [0, 1, 7, 13, 29, -4, -10])
def test_rounding_is_right_on_average_over_all_keys(session: Connection, value: int) -> None:
    (row,) = session.execute(
        f"SELECT avg(r), min(r), max(r), bool_and(r % 5 = 0) FROM (SELECT discreet.random_round({value}, 5,"
        " k::bigint * 4294967) r FROM generate_series(0, 999) k) t"
    ).fetchall()
    assert abs(float(str(row[0])) - value) < 0.01
    assert abs(int(str(row[1])) - value) < 5
    assert abs(int(str(row[2])) - value) < 5
    assert row[3]


def test_the_ends_of_the_keys(session: Connection) -> None:
    assert one(session, f"discreet.random_round(6, 5, {KEYS - 1})") == 5
    assert one(session, "discreet.random_round(6, 5, 0)") == 10
    assert one(session, f"discreet.perturb(3, {KEYS - 1}, discreet.ptable(1, 2))") == 5
    assert one(session, "discreet.perturb(3, 0, discreet.ptable(1, 2))") == 1
    assert one(session, f"discreet.random_round(9223372036854775800, 10, {KEYS - 1})") == 9223372036854775800


@pytest.mark.parametrize(
    "expression",
    ["random_round(NULL, 5, 1)", "random_round(5, NULL, 1)", "random_round(5, 5, NULL)",
     "record_key(NULL::text, 'cells')",
     "perturb(NULL, 1, discreet.ptable(1, 2))", "perturb(1, NULL, discreet.ptable(1, 2))", "perturb(1, 1, NULL)"],
)  # fmt: skip
def test_null_gives_null(session: Connection, expression: str) -> None:
    assert one(session, f"discreet.{expression}") is None


def test_perturbed_counts_are_no_small_ones_and_zero_stays(session: Connection) -> None:
    (row,) = session.execute(
        """
        SELECT bool_and(p = 0 OR p >= 3), bool_and(n > 0 OR p = 0), max(abs(p - n)), min(p)
        FROM (SELECT n, discreet.perturb(n, k * 42949672, t) p
              FROM discreet.ptable(2, 5, 3) t, generate_series(0, 12) n, generate_series(0::bigint, 99) k) drawn
        """
    ).fetchall()
    assert row == (True, True, 5, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("random_round(5, 0, 1)", "base is 0"),
        ("random_round(5, -3, 1)", "base is -3"),
        ("ptable(0, 3)", "deviation is 0"),
        ("ptable(1, 1000)", "max_noise is 1000"),
        ("ptable(1, 3, 9)", "min_count is 9"),
        ("ptable(NULL, 3)", "deviation must not be NULL"),
    ],
)
def test_what_makes_no_sense_is_refused(session: Connection, call: str, message: str) -> None:
    with refused("22023", message, "Give"):
        session.execute(f"SELECT discreet.{call}")


def test_rounding_is_written_into_the_query(session: Connection) -> None:
    plan = session.execute("EXPLAIN (VERBOSE) SELECT discreet.random_round(town, 5, id) FROM person").fetchall()
    assert "random_round" not in str(plan)
