"""Union tracker: several paddings, where one alone would be too few or too many people."""

import pytest
from tests.attacks.gate.asking import assert_tracker_refused, exact_sum
from tests.attacks.target import Target
from tests.databases import Connection

UNION = "smoker OR dept = 'dept 1'"


def test_a_table_without_protection_tells_the_salary(target: Target) -> None:
    assert exact_sum(target, f"id = 7 OR {UNION}") - exact_sum(target, UNION) == 1007


@pytest.mark.parametrize("where", [f"id = 7 OR {UNION}", f"{UNION} OR id IN (7)", f"({UNION}) AND id <> 8"])
def test_the_padded_question_is_refused(gated: Target, blind: Connection, where: str) -> None:
    assert_tracker_refused(gated, blind, where)
