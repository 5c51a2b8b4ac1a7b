"""Direct: a condition that is true for one person, however it is written."""

from decimal import Decimal

import pytest
from tests.payroll import AuditedDoor, Door, Payroll, PlainDoor


def attack(door: Door, victim: int) -> Decimal | None:
    return door.total(f"name = 'name {victim}' AND (gender = 'F' OR gender = 'M' OR age > 200)")


@pytest.mark.parametrize("victim", [7, 40, 111])
def test_sums_without_an_audit_tell_the_salary(payroll: Payroll, victim: int) -> None:
    assert attack(PlainDoor(payroll, sized=False), victim) == payroll.salary(victim)


@pytest.mark.parametrize("victim", [7, 40, 111])
def test_the_audit_denies_one_of_the_questions(payroll: Payroll, victim: int) -> None:
    assert attack(AuditedDoor(payroll), victim) is None
