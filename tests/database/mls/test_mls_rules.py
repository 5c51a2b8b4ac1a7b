"""Integrity rules and limits on a multilevel table judge what the writing session sees, and wait for nobody else."""

from __future__ import annotations

from threading import Thread

import psycopg
import pytest
from tests.database.mls.subjects import Subjects, refused
from tests.database.waiting import wait_for_lock
from tests.databases import Database, restore

RULES = """
    SELECT discreet.add_rule('employee', 'pay', 'NEW.salary < 100000');
    SELECT discreet.add_rule('employee', 'rise', 'NEW.salary <= 2 * OLD.salary');
    SELECT discreet.add_limit('employee', 'one "chief', $$perf = 'chief'$$, 1);
"""
CHIEF = "INSERT INTO employee (name, perf) VALUES (%s, 'chief')"


@pytest.fixture
def ruled(smith_and_brown: Subjects) -> Subjects:
    smith_and_brown.admin.execute(RULES)
    return smith_and_brown


@pytest.mark.parametrize("label", ["U", "C", "S", "S:NATO"])
def test_a_row_that_breaks_a_rule_is_not_written(ruled: Subjects, label: str) -> None:
    before = ruled.seen("S:NATO,CRYPTO")
    error = refused(ruled.at(label), "INSERT INTO employee (name, salary) VALUES ('a', 1), ('b', 100000)")
    assert (error.sqlstate, error.diag.message_primary) == ("23514", 'a row of public.employee breaks rule "pay"')
    assert error.diag.message_hint == "The rule is: (new.salary < 100000)"
    with (
        pytest.raises(psycopg.errors.CheckViolation),
        ruled.at(label).cursor().copy("COPY employee (name, salary) FROM STDIN") as lines,
    ):
        lines.write("a\t100000\n")
    assert ruled.seen("S:NATO,CRYPTO") == before


def test_a_rule_over_both_rows_judges_the_version_that_is_seen(ruled: Subjects) -> None:
    """Smith's salary is hidden below C: nothing is known there that a new one could be too high for."""
    assert refused(ruled.at("C"), "UPDATE employee SET salary = 80001 WHERE name = 'Smith'").sqlstate == "23514"
    ruled.at("U").execute("UPDATE employee SET salary = 90000 WHERE name = 'Smith'")
    ruled.at("C").execute("UPDATE employee SET salary = 80000 WHERE name = 'Smith'")


def test_a_limit_counts_what_the_session_sees(ruled: Subjects) -> None:
    ruled.at("S").execute(CHIEF, ["above"])
    ruled.at("C").execute(CHIEF, ["middle"])
    ruled.at("U").execute(CHIEF, ["below"])
    for label in ("U", "C", "S", "S:NATO"):
        error = refused(ruled.at(label), CHIEF, "another")
        assert error.sqlstate == "23514"
        assert error.diag.message_primary == 'limit "one "chief" of public.employee is reached: at most 1'
    assert len(ruled.seen("S", columns="name, perf")) == 5


def test_a_limit_on_rows_without_a_value_holds_for_new_rows(ruled: Subjects) -> None:
    """OLD of an INSERT is all NULL, so the predicate is true of it."""
    ruled.admin.execute("SELECT discreet.add_limit('employee', 'unpaid', 'salary IS NULL AND perf IS NULL', 1)")
    session = ruled.at("U")
    # Smith and Brown show neither to U
    for names in ("('a')", "('b'), ('c')"):
        assert refused(session, f"INSERT INTO employee (name) VALUES {names}").sqlstate == "23514"
    session.execute("INSERT INTO employee (name, perf) VALUES ('d', 'fair')")
    assert refused(session, "UPDATE employee SET perf = NULL WHERE name = 'd'").sqlstate == "23514"


def test_a_statement_is_judged_as_a_whole(ruled: Subjects) -> None:
    session = ruled.at("U")
    session.execute("INSERT INTO employee (name, perf) VALUES ('a', 'chief'), ('b', 'clerk'), ('c', 'clerk')")
    for chief in ("c", "a", "b"):
        session.execute(
            "UPDATE employee SET perf = CASE name WHEN %s THEN 'chief' ELSE 'clerk' END WHERE name <> 'Smith'", [chief]
        )
    assert refused(session, "UPDATE employee SET perf = 'chief' WHERE name = 'a'").sqlstate == "23514"
    session.execute("DELETE FROM employee WHERE name = 'b'")
    session.execute("UPDATE employee SET perf = 'chief' WHERE name = 'a'")


