"""What follows from a plan and its terms alone is made once, and never for others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from tests.corpus.sample import planned

from discreet.dp.price import Price
from discreet.gate.exactness import exactness
from discreet.gate.excluded import are_lasting
from discreet.gate.known import MOST_KNOWN, Known, kept_with_plan
from discreet.gate.measure import domain_groups
from discreet.gate.measurements import Measurement
from discreet.gate.plan import Plan
from discreet.gate.run import statements
from discreet.gate.stored import Stored, terms_with
from discreet.gate.terms import Terms

QUESTION = "SELECT dept, count(*), avg(salary) FROM hr.employee GROUP BY dept"


class Owner:
    def __init__(self) -> None:
        self.known: Known = {}


def terms_of(plan: Plan, epsilon: int = 1) -> Terms:
    return Terms.of(plan, Price.of(epsilon), Fraction(0), plan.grouping.sets[0])


def test_a_value_is_made_once_for_the_very_same_things() -> None:
    made: list[Sequence[list[int]]] = []

    @kept_with_plan
    def doubled(owner: Owner, given: Sequence[list[int]]) -> list[list[int]]:
        made.append(given)
        return [[2 * number for number in some] for some in given]

    owner, other, one, equal = Owner(), Owner(), [1, 2], [1, 2]
    assert doubled(owner, [one]) is doubled(owner, [one])
    assert len(made) == 1
    assert doubled(owner, [equal]) == [[2, 4]]
    assert doubled(other, [one]) == [[2, 4]]
    assert len(made) == 3


def test_no_value_is_found_for_a_thing_that_took_the_place_of_another() -> None:
    @kept_with_plan
    def copied(owner: Owner, given: Sequence[list[int]]) -> list[int]:
        return list(given[0])

    owner = Owner()
    for number in range(3 * MOST_KNOWN):
        assert copied(owner, [[number]]) == [number]
        assert len(owner.known) <= MOST_KNOWN


def test_terms_of_another_price_have_widths_of_their_own() -> None:
    plan = planned(QUESTION)
    cheap, dear = ([found.error for found in exactness(plan, [terms_of(plan, epsilon)])] for epsilon in (1, 10))
    again = [found.error for found in exactness(plan, [terms_of(plan)])]
    assert cheap == again != dear


def test_terms_that_are_paid_now_are_those_that_any_measurement_would_have() -> None:
    plan = planned(QUESTION)
    terms = terms_of(plan)
    assert terms_with(terms, 0, {}, terms) is terms_with(terms, 0, {}, terms)
    assert terms_with(terms, 0, {}, terms) == terms_with(terms, 0, {}, replace(terms))
    stored = {plan.measurements[0]: [Stored(Price.of(7), Fraction(0), {})]}
    assert terms_with(terms, 0, stored, terms).price_of(plan.measurements[0]) == Price.of(7)
    assert terms_with(terms, 0, {}, terms).price_of(plan.measurements[0]) == terms.price_of(plan.measurements[0])


def test_the_secret_changes_the_statements_where_rows_are_chosen_by_it() -> None:
    chosen, single = (
        planned("SELECT count(DISTINCT cost) FROM clinic.visit"),
        planned("SELECT count(*) FROM hr.employee"),
    )
    assert not chosen.source.single
    assert single.source.single
    assert statements(chosen, (), 1) != statements(chosen, (), 2)
    assert statements(single, (), 1) is statements(single, (), 2)


@pytest.mark.parametrize(
    ("key", "condition", "lasting"),
    [
        ("dept", "true", True),
        ("dept", "salary > 5", True),
        ("dept", "dept <> 'Sales'", False),
        ("date_trunc('year', hired)", "hired >= '2001-01-01' AND hired < '2003-01-01'", False),
    ],
)
def test_groups_that_a_condition_or_a_setting_may_change_are_asked_for_each_time(
    key: str, condition: str, lasting: bool
) -> None:
    plan = planned(f"SELECT {key}, count(*) FROM hr.employee WHERE {condition} GROUP BY 1")
    assert are_lasting(plan.grouping.keys[0], plan.source, plan.conditions) is lasting


def test_groups_of_texts_of_this_session_are_not_those_of_another() -> None:
    plan = planned(QUESTION)
    mine: list[str | None] = ["a", "b"]
    yours = ["c", None]
    plan.known_texts[0] = mine
    assert domain_groups(plan, (0,), {0: mine}) is domain_groups(plan, (0,), {0: mine})
    assert domain_groups(plan, (0,), {0: yours}) == [("c",), (None,)]
    assert domain_groups(plan, (0,), {0: mine}) == [("a",), ("b",)]


def test_measurements_that_are_equal_have_one_hash() -> None:
    (one, *_), (other, *_) = planned(QUESTION).measurements, planned(QUESTION).measurements
    assert one is not other
    assert {one: 1}[other] == 1
    assert hash(one) == hash(Measurement(one.quantity, one.subject))
