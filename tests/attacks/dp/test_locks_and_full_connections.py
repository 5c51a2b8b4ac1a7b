"""Locks are held or connections filled, so that charging hangs: it ends in a refusal, not in a free answer."""

import psycopg
import pytest
from tests.attacks.target import A_LEDGER_WAITS, ASK, PRICE, Target, fill, in_thread, outcome
from tests.databases import Connection, ledger_elsewhere


def test_held_budget_rows_end_in_a_refusal(target: Target) -> None:
    """A curator's open transaction holds the row of the attacker's limit until the ledger's lock_timeout."""
    mallory = target.connect("mallory")
    target.admin.execute("SELECT discreet.grant_budget('people', 'mallory', 0.5)")
    curator = target.database.connect()
    curator.execute("BEGIN; SELECT discreet.grant_budget('people', 'mallory', 0.9)")
    with target.free():
        assert outcome(mallory) == "DP007"
        curator.execute("ROLLBACK")
    with target.costs(PRICE):
        assert mallory.execute(ASK).fetchone() is not None


def test_charge_that_waits_goes_on_when_the_lock_is_gone(target: Target) -> None:
    mallory = target.connect("mallory")
    mallory.execute(ASK)
    curator = target.database.connect()
    curator.execute("BEGIN; LOCK discreet._charge IN ACCESS EXCLUSIVE MODE")
    outcomes: list[str] = []
    thread = in_thread(lambda: outcomes.append(outcome(mallory)))
    target.wait_for(A_LEDGER_WAITS)
    assert outcomes == []
    curator.execute("ROLLBACK")
    thread.join(60)
    assert outcomes == ["answer"]
    assert target.charges() == 2


LOCKS = [
    "LOCK hr.person IN ACCESS SHARE MODE",
    "LOCK discreet.charges IN ACCESS SHARE MODE",
    "LOCK discreet.budget_status IN ACCESS SHARE MODE",
    "SELECT pg_advisory_lock(n) FROM generate_series(0, 100) n",
    "SELECT * FROM discreet.charges, discreet.budget_status, hr.person",
    "DECLARE open CURSOR FOR SELECT * FROM discreet.budget_status",
    "CREATE TEMP TABLE big AS SELECT * FROM hr.person",
]


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_that_an_analyst_can_take_stop_nobody(target: Target, mallory: Connection, lock: str) -> None:
    mallory.execute("BEGIN ISOLATION LEVEL SERIALIZABLE")
    mallory.execute(lock)
    with target.costs(2 * PRICE):
        mallory.execute(ASK)
        assert target.connect("eve").execute(ASK).fetchone() is not None


def test_a_full_server_still_charges(target: Target) -> None:
    """The workers need no connection, and those reserved for superusers stay free for them."""
    warm, cold = target.connect("mallory", new=True), target.connect("mallory", new=True)
    warm.execute(ASK)
    taken = fill(target)
    try:
        outcomes = [outcome(session) for session in (warm, cold, cold, warm)]
        target.database.connect().execute("SELECT 1")
    finally:
        for connection in taken:
            connection.close()
    assert outcomes == ["answer"] * 4
    assert target.charges() == 5


def test_limits_on_connections_of_the_asker_do_not_count_for_the_ledger(target: Target) -> None:
    target.admin.execute("ALTER ROLE mallory CONNECTION LIMIT 1")
    try:
        target.settle()
        target.wait_for("NOT EXISTS (SELECT FROM pg_stat_activity WHERE usename = 'mallory')")
        with target.costs(PRICE):
            target.connect("mallory", new=True).execute(ASK)
    finally:
        target.admin.execute("ALTER ROLE mallory CONNECTION LIMIT -1")


def test_ledger_elsewhere_is_refused(target: Target) -> None:
    """A connection string that leads nowhere, or to another database: no charge, no answer."""
    for conninfo in ("host=/nowhere", "host=/tmp port=1", f"host={target.database.cluster.socket} dbname=postgres port="
                     f"{target.database.cluster.port} user=postgres"):  # fmt: skip
        with ledger_elsewhere(target.database, conninfo):
            session = target.database.connect()
            with target.free(), pytest.raises(psycopg.Error) as caught:
                session.execute(ASK)
        assert caught.value.sqlstate == "DP007"
        assert "host" not in str(caught.value)
