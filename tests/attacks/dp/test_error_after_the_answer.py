"""An error that follows the charge, in the hope of a refund."""

import psycopg
import pytest
from tests.attacks.target import ASK, PRICE, Target
from tests.databases import Connection


@pytest.mark.parametrize(
    "question",
    [
        "SELECT 1 / (c - c) FROM (SELECT discreet.dp_count(*) AS c FROM hr.person OFFSET 0) answer",
        "SELECT ('answer ' || c)::int FROM (SELECT discreet.dp_count(*) AS c FROM hr.person OFFSET 0) answer",
        "SELECT discreet.dp_sum(1 / (salary - salary), 0, 1) FROM hr.person",
        "SELECT discreet.dp_count(*) FROM hr.person WHERE 1 / (salary - salary) = 0",
    ],
    ids=["division", "cast", "argument", "filter"],
)
def test_error_refunds_nothing(target: Target, mallory: Connection, question: str) -> None:
    with target.costs(PRICE), pytest.raises(psycopg.Error):
        mallory.execute(question)


def test_deferred_error_at_commit_refunds_nothing(target: Target, mallory: Connection) -> None:
    mallory.execute("CREATE TABLE extra.once (n bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)")
    mallory.execute("INSERT INTO extra.once VALUES (1)")
    with target.costs(PRICE):
        mallory.execute("BEGIN")
        mallory.execute(f"INSERT INTO extra.once SELECT 1 FROM ({ASK}) answer WHERE dp_count >= 0")
        with pytest.raises(psycopg.errors.UniqueViolation):
            mallory.execute("COMMIT")
