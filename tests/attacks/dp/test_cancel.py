"""The answer is seen, then the statement is cancelled."""

from tests.attacks.target import A_LEDGER_WAITS, ASK, PRICE, Target, Told, in_thread


def test_cancel_refunds_a_naive_ledger(target: Target) -> None:
    told = Told(target.connect(new=True), "SELECT naive.ask()")
    told.connection.cancel()
    told.join()
    assert target.naive_spent() == 0


def test_cancel_refunds_nothing_here(target: Target) -> None:
    with target.costs(PRICE):
        told = Told(target.connect(new=True), ASK)
        told.connection.cancel()
        told.join()
    assert told.answer is not None


def test_cancel_while_the_charge_waits_gives_no_answer(target: Target) -> None:
    """The ledger forgets a charge that it has not begun, and finishes one that it has; the session goes on."""
    connection = target.connect()
    connection.execute(ASK)
    holder = target.database.connect()
    holder.execute("BEGIN; SELECT FROM discreet._dataset WHERE dataset = 'people' FOR UPDATE")
    answers: list[object] = []
    thread = in_thread(lambda: answers.extend(connection.execute(ASK).fetchall()))
    target.wait_for(A_LEDGER_WAITS)
    connection.cancel()
    thread.join(60)
    assert not thread.is_alive()
    holder.execute("ROLLBACK")
    assert answers == []
    target.wait_for("NOT EXISTS (SELECT FROM ledger WHERE state <> 'idle')")
    with target.costs(PRICE):
        assert connection.execute(ASK).fetchone() is not None
