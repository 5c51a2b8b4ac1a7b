"""What was measured is paid once, however tools word it; what the text alone answers costs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from tests.database.gate.conftest import Asker
from tests.messages import notices

FROM = "FROM hr.employee WHERE hired > '2001-01-01' GROUP BY dept"
FIRST = f"SELECT dept, count(*) AS n, sum(salary) AS pay, avg(salary) AS mean {FROM}"
# column alias, table alias, ORDER BY, LIMIT, HAVING, column order, count(1), typed and bound constants, arithmetic,
# fewer columns, fewer groups, an outer SELECT
REWORDINGS = [
    f"SELECT dept, count(*) {FROM}",
    f"SELECT dept AS d, count(*) AS total {FROM}",
    f"SELECT count(*), dept {FROM}",
    f"SELECT dept, count(1) {FROM}",
    f"SELECT dept, count(salary) {FROM}",
    f"SELECT dept, count(id) {FROM}",
    f"SELECT dept, count(*) FILTER (WHERE true) {FROM}",
    f"SELECT dept, count(*), count(1) {FROM}",
    f"SELECT dept, sum(salary) {FROM}",
    f"SELECT dept, avg(salary) {FROM}",
    f"SELECT dept, round(avg(salary), 2) {FROM}",
    f"SELECT dept, sum(salary) / count(*) {FROM}",
    f"SELECT dept, sum(salary) / 1000 AS thousands {FROM}",
    f"SELECT dept, count(*) * 100 {FROM}",
    f"SELECT dept, count(*)::float8 {FROM}",
    f"SELECT dept, count(*)::text {FROM}",
    f"SELECT count(*) {FROM}",
    f"SELECT avg(salary), sum(salary) {FROM}",
    f"SELECT dept, count(*) {FROM} ORDER BY 2 DESC",
    f"SELECT dept, count(*) {FROM} ORDER BY dept LIMIT 3",
    f"SELECT dept, count(*) {FROM} ORDER BY dept LIMIT 3 OFFSET 2",
    f"SELECT dept, count(*) {FROM} HAVING count(*) > 10",
    f"SELECT dept, avg(salary) {FROM} HAVING sum(salary) > 10 ORDER BY 1",
    f"SELECT dept, rank() OVER (ORDER BY count(*)) {FROM}",
    f"SELECT dept, count(*) / sum(count(*)) OVER () {FROM}",
    f"SELECT dept, coalesce(sum(salary), 0) {FROM}",
    f"SELECT DISTINCT dept, count(*) {FROM}",
    "SELECT e.dept, count(*) FROM hr.employee e WHERE e.hired > '2001-01-01' GROUP BY e.dept",
    "SELECT e.dept, count(*) FROM hr.employee AS e WHERE e.hired > DATE '2001-01-01' GROUP BY 1",
    "SELECT dept, count(*) FROM hr.employee WHERE '2001-01-01' < hired GROUP BY dept",
    "SELECT dept, count(*) FROM hr.employee WHERE hired > '2001-01-01'::date GROUP BY dept",
    "SELECT dept, count(*) FROM hr.employee WHERE (hired > '2001-01-01') AND hired > '2001-01-01' GROUP BY dept",
    f"SELECT dept, count(*) {FROM}, dept",
    f"SELECT * FROM (SELECT dept, count(*) AS n {FROM}) AS t",
    f"SELECT t.dept, t.n FROM (SELECT dept, count(*) AS n {FROM}) AS t WHERE t.n > 0 ORDER BY 2",
    f"SELECT sum(n) FROM (SELECT dept, count(*) AS n {FROM}) AS t",
    f"WITH t AS (SELECT dept, count(*) AS n {FROM}) SELECT max(n) FROM t",
    f"SELECT dept, count(*) {FROM} HAVING dept = 'Sales'",
    "SELECT dept, count(*) FROM hr.employee WHERE hired > '2001-01-01' AND dept IN ('Sales', 'Legal') GROUP BY dept",
    "SELECT count(*) FROM hr.employee WHERE hired > '2001-01-01' AND dept = 'Sales'",
    "SELECT avg(salary), count(*) FROM hr.employee WHERE dept = 'Legal' AND hired > '2001-01-01'",
]


@pytest.fixture
def paid_once(asker: Asker) -> Iterator[Asker]:
    asker.connection.execute("SELECT set_config('discreet.epsilon', '3', false)")
    asker.json(FIRST, None)
    assert len(asker.charges()) == 1
    yield asker
    asker.connection.execute("RESET discreet.epsilon")


def test_forty_rewordings_are_paid_once(paid_once: Asker) -> None:
    """By the function and in plain SQL, at any price that is offered."""
    assert len(set(REWORDINGS)) >= 40
    for question in REWORDINGS:
        paid_once.json(question, None)
        assert len(paid_once.charges()) == 1, question
    for question in REWORDINGS:
        paid_once.plain(question)
        assert len(paid_once.charges()) == 1, question


def test_a_bound_parameter_is_its_value(paid_once: Asker) -> None:
    text = FIRST.replace("'2001-01-01'", "$1")
    paid_once.json(text, None, params=["2001-01-01"])
    paid_once.plain("PREPARE asked(date) AS " + text)
    paid_once.plain("EXECUTE asked('2001-01-01')")
    paid_once.plain("DEALLOCATE asked")
    assert len(paid_once.charges()) == 1


def test_numbers_are_the_same_in_all_words(paid_once: Asker) -> None:
    first: dict[str, Any] = {row["dept"]: row for row in paid_once.json(FIRST, None)}
    (legal,) = paid_once.json("SELECT avg(salary) AS mean, count(*) AS n FROM hr.employee"
                              " WHERE dept = 'Legal' AND hired > '2001-01-01'", None)  # fmt: skip
    assert (legal["mean"], legal["n"]) == (first["Legal"]["mean"], first["Legal"]["n"])
    for row in paid_once.json(f"SELECT dept, sum(salary) AS pay, count(salary) AS n {FROM}", None):
        assert (row["pay"], row["n"]) == (first[row["dept"]]["pay"], first[row["dept"]]["n"])
    assert len(paid_once.charges()) == 1


PATIENTS, VISITS = "FROM clinic.patient", "FROM clinic.visit"


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (f"SELECT count(*) {PATIENTS} WHERE age > 40", f"SELECT count(*) {PATIENTS} WHERE age > 40.0"),
        (f"SELECT count(*) {PATIENTS} WHERE age > 40", f"SELECT count(1) {PATIENTS} WHERE 40::float8 < age"),
        (
            f"SELECT sex, insurer, count(*) {PATIENTS} GROUP BY 1, 2",
            f"SELECT count(*) {PATIENTS} GROUP BY insurer, sex",
        ),
        (f"SELECT zip, count(*), avg(age) {PATIENTS} GROUP BY zip", f"SELECT zip, avg(age) {PATIENTS} GROUP BY zip"),
        (f"SELECT ward, count(*) {VISITS} GROUP BY ward", f"SELECT ward AS w, 2 * count(*) {VISITS} v GROUP BY 1"),
        (f"SELECT max(age) {PATIENTS}", f"SELECT max(age) + 1 AS m {PATIENTS} p"),
        (f"SELECT dp_count(*) {PATIENTS}", f"SELECT count(*) {PATIENTS}"),
    ],
)
def test_other_measurements_are_paid_once_too(asker: Asker, first: str, again: str) -> None:
    asker.json(first, 2)
    told = notices(asker.connection)
    asker.json(again, 1)
    assert len(asker.charges()) == 1
    assert str(told[-1][1]).startswith("answered again from the store, free of charge")


def test_only_what_is_missing_is_paid_for(asker: Asker) -> None:
    (first,) = asker.json("SELECT count(*) AS n FROM clinic.patient", "0.5")
    (second,) = asker.json("SELECT count(*) AS n, avg(age) FROM clinic.patient", "0.5")
    assert second["n"] == first["n"]
    explained = asker.explain("SELECT count(*) AS n, avg(age), max(age) FROM clinic.patient", "0.25")
    assert (explained["stored"], explained["epsilon"]) == (False, "0.25")
    assert [str(epsilon) for epsilon, _ in asker.charges()] == ["0.5", "0.5"]


def test_unknown_groups_that_were_shown_are_known(asker: Asker) -> None:
    shown = asker.json("SELECT zip, count(*) AS n FROM hr.employee GROUP BY zip", 5)
    more = asker.json("SELECT zip, count(*) AS n, avg(salary) FROM hr.employee GROUP BY zip", 5)
    assert [(row["zip"], row["n"]) for row in more] == [(row["zip"], row["n"]) for row in shown]
    assert [float(delta) > 0 for _, delta in asker.charges()] == [True, False]


@pytest.mark.parametrize(
    ("first", "narrower"),
    [
        # a person with several rows may be in several groups
        (f"SELECT ward, count(*) {VISITS} GROUP BY ward", f"SELECT count(*) {VISITS} WHERE ward = 'Surgery'"),
        # two cells have two errors
        (f"SELECT sex, count(*) {PATIENTS} GROUP BY sex", f"SELECT count(*) {PATIENTS} WHERE sex IN ('F', 'M')"),
        (f"SELECT sex, count(*) {PATIENTS} GROUP BY sex", f"SELECT count(*) {PATIENTS} WHERE sex = 'F' AND smoker"),
        (f"SELECT sex, count(*) {PATIENTS} WHERE smoker GROUP BY 1", f"SELECT sex, count(*) {PATIENTS} GROUP BY sex"),
        (f"SELECT avg(age) {PATIENTS}", f"SELECT avg(age + 1) {PATIENTS}"),
        (f"SELECT count(*) {PATIENTS} WHERE age > 40", f"SELECT count(*) {PATIENTS} WHERE age >= 40"),
    ],
)
def test_another_measurement_is_paid_for(asker: Asker, first: str, narrower: str) -> None:
    asker.json(first, 1)
    asker.json(narrower, 1)
    assert len(asker.charges()) == 2


def test_whoever_wants_more_pays_for_it(asker: Asker) -> None:
    question = "SELECT count(*) FROM clinic.patient"
    asker.json(question, "0.1")
    asker.json(question, 5)
    assert len(asker.charges()) == 1
    asker.json(question, "0.1", fresh=True)
    assert len(asker.charges()) == 2
    text = f"SELECT * FROM discreet.query('{question}', accuracy => %s) AS t(n bigint)"
    asker.connection.execute(text, [Decimal(100)])
    assert len(asker.charges()) == 2
    asker.connection.execute(text, [Decimal(1)])
    assert len(asker.charges()) == 3


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("SELECT DISTINCT sex FROM clinic.patient ORDER BY 1", [("F",), ("M",)]),
        ("SELECT sex FROM clinic.patient GROUP BY sex ORDER BY 1", [("F",), ("M",)]),
        ("SELECT DISTINCT gender FROM hr.employee WHERE gender <> 'F' ORDER BY 1", [("M",), ("X",)]),
        ("SELECT sex, count(*) FROM clinic.patient GROUP BY sex LIMIT 0", []),
        ("SELECT zip, avg(age) FROM clinic.patient GROUP BY zip LIMIT 0", []),
        ("SELECT count(*), sum(age) FROM clinic.patient WHERE false", [(0, None)]),
        ("SELECT count(*) FROM clinic.patient WHERE 1 = 0", [(0,)]),
        ("SELECT zip, count(*) FROM clinic.patient WHERE 1 = 0 GROUP BY zip", []),
    ],
)
def test_what_the_text_answers_is_free(asker: Asker, question: str, expected: list[tuple[object, ...]]) -> None:
    told = notices(asker.connection)
    assert asker.rows(question, 1) == expected
    assert asker.charges() == []
    assert str(told[-1][1]).startswith("answered by the text of the question, free of charge")
    assert asker.plain(question) == expected
    assert asker.charges() == []
