"""Counting a value out: age > 30 OR (the victim AND the value), with and without the second part."""

import pytest
from tests.payroll import Payroll

OTHERS = "age > 30"


def asked(value: str) -> str:
    return f"SELECT count(*) FROM hr.employee WHERE {OTHERS} OR (name = 'name 3' AND {value})"


def test_counts_without_an_audit_tell_who_smokes(payroll: Payroll) -> None:
    ((smokes,),) = payroll.truth("SELECT smoker FROM hr.employee WHERE id = 3")
    ((with_it,),), ((without,),) = payroll.truth(asked("smoker")), payroll.truth(asked("false"))
    assert smokes
    assert with_it - without == 1


@pytest.mark.parametrize(
    "value", ["smoker", "salary > 1000", "salary::text LIKE '1%'", "pension IS NULL", "bonus = 93"]
)
def test_what_is_not_public_decides_about_nobody(payroll: Payroll, value: str) -> None:
    assert payroll.ending(asked(value)) == "DP001"
    assert payroll.ending(asked(value).replace(" WHERE ", " GROUP BY ")) == "DP001"


def test_a_count_through_a_view_that_looks_at_it_is_refused(payroll: Payroll) -> None:
    assert payroll.ending("SELECT count(*) FROM hr.rich") == "DP001"
