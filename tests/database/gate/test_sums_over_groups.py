"""What plain SQL adds up over the rows of an answer has an error, and tells that groups without people are counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.database.gate.conftest import Asker

BELOW = "SELECT dept, count(*) AS n FROM hr.employee GROUP BY dept"
WITHOUT_PEOPLE = "groups without people counted among the rows of the answer"


@pytest.fixture
def quiet(asker: Asker) -> Iterator[Asker]:
    """Noise is hardly ever more than 0."""
    asker.connection.execute("SET discreet.quiet = on; SET discreet.epsilon = 50")
    yield asker
    asker.connection.execute("RESET ALL")


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
def test_numbers_of_groups_are_added_up_with_an_error_and_a_caveat(quiet: Asker, question: str) -> None:
    quiet.plain(question)
    columns, caveats = told(quiet)
    assert WITHOUT_PEOPLE in caveats
    assert all(column["error_95"] is not None for column in columns)


@pytest.mark.parametrize(
    ("question", "clauses"),
    [
        (f"SELECT dept, n FROM ({BELOW}) t WHERE n > 5", "WHERE"),
        (f"SELECT * FROM ({BELOW}) t WHERE n BETWEEN 5 AND 100000", "WHERE"),
        (f"SELECT sum(n) FROM ({BELOW}) t WHERE n > 5", "WHERE"),
        (f"SELECT dept, n * 2 AS twice FROM ({BELOW}) t ORDER BY n DESC LIMIT 2", "ORDER BY … LIMIT"),
    ],
)
def test_rows_of_an_answer_that_noise_chooses_are_told(quiet: Asker, question: str, clauses: str) -> None:
    rows = quiet.plain(question)  # of departments that are declared
    assert rows
    if "sum" not in question:
        assert set(rows) <= set(quiet.truth(question.replace("LIMIT 2", "LIMIT 9")))
    _, caveats = told(quiet)
    assert f"rows chosen by noisy numbers: {clauses}" in caveats


@pytest.mark.parametrize(
    "question",
    [
        f"SELECT max(n) FILTER (WHERE dept <> '') FROM ({BELOW}) t",
        f"SELECT stddev(n) FROM ({BELOW}) t",
        f"SELECT max(dept) FROM ({BELOW}) t",
        f"SELECT sum(n) FROM ({BELOW}) t WHERE dept > 'P'",
        f"SELECT upper(dept), n FROM ({BELOW}) t WHERE n > 5",
        f"SELECT dept, n FROM ({BELOW} ORDER BY n LIMIT 2) t WHERE n > 5",
        f"SELECT count(*) FROM ({BELOW}) t HAVING count(*) > 1",
        f"SELECT length(dept), sum(n) FROM ({BELOW}) t GROUP BY 1",
        f"SELECT sum(t.n) FROM ({BELOW}) t, ({BELOW}) u WHERE t.dept = u.dept",
    ],
)
def test_what_the_gate_does_not_follow_is_computed_by_postgresql(quiet: Asker, question: str) -> None:
    assert quiet.plain(question)
    columns, _ = told(quiet)
    assert [column["column"] for column in columns][:1] == ["dept"]
