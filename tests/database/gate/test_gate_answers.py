"""Answers are close to the truth where much is paid, for every aggregate and shape.

At epsilon 100 noise of scale b is beyond 17 b with probability below exp(-17) < 5e-8, or, for counts, not zero with
probability below 2 exp(-1/b) < 1e-7: with fewer than ten numbers a test the false-alarm probability is below 1e-6.
"""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.database.gate.conftest import Asker

MOST = 100
PAY = "least(salary, 200000)"
CAPPED = "sum(least(n, 5)) FROM (SELECT {0}count(*) AS n FROM clinic.visit WHERE {1} GROUP BY {0}patient_id) p"

TWO_WARDS = "ward IN ('Oncology', 'Surgery')"
IN_CAMBRIDGE = "FROM hr.employee e JOIN zip_area z ON e.zip = z.zip WHERE z.city = 'Cambridge'"
OUTSIDE = "FROM hr.employee e LEFT JOIN zip_area z ON e.zip = z.zip WHERE z.zip IS NULL"
SMOKERS = "patient_id IN (SELECT id FROM clinic.patient WHERE smoker)"

# question, truth (None: the same): equal
EXACT = [
    ("SELECT count(*) FROM hr.employee", None),
    ("SELECT count(zip) FROM hr.employee", None),
    ("SELECT count(DISTINCT zip) FROM hr.employee", None),
    ("SELECT count(DISTINCT patient_id) FROM clinic.visit", None),
    ("SELECT count(*) FROM clinic.visit", f"SELECT {CAPPED.format('', 'true')}"),
    ("SELECT count(*) FILTER (WHERE cost > 200) FROM clinic.visit", f"SELECT {CAPPED.format('', 'cost > 200')}"),
    (
        "SELECT gender, count(*) FROM hr.employee GROUP BY gender ORDER BY gender",
        None,
    ),
    ("SELECT extract(quarter FROM hired) AS q, count(*) FROM hr.employee GROUP BY 1 ORDER BY 1", None),
    (
        "SELECT bucket(salary, 50000.5) AS b, count(*) FROM hr.employee GROUP BY 1 HAVING count(*) > 0 ORDER BY 1",
        f"SELECT floor({PAY} / 50000.5) * 50000.5, count(*) FROM hr.employee GROUP BY 1 ORDER BY 1",
    ),
    (
        "SELECT count(*) FROM clinic.visit v JOIN clinic.patient p ON p.id = v.patient_id WHERE p.smoker",
        f"SELECT {CAPPED.format('', SMOKERS)}",
    ),
    (f"SELECT z.city, count(*) {IN_CAMBRIDGE} GROUP BY 1", None),
    (f"SELECT count(*) {OUTSIDE}", None),
    (
        "SELECT gender, count(*) FROM hr.employee GROUP BY ROLLUP (gender) ORDER BY 1, 2",
        None,
    ),
    ("SELECT max(n) FROM (SELECT gender, count(*) AS n FROM hr.employee GROUP BY gender) t", None),
    (
        "SELECT gender, rank() OVER (ORDER BY count(*) DESC) FROM hr.employee GROUP BY gender ORDER BY 2",
        None,
    ),
    ("SELECT 100 * count(*) FILTER (WHERE dept = 'Sales') / count(*) FROM hr.employee", None),
]

# question, truth, scale of the noise of each number at epsilon 100: sensitivity times measurements / 100
CLOSE = [
    ("SELECT sum(salary) FROM hr.employee", f"SELECT sum({PAY}) FROM hr.employee", 2000),
    ("SELECT sum(salary * 2 - 1) FROM hr.employee", f"SELECT sum({PAY} * 2 - 1) FROM hr.employee", 4000),
    ("SELECT avg(salary) FROM hr.employee", f"SELECT avg({PAY}) FROM hr.employee", 2 * 2000 / 200),
    ("SELECT avg(age / 7) FROM clinic.patient", "SELECT avg(age / 7) FROM clinic.patient", 2 * 0.18 / 500),
    ("SELECT stddev(salary) FROM hr.employee", f"SELECT stddev({PAY}) FROM hr.employee", 300),
    ("SELECT var_pop(age) FROM clinic.patient", "SELECT var_pop(age) FROM clinic.patient", 2),
    ("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM clinic.patient",
     "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM clinic.patient", 0.1),
    ("SELECT percentile_disc(0.9) WITHIN GROUP (ORDER BY day) - DATE '2020-01-01' FROM clinic.patient p"
     " JOIN clinic.visit v ON p.id = v.patient_id WHERE v.ward = 'Radiology'",
     "SELECT percentile_disc(0.9) WITHIN GROUP (ORDER BY day) - DATE '2020-01-01' FROM clinic.visit"
     " WHERE ward = 'Radiology'", 10),
    ("SELECT sum(cost) FROM clinic.visit",
     "SELECT sum(avg * least(n, 5)) FROM (SELECT avg(least(cost, 2000)), count(cost) AS n FROM clinic.visit"
     " GROUP BY patient_id) p", 100),
    ("SELECT sum(CASE WHEN gender = 'F' THEN salary ELSE 0 END) / sum(salary) FROM hr.employee",
     f"SELECT sum({PAY}) FILTER (WHERE gender = 'F') / sum({PAY}) FROM hr.employee", 4000 / 1e7),
]  # fmt: skip


