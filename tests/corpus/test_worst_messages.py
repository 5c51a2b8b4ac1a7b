"""The messages that users of earlier versions met and did not understand, in their new words.

tests/database/gate/test_missing_delta.py has the budget that is called exhausted, and has no delta.
"""

from __future__ import annotations

import pytest
from tests.corpus.messages import refusal, refusals
from tests.corpus.sample import planned

NOT_AN_AGGREGATE = "is not an aggregate of questions about protected tables"
WORST = [
    ("SELECT median(salary) FROM hr.employee", f"median() {NOT_AN_AGGREGATE}",
     "Write percentile_cont(0.5) WITHIN GROUP (ORDER BY salary)."),
    ("SELECT dept, round(median(salary), 2) FROM hr.employee GROUP BY dept", f"median() {NOT_AN_AGGREGATE}",
     "Write percentile_cont(0.5) WITHIN GROUP (ORDER BY salary)."),
    ("SELECT approx_count_distinct(zip) FROM hr.employee", f"approx_count_distinct() {NOT_AN_AGGREGATE}",
     "Write count(DISTINCT zip)."),
    ("SELECT dept, geometric_mean(salary) FROM hr.employee GROUP BY dept", f"geometric_mean() {NOT_AN_AGGREGATE}",
     "Write count(*), sum(salary), avg(salary)"),
    ("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY name) FROM hr.employee",
     "percentile_cont() of text is not supported", "Count the values: GROUP BY the text."),
    ("SELECT min(name) FROM hr.employee", "min() of text is not supported", "Count the values: GROUP BY the text."),
    ("SELECT count(*) FROM hr.employee WHERE name::interval > '1 day'", "a cast to interval is not supported",
     "Write interval '1 day' as a constant"),
    ("SELECT avg(e.salary) FROM hr.employee e CROSS JOIN hr.employee f",
     "a join of people that is not on the person is not supported", "a.person = b.person"),
    ("SELECT e.dept, avg(e.salary) - t.m FROM hr.employee e CROSS JOIN (SELECT avg(salary) AS m FROM hr.employee) t"
     " GROUP BY e.dept", "an aggregate in a subquery without the person is not supported", "GROUP BY the person too"),
    ("SELECT string_agg(name, ',') FROM hr.employee", "it would show the values of single people",
     "GROUP BY the value"),
    ("SELECT patient_id, avg(cost) FROM clinic.visit GROUP BY patient_id",
     "using column patient_id singles out a person",
     "columns that name a person may only be counted"),
    ("SELECT dept, salary FROM hr.employee GROUP BY dept",
     "column salary is neither in GROUP BY nor in an aggregate",
     "avg(salary)"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "words", "hint"), WORST, ids=[question for question, _, _ in WORST])
def test_it_names_the_construct_its_place_and_what_to_type(question: str, words: str, hint: str) -> None:
    found = refusal(question)
    assert found is not None
    assert words in found.message
    assert "(in: " in found.message
    assert found.hint is not None
    assert hint in found.hint


def test_an_average_per_person_is_answered() -> None:
    """It was said to single out a person."""
    assert planned("SELECT avg(n) FROM (SELECT patient_id, count(*) AS n FROM clinic.visit GROUP BY patient_id) AS t")


# arguments of dp_ functions are typed values, of which no place is kept; a text that is no SELECT is refused as a whole
WITHOUT_A_PLACE = 40


def test_refusals_name_their_place() -> None:
    without = [found for found in refusals() if "(in: " not in found.message]
    assert len(without) <= WITHOUT_A_PLACE, [found.message for found in without]
