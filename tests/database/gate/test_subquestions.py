"""A subquery over all people that aggregates is a question of its own, and its answer a constant of the one around."""

from __future__ import annotations

from decimal import Decimal

import psycopg
import pytest
from tests.database.gate.conftest import Asker
from tests.messages import refused

MEAN = "(SELECT avg(salary) FROM hr.employee)"
ABOVE = f"SELECT count(*) FROM hr.employee WHERE salary > {MEAN}"
# of 400 employees with salaries up to 200,000, each question at epsilon 100: noise of a few dollars and people
SHAPES = {
    "WHERE": ABOVE,
    "FILTER": f"SELECT count(*) FILTER (WHERE salary > {MEAN}) FROM hr.employee",
    "CASE in a sum": f"SELECT sum(CASE WHEN salary > {MEAN} THEN 1 ELSE 0 END) FROM hr.employee",
    "around the aggregates": "SELECT 100.0 * count(*) / (SELECT count(*) FROM hr.employee) FROM hr.employee"
    " WHERE dept = 'Sales'",
    "HAVING": "SELECT count(*) FROM hr.employee HAVING count(*) > (SELECT count(*) / 2 FROM hr.employee)",
    "GROUP BY": f"SELECT salary > {MEAN} AS rich, count(*) FROM hr.employee GROUP BY 1 ORDER BY 1",
    "arithmetic inside": "SELECT count(*) FROM hr.employee WHERE salary > (SELECT avg(salary) * 1.1 FROM hr.employee)",
    "arithmetic outside": f"SELECT count(*) FROM hr.employee WHERE salary > 1.1 * {MEAN}",
    "a median": "SELECT count(*) FROM hr.employee"
    " WHERE salary > (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY salary) FROM hr.employee)",
    "a date": "SELECT count(*) FROM hr.employee WHERE hired >"
    " (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY hired) FROM hr.employee)",
    "WITH": f"WITH all_of AS (SELECT salary FROM hr.employee) SELECT count(*) FROM hr.employee"
    f" WHERE salary > {MEAN.replace('hr.employee', 'all_of')}",
    "a constant condition": "SELECT count(*) FROM hr.employee WHERE (SELECT count(*) FROM hr.employee) > 10",
    "two of them": f"SELECT count(*) FROM hr.employee WHERE salary > {MEAN}"
    " AND salary < (SELECT avg(salary) FROM hr.employee WHERE dept = 'Sales')",
    "computed within a person": "SELECT count(*) FROM (SELECT patient_id FROM clinic.visit GROUP BY patient_id HAVING"
    " max(cost) > (SELECT avg(age) FROM clinic.patient)) v",
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("plain", [True, False])
def test_it_is_answered_as_postgresql_does(asker: Asker, shape: str, plain: bool) -> None:
    question = SHAPES[shape]
    asker.plain("SET discreet.epsilon = 100")
    try:
        found = asker.plain(question) if plain else asker.rows(question, 200)
    finally:
        asker.plain("RESET discreet.epsilon")
    expected = asker.truth(question)
    assert len(found) == len(expected)
    for (*mine,), (*theirs,) in zip(found, expected, strict=True):
        for one, other in zip(mine, theirs, strict=True):
            # a constant that is a little off moves a few people
            assert float(one) == pytest.approx(float(other), abs=25)


def test_both_are_paid_together(asker: Asker) -> None:
    asker.plain(ABOVE)
    assert asker.charges() == [(Decimal("0.2"), 0)]
    asker.reset()
    asker.json(ABOVE, epsilon=1)
    assert asker.charges() == [(Decimal(1), 0)]


def test_explain_tells_the_price_of_both(asker: Asker) -> None:
    told = asker.explain(ABOVE)
    assert Decimal(told["epsilon"]) == Decimal("0.2")
    assert any("noise of its own" in caveat for caveat in told["caveats"])
    assert asker.charges() == []


def test_the_same_again_is_free_and_the_same_number(asker: Asker) -> None:
    first = asker.plain(ABOVE)
    assert asker.plain(ABOVE) == first
    assert asker.explain(ABOVE)["stored"]
    assert len(asker.charges()) == 1


def test_an_inner_answer_that_is_stored_is_used_again(asker: Asker) -> None:
    asker.plain("SELECT avg(salary) FROM hr.employee")
    asker.plain(ABOVE)
    asker.plain(f"SELECT count(*) FROM hr.employee WHERE salary <= {MEAN}")
    assert asker.charges() == [(Decimal("0.1"), 0)] * 3


def test_what_is_stored_belongs_to_the_released_value(asker: Asker) -> None:
    asker.json(ABOVE, epsilon=1)
    asker.json(ABOVE, epsilon=1, fresh=True)
    asker.json("SELECT avg(salary) FROM hr.employee", epsilon=1, fresh=True)
    # another mean is stored now, so what was counted above the last one does not answer this
    asker.json(ABOVE, epsilon=1)
    assert asker.charges() == [(1, 0), (1, 0), (1, 0), (Decimal("0.5"), 0)]


INNER_REFUSED = {
    "SELECT count(*) FROM hr.employee WHERE salary > (SELECT avg(salary) FROM hr.employee WHERE id = 3)": "DP002",
    "SELECT count(*) FROM hr.employee WHERE dept > (SELECT string_agg(dept, ',') FROM hr.employee)": "DP001",
    "SELECT count(*) FROM hr.employee WHERE id = 3 AND salary > (SELECT avg(salary) FROM hr.employee)": "DP002",
    "SELECT count(*) FROM hr.employee WHERE salary > (SELECT max(age) FROM clinic.patient)": "DP001",
    # nobody can say how large a count is
    "SELECT sum(salary - (SELECT count(*) FROM hr.employee)) FROM hr.employee": "DP005",
    # two numbers that may be the same are the ends of one value's range
    "SELECT count(*) FROM census.voter WHERE region = 'Coast'"
    " AND roll_no >= (SELECT count(*) * 0 + 5 FROM census.voter)"
    " AND roll_no <= (SELECT count(*) * 0 + 5 FROM census.voter)": "DP002",
    "SELECT count(*) FROM census.voter WHERE region = 'Coast'"
    " AND abs(roll_no - least(greatest((SELECT count(*) * 0 + 5 FROM census.voter), 0), 9)) < 1": "DP002",
    # one within another
    "SELECT count(*) FROM hr.employee WHERE salary >"
    f" (SELECT avg(salary) FROM hr.employee WHERE salary > {MEAN})": "DP001",
}


@pytest.mark.parametrize("question", INNER_REFUSED)
@pytest.mark.parametrize("plain", [True, False])
def test_where_one_of_them_is_refused_nothing_is_paid(asker: Asker, question: str, plain: bool) -> None:
    with pytest.raises(psycopg.Error) as error:
        asker.plain(question) if plain else asker.json(question)
    assert error.value.sqlstate == INNER_REFUSED[question]
    assert asker.charges() == []


def test_where_the_limits_leave_only_one_nothing_is_paid(asker: Asker) -> None:
    asker.admin.execute("UPDATE discreet._budget SET amount_spent = amount_limit - 0.15 WHERE dataset = 'staff'")
    with refused("DP003", "is exhausted", "budget_status"):
        asker.plain(ABOVE)
    assert asker.charges() == []
    with refused("DP003", "is exhausted", "budget_status"):
        asker.plain(f"SELECT ({ABOVE}), ({ABOVE})")
    assert asker.charges() == []


def test_an_accuracy_is_not_asked_of_two_questions(asker: Asker) -> None:
    with refused("DP001", "accuracy is asked for", "Give an epsilon"):
        asker.plain(f"SELECT * FROM discreet.query($q${ABOVE}$q$, accuracy => 10) AS t(n bigint)")


def test_a_condition_on_a_number_that_is_not_known_yet_is_not_free(asker: Asker) -> None:
    asker.plain("SELECT count(*) FROM hr.employee WHERE (SELECT count(*) FROM hr.employee WHERE salary < 0) > 1000000")
    assert asker.charges() == [(Decimal("0.2"), 0)]


def test_groups_are_excluded_by_the_released_number(asker: Asker) -> None:
    """Known groups that a condition excludes do not appear; which ones is known once the number is."""
    question = (
        "SELECT roll, count(*) FROM (SELECT salary > 50000 AS roll FROM hr.employee) e"
        " WHERE roll = (SELECT count(*) > 0 FROM hr.employee) GROUP BY roll"
    )
    asker.plain("SET discreet.epsilon = 50")
    try:
        rows = asker.plain(question)
    finally:
        asker.plain("RESET discreet.epsilon")
    assert [row[0] for row in rows] == [True]
