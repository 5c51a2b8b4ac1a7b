"""Written below, read above, rolled back or not: the outcome of a transaction would carry a secret down."""

import psycopg
import pytest
from tests.databases import Connection

WRITE = "SET discreet.level = 'U'; INSERT INTO employee (name, salary) VALUES ('bit', 1); SAVEPOINT a"
RAISED = [
    "SET discreet.level = 'S'; SELECT salary FROM employee",
    "RESET discreet.level; SELECT salary FROM employee",
    "SET LOCAL discreet.level = 'S'; UPDATE employee SET salary = 2",
]


@pytest.mark.parametrize("above", RAISED)
def test_a_transaction_that_wrote_below_reads_nothing_above(high: Connection, above: str) -> None:
    high.execute("BEGIN")
    high.execute(WRITE)
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="has written at label U"):
        high.execute(above)
    high.execute("ROLLBACK")


def test_the_next_transaction_may(high: Connection, low: Connection) -> None:
    high.execute(f"BEGIN; {WRITE}; COMMIT")
    high.execute("SET discreet.level = 'S'")
    assert len(high.execute("SELECT name FROM employee").fetchall()) > 2
    assert ("bit",) in low.execute("SELECT name FROM employee").fetchall()
