"""How much a question may ask for at once: a gate worker puts it together while other sessions wait."""

from __future__ import annotations

import pytest
from tests.corpus.sample import planned

from discreet.core.errors import RefusedShapeError
from discreet.gate.measure import MOST_CANDIDATES, MOST_GROUPS, MOST_NUMBERS, refuse_large_answer
from discreet.gate.plan import Plan

QUANTILE = "percentile_disc(0.5) WITHIN GROUP (ORDER BY salary)"


def asked(columns: str, sets: int) -> Plan:
    return planned(f"SELECT {columns} FROM hr.employee GROUP BY GROUPING SETS ({', '.join(['(dept)'] * sets)})")


def refused(plan: Plan, groups: int) -> bool:
    """Whether a question is refused when its only key has so many values."""
    try:
        refuse_large_answer(plan, {0: [str(number) for number in range(groups)]})
    except RefusedShapeError:
        return True
    return False


def test_a_grouping_set_has_a_bounded_number_of_groups() -> None:
    plan = asked("count(*)", 1)
    assert not refused(plan, MOST_GROUPS)
    assert refused(plan, MOST_GROUPS + 1)


@pytest.mark.parametrize("sets", [1, 2, 32])
def test_the_bins_of_all_grouping_sets_count_together(sets: int) -> None:
    plan = asked(QUANTILE, sets)
    bins = sum(each.bins.number for each in plan.measurements if each.bins is not None)
    most = MOST_CANDIDATES // (bins * sets)
    assert not refused(plan, most)
    assert refused(plan, most + 1)


@pytest.mark.parametrize("sets", [1, 2, 32])
def test_the_numbers_of_all_grouping_sets_count_together(sets: int) -> None:
    plan = asked(", ".join(f"sum(salary + {number})" for number in range(100)), sets)
    most = MOST_NUMBERS // (len(plan.measurements) * sets)
    assert not refused(plan, most)
    assert refused(plan, most + 1)


def test_groups_that_are_not_known_do_not_count() -> None:
    plan = planned(f"SELECT {QUANTILE} FROM hr.employee GROUP BY zip")
    assert plan.grouping.keys[0].domain is None
    refuse_large_answer(plan, {})
