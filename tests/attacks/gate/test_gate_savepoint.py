"""The answer is seen, then a savepoint before it is restored."""

from tests.attacks.gate.asking import FRESH
from tests.attacks.target import PRICE, Target, ask_until_refused
from tests.databases import Connection


def test_a_savepoint_refunds_a_naive_ledger(target: Target) -> None:
    attacker = target.connect("blind")
    attacker.execute("BEGIN; SAVEPOINT s; SELECT naive.ask(); ROLLBACK TO s; COMMIT")
    assert target.naive_spent() == 0


def test_a_savepoint_refunds_nothing_here(gated: Target, blind: Connection) -> None:
    with gated.costs(PRICE):
        for statement in ("BEGIN", "SAVEPOINT s", FRESH, "ROLLBACK TO s", "COMMIT"):
            blind.execute(statement)


def test_the_budget_ends_for_savepoints_too(gated: Target, blind: Connection) -> None:
    for _ in range(10):
        blind.execute(f"BEGIN; SAVEPOINT s; {FRESH}; ROLLBACK TO s; COMMIT")
    assert ask_until_refused(blind, FRESH) == 0