def test_sessions_of_one_label_wait_for_each_other(ruled: Subjects) -> None:
    first, second = ruled.another("C"), ruled.another("C")
    first.execute("BEGIN")
    first.execute(CHIEF, ["first"])
    errors: list[str | None] = []
    thread = Thread(target=lambda: errors.append(refused(second, CHIEF, "second").sqlstate))
    thread.start()
    wait_for_lock(ruled.database, second)
    first.execute("COMMIT")
    thread.join()
    assert errors == ["23514"]


@pytest.mark.parametrize("other", ["U", "S", "C:NATO"])
def test_sessions_of_other_labels_do_not_wait(ruled: Subjects, other: str) -> None:
    first, second = ruled.another("C"), ruled.another(other)
    first.execute("BEGIN")
    first.execute(CHIEF, ["first"])
    second.execute("SET lock_timeout = '1ms'")
    second.execute(CHIEF, ["second"])
    first.execute("ROLLBACK")


def test_turns_are_not_for_users_to_take(ruled: Subjects) -> None:
    """Who could take one without writing would make others of the label wait."""
    for call in ("_take_turn", "_has_turn"):
        error = refused(ruled.at("U"), f"SELECT discreet.{call}('employee'::regclass, 'one \"chief')")
        assert error.sqlstate == "42501"


def test_rules_are_listed_and_dropped(ruled: Subjects) -> None:
    listed = "SELECT relation::text, name, kind, rule, at_most FROM discreet.rules ORDER BY name"
    assert ruled.admin.execute(listed).fetchall() == [
        ("employee", 'one "chief', "limit", "(perf = 'chief')", 1),
        ("employee", "pay", "rule", "(new.salary < 100000)", None),
        ("employee", "rise", "rule", "(new.salary <= (2 * old.salary))", None),
    ]
    for name in ('one "chief', "pay", "rise"):
        ruled.admin.execute("SELECT discreet.drop_rule('employee', %s)", [name])
    assert ruled.admin.execute(listed).fetchall() == []
    assert ruled.admin.execute("SELECT count(*) FROM pg_proc WHERE proname ~ '_rule_'").fetchone() == (0,)
    ruled.at("U").execute("INSERT INTO employee (name, salary) VALUES ('rich', 100000)")


def test_rules_survive_a_dump(ruled: Subjects, empty_database: Database) -> None:
    role = ruled.role("U")
    restore(ruled.database, empty_database)
    session = empty_database.connect(role)
    error = refused(session, "INSERT INTO employee (name, salary) VALUES ('a', 100000)")
    assert (error.sqlstate, error.diag.message_primary) == ("23514", 'a row of public.employee breaks rule "pay"')
    session.execute(CHIEF, ["a"])
    assert refused(session, CHIEF, "b").sqlstate == "23514"


def test_what_judges_is_for_triggers_of_the_view_alone(ruled: Subjects) -> None:
    functions = ruled.admin.execute("SELECT proname FROM pg_proc WHERE proname ~ '^employee_rule_'").fetchall()
    assert len(functions) == 3
    session = ruled.at("S")
    session.execute("CREATE TEMP TABLE mine (salary int, perf text)")
    for (name,) in functions:
        error = refused(session, f"CREATE TRIGGER x AFTER INSERT ON mine EXECUTE FUNCTION {name}()")
        assert error.sqlstate == "42501"


def test_what_is_no_rule_for_the_view_is_said(smith_and_brown: Subjects) -> None:
    admin = smith_and_brown.admin
    error = refused(admin, "SELECT discreet.add_rule('employee', 'x', 'NEW.salary + 1')")
    assert (error.sqlstate, "must be type boolean" in str(error.diag.message_primary)) == ("42P17", True)
    assert refused(admin, "SELECT discreet.add_rule('employee', 'x', 'NEW.size > 1')").sqlstate == "42703"
    assert refused(admin, "SELECT discreet.add_limit('employee', 'x', 'NEW.salary > 1', 1)").sqlstate == "42P17"
    smith_and_brown.admin.execute("SELECT discreet.add_rule('employee', 'label', $$NEW.salary_label <> 'C'$$)")
    assert refused(smith_and_brown.at("C"), "UPDATE employee SET salary = 1").sqlstate == "23514"
