"""The answer is seen, then the transaction is rolled back."""

import pytest
from tests.attacks.gate.asking import COUNT, FRESH, ask
from tests.attacks.target import PRICE, Target
from tests.databases import Connection


def test_rollback_refunds_a_naive_ledger(target: Target) -> None:
    attacker = target.connect("blind")
    attacker.execute("BEGIN; SELECT naive.ask(); ROLLBACK")
    assert target.naive_spent() == 0


@pytest.mark.parametrize("begin", ["BEGIN", "BEGIN READ ONLY", "BEGIN ISOLATION LEVEL REPEATABLE READ"])
def test_rollback_refunds_nothing_here(gated: Target, blind: Connection, begin: str) -> None:
    with gated.costs(PRICE):
        for statement in (begin, FRESH, "ROLLBACK"):
            blind.execute(statement)


def test_a_rolled_back_question_is_remembered(gated: Target, blind: Connection) -> None:
    """The stored answer outlives the transaction: asking again after ROLLBACK draws no second noise."""
    with gated.costs("0.001"):
        blind.execute("BEGIN")
        first = ask(blind, COUNT)
        blind.execute("ROLLBACK")
        assert ask(blind, COUNT) == first
