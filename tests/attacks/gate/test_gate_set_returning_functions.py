"""Set-returning functions that multiply the rows of a person."""

import pytest
from tests.attacks.gate.asking import how_it_ends, number
from tests.attacks.target import PEOPLE, Target
from tests.databases import Connection

MULTIPLIED = [
    "(SELECT generate_series(1, 1000) FROM hr.person) t",
    "hr.person p, LATERAL generate_series(1, p.salary) n",
    "(SELECT regexp_split_to_table(name, '') FROM hr.person) t",
    "hr.person, ROWS FROM (generate_series(1, 10), generate_series(1, 20)) r",
    'hr.person, json_to_recordset(\'[{"a":1},{"a":2}]\') AS r(a int)',
    "hr.person, XMLTABLE('/r/i' PASSING xml '<r><i/><i/></r>' COLUMNS n text PATH '.')",
]


@pytest.mark.parametrize("source", MULTIPLIED)
def test_functions_that_multiply_rows_are_refused(gated: Target, blind: Connection, source: str) -> None:
    assert int(str(gated.value(f"SELECT count(*) FROM {source}"))) > 1.5 * PEOPLE
    with gated.free():
        assert how_it_ends(blind, f"SELECT count(*) FROM {source}") == "DP001"


# rows that the question lists: each person has as many rows as there are, of which so many count as the policy says
LISTED = [
    "hr.person, generate_series(1, 1000)",
    "hr.person CROSS JOIN unnest(ARRAY[1, 2, 3]) n",
    "(SELECT unnest(ARRAY[1, 2, 3]) FROM hr.person) t",
    "(SELECT salary, unnest(ARRAY[1, 2, 3]) AS n FROM hr.person) t",
]


@pytest.mark.parametrize("source", LISTED)
def test_of_rows_that_a_question_lists_one_counts_for_each_person(
    gated: Target, blind: Connection, source: str
) -> None:
    """The table has max_rows 1. Noise at this price is beyond 20 with a probability below 1e-8."""
    assert int(str(gated.value(f"SELECT count(*) FROM {source}"))) > 1.5 * PEOPLE
    assert abs(number(blind, f"SELECT count(*) FROM {source}", "1") - PEOPLE) <= 20
