"""The answer is seen, then statement_timeout ends the statement."""

import psycopg
import pytest
from tests.attacks.gate.asking import FRESH, ask
from tests.attacks.target import PRICE, Target
from tests.databases import Connection


def test_a_timeout_refunds_a_naive_ledger(target: Target) -> None:
    attacker = target.connect("blind")
    attacker.execute("SET statement_timeout = '200ms'")
    with pytest.raises(psycopg.errors.QueryCanceled):
        attacker.execute("SELECT naive.ask(), pg_sleep(60)")
    assert target.naive_spent() == 0


def test_a_timeout_refunds_nothing_here(gated: Target, blind: Connection) -> None:
    ask(blind, "SELECT count(*) FROM hr.visit", "0.000001")  # the session is warm: the timeout comes after the answer
    blind.execute("SET statement_timeout = '2s'")
    with gated.costs(PRICE), pytest.raises(psycopg.errors.QueryCanceled):
        blind.execute(f"SELECT ({FRESH}), pg_sleep(60)")
