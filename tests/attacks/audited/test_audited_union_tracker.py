"""Union tracker (Denning and Schlörer 1980): many disjoint sets T; the victim is added to one that lacks it."""

from decimal import Decimal

import pytest
from tests.payroll import AuditedDoor, Door, Payroll, PlainDoor


def attack(door: Door, victim: int) -> Decimal | None:
    person = f"name = 'name {victim}'"
    for number in range(11):
        tracker = f"zip = 'zip {number}'"
        without, padded = door.total(f"{tracker} AND NOT {person}"), door.total(f"{tracker} OR {person}")
        if without is not None and padded is not None and padded != without:
            return padded - without
    return None


@pytest.mark.parametrize("victim", [7, 40, 111])
def test_sums_without_an_audit_tell_the_salary(payroll: Payroll, victim: int) -> None:
    assert attack(PlainDoor(payroll), victim) == payroll.salary(victim)


@pytest.mark.parametrize("victim", [7, 40, 111])
def test_the_audit_denies_one_of_each_pair(payroll: Payroll, victim: int) -> None:
    assert attack(AuditedDoor(payroll), victim) is None
