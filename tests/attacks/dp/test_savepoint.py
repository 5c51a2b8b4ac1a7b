"""The answer is seen, then only the savepoint before it is rolled back."""

from tests.attacks.target import ASK, PRICE, Target, ask_until_refused
from tests.databases import Connection


def test_savepoint_refunds_a_naive_ledger(target: Target, mallory: Connection) -> None:
    mallory.execute("BEGIN")
    for _ in range(20):
        mallory.execute("SAVEPOINT before")
        assert mallory.execute("SELECT naive.ask()").fetchone() is not None
        mallory.execute("ROLLBACK TO before")
    mallory.execute("COMMIT")
    assert target.naive_spent() == 0


def test_savepoint_refunds_nothing_here(target: Target, mallory: Connection) -> None:
    with target.costs(3 * PRICE):
        mallory.execute("BEGIN")
        for _ in range(3):
            mallory.execute("SAVEPOINT before")
            assert mallory.execute(ASK).fetchone() is not None
            mallory.execute("ROLLBACK TO before")
        mallory.execute("COMMIT")


def test_savepoint_around_a_refusal_does_not_hide_it(target: Target, mallory: Connection) -> None:
    assert ask_until_refused(mallory) == 10
    mallory.execute("BEGIN; SAVEPOINT before")
    assert ask_until_refused(mallory) == 0
    mallory.execute("ROLLBACK TO before")
    assert target.refusals() == 2
