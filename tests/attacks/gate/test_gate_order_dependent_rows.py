"""LIMIT, DISTINCT ON, row_number, TABLESAMPLE and ctid below an aggregation: what is left depends on other rows."""

import pytest
from tests.attacks.gate.asking import how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

CHOSEN = [
    "(SELECT salary FROM hr.person ORDER BY salary DESC LIMIT 1) t",
    "(SELECT salary FROM hr.person ORDER BY salary OFFSET 999) t",
    "(SELECT salary FROM hr.person ORDER BY salary FETCH FIRST 1 ROW WITH TIES) t",
    "(SELECT DISTINCT salary FROM hr.person) t",
    "(SELECT DISTINCT ON (dept) salary FROM hr.person ORDER BY dept, salary DESC) t",
    "(SELECT salary, row_number() OVER (ORDER BY salary) AS n FROM hr.person) t WHERE n = 1",
    "(SELECT salary, lag(salary) OVER () AS n FROM hr.person) t WHERE n > 1",
    "hr.person TABLESAMPLE SYSTEM (10) REPEATABLE (1)",
    "hr.person TABLESAMPLE BERNOULLI (10)",
    "hr.person WHERE ctid = '(0,1)'",
    "hr.person WHERE random() < 0.1",
    "(SELECT salary FROM hr.person FOR UPDATE SKIP LOCKED) t",
]


def test_a_limit_shows_one_person_without_protection(target: Target) -> None:
    assert target.value(f"SELECT sum(salary) FROM {CHOSEN[0]}") == target.value("SELECT max(salary) FROM hr.person")


@pytest.mark.parametrize("source", CHOSEN)
def test_rows_that_depend_on_others_are_refused(gated: Target, blind: Connection, source: str) -> None:
    with gated.free():
        assert how_it_ends(blind, f"SELECT sum(salary) FROM {source}") == "DP001"
