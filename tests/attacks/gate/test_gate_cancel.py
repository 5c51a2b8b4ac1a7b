"""The answer is seen, then the statement is cancelled."""

from tests.attacks.gate.asking import NUMBER
from tests.attacks.target import PRICE, Target, Told
from tests.databases import Connection


def test_cancel_refunds_a_naive_ledger(target: Target) -> None:
    told = Told(target.connect("blind", new=True), "SELECT naive.ask()")
    told.connection.cancel()
    told.join()
    assert (told.answer is not None, target.naive_spent()) == (True, 0)


def test_cancel_refunds_nothing_here(gated: Target, blind: Connection) -> None:
    with gated.costs(PRICE):
        told = Told(blind, NUMBER)
        blind.cancel()
        told.join()
    assert told.answer
