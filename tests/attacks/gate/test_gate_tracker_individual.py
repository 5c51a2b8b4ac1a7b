"""Individual tracker (Schlörer 1975): name = 'Alice' OR c, name = 'Alice' OR NOT c, and everybody."""

import pytest
from tests.attacks.gate.asking import assert_tracker_refused, exact_sum
from tests.attacks.target import Target
from tests.databases import Connection


def test_a_table_without_protection_tells_the_salary(target: Target) -> None:
    padded = exact_sum(target, "id = 7 OR smoker") + exact_sum(target, "id = 7 OR NOT smoker")
    assert padded - exact_sum(target, "true") == 1007


@pytest.mark.parametrize("where", ["id = 7 OR smoker", "id = 7 OR NOT smoker", "smoker OR (id = 7 AND salary > 500)"])
def test_the_padded_question_is_refused(gated: Target, blind: Connection, where: str) -> None:
    assert_tracker_refused(gated, blind, where)
