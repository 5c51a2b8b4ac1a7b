"""The answer is seen, then statement_timeout ends the statement."""

import pytest
from tests.attacks.target import ASK, PRICE, Target, Told, outcome


@pytest.mark.parametrize(
    ("question", "kept"), [("SELECT naive.ask()", False), (ASK, True)], ids=["naive ledger", "here"]
)
def test_statement_timeout_refunds_only_a_naive_ledger(target: Target, question: str, kept: bool) -> None:
    connection = target.connect(new=True)
    connection.execute(question)  # what loads the library and draws the first noise takes its time
    for seconds in (1, 4, 16, 59):
        target.reset()
        connection.execute(f"SET statement_timeout = '{seconds}s'")
        told = Told(connection, question)
        told.join()
        if told.answer is not None:
            break
    assert told.answer is not None
    assert target.naive_spent() == 0
    assert target.spent() == (PRICE if kept else 0)


def test_timeout_at_any_moment_gives_no_unpaid_answer(target: Target) -> None:
    """Without an answer there may be a charge; with one there is."""
    connection = target.connect()
    answers = 0
    for milliseconds in range(1, 20):
        connection.execute(f"SET statement_timeout = {milliseconds}")
        answers += outcome(connection) == "answer"
    connection.execute("RESET statement_timeout")
    target.settle()
    assert answers <= target.charges() <= 10
