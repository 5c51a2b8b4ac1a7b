"""Double tracker (Denning, Denning and Schwartz 1979): T inside U, for a stricter size rule."""

from decimal import Decimal

import pytest
from tests.payroll import AuditedDoor, Door, Payroll, PlainDoor


def attack(door: Door, victim: int) -> Decimal | None:
    """C = U + (C or T) - T - (not (C and T) and U)."""
    person, tracker, around = f"name = 'name {victim}'", "dept = 'dept 0'", "dept IN ('dept 0', 'dept 1', 'dept 2')"
    return door.combined(
        (1, around), (1, f"{person} OR {tracker}"), (-1, tracker), (-1, f"NOT ({person} AND {tracker}) AND {around}")
    )


@pytest.mark.parametrize("victim", [7, 40, 111])
def test_sums_without_an_audit_tell_the_salary(payroll: Payroll, victim: int) -> None:
    assert attack(PlainDoor(payroll), victim) == payroll.salary(victim)


@pytest.mark.parametrize("victim", [7, 40, 111])
def test_the_audit_denies_one_of_the_questions(payroll: Payroll, victim: int) -> None:
    assert attack(AuditedDoor(payroll), victim) is None
