"""The label of a session: a wish below the clearance, and never below what was read."""

from __future__ import annotations

import contextlib

import psycopg
import pytest
from tests.database.mls.subjects import Subjects, refused

READ = "SELECT name FROM employee"


def test_a_session_may_work_below_its_clearance(smith_and_brown: Subjects) -> None:
    session = smith_and_brown.another("S")
    session.execute("SET discreet.level = 'U'")
    assert session.execute(READ).fetchall() == [("Smith",)]
    session.execute("INSERT INTO employee (name) VALUES ('Rossi')")
    assert ("Rossi", "U") in smith_and_brown.seen("U", columns="name, name_label")
    session.execute("SET discreet.level = 'C'")
    assert len(session.execute(READ).fetchall()) == 3


@pytest.mark.parametrize("label", ["S", "C:NATO", "X", "C:", "C:X"])
def test_a_wish_above_the_clearance_or_without_sense_is_an_error(smith_and_brown: Subjects, label: str) -> None:
    session = smith_and_brown.another("C")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        session.execute(f"SET discreet.level = '{label}'")
    assert len(session.execute(READ).fetchall()) == 2


@pytest.mark.parametrize(
    "way_down", ["RESET ALL", "DISCARD ALL", "ROLLBACK", "SELECT set_config('discreet.level', 'U', false)"]
)
def test_a_session_that_has_read_does_not_go_down(smith_and_brown: Subjects, way_down: str) -> None:
    session = smith_and_brown.another("S")
    session.execute("SET discreet.level = 'U'")
    session.execute(READ)
    session.execute("BEGIN")
    session.execute("SET discreet.level = 'C'")
    assert len(session.execute(READ).fetchall()) == 2
    if way_down != "ROLLBACK":
        session.execute("COMMIT")
    with contextlib.suppress(psycopg.errors.InsufficientPrivilege):
        session.execute(way_down)
    assert refused(session, "SET discreet.level = 'U'").sqlstate == "42501"
    try:
        seen = len(session.execute(READ).fetchall())
    except psycopg.errors.InsufficientPrivilege:
        seen = 2
    assert seen == 2
    session.execute("SET discreet.level = 'S'")


def test_reading_needs_no_row_to_count(smith_and_brown: Subjects) -> None:
    """Whether the wish fails would otherwise tell of hidden rows."""
    session = smith_and_brown.another("S")
    session.execute("SELECT FROM employee WHERE name = 'nobody'")
    assert refused(session, "SET discreet.level = 'U'").sqlstate == "42501"


def test_a_trusted_session_may_go_down(smith_and_brown: Subjects) -> None:
    session = smith_and_brown.trusted("S")
    assert len(session.execute(READ).fetchall()) == 2
    session.execute("SET discreet.level = 'U'")
    assert len(session.execute(READ).fetchall()) == 1


def test_a_changed_clearance_holds_at_once(smith_and_brown: Subjects) -> None:
    session = smith_and_brown.another("S")
    session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    assert len(session.execute(READ).fetchall()) == 2
    smith_and_brown.admin.execute("SELECT discreet.mls_clear(%s, NULL)", [smith_and_brown.role("S")])
    assert session.execute(READ).fetchall() == []


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM employee FOR UPDATE",
        "SELECT * FROM employee FOR KEY SHARE",
        "SELECT * FROM (SELECT * FROM employee FOR SHARE) s",
        "WITH locked AS (SELECT * FROM employee FOR UPDATE) SELECT * FROM locked",
        "DECLARE locking CURSOR FOR SELECT * FROM employee FOR UPDATE",
        "LOCK employee",
        "LOCK around IN ACCESS SHARE MODE",
        "SELECT * FROM around FOR UPDATE",
    ],
)
def test_locks_are_refused(smith_and_brown: Subjects, statement: str) -> None:
    session = smith_and_brown.another("S")
    session.execute("CREATE TEMPORARY VIEW around AS SELECT * FROM employee")
    session.execute("BEGIN")
    assert refused(session, statement).sqlstate == "0A000"


def test_serializable_transactions_and_explain_analyze_are_refused(smith_and_brown: Subjects) -> None:
    session = smith_and_brown.another("S")
    session.execute("BEGIN ISOLATION LEVEL SERIALIZABLE")
    assert refused(session, "SELECT FROM employee WHERE name = 'nobody'").sqlstate == "0A000"
    session.execute("ROLLBACK")
    assert refused(session, "EXPLAIN ANALYZE SELECT FROM employee WHERE name = 'nobody'").sqlstate == "42501"
    session.execute("EXPLAIN SELECT FROM employee WHERE name = 'nobody'")


def test_a_high_session_keeps_no_low_one_waiting(employee: Subjects) -> None:
    employee.at("U").execute("INSERT INTO employee (name, salary) VALUES ('Rossi', 1)")
    high = employee.another("S")
    high.execute("BEGIN")
    high.execute("UPDATE employee SET salary = 2")
    high.execute("INSERT INTO employee (name) VALUES ('Weiss')")
    low = employee.at("U")
    low.execute("SET lock_timeout = '2s'")
    low.execute("UPDATE employee SET salary = 3")
    low.execute("INSERT INTO employee (name) VALUES ('Weiss')")
    assert low.execute("DELETE FROM employee").rowcount == 2
