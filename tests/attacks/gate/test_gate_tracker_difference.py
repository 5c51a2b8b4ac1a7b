"""Difference: everybody, minus everybody but Alice."""

from decimal import Decimal

import pytest
from tests.attacks.gate.asking import assert_tracker_refused, exact_sum, never_within, number
from tests.attacks.target import Target
from tests.databases import Connection


def test_a_table_without_protection_tells_the_salary(target: Target) -> None:
    assert exact_sum(target, "true") - exact_sum(target, "id <> 7") == 1007


@pytest.mark.parametrize(
    "where", ["id <> 7", "NOT id = 7", "id IS DISTINCT FROM 7", "id < 7 OR id > 7", "id NOT IN (7)"]
)
def test_everybody_but_one_is_refused(gated: Target, blind: Connection, where: str) -> None:
    assert_tracker_refused(gated, blind, where)


def test_without_a_key_noise_hides_the_difference(gated: Target, blind: Connection) -> None:
    """Noise of scale 4000 leaves a difference within 10 with probability below 0.01, four of four with below 1e-8."""
    question = "SELECT sum(salary) FROM hr.person WHERE {}"

    def difference() -> Decimal:
        return number(blind, question.format("true"), "0.5") - number(blind, question.format("name <> 'name 7'"), "0.5")

    assert never_within(gated, difference, 1007, 10)
