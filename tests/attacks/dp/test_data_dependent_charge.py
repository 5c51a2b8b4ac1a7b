"""A question that is asked only if a secret holds: whether it was paid for tells the secret."""

import psycopg
import pytest
from tests.attacks.target import ASK, PRICE, Target
from tests.databases import Connection

# {secret} is true in one case and false in the other
SHAPES = [
    f"SELECT CASE WHEN (SELECT salary FROM hr.person WHERE id = 7) {{secret}} THEN ({ASK}) END",
    f"SELECT 1 WHERE (SELECT salary FROM hr.person WHERE id = 7) {{secret}} AND ({ASK}) > 0",
    f"SELECT ({ASK}) FROM hr.person WHERE id = 7 AND salary {{secret}}",
    f"SELECT * FROM (SELECT FROM hr.person WHERE id = 7 AND salary {{secret}}) one, LATERAL ({ASK}) answer",
    f"SELECT coalesce((SELECT 1 FROM hr.person WHERE id = 7 AND salary {{secret}}), ({ASK}))",
    f"SELECT 1 FROM hr.person WHERE id = 7 AND salary {{secret}} UNION ALL ({ASK}) LIMIT 1",
    f"WITH answer AS MATERIALIZED ({ASK}) SELECT (SELECT dp_count FROM answer) FROM hr.person"
    " WHERE id = 7 AND salary {secret}",
]
HOLDS, HOLDS_NOT = "= 1007", "<> 1007"


def test_secret_shows_in_a_naive_budget(target: Target, mallory: Connection) -> None:
    question = SHAPES[0].replace(ASK, "SELECT naive.ask()")
    mallory.execute(question.format(secret=HOLDS_NOT))
    without = target.naive_spent()
    mallory.execute(question.format(secret=HOLDS))
    assert without == 0
    assert target.naive_spent() == PRICE


@pytest.mark.parametrize("secret", [HOLDS, HOLDS_NOT])
@pytest.mark.parametrize("shape", SHAPES, ids=["case", "where", "row", "lateral", "coalesce", "union", "with"])
def test_charge_is_the_same_whether_or_not_the_secret_holds(
    target: Target, mallory: Connection, shape: str, secret: str
) -> None:
    with target.costs(PRICE):
        mallory.execute(shape.format(secret=secret))


@pytest.mark.parametrize("where", ["false", "id < 0", "name = 'nobody'", "1 = 2"])
def test_question_about_nobody_costs_the_same(target: Target, mallory: Connection, where: str) -> None:
    with target.costs(PRICE):
        mallory.execute(f"{ASK} WHERE {where}")


@pytest.mark.parametrize("tail", ["LIMIT 0", "OFFSET 1", "HAVING false", "HAVING discreet.dp_count(*) < 0"])
def test_answer_that_is_not_shown_costs_the_same(target: Target, mallory: Connection, tail: str) -> None:
    with target.costs(PRICE):
        mallory.execute(f"{ASK} {tail}")


def test_group_that_is_empty_costs_the_same(target: Target, mallory: Connection) -> None:
    for where in ("true", "dept = 'dept 1'", "dept = 'no such dept'"):
        with target.costs(PRICE):
            mallory.execute(f"SELECT dept, discreet.dp_count(*) FROM hr.person WHERE {where} GROUP BY dept")


def test_number_of_charges_does_not_follow_a_protected_table(target: Target, mallory: Connection) -> None:
    """A subquery that is run once for every person whom a condition selects is refused before it is paid."""
    with target.free(), pytest.raises(psycopg.Error, match="depends on other rows"):
        mallory.execute(
            "SELECT (SELECT discreet.dp_count(*) FROM hr.person p WHERE p.id <> o.id) FROM hr.person o WHERE o.smoker"
        )
