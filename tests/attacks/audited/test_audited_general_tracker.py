"""General tracker (Denning, Denning and Schwartz 1979): one padding T for all people."""

from decimal import Decimal

import pytest
from tests.payroll import AuditedDoor, Door, Payroll, PlainDoor


def attack(door: Door, victim: int) -> Decimal | None:
    """With C the victim: (C or T) + (C or not T) - T - not T."""
    person, tracker = f"name = 'name {victim}'", "zip IN ('zip 1', 'zip 2', 'zip 3', 'zip 4', 'zip 5')"
    padded = (1, f"{person} OR {tracker}"), (1, f"{person} OR NOT ({tracker})")
    return door.combined(*padded, (-1, tracker), (-1, f"NOT ({tracker})"))


@pytest.mark.parametrize("victim", [7, 40, 111])
def test_sums_without_an_audit_tell_the_salary(payroll: Payroll, victim: int) -> None:
    assert attack(PlainDoor(payroll), victim) == payroll.salary(victim)


@pytest.mark.parametrize("victim", [7, 40, 111])
def test_the_audit_denies_one_of_the_questions(payroll: Payroll, victim: int) -> None:
    assert attack(AuditedDoor(payroll), victim) is None
