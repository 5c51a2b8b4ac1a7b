"""The answer is seen inside a PL/pgSQL block whose EXCEPTION clause undoes it."""

from tests.attacks.gate.asking import FRESH
from tests.attacks.target import PRICE, Target
from tests.databases import Connection

UNDO = "DO $$BEGIN PERFORM ({}); RAISE EXCEPTION 'undo'; EXCEPTION WHEN others THEN END$$"


def test_an_exception_refunds_a_naive_ledger(target: Target) -> None:
    target.connect("blind").execute(UNDO.format("SELECT naive.ask()"))
    assert target.naive_spent() == 0


def test_an_exception_refunds_nothing_here(gated: Target, blind: Connection) -> None:
    with gated.costs(PRICE):
        blind.execute(UNDO.format(FRESH))
