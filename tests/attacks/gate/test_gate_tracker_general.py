"""General tracker (Denning 1979): one padding for all people."""

import pytest
from tests.attacks.gate.asking import assert_tracker_refused, exact_sum
from tests.attacks.target import Target
from tests.databases import Connection


def test_a_table_without_protection_tells_the_salary(target: Target) -> None:
    """With tracker T: C or T, plus C or not T, minus T, minus not T."""
    with_c = exact_sum(target, "id = 7 OR smoker") + exact_sum(target, "id = 7 OR NOT smoker")
    assert with_c - exact_sum(target, "smoker") - exact_sum(target, "NOT smoker") == 1007


@pytest.mark.parametrize(
    "where",
    [
        "(id = 7 OR smoker) AND NOT (smoker AND id = 7)",
        "NOT (id = 7) AND smoker",
        "NOT smoker OR id = 7",
        "id >= 7 OR smoker",
    ],
)
def test_the_padded_question_is_refused(gated: Target, blind: Connection, where: str) -> None:
    assert_tracker_refused(gated, blind, where)
