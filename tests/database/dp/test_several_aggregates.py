"""dp_ aggregates over several tables in one statement are paid together, or not at all."""

from __future__ import annotations

import pytest
from tests.databases import Connection, Database, Row
from tests.messages import refused

TABLES = """
    SET client_min_messages = warning;
    SELECT discreet.create_dataset('first', 1), discreet.create_dataset('second', 1);
    CREATE TABLE good (id int PRIMARY KEY);
    CREATE TABLE twice (id int NOT NULL);
    CREATE TABLE other (id int PRIMARY KEY);
    SELECT discreet.protect('good', 'id', dataset => 'first'), discreet.protect('twice', 'id', 'first', max_rows => 1),
           discreet.protect('other', 'id', dataset => 'second');
"""
COUNT = "(SELECT discreet.dp_count(*) FROM {})"


@pytest.fixture
def session(database: Database) -> Connection:
    connection = database.connect()
    connection.execute(TABLES)
    return connection


def spent(session: Connection) -> list[Row]:
    return session.execute(
        "SELECT dataset, amount_spent::float8 FROM discreet._budget WHERE role = 0 AND amount_spent > 0 ORDER BY 1"
    ).fetchall()


@pytest.mark.parametrize("statement", ["SELECT {}, {}", "SELECT {} UNION ALL SELECT {}"])
def test_nothing_is_paid_when_one_is_refused(session: Connection, statement: str) -> None:
    with refused("DP001", "a person may have many rows", "discreet.query()"):
        session.execute(statement.format(COUNT.format("good"), COUNT.format("twice")))
    assert spent(session) == []
    assert session.execute("SELECT count(*) FROM discreet._refusal").fetchone() == (1,)


@pytest.mark.parametrize("order", [("good", "other"), ("other", "good")])
def test_nothing_is_paid_when_one_dataset_is_exhausted(session: Connection, order: tuple[str, str]) -> None:
    session.execute("UPDATE discreet._budget SET amount_limit = 0.05 WHERE dataset = 'second'")
    with refused("DP003", "the budget of dataset second is exhausted", "budget_status"):
        session.execute("SELECT {}, {}".format(*(COUNT.format(table) for table in order)))
    assert spent(session) == []


def test_nothing_is_paid_when_the_sum_is_more_than_is_left(session: Connection) -> None:
    session.execute("UPDATE discreet._budget SET amount_limit = 0.15 WHERE dataset = 'first'")
    with refused("DP003", "the budget of dataset first is exhausted", "budget_status"):
        session.execute(f"SELECT {COUNT.format('good')}, {COUNT.format('good')}")
    assert spent(session) == []


def test_all_are_paid_when_all_can_be(session: Connection) -> None:
    session.execute(f"SELECT {COUNT.format('good')}, {COUNT.format('other')}, {COUNT.format('good')}")
    assert spent(session) == [("first", 0.2), ("second", 0.1)]
    assert session.execute("SELECT dataset, count(*) FROM discreet._charge GROUP BY 1 ORDER BY 1").fetchall() == [
        ("first", 2),
        ("second", 1),
    ]
