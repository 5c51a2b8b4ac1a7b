"""Trusted operations, and settling versions."""

from __future__ import annotations

import pytest
from tests.database.mls.subjects import Subjects, refused

DECLASSIFY = """SELECT discreet.mls_declassify('employee', '{"name": "%s"}', ARRAY['%s'], '%s', 'was published')"""
UPLEVEL = """SELECT discreet.mls_uplevel('employee', '{"name": "%s"}', '%s', '%s')"""
TOP = "S:NATO,CRYPTO"


def test_a_trusted_session_declassifies_its_own_cells(smith_and_brown: Subjects) -> None:
    trusted = smith_and_brown.trusted("S")
    trusted.execute(DECLASSIFY % ("Smith", "perf", "U"))
    assert smith_and_brown.seen("U") == [("Smith", "U", None, "U", "Fair", "U", "U")]
    # versions that have become equal are one
    assert smith_and_brown.seen("S")[1:] == [("Smith", "U", 40000, "C", "Fair", "U", "C")]
    trusted.execute(DECLASSIFY % ("Brown", "salary", "C"))
    assert smith_and_brown.seen("C")[0] == ("Brown", "C", 80000, "C", "Good", "C", "C")
    assert smith_and_brown.seen("S")[0] == ("Brown", "C", 80000, "C", "Good", "C", "C")


def test_declassification_between_labels_makes_the_row_there(employee: Subjects) -> None:
    employee.at("U").execute("INSERT INTO employee (name, salary, perf) VALUES ('Rossi', 1, 'Fair')")
    employee.trusted("S").execute("UPDATE employee SET salary = 9, perf = 'Bad'")
    employee.trusted("S").execute(DECLASSIFY % ("Rossi", "salary", "C"))
    assert ("Rossi", "U", 9, "C", "Fair", "U", "C") in employee.seen("C")
    assert ("Rossi", "U", 9, "C", "Bad", "S", "S") in employee.seen("S")
    assert employee.seen("U") == [("Rossi", "U", 1, "U", "Fair", "U", "U")]


def test_only_trusted_sessions_declassify_and_only_their_own(smith_and_brown: Subjects) -> None:
    error = refused(smith_and_brown.at("S"), DECLASSIFY % ("Smith", "perf", "U"))
    assert error.sqlstate == "42501"
    trusted = smith_and_brown.trusted("S")
    assert refused(trusted, DECLASSIFY % ("Smith", "salary", "U")).sqlstate == "22023"  # the own of C
    assert refused(trusted, DECLASSIFY % ("Brown", "salary", "U")).sqlstate == "22023"  # below its key
    assert refused(trusted, DECLASSIFY % ("Smith", "perf", "S")).sqlstate == "22023"  # not lower
    assert refused(trusted, DECLASSIFY % ("Smith", "wage", "U")).sqlstate == "42703"
    assert refused(trusted, DECLASSIFY % ("Jones", "perf", "U")).sqlstate == "42704"
    no_reason = (DECLASSIFY % ("Smith", "perf", "U")).replace("was published", " ")
    assert refused(trusted, no_reason).sqlstate == "22023"


def test_uplevel_accepts_the_lower_value_again(smith_and_brown: Subjects) -> None:
    smith_and_brown.at("S").execute("UPDATE employee SET perf = 'Bad' WHERE name = 'Brown'")
    smith_and_brown.at("S").execute(UPLEVEL % ("Brown", "perf", "C"))
    assert smith_and_brown.seen("S")[0] == ("Brown", "C", 80000, "S", "Good", "C", "S")
    assert len(smith_and_brown.seen("S")) == 2


def test_a_row_that_has_nothing_of_its_own_disappears(employee: Subjects) -> None:
    employee.at("U").execute("INSERT INTO employee (name, salary) VALUES ('Rossi', 1)")
    employee.at("C").execute("UPDATE employee SET salary = 2")
    employee.at("C").execute(UPLEVEL % ("Rossi", "salary", "U"))
    assert employee.seen("C") == [("Rossi", "U", 1, "U", None, "C", "C")]
    assert refused(employee.at("C"), UPLEVEL % ("Rossi", "salary", "U")).sqlstate == "42704"


def test_uplevel_settles_incomparable_versions(employee: Subjects) -> None:
    employee.at("U").execute("INSERT INTO employee (name, salary) VALUES ('Rossi', 1)")
    employee.at("C:NATO").execute("UPDATE employee SET salary = 2")
    employee.at("C:CRYPTO").execute("UPDATE employee SET salary = 3")
    employee.at("C:CRYPTO").execute(UPLEVEL % ("Rossi", "salary", "U"))
    employee.at("C:NATO,CRYPTO").execute("UPDATE employee SET perf = 'Good'")
    assert ("Rossi", "U", 2, "C:NATO", "Good", "C:NATO,CRYPTO", "C:NATO,CRYPTO") in employee.seen("C:NATO,CRYPTO")


def test_a_report_shows_versions_side_by_side(smith_and_brown: Subjects) -> None:
    smith_and_brown.at("C").execute("UPDATE employee SET perf = 'Great' WHERE name = 'Smith'")
    report = "SELECT key, column_name, versions FROM discreet.mls_report('employee')"
    assert smith_and_brown.at("S").execute(report).fetchall() == [
        ({"name": "Smith"}, "perf", [{"label": "C", "value": "Great"}, {"label": "S", "value": "Fair"}])
    ]
    assert smith_and_brown.at("C").execute(report).fetchall() == []


