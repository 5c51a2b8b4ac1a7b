"""The checker of the crash test finds what it is there to find."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal

import pytest
from bench.crash import Budget, Charge, Journal, Ledger, Question, faults

PRICE = Decimal("0.5")
FIRST, SECOND = Question("ann", 100000001, PRICE), Question("ann", 100000002, PRICE)


def charge(question: Question) -> Charge:
    return Charge(question.role, "people", question.epsilon, f"SELECT count(*) FROM t WHERE badge > {question.number}")


def ledger(*questions: Question) -> Ledger:
    """These questions are charged, and the budgets fit."""
    spent = sum((question.epsilon for question in questions), Decimal(0))
    budgets = tuple(Budget("people", role, Decimal(2), spent) for role in (None, "ann"))
    return Ledger(tuple(map(charge, questions)), budgets, ())


@pytest.fixture
def journal() -> Journal:
    """The first question was asked three times and answered twice, always fresh; the second was stored."""
    return Journal(
        asked=Counter({FIRST: 3, SECOND: 2}),
        answers={FIRST: [7, 7], SECOND: [8, 8]},
        ended=Counter({"DP007": 1}),
        always_fresh={FIRST},
    )


def test_answers_with_their_charges_are_in_order(journal: Journal) -> None:
    assert faults([journal], ledger(FIRST, FIRST, SECOND)) == []


def test_a_charge_without_an_answer_is_in_order(journal: Journal) -> None:
    assert faults([journal], ledger(FIRST, FIRST, FIRST, SECOND)) == []


def test_an_answer_without_a_charge_is_found(journal: Journal) -> None:
    journal.asked[third := Question("ann", 100000003, PRICE)] += 1
    journal.answers[third] = [9]
    (fault,) = faults([journal], ledger(FIRST, FIRST, SECOND))
    assert "1 answers, but 0 charges" in fault


def test_two_fresh_answers_for_one_charge_are_found(journal: Journal) -> None:
    (fault,) = faults([journal], ledger(FIRST, SECOND))
    assert "2 answers, but 1 charges" in fault


def test_a_stored_answer_that_was_never_charged_is_found(journal: Journal) -> None:
    (fault,) = faults([journal], ledger(FIRST, FIRST))
    assert "2 answers, but 0 charges" in fault


def test_a_second_answer_that_was_not_the_stored_one_is_found(journal: Journal) -> None:
    journal.answers[SECOND] = [8, 9]
    (fault,) = faults([journal], ledger(FIRST, FIRST, SECOND))
    assert "2 answers, but 1 charges" in fault


def test_a_charge_at_another_price_is_not_the_charge_of_the_answer(journal: Journal) -> None:
    cheaper = replace(SECOND, epsilon=Decimal("0.25"))
    found = faults([journal], ledger(FIRST, FIRST, cheaper))
    assert ["2 answers, but 0 charges" in fault for fault in found] == [True, False]
    assert "asked 0 times, but charged 1 times" in found[1]


def test_a_charge_of_another_role_is_not_the_charge_of_the_answer(journal: Journal) -> None:
    found = faults([journal], ledger(FIRST, FIRST, replace(SECOND, role="bob")))
    assert any("2 answers, but 0 charges" in fault for fault in found)


def test_a_question_that_is_charged_twice_is_found(journal: Journal) -> None:
    journal.answers[FIRST] = [7]
    (fault,) = faults([journal], ledger(FIRST, SECOND, SECOND, SECOND))
    assert "asked 2 times, but charged 3 times" in fault


def test_a_budget_that_is_not_the_sum_of_its_charges_is_found(journal: Journal) -> None:
    right = ledger(FIRST, FIRST, SECOND)
    wrong = replace(right, budgets=(right.budgets[0], replace(right.budgets[1], spent=Decimal(1))))
    (fault,) = faults([journal], wrong)
    assert "the charges come to 1.5" in fault


def test_a_limit_that_is_exceeded_is_found(journal: Journal) -> None:
    right = ledger(FIRST, FIRST, SECOND)
    low = replace(right, budgets=(replace(right.budgets[0], limit=Decimal(1)),))
    (fault,) = faults([journal], low)
    assert "overspent" in fault


def test_a_log_that_does_not_fit_is_found(journal: Journal) -> None:
    right = ledger(FIRST, FIRST, SECOND)
    assert faults([journal], replace(right, bad_logs=("people: no",))) == ["the log does not fit: people: no"]


def test_an_ending_that_nobody_expects_is_found(journal: Journal) -> None:
    journal.ended["XX000"] += 1
    assert faults([journal], ledger(FIRST, FIRST, SECOND)) == ["a question ended with XX000"]
