"""The way of a question through its stages: admit, price, charge, run, decide, record.

What the stages do is up to the policy (policy.py); that they come in this order is decided here, for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from discreet.core.errors import AuditDenialError, DiscreetError, RefusedShapeError
from discreet.gate.together import Rows
from discreet.worker.asker import Asker
from discreet.worker.meaning import Meaning
from discreet.worker.policy import DeclinedError, Policy, PolicyOf, Question, TextPolicy
from discreet.worker.text import TextQuestion

# at the tables of a question, before and after they are locked
MOST_LOOKS = 3
# answers of others may come in between so often
MOST_DECISIONS = 50


def answered(asker: Asker, question: TextQuestion) -> tuple[TextPolicy, Rows]:
    """A question with its released numbers. Where its policy denies them, the noisy policy may stand in."""
    try:
        with asker.refusals_written_down(question.text):
            policy = understood(asker, question)
        return policy, released(asker, policy)
    except DeclinedError as declined:
        with telling(declined.refusal):
            return answered(asker, question.noisily())


def understood(asker: Asker, question: TextQuestion) -> TextPolicy:
    """A question that was admitted: under the policy of its tables, or by the noisy one, which may stand in."""
    try:
        return admitted(asker, question)
    except DeclinedError as declined:
        with telling(declined.refusal):
            return admitted(asker, question.noisily())


def admitted(asker: Asker, question: Question[PolicyOf]) -> PolicyOf:
    """A question under the policy of its tables, which refuses nothing in it.

    The tables are locked when it is admitted. What was described before may be another transaction's past by then, as a
    key that it has dropped: so names are looked up again under the lock.
    """
    for _ in range(MOST_LOOKS):
        meaning = Meaning(asker, question.names())
        policy = question.under(meaning)
        policy.admit()
        if meaning.still_holds():
            return policy
    raise RefusedShapeError("the tables of the question are being altered", "Ask again.")


def released(asker: Asker, policy: Policy) -> Rows:
    """What leaves. It is charged before a row is read, and written down before it leaves."""
    charge = policy.price()
    left = None if charge is None else asker.ledger(charge.operation, charge.request)
    try:
        policy.run()
        for _ in range(MOST_DECISIONS):
            policy.decide()
            rows = policy.record(left)
            if rows is not None:
                return rows
        raise AuditDenialError("too many others are asking about this table", "Ask again.")
    except (DiscreetError, DeclinedError):
        asker.wait_for_quantum(policy.quantum)
        raise


@contextmanager
def telling(refusal: DiscreetError) -> Iterator[None]:
    """Where the noisy policy stands in and refuses, too: its own refusal would not help."""
    try:
        yield
    except DiscreetError:
        raise refusal from None
