"""Old snapshots: in REPEATABLE READ a session would not see what was answered, or ask about people of yesterday."""

import psycopg
import pytest
from tests.payroll import Payroll, connected

WHOLE, BUT_ONE = "SELECT sum(salary) FROM hr.employee", "SELECT sum(salary) FROM hr.employee WHERE id <> 7"


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_question_in_an_old_snapshot_is_refused(payroll: Payroll, level: str) -> None:
    with connected(payroll) as session:
        session.execute(f"BEGIN ISOLATION LEVEL {level}")
        session.execute("SELECT 1")
        with pytest.raises(psycopg.Error) as caught:
            session.execute(WHOLE)
    assert caught.value.sqlstate == "DP001"


def test_answers_after_the_transaction_began_are_seen(payroll: Payroll) -> None:
    """Read committed, but asked within a transaction that began before the other's answer."""
    with connected(payroll, "bob") as session:
        session.execute("BEGIN")
        session.execute("SELECT 1")
        assert payroll.ending("SELECT sum(salary) FROM hr.employee WHERE gender = 'F' OR id = 7") == "answer"
        with pytest.raises(psycopg.Error) as caught:
            session.execute("SELECT sum(salary) FROM hr.employee WHERE gender = 'F'")
    assert caught.value.sqlstate == "DP006"


def test_a_rollback_does_not_make_the_audit_forget(payroll: Payroll) -> None:
    with connected(payroll) as session:
        session.execute("BEGIN")
        session.execute("SELECT sum(salary) FROM hr.employee WHERE gender = 'F' OR id = 7")
        session.execute("ROLLBACK")
    assert payroll.ending("SELECT sum(salary) FROM hr.employee WHERE gender = 'F'") == "DP006"
