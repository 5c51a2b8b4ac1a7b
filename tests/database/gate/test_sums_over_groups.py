"""What plain SQL adds up over the rows of an answer has an error, and tells that groups without people are counted."""

from __future__ import annotations

from typing import Any

import pytest
from tests.database.gate.conftest import Asker

BELOW = "SELECT dept, count(*) AS n FROM hr.employee GROUP BY dept"
WITHOUT_PEOPLE = "groups without people counted among the rows of the answer"


def told(asker: Asker) -> tuple[list[dict[str, Any]], list[str]]:
    ((columns, caveats),) = asker.plain("SELECT columns, caveats FROM discreet.last_answer")
    return columns, list(caveats or [])


@pytest.mark.parametrize(
    "question",
    [
        f"SELECT min(n), max(n), avg(n), sum(n) FROM ({BELOW}) t",
        f"SELECT dept, sum(n) / 2 AS half FROM ({BELOW}) t GROUP BY dept ORDER BY dept LIMIT 3",
    ],
)
def test_numbers_of_groups_are_added_up_with_an_error_and_a_caveat(asker: Asker, question: str) -> None:
    asker.connection.execute("SET discreet.quiet = on")
    asker.plain(question)
    columns, caveats = told(asker)
    assert WITHOUT_PEOPLE in caveats
    assert all(column["error_95"] is not None for column in columns)


@pytest.mark.parametrize(
    "question",
    [
        f"SELECT max(n) FILTER (WHERE dept <> '') FROM ({BELOW}) t",
        f"SELECT stddev(n) FROM ({BELOW}) t",
        f"SELECT max(dept) FROM ({BELOW}) t",
        f"SELECT sum(n) FROM ({BELOW}) t WHERE n > 5",
        f"SELECT count(*) FROM ({BELOW}) t HAVING count(*) > 1",
        f"SELECT length(dept), sum(n) FROM ({BELOW}) t GROUP BY 1",
        f"SELECT sum(t.n) FROM ({BELOW}) t, ({BELOW}) u WHERE t.dept = u.dept",
    ],
)
def test_what_the_gate_does_not_follow_is_computed_by_postgresql(asker: Asker, question: str) -> None:
    asker.connection.execute("SET discreet.quiet = on")
    assert asker.plain(question)
    columns, _ = told(asker)
    assert [column["column"] for column in columns][:1] == ["dept"]
