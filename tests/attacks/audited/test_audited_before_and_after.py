"""Before minus after: the same question around a hire, a raise, a leave, a move, or a reload of the whole table."""

import pytest
from tests.payroll import PEOPLE, Payroll

DEPT = "SELECT sum(salary) FROM hr.employee WHERE dept = 'dept 1'"
HIRE = "INSERT INTO hr.employee SELECT 999, 'new', 'dept 1', 'F', 30, 'zip 1', NULL, 4321, 1, 1, 1, true, NULL"
CHANGES = {
    "a hire": (HIRE, 4321),
    "a raise": ("UPDATE hr.employee SET salary = salary + 17 WHERE id = 11", 17),
    "a leave": ("DELETE FROM hr.employee WHERE id = 11", None),
    "a move": ("UPDATE hr.employee SET dept = 'dept 2' WHERE id = 11", None),
}


@pytest.mark.parametrize("change", CHANGES)
def test_sums_without_an_audit_tell_what_it_was_about(payroll: Payroll, change: str) -> None:
    statement, difference = CHANGES[change]
    expected = -payroll.salary(11) if difference is None else difference
    ((before,),) = payroll.truth(DEPT)
    payroll.admin.execute(statement)
    ((after,),) = payroll.truth(DEPT)
    assert after - before == expected


@pytest.mark.parametrize("change", CHANGES)
def test_the_question_after_it_is_denied(payroll: Payroll, change: str) -> None:
    assert payroll.ending(DEPT) == "answer"
    payroll.admin.execute(CHANGES[change][0])
    assert payroll.ending(DEPT) == "DP006"


def test_a_write_that_changes_nothing_counts_as_one_that_may(payroll: Payroll) -> None:
    assert payroll.ending(DEPT) == "answer"
    payroll.admin.execute("UPDATE hr.employee SET salary = salary WHERE id = 11")
    assert payroll.ending(DEPT) == "DP006"


def test_a_raise_for_many_may_be_asked_about(payroll: Payroll) -> None:
    assert payroll.ending(DEPT) == "answer"
    payroll.admin.execute("UPDATE hr.employee SET salary = salary * 1.03")
    assert payroll.ending(DEPT) == "answer"


RELOAD = """
    CREATE TEMP TABLE copy AS SELECT * FROM hr.employee;
    TRUNCATE hr.employee;
    INSERT INTO hr.employee SELECT * FROM copy ORDER BY random();
    DROP TABLE copy
"""


@pytest.mark.parametrize("rewrite", ["UPDATE hr.employee SET salary = salary", RELOAD, "VACUUM FULL hr.employee"])
def test_a_table_written_anew_is_not_a_new_table(payroll: Payroll, rewrite: str) -> None:
    """Versions are taken for other values, and for the same ones: the difference of the sums is one salary."""
    whole, but_one = DEPT, f"{DEPT} AND id <> 11"
    assert payroll.ending(whole) == "answer"
    payroll.admin.execute(rewrite)
    assert payroll.ending(but_one) == "DP006"


def test_a_leaver_who_comes_back_is_the_same_person(payroll: Payroll) -> None:
    payroll.admin.execute("CREATE TABLE plain.gone AS SELECT * FROM hr.employee WHERE id = 11")
    assert payroll.ending(DEPT) == "answer"
    payroll.admin.execute("UPDATE hr.employee SET salary = salary; DELETE FROM hr.employee WHERE id = 11")
    assert payroll.ending(DEPT) == "DP006"
    payroll.admin.execute("INSERT INTO hr.employee SELECT * FROM plain.gone; DROP TABLE plain.gone")
    assert payroll.ending(DEPT) == "answer"
    assert payroll.truth("SELECT count(*) FROM hr.employee") == [(PEOPLE,)]


def test_writes_of_the_same_transaction_are_seen(payroll: Payroll) -> None:
    """The asker may write: what is asked about is what the statement sees, also what is rolled back afterwards."""
    payroll.admin.execute("GRANT UPDATE (dept) ON hr.employee TO ana; GRANT SELECT (id) ON hr.employee TO ana")
    try:
        session = payroll.analysts["ana"]
        assert payroll.ending(DEPT) == "answer"
        session.execute("BEGIN; UPDATE hr.employee SET dept = 'dept 2' WHERE id = 11")
        assert payroll.ending(DEPT) == "DP006"
        session.execute("ROLLBACK")
        assert payroll.ending(DEPT) == "answer"
    finally:
        payroll.admin.execute("REVOKE ALL ON hr.employee FROM ana; REVOKE ALL (id, dept) ON hr.employee FROM ana")


def test_another_type_of_the_unit_makes_nobody_somebody_new(payroll: Payroll) -> None:
    payroll.admin.execute(
        """
        CREATE TABLE hr.copy (id int PRIMARY KEY, badge int UNIQUE NOT NULL, salary int NOT NULL);
        INSERT INTO hr.copy SELECT n, n, 5000 + n FROM generate_series(1, 200) n;
        SELECT discreet.protect('hr.copy', 'id', dataset, policy => 'audited')
        FROM discreet.protected_tables WHERE relation = 'hr.employee'::regclass;
        SELECT discreet.describe_column('hr.copy', 'id', visibility => 'public');
        """
    )
    question = "SELECT sum(salary) FROM hr.copy WHERE id BETWEEN {} AND 150"
    try:
        assert payroll.ending(question.format(100)) == "answer"
        assert payroll.ending(question.format(101)) == "DP006"
        payroll.admin.execute("ALTER TABLE hr.copy ALTER id TYPE numeric")
        assert payroll.ending(question.format(101)) == "DP001"
        payroll.admin.execute("ALTER TABLE hr.copy ALTER id TYPE int")
        assert payroll.ending(question.format(101)) == "DP006"
        payroll.admin.execute("SELECT discreet.unprotect('hr.copy')")
        with pytest.raises(Exception, match="people named by column id"):
            payroll.admin.execute("SELECT discreet.protect('hr.copy', 'badge', 'hr.employee', policy => 'audited')")
    finally:
        payroll.admin.execute("DROP TABLE hr.copy")
