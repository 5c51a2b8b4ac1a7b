"""Nobody loses more than the own budget, however many questions are asked: measured on answers of the server.

Everybody is alone in a group, so that an answer holds thousands of independent experiments: in one table the person is
there, in the other not. What is measured of them is a lower bound, true but for FALSE_ALARM.
"""

from __future__ import annotations

import numpy as np
from tests.databases import Database, MakeRole
from tests.statistical.dp.dp_evidence import Sample, measured_epsilon
from tests.village import Village

FALSE_ALARM = 1e-7
PEOPLE, BUDGET, PRICE, QUESTIONS = 5000, 1, 1, 4
TABLE = f"""
    CREATE TABLE {{table}} (id int PRIMARY KEY, place int, one int);
    INSERT INTO {{table}} SELECT n, n, 1 FROM generate_series(1, {PEOPLE}) n {{only}};
    SELECT discreet.protect('{{table}}', 'id', policy => 'personal', unit_epsilon => {{budget}}),
           discreet.describe_column('{{table}}', 'one', 0, 1),
           discreet.grant_budget('public.{{table}}', '{{analyst}}', 1000);
    SELECT discreet.describe_column('{{table}}', 'place', categories => array_agg(n::text))
    FROM generate_series(1, {PEOPLE}) n;
"""


def answers(village: Village, table: str, budget: int, only: str = "") -> list[Sample]:
    """About each person: the first answer, the sum of the first two, and so on."""
    made = TABLE.format(table=table, only=only, budget=budget, analyst=village.analyst)
    village.admin.execute(made.encode())
    samples, total = [], np.zeros(PEOPLE)
    for _ in range(QUESTIONS):
        answer = village.ask(f"SELECT place, sum(one) FROM {table} GROUP BY place", PRICE)
        by_place = {row["place"]: row["sum"] for row in answer}
        total = total + [by_place[place] for place in range(1, PEOPLE + 1)]
        samples.append(total)
    return samples


def most_told(here: list[Sample], there: list[Sample]) -> float:
    return max(measured_epsilon(*pair, FALSE_ALARM / QUESTIONS) for pair in zip(here, there, strict=True))


def test_four_questions_at_one_tell_no_more_than_a_budget_of_one_allows(
    database: Database, make_role: MakeRole
) -> None:
    village = Village(database, make_role)
    absent = answers(village, "absent", BUDGET, "WHERE false")
    assert 0.5 < most_told(answers(village, "present", BUDGET), absent) <= BUDGET
    # else the line above would show nothing
    assert most_told(answers(village, "rich", 100), absent) > BUDGET
