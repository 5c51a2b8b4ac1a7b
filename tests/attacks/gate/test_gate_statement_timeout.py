"""The answer is seen, then statement_timeout ends the statement."""

import psycopg
import pytest
from tests.attacks.gate.asking import NUMBER
from tests.attacks.target import Target, Told
from tests.databases import Connection


def test_a_timeout_refunds_a_naive_ledger(target: Target) -> None:
    attacker = target.connect("blind")
    attacker.execute("SET statement_timeout = '200ms'")
    with pytest.raises(psycopg.errors.QueryCanceled):
        attacker.execute("SELECT naive.ask(), pg_sleep(60)")
    assert target.naive_spent() == 0


def test_a_timeout_refunds_nothing_here(gated: Target, blind: Connection) -> None:
    """The answer is told by a notice; on a busy machine it takes longer, and the timeout is longer the next time."""
    for seconds in (1, 5, 25, 100):
        before = gated.charges()
        blind.execute(f"SET statement_timeout = '{seconds}s'")
        told = Told(blind, NUMBER)
        told.join()
        if told.answer:
            assert gated.charges() == before + 1
            return
    raise AssertionError("no answer in 100 seconds")
