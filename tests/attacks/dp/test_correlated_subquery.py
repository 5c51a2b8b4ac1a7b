"""One call site that is run many times: the average of its answers has little noise left."""

from decimal import Decimal

import psycopg
import pytest
from tests.attacks.target import PRICE, Target
from tests.databases import Connection

CORRELATED = "SELECT g, (SELECT discreet.dp_count(*) FROM hr.person WHERE id > g - g) FROM generate_series(1, {n}) g"


def test_one_charge_for_a_statement_would_let_noise_be_averaged_away(target: Target, mallory: Connection) -> None:
    mallory.execute(
        "SELECT naive.ask(), (SELECT avg((SELECT count(*) FROM hr.person WHERE id > g - g) + 100 * (random() - 0.5))"
        " BETWEEN 990 AND 1010 FROM generate_series(1, 400) g)"
    )
    assert target.naive_spent() == PRICE


def test_every_run_of_a_correlated_subquery_is_paid(target: Target, mallory: Connection) -> None:
    with target.costs(5 * PRICE):
        assert len(mallory.execute(CORRELATED.format(n=5)).fetchall()) == 5
    assert target.charges() == 5


def test_correlated_subquery_ends_at_the_limit(target: Target, mallory: Connection) -> None:
    with target.costs(1), pytest.raises(psycopg.Error) as caught:
        mallory.execute(CORRELATED.format(n=400))
    assert caught.value.sqlstate == "DP003"


def test_rows_fetched_before_the_limit_were_each_paid(target: Target, mallory: Connection) -> None:
    mallory.execute("BEGIN")
    mallory.execute(f"DECLARE answers NO SCROLL CURSOR FOR {CORRELATED.format(n=400)}")
    for rows in range(1, 11):
        assert len(mallory.execute("FETCH 1 FROM answers").fetchall()) == 1
        assert target.charges() >= rows
    with pytest.raises(psycopg.Error) as caught:
        mallory.execute("FETCH 1 FROM answers")
    assert caught.value.sqlstate == "DP003"


@pytest.mark.parametrize("method", ["enable_material", "enable_memoize", "enable_hashagg", "enable_nestloop"])
@pytest.mark.parametrize("on", ["on", "off"])
def test_there_are_never_more_different_answers_than_charges(
    target: Target, mallory: Connection, method: str, on: str
) -> None:
    mallory.execute(f"SET {method} = {on}; SET discreet.epsilon = 0.001")
    for question in (
        "SELECT (SELECT discreet.dp_count(*) FROM hr.person WHERE id > g % 2) FROM generate_series(1, 6) g",
        "SELECT c FROM generate_series(1, 6) g LEFT JOIN (SELECT discreet.dp_count(*) c FROM hr.person) a ON g > c - c",
        "SELECT c FROM generate_series(1, 6) g, LATERAL (SELECT dept, discreet.dp_count(*) c FROM hr.person"
        " WHERE id > g % 3 GROUP BY dept) a WHERE dept = 'dept 1'",
        "SELECT g FROM generate_series(1, 6) g WHERE g < (SELECT discreet.dp_count(*) FROM hr.person WHERE id > g % 2)",
    ):
        before = target.charges()
        answers = [row[0] for row in mallory.execute(question).fetchall()]
        paid = target.charges() - before
        if "g <" in question:
            assert paid == 6
        else:
            assert 1 <= len(set(answers)) <= paid
    assert target.spent() == target.charges() * Decimal("0.001")
