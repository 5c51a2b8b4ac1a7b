"""Difference: all people, minus all but one; or a large group with and without one."""

from decimal import Decimal

import pytest
from tests.payroll import AuditedDoor, Door, Payroll, PlainDoor


def attack(door: Door, victim: int) -> Decimal | None:
    whole = door.combined((1, "true"), (-1, f"id <> {victim}"))
    return whole or door.combined((1, f"dept = 'dept 1' OR id = {victim}"), (-1, f"dept = 'dept 1' AND id <> {victim}"))


@pytest.mark.parametrize("victim", [7, 40, 111])
def test_sums_without_an_audit_tell_the_salary(payroll: Payroll, victim: int) -> None:
    assert attack(PlainDoor(payroll), victim) == payroll.salary(victim)


@pytest.mark.parametrize("victim", [7, 40, 111])
def test_the_audit_denies_one_of_the_questions(payroll: Payroll, victim: int) -> None:
    assert attack(AuditedDoor(payroll), victim) is None
