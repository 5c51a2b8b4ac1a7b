"""Empty input: NULL, or no row, would tell that nobody is there."""

import pytest
from tests.attacks.gate.asking import COUNT, ask, protect
from tests.attacks.target import Target
from tests.databases import Connection

ALL = "count(*) AS a, sum(x) AS b, avg(x) AS c, stddev(x) AS d, min(x) AS e, count(DISTINCT x) AS f"


def test_a_plain_table_tells_that_nobody_is_there(target: Target) -> None:
    assert target.value("SELECT sum(salary) FROM hr.person WHERE salary = 5000") is None
    assert target.admin.execute(f"{COUNT} WHERE salary = 5000 GROUP BY smoker").fetchall() == []


@pytest.mark.parametrize("people", [0, 1])
@pytest.mark.parametrize("grouping", ["", " GROUP BY b", " GROUP BY ROLLUP (b)"])
def test_nobody_is_answered_as_one_is(gated: Target, blind: Connection, people: int, grouping: str) -> None:
    rows = f"SELECT n, n, true FROM generate_series(1, {people}) n"
    protect(gated, "few", "id int PRIMARY KEY, x int, b boolean NOT NULL", rows, x=(0, 10))
    answer = ask(blind, f"SELECT {ALL} FROM extra.few{grouping}")
    assert len(answer) == {"": 1, " GROUP BY b": 2, " GROUP BY ROLLUP (b)": 3}[grouping]
    assert None not in {value for row in answer for value in row.values()}
