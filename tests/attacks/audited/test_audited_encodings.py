"""Encodings: one sum that holds everybody's value, or the values of a column with few of them."""

import pytest
from tests.payroll import Payroll

ENCODED = [
    "sum(salary * 1000000 ^ (id % 10))",
    "sum(salary * (id = 7)::int)",
    "sum(CASE WHEN id = 7 THEN salary ELSE 0 END)",
    "sum(salary + 0)",
    "sum(COALESCE(salary, 0))",
    "sum(salary::bigint)",
    "sum(DISTINCT salary)",
    "max(salary)",
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY salary)",
    "stddev(salary)",
    "string_agg(salary::text, ',')",
    "array_agg(salary)",
    "sum(salary) OVER ()",
    "sum(salary) FILTER (WHERE salary > 5000)",
    "count(*) FILTER (WHERE smoker)",
    "count(pension)",
    "avg(pension)",
    "sum(smoker::int)",
    "sum(children)",
    "avg(children)",
]


def test_a_sum_without_an_audit_holds_every_digit(payroll: Payroll) -> None:
    ((coded,),) = payroll.truth("SELECT sum(salary::int * 100000::numeric ^ id) FROM hr.employee WHERE id < 5")
    assert [int(coded) // 100000**n % 100000 for n in range(1, 5)] == [int(payroll.salary(n)) for n in range(1, 5)]


@pytest.mark.parametrize("call", ENCODED)
def test_it_is_no_sum_of_a_bare_column(payroll: Payroll, call: str) -> None:
    assert payroll.ending(f"SELECT {call} FROM hr.employee") == "DP001"


@pytest.mark.parametrize("expression", ["salary * id AS x", "salary + 0 AS x", "CASE WHEN id = 7 THEN salary END AS x"])
def test_nor_is_it_below_a_subquery(payroll: Payroll, expression: str) -> None:
    assert payroll.ending(f"SELECT sum(x) FROM (SELECT {expression} FROM hr.employee) s") == "DP001"


def test_a_sum_does_not_tell_that_all_values_are_missing(payroll: Payroll) -> None:
    """PostgreSQL's own sum is NULL then, and tells it of everybody in the group."""
    assert payroll.truth("SELECT sum(pension) FROM hr.employee") == [(None,)]
    assert payroll.ask("SELECT sum(pension) FROM hr.employee") == [(0,)]