@pytest.mark.parametrize("number", ["1e100000", "9" * 5000, "-" + "9" * 5000])
@pytest.mark.parametrize(
    "call",
    [
        """mls_upsert('employee', '{"name": "Rossi", "salary": %s}')""",
        """mls_upsert('employee', '{"name": %s}')""",
        """mls_uplevel('employee', '{"name": %s}', 'salary', 'U')""",
        """mls_declassify('employee', '{"name": %s}', '{salary}', 'U', 'why')""",
    ],
)
def test_a_number_that_python_cannot_read_is_refused_as_a_parameter(employee: Subjects, call: str, number: str) -> None:
    error = refused(employee.trusted("S"), f"SELECT discreet.{call % number}")
    assert (error.sqlstate, "too many digits" in str(error)) == ("22023", True)


def test_upsert_inserts_or_updates(employee: Subjects) -> None:
    session = employee.at("C")
    upsert = """SELECT discreet.mls_upsert('employee', '{"name": "Rossi", "salary": %s}')"""
    assert session.execute(upsert % 1).fetchall() == [("inserted",)]
    assert session.execute(upsert % 2).fetchall() == [("updated",)]
    assert employee.seen("C") == [("Rossi", "C", 2, "C", None, "C", "C")]
    assert employee.at("U").execute(upsert % 3).fetchall() == [("inserted",)]
    assert refused(session, upsert.replace("salary", "wage") % 1).sqlstate == "42703"
    assert refused(session, upsert.replace("name", "nam") % 1).sqlstate == "22023"
    assert "mls_upsert" in str(refused(session, "INSERT INTO employee (name) VALUES ('x') ON CONFLICT DO NOTHING"))


def test_purge_removes_tombstones_that_nobody_borrows_from(employee: Subjects) -> None:
    employee.at("U").execute("INSERT INTO employee (name, salary, perf) VALUES ('Rossi', 1, 'Fair'), ('Weiss', 2, '')")
    employee.at("C").execute("UPDATE employee SET perf = 'Good' WHERE name = 'Rossi'")
    employee.at("U").execute("DELETE FROM employee")
    purge = "SELECT discreet.mls_purge('employee', 'tidy')"
    assert refused(employee.at("S"), purge).sqlstate == "42501"
    assert refused(employee.trusted("U"), purge).sqlstate == "42501"
    assert refused(employee.trusted("S"), purge).sqlstate == "42501"
    assert employee.trusted(TOP).execute(purge).fetchall() == [(1,)]
    assert employee.seen("C") == [("Rossi", "U", 1, "U", "Good", "C", "C")]
    employee.at("C").execute("DELETE FROM employee")
    assert employee.trusted(TOP).execute(purge).fetchall() == [(2,)]


def test_what_is_declassified_where_nothing_is_left_below_is_not_lost(employee: Subjects) -> None:
    employee.at("U").execute("INSERT INTO employee (name, salary, perf) VALUES ('Rossi', 1, 'Fair')")
    trusted = employee.trusted("S")
    trusted.execute("UPDATE employee SET salary = 2, perf = 'Good' WHERE name = 'Rossi'")
    employee.at("U").execute("DELETE FROM employee")
    purged = employee.trusted(TOP).execute("SELECT discreet.mls_purge('employee', 'tidy')")
    assert purged.fetchall() == [(1,)]
    lower = "SELECT discreet.mls_declassify('employee', '{\"name\": \"Rossi\"}', ARRAY['perf'], '%s', 'known by now')"
    assert "was deleted at label U" in str(refused(trusted, lower % "U"))
    trusted.execute(lower % "C")
    assert employee.seen("C") == [("Rossi", "U", None, "C", "Good", "C", "C")]
    assert employee.seen("S") == [("Rossi", "U", 2, "S", "Good", "C", "S")]


def test_a_child_names_only_parents_that_its_session_sees(employee: Subjects) -> None:
    employee.make_table("CREATE TABLE task (id int PRIMARY KEY, owner text)", "task", ["id"])
    employee.admin.execute("SELECT discreet.mls_reference('task', ARRAY['owner'], 'employee')")
    employee.at("C").execute("INSERT INTO employee (name) VALUES ('Rossi')")
    assert refused(employee.at("U"), "INSERT INTO task (id, owner) VALUES (1, 'Rossi')").sqlstate == "23503"
    employee.at("C").execute("INSERT INTO task (id, owner) VALUES (1, 'Rossi'), (2, NULL)")
    assert refused(employee.at("C"), "UPDATE task SET owner = 'nobody' WHERE id = 1").sqlstate == "23503"
    # the session sees the child, so the parent stays
    assert refused(employee.at("C"), "DELETE FROM employee").sqlstate == "23503"


def test_a_low_delete_of_a_parent_is_not_refused_for_higher_children(employee: Subjects) -> None:
    employee.make_table("CREATE TABLE task (id int PRIMARY KEY, owner text)", "task", ["id"])
    employee.admin.execute("SELECT discreet.mls_reference('task', ARRAY['owner'], 'employee')")
    employee.at("U").execute("INSERT INTO employee (name) VALUES ('Rossi')")
    employee.at("C").execute("INSERT INTO task (id, owner) VALUES (1, 'Rossi')")
    assert employee.at("U").execute("DELETE FROM employee").rowcount == 1
    assert employee.seen("C", "task", "id, owner") == [(1, "Rossi")]
