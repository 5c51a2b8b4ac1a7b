"""The answer is seen, then the session is killed, or the client goes away."""

import pytest
from tests.attacks.target import ASK, PRICE, Target, Told, outcome


@pytest.mark.parametrize(
    ("question", "kept"), [("SELECT naive.ask()", False), (ASK, True)], ids=["naive ledger", "here"]
)
def test_killed_backend_refunds_only_a_naive_ledger(target: Target, question: str, kept: bool) -> None:
    told = Told(target.connect(new=True), question)
    target.admin.execute("SELECT pg_terminate_backend(%s, 60000)", [told.connection.info.backend_pid])
    told.join()
    assert target.naive_spent() == 0
    assert target.spent() == (PRICE if kept else 0)


def test_client_that_goes_away_has_paid(target: Target) -> None:
    connection = target.connect(new=True)
    backend = connection.info.backend_pid
    with target.costs(PRICE):
        connection.execute("BEGIN")
        connection.execute(ASK)
        connection.close()
        target.wait_for(f"NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = {backend})")


def test_a_killed_backend_leaves_the_ledger_to_the_others(target: Target) -> None:
    connection = target.connect(new=True)
    connection.execute(ASK)
    ledgers = target.ledgers()
    assert len(ledgers) == 1
    target.admin.execute("SELECT pg_terminate_backend(%s, 60000)", [connection.info.backend_pid])
    with target.costs(PRICE):
        target.connect("eve").execute(ASK)
    assert target.ledgers() == ledgers


def test_killed_ledger_costs_at_most_one_refusal(target: Target) -> None:
    """A superuser kills the ledger's backend between two questions."""
    connection = target.connect(new=True)
    connection.execute(ASK)
    for pid in target.ledgers():
        target.admin.execute("SELECT pg_terminate_backend(%s, 60000)", [pid])
    with target.costs(PRICE):
        outcomes = [outcome(connection)]
        if outcomes == ["DP007"]:
            outcomes.append(outcome(connection))
    assert outcomes[-1] == "answer"
