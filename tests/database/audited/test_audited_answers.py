"""Exact answers are those of PostgreSQL, in plain SQL and through the functions of the gate."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.payroll import Payroll

ANSWERED = [
    "SELECT count(*), sum(salary), avg(salary), count(salary) FROM hr.employee",
    "SELECT dept, count(*), avg(bonus), sum(bonus) FROM hr.employee GROUP BY dept ORDER BY dept",
    "SELECT sum(salary) / count(*) AS ratio, round(avg(salary)) FROM hr.employee WHERE gender = 'F'",
    "SELECT dept, gender, avg(salary) FROM hr.employee GROUP BY ROLLUP (dept, gender) ORDER BY 1, 2",
    "SELECT age / 10 * 10 AS decade, count(*) FROM hr.employee GROUP BY 1 HAVING count(*) > 20 ORDER BY 2 DESC LIMIT 2",
    "SELECT sum(salary) FILTER (WHERE gender = 'F'), sum(bonus), count(*) FILTER (WHERE age > 40) FROM hr.employee",
    "SELECT extract(year FROM born), sum(salary) FROM hr.employee GROUP BY 1 ORDER BY 1",
    "SELECT avg(age) FROM hr.employee WHERE lower(name) LIKE 'name 1%'",
    "SELECT city, avg(salary) FROM hr.employee JOIN hr.site USING (dept) GROUP BY city ORDER BY city",
    "SELECT avg(salary) FROM hr.woman WHERE age > 30",
    "SELECT avg(pay) FROM (SELECT salary AS pay FROM hr.employee WHERE id % 3 = 0) s",
    "WITH w AS (SELECT dept, sum(salary) AS s FROM hr.employee GROUP BY dept) SELECT max(s), count(*) FROM w",
]


@pytest.mark.parametrize("question", ANSWERED)
def test_the_answer_is_that_of_postgresql(payroll: Payroll, question: str) -> None:
    assert payroll.ask(question) == payroll.truth(question)


def test_sums_of_doubles_are_exact_sums(payroll: Payroll) -> None:
    ((mine,),) = payroll.ask("SELECT sum(weight) FROM hr.employee")
    ((exact,),) = payroll.truth("SELECT sum(weight::numeric)::float8 FROM hr.employee")
    assert mine == exact


def test_a_sum_does_not_tell_how_its_numbers_are_written(payroll: Payroll) -> None:
    payroll.admin.execute("ALTER TABLE hr.employee ADD tip numeric NOT NULL DEFAULT 2")
    payroll.admin.execute("SELECT discreet.describe_column('hr.employee', 'tip', 0, 10)")
    payroll.admin.execute("UPDATE hr.employee SET tip = 2.00000 WHERE id = 3")
    ((total, mean),) = payroll.ask("SELECT sum(tip)::text, avg(tip) FROM hr.employee")
    ((people,),) = payroll.truth("SELECT count(*) FROM hr.employee")
    assert (total, mean) == (str(2 * int(people)), 2)


def test_what_is_no_number_counts_as_nothing(payroll: Payroll) -> None:
    payroll.admin.execute("UPDATE hr.employee SET weight = 'NaN' WHERE id = 3")
    payroll.admin.execute("UPDATE hr.employee SET weight = 'Infinity' WHERE id = 4")
    payroll.admin.execute("UPDATE hr.employee SET salary = 'NaN' WHERE id = 5")
    ((weight, salary),) = payroll.ask("SELECT sum(weight), sum(salary) FROM hr.employee")
    ((exact, salaries),) = payroll.truth(
        "SELECT sum(weight::numeric) FILTER (WHERE id NOT IN (3, 4))::float8, sum(salary) FILTER (WHERE id <> 5)"
        " FROM hr.employee"
    )
    assert (weight, salary) == (exact, salaries)


def test_all_functions_of_the_gate_answer(payroll: Payroll) -> None:
    question, session = (
        "SELECT dept, sum(salary) AS s FROM hr.employee GROUP BY dept ORDER BY dept",
        payroll.analysts["ana"],
    )
    truth = payroll.truth(question)
    shown = session.execute("SELECT discreet.query_json(%s)", [question]).fetchall()
    assert [(row["dept"], row["s"]) for (row,) in shown] == [(dept, float(s)) for dept, s in truth]
    rows = session.execute(
        "SELECT * FROM discreet.query(%s, with_error => true) AS t(d text, s numeric)", [question]
    ).fetchall()
    assert rows == truth
    with session.transaction():
        session.execute("SELECT discreet.ask(%s)", [question])
        assert session.execute("FETCH ALL FROM answer").fetchall() == truth
    assert session.execute("SELECT * FROM discreet.lint(%s)", [question]).fetchall() == []


def test_an_answer_is_logged_without_a_price(payroll: Payroll) -> None:
    before = payroll.truth("SELECT count(*) FROM discreet.charges")[0][0]
    payroll.ask("SELECT dept, sum(salary) FROM hr.employee GROUP BY dept", "bob")
    ((number, role, epsilon, details),) = payroll.truth(
        "SELECT count(*) OVER (), role, epsilon, details FROM discreet.charges ORDER BY id DESC LIMIT 1"
    )
    assert (number, role, epsilon, details) == (before + 1, "bob", 0, {"policy": "audited", "query_sets": 5})
    assert payroll.truth("SELECT intact FROM discreet.verify_log() WHERE dataset = 'hr.employee'") == [(True,)]


def test_a_denial_is_written_down(payroll: Payroll) -> None:
    assert payroll.ending("SELECT sum(salary) FROM hr.employee WHERE id = 7") == "DP006"
    ((role, code),) = payroll.truth("SELECT role, code FROM discreet.refusals")
    assert (role, code) == ("ana", "DP006")


def test_a_group_by_is_answered_as_a_whole_or_not_at_all(payroll: Payroll) -> None:
    assert payroll.ending("SELECT age, sum(salary) FROM hr.employee GROUP BY age") == "DP006"
    assert payroll.ending("SELECT age > 40, sum(salary) FROM hr.employee GROUP BY 1") == "answer"


@pytest.mark.parametrize(
    "question",
    [
        "SELECT sum(a.salary) FROM hr.employee a JOIN hr.employee b ON a.id = b.id",
        "SELECT sum(salary) FROM hr.employee, hr.site",
        "SELECT sum(salary) FROM (SELECT salary FROM hr.employee UNION ALL SELECT salary FROM hr.employee) s",
        "SELECT sum(salary) FROM hr.employee WHERE id IN (SELECT id FROM hr.employee WHERE salary > 3)",
        "SELECT sum(salary) FROM (SELECT salary FROM hr.employee ORDER BY salary LIMIT 20) s",
        "SELECT avg(salary) FROM hr.employee WHERE random() < 0.5",
        "SELECT salary, count(*) FROM hr.employee GROUP BY salary",
        "SELECT sum(salary) FROM hr.employee TABLESAMPLE SYSTEM (50)",
        "SELECT * FROM hr.employee",
        "SELECT discreet.dp_sum(salary, 0, 100) FROM hr.employee",
    ],
)
def test_other_shapes_are_refused(payroll: Payroll, question: str) -> None:
    assert payroll.ending(question) == "DP001"


def test_who_holds_no_budget_is_told_nothing(payroll: Payroll, make_role: Any) -> None:
    stranger = payroll.database.connect(make_role("stranger", "discreet_analyst"))
    with pytest.raises(Exception, match="budget"):
        stranger.execute("SELECT discreet.query_json('SELECT sum(salary) FROM hr.employee')")


def test_json_of_explain_says_whether_it_would_be_answered(payroll: Payroll) -> None:
    question = "SELECT sum(salary) FROM hr.employee WHERE gender = 'F'"
    assert payroll.explain(question) == {"policy": "audited", "dataset": "hr.employee", "answered": True}
    assert payroll.ending("SELECT sum(salary) FROM hr.employee WHERE gender = 'F' OR id = 7") == "answer"
    told = payroll.explain(question)
    assert not told["answered"]
    assert told["refused"]["code"] == "DP006"
    assert json.dumps(told)
    assert payroll.truth("SELECT count(*) FROM discreet._audit_event WHERE relation = 'hr.employee'::regclass") == [
        (1,)
    ]
