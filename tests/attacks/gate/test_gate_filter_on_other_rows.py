"""A filter that depends on other rows: one rich person moves the average, and with it the count by hundreds."""

import pytest
from tests.attacks.gate.asking import COUNT, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

ABOVE = "salary > (SELECT avg(salary) FROM hr.person)"
FILTERS = [
    "salary > (SELECT avg(q.salary) FROM hr.person q WHERE q.dept = person.dept)",
    "salary >= ALL (SELECT salary FROM hr.person)",
    "salary = ANY (SELECT max(salary) FROM hr.person)",
    "salary IN (SELECT max(salary) FROM hr.person)",
    "EXISTS (SELECT FROM hr.person q WHERE q.salary > 9000)",
    "(SELECT count(*) FROM hr.person q WHERE q.dept = person.dept) > 199",
    "ARRAY(SELECT salary FROM hr.person) IS NOT NULL",
    "rank() OVER (ORDER BY salary) = 1",
]


def test_one_person_moves_the_count_by_hundreds(target: Target) -> None:
    """With a number of all people that is released, and paid for, it does not: test_gate_released_constants.py."""
    before = int(str(target.value(f"{COUNT} WHERE {ABOVE}")))
    target.admin.execute("BEGIN; UPDATE hr.person SET salary = 1000000 WHERE id = 7")
    after = int(str(target.value(f"{COUNT} WHERE {ABOVE}")))
    target.admin.execute("ROLLBACK")
    assert before - after > 400


@pytest.mark.parametrize("where", FILTERS)
def test_a_filter_that_looks_at_other_rows_is_refused(gated: Target, blind: Connection, where: str) -> None:
    with gated.free():
        for question in (f"{COUNT} WHERE {where}", f"SELECT count(*) FILTER (WHERE {where}) FROM hr.person"):
            assert how_it_ends(blind, question) in ("DP001", "DP002")


def test_so_is_a_join_with_what_other_rows_say(gated: Target, blind: Connection) -> None:
    average = "(SELECT avg(salary) AS mean FROM hr.person) a"
    with gated.free():
        assert how_it_ends(blind, f"SELECT count(*) FROM hr.person p, {average} WHERE p.salary > a.mean") == "DP001"
