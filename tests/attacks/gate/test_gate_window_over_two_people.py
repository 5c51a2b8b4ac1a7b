"""A window, DISTINCT, LIMIT or set operation that mixes people: the row of one decides about that of another."""

import pytest
from tests.attacks.gate.asking import how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

MIXED = [
    "(SELECT salary, rank() OVER (ORDER BY salary DESC) AS r FROM hr.person) t WHERE r = 1",
    "(SELECT salary, row_number() OVER (PARTITION BY dept ORDER BY id) AS r FROM hr.person) t WHERE r = 1",
    "(SELECT salary, count(*) OVER (PARTITION BY dept) AS r FROM hr.person) t WHERE r > 199",
    "(SELECT salary, lag(salary) OVER (PARTITION BY smoker ORDER BY id) AS r FROM hr.person) t WHERE r > 1",
    "(SELECT salary, sum(salary) OVER w AS r FROM hr.person WINDOW w AS (ORDER BY id)) t WHERE r > 1",
    "(SELECT salary, rank() OVER (PARTITION BY id + 0 ORDER BY salary) AS r FROM hr.person) t WHERE r = 1",
    "(SELECT DISTINCT ON (dept) salary FROM hr.person ORDER BY dept, salary) t",
    "(SELECT DISTINCT ON (id) salary FROM hr.person ORDER BY id, CASE WHEN count(*) OVER () > 999 THEN salary END) t",
    "(SELECT DISTINCT ON (id, ntile(2) OVER (ORDER BY salary)) salary FROM hr.person) t",
    "(SELECT DISTINCT id, salary, count(*) OVER () AS r FROM hr.person) t WHERE r > 999",
    "(SELECT DISTINCT salary FROM hr.person) t",
    "(SELECT salary FROM hr.person UNION SELECT salary FROM hr.person) t",
    "(SELECT salary FROM hr.person EXCEPT SELECT salary FROM hr.person WHERE id > 7) t",
    "(SELECT id, salary FROM hr.person EXCEPT SELECT salary, id FROM hr.person) t",
    "hr.person p, LATERAL (SELECT q.salary AS other FROM hr.person q ORDER BY q.salary LIMIT 1) t",
    "hr.person p, LATERAL (SELECT q.salary AS other FROM hr.person q WHERE q.dept = p.dept LIMIT 1) t",
    "(SELECT dept, sum(salary) AS salary FROM hr.person GROUP BY dept) t JOIN hr.person USING (dept)",
]


def test_a_window_over_all_shows_the_richest(target: Target) -> None:
    assert target.value(f"SELECT sum(salary) / count(*) FROM {MIXED[0]}") == target.value(
        "SELECT max(salary) FROM hr.person"
    )


@pytest.mark.parametrize("source", MIXED)
def test_what_mixes_people_is_refused(gated: Target, blind: Connection, source: str) -> None:
    with gated.free():
        assert how_it_ends(blind, f"SELECT sum(salary) FROM {source}") in ("DP001", "DP002")
