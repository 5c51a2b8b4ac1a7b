"""A dp_ aggregate as a window function would draw noise anew for every row, and row_number() can pick people."""

import psycopg
import pytest
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import refused


@pytest.mark.parametrize(
    "over", ["()", "(PARTITION BY dept)", "(ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"]
)
@pytest.mark.parametrize("where", ["true", "id < 0"], ids=["people", "nobody"])
def test_dp_aggregate_over_a_window_is_refused(target: Target, mallory: Connection, over: str, where: str) -> None:
    """Whether or not there are rows: a refusal never depends on them."""
    with target.free(), refused("DP001", "window function", "subquery"):
        mallory.execute(f"SELECT discreet.dp_count(*) OVER {over} FROM hr.person WHERE {where}")


def test_window_function_over_answers_is_fine(target: Target, mallory: Connection) -> None:
    with target.costs("0.1"):
        ranked = mallory.execute(
            "SELECT dept, rank() OVER (ORDER BY c DESC) FROM"
            " (SELECT dept, discreet.dp_count(*) AS c FROM hr.person GROUP BY dept) answer"
        ).fetchall()
    assert len(ranked) == 5


def test_window_function_below_an_aggregate_is_refused(target: Target, mallory: Connection) -> None:
    """Removing one person would renumber all the others."""
    with target.free(), refused("DP001", "window function", "discreet.query()"):
        mallory.execute(
            "SELECT discreet.dp_sum(n, 0, 1000) FROM (SELECT row_number() OVER (ORDER BY salary) n FROM hr.person) p"
        )


def test_native_row_number_lets_one_person_change_every_row(target: Target) -> None:
    target.admin.execute("BEGIN")
    question = "SELECT sum(n) FROM (SELECT row_number() OVER (ORDER BY id) n FROM hr.person) p"
    before = target.value(question)
    target.admin.execute("DELETE FROM hr.visit WHERE person = 1")
    target.admin.execute("DELETE FROM hr.person WHERE id = 1")
    after = target.value(question)
    target.admin.execute("ROLLBACK")
    assert before - after == 1000


def test_refused_window_tells_nothing_by_sqlstate(target: Target, mallory: Connection) -> None:
    codes = []
    for where in ("true", "false", "id = 1"):
        with pytest.raises(psycopg.Error) as caught:
            mallory.execute(f"SELECT discreet.dp_sum(salary, 0, 1) OVER () FROM hr.person WHERE {where}")
        codes.append((caught.value.sqlstate, str(caught.value)))
    assert len(set(codes)) == 1
