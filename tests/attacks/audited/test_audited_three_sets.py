"""Three sets that isolate nobody but determine the sum of two: A ∪ Y, X ∪ A ∪ B, X."""

from decimal import Decimal

from tests.payroll import AuditedDoor, Door, Payroll, PlainDoor

A, B, X, Y = "id = 7", "id = 8", "id BETWEEN 20 AND 80", "id BETWEEN 100 AND 130"


def attack(door: Door) -> Decimal | None:
    first = door.total(f"{A} OR {Y}")
    pair = door.combined((1, f"{X} OR {A} OR {B}"), (-1, X))
    return None if first is None else pair


def test_sums_without_an_audit_tell_the_sum_of_the_pair(payroll: Payroll) -> None:
    assert attack(PlainDoor(payroll)) == payroll.salary(7) + payroll.salary(8)


def test_the_audit_denies_the_last_set(payroll: Payroll) -> None:
    assert attack(AuditedDoor(payroll)) is None
    assert payroll.ending(f"SELECT sum(salary) FROM hr.employee WHERE {A} OR {Y}") == "answer"
