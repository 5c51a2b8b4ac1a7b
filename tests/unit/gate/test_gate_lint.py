"""Lint: what each code is found for, and what it is not found for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.corpus.sample import SCHEMA, planned

from discreet.gate.lint import CODES, findings
from discreet.gate.schema import Schema

FOUND = [
    (
        "L001",
        "SELECT zip, count(*) FROM hr.employee GROUP BY zip",
        "SELECT dept, count(*) FROM hr.employee GROUP BY dept",
    ),
    ("L002", "SELECT count(*) FROM clinic.visit", "SELECT count(*) FROM clinic.patient"),
    (
        "L003",
        "SELECT avg(salary), variance(salary), count(zip), count(dob) FROM hr.employee",
        "SELECT avg(salary), count(*) FROM hr.employee",
    ),
    (
        "L004",
        "SELECT count(*) FILTER (WHERE position <> 'CEO') FROM hr.employee WHERE dept = 'Sales' AND gender = 'F'",
        "SELECT count(*) FROM hr.employee WHERE dept = 'Sales' AND gender = 'F' AND salary > 5 AND salary < 9",
    ),
    (
        "L005",
        "SELECT max(salary) FROM hr.employee",
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY salary) FROM hr.employee",
    ),
    (
        "L006",
        "SELECT dept, count(*) FROM hr.employee GROUP BY ROLLUP (dept)",
        "SELECT dept, count(*) FROM hr.employee GROUP BY dept",
    ),
]


@pytest.mark.parametrize(("code", "question", "other"), FOUND, ids=[code for code, _, _ in FOUND])
def test_a_code_is_found_where_it_belongs(code: str, question: str, other: str) -> None:
    assert code in [found for found, _, _ in findings(planned(question))]
    assert code not in [found for found, _, _ in findings(planned(other))]


def test_a_finding_tells_how_many_rows_of_a_person_count() -> None:
    asked = planned("SELECT count(*) FROM clinic.visit")
    visit = SCHEMA.relations["clinic", "visit"]
    assert visit.protection is not None
    limited = replace(visit, protection=replace(visit.protection, max_total_rows=7))
    schema = Schema({**SCHEMA.relations, ("clinic", "visit"): limited}, SCHEMA.datasets)
    bounded = planned("SELECT count(*) FROM clinic.visit", schema=schema)
    told = [finding.rpartition(": ")[2] for plan in (asked, bounded) for _, finding, _ in findings(plan)]
    assert told == ["at most 5 per group", "at most 5 per group, 7 in all"]


def test_every_code_that_is_no_refusal_has_a_question_here() -> None:
    assert [code for code, _, _ in FOUND] == [code.code for code in CODES if not code.code.startswith("DP")]


def test_an_ordinary_question_has_no_findings() -> None:
    assert findings(planned("SELECT dept, count(*), avg(salary) FROM hr.employee GROUP BY dept")) == []


def test_a_finding_says_what_and_what_to_do() -> None:
    question = "SELECT count(*) FROM clinic.patient WHERE sex = 'F' AND age = 40 AND diagnosis IN ('Asthma', 'Flu')"
    ((code, finding, hint),) = findings(planned(question))
    assert (code, finding) == (
        "L004",
        "conditions compare many columns by value, so that few people may be left: age, diagnosis, sex",
    )
    assert "ranges" in hint
