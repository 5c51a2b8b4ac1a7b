"""Colluding roles: each keeps to the rules, together they would not."""

from decimal import Decimal

from tests.payroll import Payroll

WITH, WITHOUT = "gender = 'F' OR id = 7", "gender = 'F'"


def asked(condition: str) -> str:
    return f"SELECT sum(salary) FROM hr.employee WHERE {condition}"


def test_two_answers_tell_the_salary(payroll: Payroll) -> None:
    ((one,),), ((other,),) = payroll.truth(asked(WITH)), payroll.truth(asked(WITHOUT))
    assert Decimal(one) - Decimal(other) == payroll.salary(7)


def test_everybodys_questions_are_pooled(payroll: Payroll) -> None:
    assert payroll.ending(asked(WITH), "ana") == "answer"
    assert payroll.ending(asked(WITHOUT), "bob") == "DP006"
    assert payroll.ending(asked(WITH), "bob") == "answer"


def test_averages_and_sums_are_pooled(payroll: Payroll) -> None:
    assert payroll.ending(asked(WITH), "ana") == "answer"
    assert payroll.ending(asked(WITHOUT).replace("sum(salary)", "avg(salary)"), "bob") == "DP006"


def test_so_are_those_of_a_group_by_and_of_a_filter(payroll: Payroll) -> None:
    assert payroll.ending(asked(WITH), "ana") == "answer"
    assert payroll.ending("SELECT gender, sum(salary) FROM hr.employee GROUP BY gender", "bob") == "DP006"
    assert payroll.ending("SELECT sum(salary) FILTER (WHERE gender = 'F') FROM hr.employee", "bob") == "DP006"
    assert payroll.ending("SELECT sum(salary) FROM hr.woman", "bob") == "DP006"
