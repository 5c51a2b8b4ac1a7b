"""The answer is seen, then the backend is killed."""

from tests.attacks.gate.asking import NUMBER
from tests.attacks.target import PRICE, Target, Told


def kill_after_the_answer(target: Target, question: str) -> None:
    session = target.connect("blind", new=True)
    told = Told(session, question)
    target.admin.execute("SELECT pg_terminate_backend(%s)", [session.info.backend_pid])
    told.join()
    assert told.answer


def test_a_killed_backend_refunds_a_naive_ledger(target: Target) -> None:
    kill_after_the_answer(target, "SELECT naive.ask()")
    assert target.naive_spent() == 0


def test_a_killed_backend_has_paid(gated: Target) -> None:
    with gated.costs(PRICE):
        kill_after_the_answer(gated, NUMBER)
