"""A table in place of another: its audit knows nothing of the answers before, and a difference could be asked."""

from collections.abc import Iterator

import psycopg
import pytest
from tests.payroll import Payroll

MADE = """
    CREATE TABLE hr.{0} (id int PRIMARY KEY, salary int NOT NULL);
    INSERT INTO hr.{0} SELECT n, 5000 + n FROM generate_series(1, 200) n;
"""
PROTECTED = """
    SELECT discreet.protect('hr.wage', 'id', 'hr.employee', policy => 'audited');
    SELECT discreet.describe_column('hr.wage', 'id', visibility => 'public');
"""
WHOLE = "SELECT sum(salary) FROM hr.wage WHERE id BETWEEN 100 AND 150"
BUT_ONE = "SELECT sum(salary) FROM hr.wage WHERE id BETWEEN 101 AND 150"
REPLACEMENTS = {
    "dropped and made again": "DROP TABLE hr.wage;" + MADE.format("wage"),
    "swapped, the old one dropped": MADE.format("next") + "ALTER TABLE hr.wage RENAME TO old;"
    "ALTER TABLE hr.next RENAME TO wage; DROP TABLE hr.old",
    "swapped, the old one kept": MADE.format("next") + "ALTER TABLE hr.wage RENAME TO old;"
    "ALTER TABLE hr.next RENAME TO wage",
    "another schema renamed to the old name": "DROP TABLE hr.wage; CREATE SCHEMA other;"
    + MADE.format("wage").replace("hr.", "other.")
    + "ALTER TABLE other.wage SET SCHEMA hr; DROP SCHEMA other",
}


def forget(payroll: Payroll) -> None:
    payroll.admin.execute("DROP TABLE IF EXISTS hr.wage, hr.next, hr.old, hr.pay")
    payroll.admin.execute("DELETE FROM discreet._audit_name WHERE table_name <> 'employee'")


@pytest.fixture
def wages(payroll: Payroll) -> Iterator[Payroll]:
    """A table of wages, one question about which was answered."""
    payroll.admin.execute(MADE.format("wage") + PROTECTED)
    try:
        assert payroll.ending(WHOLE) == "answer"
        assert payroll.ending(BUT_ONE) == "DP006"
        yield payroll
    finally:
        forget(payroll)


@pytest.mark.parametrize("way", REPLACEMENTS)
def test_it_is_not_audited_silently(wages: Payroll, way: str) -> None:
    wages.admin.execute(REPLACEMENTS[way])
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=r"another table of the name hr\.wage were answered"):
        wages.admin.execute(PROTECTED)
    assert wages.truth("SELECT FROM discreet.protected_tables WHERE relation = 'hr.wage'::regclass") == []
    wages.admin.execute("SELECT discreet.audit_reset('hr.wage', 'wages of a new year')")
    wages.admin.execute(PROTECTED)
    assert wages.ending(BUT_ONE) == "answer"
    logged = "SELECT role, dataset, details->>'audit_reset' FROM discreet.charges WHERE details ? 'audit_reset'"
    assert wages.truth(f"{logged} ORDER BY id DESC LIMIT 1") == [
        (wages.admin.info.user, "hr.employee", "wages of a new year")
    ]


def test_a_renamed_table_keeps_its_history(wages: Payroll) -> None:
    wages.admin.execute("ALTER TABLE hr.wage RENAME TO pay; ALTER TABLE hr.pay RENAME id TO number")
    wages.admin.execute("SELECT discreet.unprotect('hr.pay')")
    wages.admin.execute(PROTECTED.replace("'id'", "'number'").replace("hr.wage", "hr.pay"))
    assert wages.ending(BUT_ONE.replace("hr.wage", "hr.pay").replace("id", "number")) == "DP006"


def test_a_table_that_was_never_asked_about_may_be_replaced(payroll: Payroll) -> None:
    payroll.admin.execute(MADE.format("wage") + PROTECTED)
    try:
        payroll.admin.execute(REPLACEMENTS["dropped and made again"] + PROTECTED)
        assert payroll.ending(WHOLE) == "answer"
        payroll.admin.execute("SELECT discreet.audit_reset('hr.wage', 'the end of the test'); DROP TABLE hr.wage")
        assert payroll.truth("SELECT count(*) FROM discreet._audit_name WHERE table_name = 'wage'") == [(0,)]
    finally:
        forget(payroll)


def test_people_named_otherwise_begin_anew_only_by_a_reset(wages: Payroll) -> None:
    wages.admin.execute("SELECT discreet.unprotect('hr.wage'); ALTER TABLE hr.wage ADD badge int UNIQUE")
    wages.admin.execute("UPDATE hr.wage SET badge = id; ALTER TABLE hr.wage ALTER badge SET NOT NULL, DROP id")
    by_badge = PROTECTED.replace("'id'", "'badge'")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="people named by column id"):
        wages.admin.execute(by_badge)
    wages.admin.execute("SELECT discreet.audit_reset('hr.wage', 'other names')")
    wages.admin.execute(by_badge)
    assert wages.ending(BUT_ONE.replace("id", "badge")) == "answer"