def plain(value: object) -> object:
    return float(value) if isinstance(value, Decimal | int) and not isinstance(value, bool) else value


@pytest.mark.parametrize(("question", "truth"), EXACT, ids=[question for question, _ in EXACT])
def test_a_count_is_exact(asker: Asker, question: str, truth: str | None) -> None:
    answer = [tuple(map(plain, row)) for row in asker.rows(question, MOST)]
    assert answer == [tuple(map(plain, row)) for row in asker.truth(truth or question)]


@pytest.mark.parametrize(("question", "truth", "scale"), CLOSE, ids=[question for question, _, _ in CLOSE])
def test_a_number_is_close(asker: Asker, question: str, truth: str, scale: float) -> None:
    ((exact,),) = asker.truth(truth)
    assert abs(asker.number(question, MOST) - float(exact)) <= 17 * scale


def test_counts_by_group_are_close_where_people_have_many_rows(asker: Asker) -> None:
    """Five rows in three groups: the scale at epsilon 100 is 0.15."""
    question = (
        f"SELECT ward, count(*) FROM clinic.visit WHERE {TWO_WARDS} GROUP BY ward HAVING count(*) > 5 ORDER BY ward"
    )
    truth = asker.truth(f"SELECT ward, {CAPPED.format('ward, ', TWO_WARDS)} GROUP BY ward ORDER BY ward")
    for (ward, count), (name, exact) in zip(asker.rows(question, MOST), truth, strict=True):
        assert (ward, abs(count - exact) <= 17 * 0.15) == (name, True)


def test_numbers_that_share_measurements_are_close(asker: Asker) -> None:
    """Two measurements of 50 each: the centred sum is off by 17 · 200000 / 50 / 2, the count by nothing."""
    ((count, total, mean),) = asker.rows("SELECT count(salary), sum(salary), avg(salary) FROM hr.employee", MOST)
    ((people, exact),) = asker.truth(f"SELECT count(salary), sum({PAY}) FROM hr.employee")
    assert count == people
    assert abs(total - exact) <= 34_000
    assert abs(mean - exact / people) <= 34_000 / 200


def test_quantiles_are_in_order(asker: Asker) -> None:
    (row,) = asker.json(
        "SELECT min(salary) AS a, percentile_disc(0.25) WITHIN GROUP (ORDER BY salary) AS b,"
        " percentile_disc(0.75) WITHIN GROUP (ORDER BY salary) AS c, max(salary) AS d FROM hr.employee",
        MOST,
    )
    assert row["a"] < row["b"] < row["c"] < row["d"] <= 200_000


def test_extremes_lie_between_the_truth_and_the_bounds(asker: Asker) -> None:
    ((low, high),) = asker.rows("SELECT min(age), max(age) FROM clinic.patient", MOST)
    ((least, most),) = asker.truth("SELECT min(age), max(age) FROM clinic.patient")
    assert 0 <= low <= least + 1
    assert most - 1 <= high <= 120


def test_types_are_those_of_sql(asker: Asker) -> None:
    asked = (
        "SELECT count(*), sum(salary), avg(salary), max(hired), dept, extract(year FROM hired) > 2000 AS recent"
        " FROM hr.employee GROUP BY dept, extract(year FROM hired) > 2000"
    )
    columns = "n bigint, total numeric, mean numeric, latest date, dept text, recent boolean"
    rows = asker.connection.execute(f"SELECT * FROM discreet.query(%s, 10) AS t({columns})", [asked]).fetchall()
    assert len(rows) == 16
    assert {type(value).__name__ for value in rows[0]} == {"int", "Decimal", "date", "str", "bool"}


def test_the_same_question_through_a_cursor_a_view_and_as_json(asker: Asker) -> None:
    question = "SELECT gender, count(*) AS n FROM hr.employee GROUP BY gender ORDER BY gender"
    first = asker.rows(question)
    spent = asker.spent("staff")
    with asker.connection.transaction():
        assert [(row["gender"], row["n"]) for row in asker.json(question)] == first
        asker.admin.execute(f"CREATE SCHEMA IF NOT EXISTS reports AUTHORIZATION {asker.role}")
        asker.connection.execute("SELECT discreet.create_view('reports.gender', %s, 10)", [question])
        assert asker.connection.execute("SELECT * FROM reports.gender").fetchall() == first
        asker.connection.execute("DROP VIEW reports.gender")
    assert asker.spent("staff") == spent
