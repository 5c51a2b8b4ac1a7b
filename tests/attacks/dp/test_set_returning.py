"""Set-returning functions multiply the rows of one person."""

import pytest
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import refused

SHAPES = [
    "SELECT discreet.dp_count(*) FROM (SELECT id, generate_series(1, 100) FROM hr.person) p",
    "SELECT discreet.dp_count(*) FROM (SELECT unnest(ARRAY[id, id, id]) FROM hr.person) p",
    "SELECT discreet.dp_count(n) FROM (SELECT generate_series(1, salary) AS n FROM hr.person WHERE id = 1) p",
    "SELECT discreet.dp_count(*) FROM (SELECT regexp_split_to_table(name, '') FROM hr.person) p",
    "SELECT discreet.dp_count(*) FROM (SELECT (json_each(row_to_json(p))).key FROM hr.person p) q",
    "SELECT discreet.dp_count(*) FROM hr.person, unnest(ARRAY[1, 2, 3])",
    "SELECT discreet.dp_count(*) FROM hr.person, LATERAL unnest(ARRAY[id, id]) n",
    "SELECT discreet.dp_count(*) FROM hr.person, LATERAL (VALUES (1), (2), (3)) copies",
    "SELECT discreet.dp_count(*) FROM hr.person, XMLTABLE('/a/b' PASSING '<a><b/><b/></a>' COLUMNS c text)",
]


def test_native_count_counts_one_person_a_hundred_times(mallory: Connection) -> None:
    question = SHAPES[0].replace("discreet.dp_count", "count")
    assert mallory.execute(f"{question} WHERE id = 1").fetchone() == (100,)


@pytest.mark.parametrize("question", SHAPES)
def test_set_returning_function_is_refused_and_costs_nothing(
    target: Target, mallory: Connection, question: str
) -> None:
    with target.free(), refused("DP001", "cannot bound one person's influence", "discreet.query()"):
        mallory.execute(question)


def test_set_returning_function_around_the_answer_is_one_answer(target: Target, mallory: Connection) -> None:
    with target.costs("0.1"):
        rows = mallory.execute("SELECT discreet.dp_count(*), generate_series(1, 50) FROM hr.person").fetchall()
    assert (len(rows), len({answer for answer, _ in rows})) == (50, 1)
