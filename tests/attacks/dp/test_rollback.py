"""The answer is seen, then the transaction is rolled back."""

from tests.attacks.target import ASK, PRICE, Target, ask_until_refused
from tests.databases import Connection


def test_rollback_refunds_a_naive_ledger(target: Target, mallory: Connection) -> None:
    for _ in range(20):
        mallory.execute("BEGIN")
        assert mallory.execute("SELECT naive.ask()").fetchone() is not None
        mallory.execute("ROLLBACK")
    assert target.naive_spent() == 0


def test_rollback_refunds_nothing_here(target: Target, mallory: Connection) -> None:
    with target.costs(PRICE):
        mallory.execute("BEGIN")
        assert mallory.execute(ASK).fetchone() is not None
        mallory.execute("ROLLBACK")


def test_twenty_rolled_back_questions_end_at_the_limit(target: Target, mallory: Connection) -> None:
    mallory.execute("BEGIN")
    answers = 0
    for _ in range(9):
        answers += len(mallory.execute(ASK).fetchall())
        mallory.execute("ROLLBACK; BEGIN")
    mallory.execute("ROLLBACK")
    assert answers + ask_until_refused(mallory) == 10
    assert target.spent() == 1


def test_answer_of_a_transaction_that_fails_stays_paid(target: Target, mallory: Connection) -> None:
    with target.costs(PRICE):
        mallory.execute("BEGIN")
        mallory.execute(f"CREATE TEMP TABLE answer ON COMMIT DROP AS {ASK}")
        assert mallory.execute("SELECT * FROM answer").fetchone() is not None
        mallory.execute("PREPARE nothing AS SELECT 1")
        mallory.execute("ROLLBACK")
