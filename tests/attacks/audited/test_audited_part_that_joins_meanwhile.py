"""A child joins the table after its question was planned: one person would stand in many rows of a query set."""

from collections.abc import Iterator

import pytest
from tests.attacks.target import in_thread
from tests.database.waiting import wait_for_lock
from tests.payroll import Payroll

# the mark that there may be children stays when the last one is dropped, so the planner looks for them later
MADE = """
    CREATE TABLE hr.wage (id int CONSTRAINT wage_key PRIMARY KEY, salary int NOT NULL);
    INSERT INTO hr.wage SELECT n, 5000 + n FROM generate_series(1, 200) n;
    CREATE TABLE hr.child () INHERITS (hr.wage);
    DROP TABLE hr.child;
    SELECT discreet.protect('hr.wage', 'id', 'hr.employee', policy => 'audited');
    SELECT discreet.describe_column('hr.wage', 'id', visibility => 'public');
"""
JOINS = """
    CREATE TABLE hr.child () INHERITS (hr.wage);
    INSERT INTO hr.child SELECT 120, 1000000 FROM generate_series(1, 1000)
"""
WHOLE = "SELECT sum(salary) FROM hr.wage WHERE id BETWEEN 100 AND 150"


@pytest.fixture
def wages(payroll: Payroll) -> Iterator[Payroll]:
    payroll.admin.execute(MADE)
    try:
        yield payroll
    finally:
        payroll.admin.execute("DROP TABLE IF EXISTS hr.wage CASCADE")
        payroll.admin.execute("DELETE FROM discreet._audit_name WHERE table_name <> 'employee'")


def test_it_is_not_answered_nor_recorded(wages: Payroll) -> None:
    """The planner waits for an index, after the second look at the table."""
    events = "SELECT count(*) FROM discreet._audit_event WHERE relation = 'hr.wage'::regclass"
    other = wages.database.connect()
    other.execute("BEGIN; REINDEX INDEX hr.wage_key")
    endings: list[str] = []
    thread = in_thread(lambda: endings.append(wages.ending(WHOLE)))
    wait_for_lock(wages.database, wages.analysts["ana"])
    other.execute(JOINS + "; COMMIT")
    thread.join(60)
    assert endings == ["DP000"]
    assert wages.truth(events) == [(0,)]
