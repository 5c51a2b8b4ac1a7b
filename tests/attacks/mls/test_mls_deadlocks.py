"""Row locks of a high transaction that is open: a low session that waits, or dies in a deadlock, is told of it."""

import psycopg
import pytest
from tests.attacks.mls.levels import Levels
from tests.databases import Connection

HIGH = [
    "UPDATE employee SET perf = 'x', salary = 9 WHERE name = 'Smith' AND tc = 'S'",
    "DELETE FROM employee WHERE name = 'Smith' AND tc = 'S'",
    "INSERT INTO employee (name, salary) VALUES ('new', 1)",
    "UPDATE employee SET salary = 3",
]
LOW = [
    "UPDATE employee SET perf = 'y', salary = 8 WHERE name = 'Smith'",
    "DELETE FROM employee WHERE name = 'Smith'",
    "INSERT INTO employee (name, salary) VALUES ('new', 1)",
    "INSERT INTO employee (name) VALUES ('Brown')",
    "SELECT * FROM employee",
]


def test_a_low_writer_waits_where_labels_are_row_security(naive: Connection, low: Connection, high: Connection) -> None:
    high.execute("BEGIN; UPDATE naive SET secret = 'x' WHERE name = 'Smith'")
    low.execute("SET lock_timeout = '10ms'")
    with pytest.raises(psycopg.errors.LockNotAvailable):
        low.execute("UPDATE naive SET secret = 'y' WHERE name = 'Smith'")
    high.execute("ROLLBACK")


@pytest.mark.parametrize("statement", LOW)
@pytest.mark.parametrize("secret", HIGH)
def test_a_low_session_waits_for_nothing_above(low: Connection, high: Connection, secret: str, statement: str) -> None:
    high.execute(f"BEGIN; {secret}")
    low.execute("SET lock_timeout = '1ms'; BEGIN")
    assert low.execute(statement).rowcount >= 1
    low.execute("COMMIT")
    high.execute("ROLLBACK")


@pytest.mark.parametrize("statement", LOW)
def test_nor_for_an_incomparable_label(levels: Levels, high: Connection, statement: str) -> None:
    nato = levels.at("nato")
    nato.execute("BEGIN; UPDATE employee SET salary = 1 WHERE tc = 'S'; INSERT INTO employee (name) VALUES ('new')")
    high.execute("SET lock_timeout = '1ms'; BEGIN")
    high.execute(statement.replace("'Brown'", "'Grey'").replace("name = 'Smith'", "name = 'Smith' AND tc = 'S'"))
    high.execute("ROLLBACK")
    nato.execute("ROLLBACK")
