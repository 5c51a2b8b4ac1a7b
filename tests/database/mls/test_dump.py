"""A dump by a trusted role holds rows of all labels, clearances and the log; restored, all is as it was."""

from __future__ import annotations

from tests.database.mls.askers import Askers, answers
from tests.database.mls.subjects import Subjects
from tests.databases import Database, restore


def restored(subjects: Subjects, empty_database: Database) -> Subjects:
    """What a trusted role dumps, restored."""
    dumper = subjects.role("S", trusted=True)
    subjects.admin.execute(f"GRANT pg_read_all_data TO {dumper}")
    restore(subjects.database, empty_database, dumped_by=dumper)
    fresh = Subjects(empty_database, empty_database.connect(), subjects._make_role)
    fresh._roles = subjects._roles
    return fresh


def test_budgets_of_labels_are_restored(subjects: Subjects, empty_database: Database) -> None:
    staff = Askers(subjects)
    staff.load()
    staff.protect()
    spent = "SELECT dataset, label, role, epsilon_left FROM discreet.budget_status ORDER BY 1, 2, 3"
    for label, people in (("U", 40), ("S", 70)):
        assert staff.number(label, "count(*)") == people
    before = staff.admin.execute(spent).fetchall()
    fresh = restored(subjects, empty_database)
    assert fresh.admin.execute(spent).fetchall() == before
    chains = fresh.admin.execute(
        "SELECT label, charges, intact FROM discreet.verify_log() WHERE charges = 1"
    ).fetchall()
    assert chains == [("S", 1, True), ("U", 1, True)]
    for label, people in (("U", 40), ("S", 70)):
        session = empty_database.connect(staff.role(label))
        assert answers(session, "SELECT count(*) FROM staff") == [{"count": people}]


def test_a_restored_database_shows_each_label_the_same(smith_and_brown: Subjects, empty_database: Database) -> None:
    smith_and_brown.at("C").execute("UPDATE employee SET perf = 'Great' WHERE name = 'Smith'")
    smith_and_brown.at("U").execute("DELETE FROM employee")
    before = {label: smith_and_brown.seen(label) for label in ("U", "C", "S")}
    fresh = restored(smith_and_brown, empty_database)
    assert {label: fresh.seen(label) for label in before} == before
    fresh.at("U").execute("INSERT INTO employee (name, salary) VALUES ('Smith', 1)")
    assert fresh.seen("U") == [("Smith", "U", 1, "U", None, "U", "U")]
    verify = "SELECT intact FROM discreet.verify_log() WHERE dataset IS NULL"
    assert empty_database.connect().execute(verify).fetchall() == [(True,)]


def test_a_restored_history_is_intact_and_goes_on(employee: Subjects, empty_database: Database) -> None:
    history = """SELECT label, act, version FROM discreet.mls_history('employee', '{"name": "Ann"}')"""
    chains = "SELECT substr(dataset, 23), intact FROM discreet.verify_log() WHERE dataset ~ '^multilevel' ORDER BY 1"
    employee.at("U").execute("INSERT INTO employee (name) VALUES ('Ann')")
    employee.at("S").execute("UPDATE employee SET salary = 1")
    before = employee.at("S").execute(history).fetchall()
    fresh = restored(employee, empty_database)
    assert fresh.at("S").execute(history).fetchall() == before
    fresh.at("U").execute("UPDATE employee SET perf = 'Good'")
    now = fresh.at("S").execute(history).fetchall()
    assert now == [*before, ("U", "update", {"name": "Ann", "perf": "Good"})]
    admin = empty_database.connect()
    assert admin.execute(chains).fetchall() == [("S", True), ("U", True)]
    assert admin.execute("SELECT max(id) FROM discreet._history_link WHERE label = 0").fetchall() == [(2,)]
