"""A WITH query that is read twice, in the hope of two answers for one price."""

import pytest
from tests.attacks.target import ASK, PRICE, Target
from tests.databases import Connection

TWICE = "WITH answer AS {how} ({ask}) SELECT a.dp_count, b.dp_count FROM answer a, answer b"


@pytest.mark.parametrize(("how", "answers"), [("", 1), ("MATERIALIZED", 1), ("NOT MATERIALIZED", 2)])
def test_each_answer_of_a_with_query_is_paid(target: Target, mallory: Connection, how: str, answers: int) -> None:
    with target.costs(answers * PRICE):
        row = mallory.execute(TWICE.format(how=how, ask=ASK)).fetchone()
    assert row is not None
    assert len(set(row)) <= answers


def test_recursion_pays_for_every_round(target: Target, mallory: Connection) -> None:
    mallory.execute(
        "WITH RECURSIVE round(n, c) AS (SELECT 1, 0::bigint UNION ALL SELECT n + 1,"
        " (SELECT discreet.dp_count(*) FROM hr.person WHERE id > n - n) FROM round WHERE n < 5) SELECT * FROM round"
    )
    assert target.charges() == 4


def test_writing_with_query_pays(target: Target, mallory: Connection) -> None:
    mallory.execute("CREATE TABLE extra.answer (c bigint)")
    with target.costs(PRICE):
        mallory.execute(f"WITH written AS (INSERT INTO extra.answer {ASK} RETURNING c) SELECT 1")
    assert mallory.execute("SELECT count(*) FROM extra.answer").fetchone() == (1,)
