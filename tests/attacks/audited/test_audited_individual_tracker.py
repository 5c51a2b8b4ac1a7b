"""Individual tracker (Schlörer 1975): three questions, none of them about few people."""

from decimal import Decimal

import pytest
from tests.payroll import AuditedDoor, Door, Payroll, PlainDoor


def attack(door: Door, victim: int) -> Decimal | None:
    """name = x is padded with c: (name = x OR c) + (name = x OR NOT c) - all."""
    person = f"name = 'name {victim}'"
    return door.combined((1, f"{person} OR gender = 'F'"), (1, f"{person} OR NOT gender = 'F'"), (-1, "true"))


@pytest.mark.parametrize("victim", [7, 40, 111])
def test_sums_without_an_audit_tell_the_salary(payroll: Payroll, victim: int) -> None:
    assert attack(PlainDoor(payroll), victim) == payroll.salary(victim)


@pytest.mark.parametrize("victim", [7, 40, 111])
def test_the_audit_denies_one_of_the_questions(payroll: Payroll, victim: int) -> None:
    assert attack(AuditedDoor(payroll), victim) is None
