"""Who wrote which version of a row, at which label and when: to sessions that dominate it, and tamper-evident."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from tests.database.mls.mls_histories import KEYS, OBSERVERS, Histories
from tests.database.mls.mls_playing import Stage
from tests.database.mls.mls_recording import Recorded, recorded, seen_by
from tests.database.mls.subjects import Subjects, refused
from tests.databases import Connection

HISTORIES, MORE_HISTORIES = 12, 500
SHOWN = "role::text, label, act, key_label, version, borrowed"
CHAINS = "SELECT substr(dataset, 23), intact FROM discreet.verify_log() WHERE dataset ~ '^multilevel' ORDER BY 1"
LINKS = "SELECT label, id, entries, role FROM discreet._history_link WHERE label = %s ORDER BY id"


def history(session: Connection, name: str, table: str = "employee", columns: str = SHOWN) -> list[tuple[Any, ...]]:
    query = f"SELECT {columns} FROM discreet.mls_history(%s, jsonb_build_object('name', %s::text))"
    return session.execute(query, [table, name]).fetchall()


def test_versions_are_shown_with_who_wrote_them_at_which_label(employee: Subjects) -> None:
    low, high = employee.role("U"), employee.role("S")
    employee.at("U").execute("INSERT INTO employee (name, salary) VALUES ('Ann', 1)")
    employee.at("S").execute("UPDATE employee SET perf = 'Good' WHERE name = 'Ann'")
    employee.at("U").execute("UPDATE employee SET salary = 2, perf = NULL WHERE name = 'Ann'")
    employee.at("S").execute("UPDATE employee SET perf = NULL WHERE name = 'Ann'")
    employee.at("U").execute("DELETE FROM employee WHERE name = 'Ann'")
    assert history(employee.at("S"), "Ann") == [
        (low, "U", "insert", "U", {"name": "Ann", "salary": 1}, {}),
        (high, "S", "version", "U", {"name": "Ann", "perf": "Good"}, {"salary": "U"}),
        (low, "U", "update", "U", {"name": "Ann", "salary": 2, "perf": None}, {}),
        (high, "S", "update", "U", {"name": "Ann", "perf": None}, {"salary": "U"}),
        (low, "U", "delete", "U", {"name": "Ann", "salary": 2, "perf": None}, {}),
    ]
    times = [at for (at,) in history(employee.at("S"), "Ann", columns="at")]
    assert times == sorted(times)
    (first, *_) = history(employee.at("U"), "Ann", columns="row_id")
    assert first == employee.admin.execute("SELECT _row_id FROM employee_mls WHERE _entity IS NULL").fetchone()


def test_a_session_sees_what_it_dominates(employee: Subjects) -> None:
    employee.at("U").execute("INSERT INTO employee (name) VALUES ('Ann')")
    for label in ("C", "S", "C:NATO"):
        employee.at(label).execute("UPDATE employee SET salary = 5 WHERE name = 'Ann'")
    employee.at("S").execute("INSERT INTO employee (name) VALUES ('Bob')")
    seen = {label: {row[1] for row in history(employee.at(label), "Ann")} for label in ("U", "C", "S", "S:NATO")}
    assert seen == {"U": {"U"}, "C": {"U", "C"}, "S": {"U", "C", "S"}, "S:NATO": {"U", "C", "S", "C:NATO"}}
    assert history(employee.at("C"), "Bob") == [] != history(employee.at("S"), "Bob")
    session = employee.another("S")
    session.execute("SET discreet.level = 'U'")
    assert {row[1] for row in history(session, "Ann")} == {"U"}
    session.execute("SET discreet.level = 'S'")
    history(session, "Ann")
    assert "below what this session has read" in str(refused(session, "SET discreet.level = 'U'"))


def test_it_is_for_those_who_may_read_the_table(employee: Subjects) -> None:
    employee.at("U").execute("INSERT INTO employee (name) VALUES ('Ann')")
    role = employee.role("C")
    employee.admin.execute(f"REVOKE SELECT ON employee FROM {role}")
    error = refused(employee.at("C"), """SELECT * FROM discreet.mls_history('employee', '{"name": "Ann"}')""")
    assert error.sqlstate == "42501"
    employee.admin.execute(f"GRANT SELECT (name) ON employee TO {role}")
    refused(employee.at("C"), """SELECT * FROM discreet.mls_history('employee', '{"name": "Ann"}')""")
    refused(employee.at("C"), "SELECT * FROM discreet._history")
    assert history(employee.admin, "Ann") == []  # a superuser without a clearance
    refused(employee.at("U"), """SELECT * FROM discreet.mls_history('employee', '{"salary": 1}')""")
    refused(employee.at("U"), """SELECT * FROM discreet.mls_history('pg_class', '{"name": "Ann"}')""")


def test_what_is_rolled_back_was_never_written(employee: Subjects) -> None:
    session = employee.at("U")
    session.execute("INSERT INTO employee (name) VALUES ('Ann')")
    session.execute("BEGIN; UPDATE employee SET salary = 1; ROLLBACK")
    session.execute("BEGIN; UPDATE employee SET salary = 2; SAVEPOINT a; UPDATE employee SET salary = 3; ROLLBACK TO a")
    session.execute("UPDATE employee SET salary = 4; COMMIT")
    session.execute("BEGIN; SAVEPOINT a; UPDATE employee SET salary = 5; ROLLBACK TO a; COMMIT")
    assert [row[4].get("salary") for row in history(session, "Ann")] == [None, 2, 4]
    links = employee.admin.execute(LINKS, [0]).fetchall()
    assert [(number, entries) for _, number, entries, _ in links] == [(1, 1), (2, 2)]
    assert employee.admin.execute(CHAINS).fetchall() == [("U", True)]


def test_trusted_acts_are_written_down_at_each_label_they_change(smith_and_brown: Subjects) -> None:
    officer = smith_and_brown.role("S", trusted=True)
    trusted = smith_and_brown.trusted("S")
    trusted.execute("""SELECT discreet.mls_declassify('employee', '{"name": "Smith"}', ARRAY['perf'], 'U', 'why')""")
    trusted.execute("SELECT discreet.mls_relabel('employee', $$name = 'Smith'$$, ARRAY['perf'], 'C', 'why')")
    smith_and_brown.trusted("S:NATO,CRYPTO").execute("SELECT discreet.mls_purge('employee', 'why')")
    assert history(smith_and_brown.at("U"), "Smith") == [
        (officer, "U", "insert", "U", {"name": "Smith"}, {}),
        (officer, "U", "update", "U", {"name": "Smith"}, {}),
        (officer, "U", "update", "U", {"name": "Smith"}, {}),
    ]
    assert (officer, "U", "update", "U", {"name": "Smith", "perf": "Fair"}, {}) in history(
        smith_and_brown.at("C"), "Smith"
    )
    assert [row[1:3] for row in history(smith_and_brown.at("S"), "Smith")].count(("S", "delete")) == 1
    assert smith_and_brown.admin.execute(CHAINS).fetchall() == [("C", True), ("S", True), ("U", True)]


@pytest.mark.parametrize(
    "change",
    [
        """UPDATE discreet._history SET version = '{"name": "Ann", "salary": 9}' WHERE act = 'insert' AND label = 0""",
        "UPDATE discreet._history SET role = 'postgres' WHERE label = 0",
        "DELETE FROM discreet._history WHERE act = 'insert' AND label = 0",
        "UPDATE discreet._history_link SET role = 'postgres' WHERE label = 0 AND id = 1",
        "DELETE FROM discreet._history_link WHERE label = 0 AND id = 2",
        """DELETE FROM discreet._history h USING discreet._history_link l
           WHERE (h.label, h.batch, id) = (l.label, l.batch, 2) AND l.label = 0""",
        """INSERT INTO discreet._history SELECT label, 1, number, history, place, at, role, act, version, hash
           FROM discreet._history WHERE act = 'insert' AND label = 0""",
    ],
)  # fmt: skip
def test_what_is_tampered_with_is_found_at_its_label(employee: Subjects, change: str) -> None:
    employee.at("U").execute("INSERT INTO employee (name, salary) VALUES ('Ann', 1)")
    employee.at("U").execute("UPDATE employee SET salary = 2")
    employee.at("U").execute("UPDATE employee SET salary = 3")
    employee.at("S").execute("UPDATE employee SET salary = 4")
    assert employee.admin.execute(CHAINS).fetchall() == [("S", True), ("U", True)]
    employee.admin.execute(change)
    assert employee.admin.execute(CHAINS).fetchall() == [("S", True), ("U", False)]


def test_chains_are_shown_to_auditors_who_dominate_them(employee: Subjects) -> None:
    for label in ("U", "S"):
        employee.at(label).execute("INSERT INTO employee (name) VALUES ('Ann')" if label == "U" else
                                   "UPDATE employee SET salary = 1")  # fmt: skip
    for label, chains in (("C", ["U"]), ("S", ["S", "U"])):
        employee.admin.execute(f"GRANT discreet_auditor TO {employee.role(label)}")
        assert [chain for chain, _ in employee.at(label).execute(CHAINS).fetchall()] == chains


@pytest.mark.parametrize("isolation", ["READ COMMITTED", "REPEATABLE READ"])
def test_nobody_waits_for_a_chain(employee: Subjects, isolation: str) -> None:
    """Neither at one label nor at two; and what two write at once fits one chain."""
    first, second, high = employee.at("U"), employee.another("U"), employee.at("S")
    for session in (first, second, high):
        session.execute("SET lock_timeout = '10s'")
        session.execute(f"BEGIN ISOLATION LEVEL {isolation}")
    first.execute("INSERT INTO employee (name) VALUES ('Ann')")
    second.execute("INSERT INTO employee (name) VALUES ('Bob')")
    high.execute("INSERT INTO employee (name) VALUES ('Cy')")
    for session in (second, first, high):
        session.execute("COMMIT")
    assert [row[1] for row in employee.admin.execute(LINKS, [0]).fetchall()] == [1, 2]
    assert employee.admin.execute(CHAINS).fetchall() == [("S", True), ("U", True)]


def test_a_batch_without_a_place_gets_one_with_the_next_commit(employee: Subjects) -> None:
    trusted = employee.trusted("U")
    trusted.execute("BEGIN")
    trusted.execute("INSERT INTO employee (name) VALUES ('Ann')")
    trusted.execute("PREPARE TRANSACTION 'history'")
    employee.at("U").execute("INSERT INTO employee (name) VALUES ('Bob')")
    assert [row[1] for row in employee.admin.execute(LINKS, [0]).fetchall()] == [1]
    employee.admin.execute("COMMIT PREPARED 'history'")
    assert [row[1] for row in employee.admin.execute(LINKS, [0]).fetchall()] == [1, None]
    assert employee.admin.execute(CHAINS).fetchall() == [("U", True)]
    employee.at("U").execute("INSERT INTO employee (name) VALUES ('Cy')")
    assert [row[1] for row in employee.admin.execute(LINKS, [0]).fetchall()] == [1, 2, 3]
    assert employee.admin.execute(CHAINS).fetchall() == [("U", True)]


def test_it_can_be_switched_off_and_on(employee: Subjects) -> None:
    session = employee.at("U")
    session.execute("INSERT INTO employee (name) VALUES ('Ann')")
    employee.admin.execute("SELECT discreet.mls_keep_history('employee', false)")
    session.execute("UPDATE employee SET salary = 1")
    employee.admin.execute("SELECT discreet.mls_keep_history('employee')")
    session.execute("UPDATE employee SET salary = 2")
    assert [row[4].get("salary") for row in history(session, "Ann")] == [None, 2]
    logged = "SELECT details -> 'keep' FROM discreet.mls_log WHERE act = 'mls_keep_history' ORDER BY id"
    assert employee.admin.execute(logged).fetchall() == [(False,), (True,)]
    employee.admin.execute("SELECT discreet.mls_plain('employee')")
    employee.admin.execute("INSERT INTO employee (name) VALUES ('Bob')")


def test_values_are_written_exactly_whatever_the_session_has_set(subjects: Subjects) -> None:
    subjects.make_table(
        "CREATE TABLE thing (name numeric PRIMARY KEY, f float8, i interval, b bytea)", "thing", ["name"]
    )
    session = subjects.at("U")
    session.execute("SET extra_float_digits = -15; SET intervalstyle = 'sql_standard'; SET bytea_output = 'escape'")
    session.execute(
        "INSERT INTO thing (name, f, i, b) VALUES (1.50, 0.1::float8 + 0.2::float8, '1 day -2:00', '\\x00ff')"
    )
    session.execute("RESET ALL")
    query = """SELECT version FROM discreet.mls_history('thing', '{"name": 1.5}')"""
    assert session.execute(query).fetchall() == [
        ({"name": 1.5, "f": 0.30000000000000004, "i": "1 day -02:00:00", "b": "\\x00ff"},)
    ]


def test_the_history_is_what_the_model_says_and_tells_nothing_of_higher_labels(subjects: Subjects, more: bool) -> None:
    """Every observer sees all entries that it dominates and no others; without the acts above it, it sees the same."""
    stage = Stage(subjects)
    labels = {str(observer): observer for observer in OBSERVERS}
    keys = [*KEYS, *(f"{key}2" for key in KEYS)]

    def read(observer: Any, run: int) -> Recorded:
        found: Recorded = defaultdict(list)
        for key in keys:
            rows = subjects.at(str(observer)).execute(
                "SELECT label, act, key_label, version - 'run', borrowed"
                " FROM discreet.mls_history('staff', jsonb_build_object('run', %s::int, 'name', %s::text))",
                [run, key],
            )
            for label, act, key_label, version, borrowed in rows:
                found[key, key_label, label].append((label, act, version, borrowed))
        return found

    for seed in range(MORE_HISTORIES if more else HISTORIES):
        acts = Histories(seed).draw()
        expected = recorded(acts)
        stage.play(acts, seed + 1, [])
        for observer in OBSERVERS if seed % 4 == 0 else OBSERVERS[seed % 4 :: 4]:
            assert read(observer, seed + 1) == seen_by(observer, expected, labels), f"seed {seed}, {observer}"
            dominated = [act for act in acts if observer.dominates(act.subject)]
            assert seen_by(observer, recorded(dominated), labels) == seen_by(observer, expected, labels)
    assert all(intact for _, intact in subjects.admin.execute(CHAINS).fetchall())
