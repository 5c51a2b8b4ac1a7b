"""Locks are held or connections filled, so that charging hangs: it ends in a refusal, not in a free answer."""

import pytest
from tests.attacks.gate.asking import FRESH
from tests.attacks.target import PRICE, Target, fill, outcome
from tests.databases import Connection


def test_a_held_budget_row_ends_in_a_refusal(gated: Target, blind: Connection) -> None:
    """A curator's open transaction holds the row of the attacker's limit until the ledger's lock_timeout."""
    curator = gated.database.connect()
    curator.execute("BEGIN; SELECT discreet.grant_budget('people', 'blind', 0.9)")
    with gated.free():
        assert outcome(blind, FRESH) == "DP007"
        curator.execute("ROLLBACK")
    with gated.costs(PRICE):
        assert outcome(blind, FRESH) == "answer"


LOCKS = [
    "LOCK discreet.charges IN ACCESS SHARE MODE",
    "SELECT pg_advisory_lock(n) FROM generate_series(0, 100) n",
    "SELECT * FROM discreet.charges, discreet.budget_status",
    "DECLARE open CURSOR FOR SELECT * FROM discreet.budget_status",
]


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_that_an_analyst_can_take_stop_nobody(gated: Target, blind: Connection, lock: str) -> None:
    blind.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    blind.execute(lock)
    with gated.costs(2 * PRICE):
        assert outcome(blind, FRESH) == "answer"
        assert outcome(gated.connect("eve"), FRESH) == "answer"


def test_a_full_server_still_answers(gated: Target) -> None:
    """The workers need no connection."""
    warm, cold = gated.connect("blind", new=True), gated.connect("blind", new=True)
    warm.execute(FRESH)
    taken = fill(gated)
    try:
        outcomes = [outcome(session, FRESH) for session in (warm, cold, warm)]
    finally:
        for connection in taken:
            connection.close()
    assert outcomes == ["answer"] * 3
    assert gated.charges() == 4
