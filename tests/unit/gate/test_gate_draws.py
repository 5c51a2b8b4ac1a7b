"""Noise that is drawn ahead of the rows, and numbers that are put together all at once."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from tests.corpus.sample import planned

from discreet.dp.joint import JointNoise
from discreet.dp.price import Price
from discreet.gate.aggregates import Aggregate
from discreet.gate.measure import Draws, Terms, domain_groups, measure, put_together, shown, whole_numbers

SQL = "SELECT dept, count(*), sum(salary), avg(salary), min(salary) FROM hr.employee GROUP BY dept"
PLAN = planned(SQL)
TERMS = Terms.of(PLAN, Price.of(Fraction(1), "pure"), Fraction(0), (0,))
TEXTS = {0: [f"dept {number:04}" for number in range(9000)]}


def test_draws_are_made_in_parts_and_given_out_once() -> None:
    groups = domain_groups(PLAN, (0,), TEXTS)
    assert groups is not None
    added = [m for m in PLAN.measurements if m.bins is None]
    draws = Draws(PLAN, TERMS, groups)
    assert draws.missing == len(added) * len(groups)
    draws.draw_some()
    ((_, joint),) = TERMS.together
    assert isinstance(joint, JointNoise)
    assert draws.missing == len(added) * (len(groups) - joint.at_once) > 0
    first, other = (draws.taken(measurement) for measurement in added[:2])
    # equal draws of 9000 numbers have a probability below 1e-100 at this scale
    assert len(first) == len(other) == len(groups)
    assert first != other
    assert added[0] not in draws._drawn
    while draws.missing:
        draws.draw_some()


def test_unknown_groups_draw_nothing_ahead() -> None:
    assert Draws(PLAN, TERMS, None).missing == 0


def test_an_answer_with_noise_drawn_ahead_has_every_group_in_order() -> None:
    groups = domain_groups(PLAN, (0,), {0: ["b", "c", "a"]})
    assert groups == [("a",), ("b",), ("c",)]
    draws = Draws(PLAN, TERMS, groups)
    draws.draw_some()
    rows = measure(PLAN, TERMS, groups, {}, draws)
    assert [row[0] for row in rows] == ["a", "b", "c"]
    assert draws.missing == 0


COUNTED = planned("SELECT count(*), sum(salary::int) FROM hr.employee").aggregates
NOISY = st.lists(st.integers(-(2**80), 2**80), min_size=1)


@given(st.sampled_from(COUNTED), NOISY, st.sampled_from([Fraction(2**70), Fraction(2**40, 3), Fraction(1)]))
def test_whole_numbers_are_those_that_are_put_together_one_by_one(
    aggregate: Aggregate, noisy: list[int], spread: Fraction
) -> None:
    found = whole_numbers(aggregate, noisy, (spread,))
    if found is not None:
        assert found == [shown(aggregate, put_together(aggregate, (number,), (spread,))) for number in noisy]
    else:
        assert aggregate.kind != "count"
