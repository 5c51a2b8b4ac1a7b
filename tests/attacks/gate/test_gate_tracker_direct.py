"""Direct tracker: a condition that is true for one person, padded so that it does not look so."""

import pytest
from tests.attacks.gate.asking import assert_tracker_refused, exact_sum, never_within, number
from tests.attacks.target import Target
from tests.databases import Connection

NAMED = "name = 'name 7' AND (dept = 'dept 2' OR dept = 'dept 3' OR smoker)"


def test_a_table_without_protection_tells_the_salary(target: Target) -> None:
    assert exact_sum(target, NAMED) == 1007


@pytest.mark.parametrize(
    "where", ["id = 7", "id = 7 AND (smoker OR NOT smoker)", "7 = id", "salary > 0 AND id = 7", "id < 8 AND id > 6"]
)
def test_a_key_is_refused(gated: Target, blind: Connection, where: str) -> None:
    assert_tracker_refused(gated, blind, where)


def test_without_a_key_noise_hides_the_person(gated: Target, blind: Connection) -> None:
    """Noise of scale 2000 leaves one answer within 10 with probability below 0.01, four of four with below 1e-8."""
    question = f"SELECT sum(salary) FROM hr.person WHERE {NAMED}"
    assert never_within(gated, lambda: number(blind, question, "1"), 1007, 10)
