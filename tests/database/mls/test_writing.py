"""INSERT, UPDATE and DELETE write at the label of the session."""

from __future__ import annotations

import pytest
from tests.database.mls.subjects import Subjects, refused


def test_what_is_inserted_has_the_label_of_the_session(employee: Subjects) -> None:
    session = employee.at("C:NATO")
    inserted = session.execute("INSERT INTO employee (name, salary) VALUES ('Rossi', 1) RETURNING *").fetchone()
    assert inserted is not None
    assert inserted[:-1] == ("Rossi", "C:NATO", 1, "C:NATO", None, "C:NATO", "C:NATO")
    assert employee.seen("C:NATO") == [inserted[:-1]]
    assert employee.seen("C") == []


def test_a_visible_key_is_a_duplicate(smith_and_brown: Subjects) -> None:
    error = refused(smith_and_brown.at("C"), "INSERT INTO employee (name) VALUES ('Smith')")
    assert error.sqlstate == "23505"
    assert error.diag.message_primary == 'duplicate key in multilevel table "public"."employee"'
    assert error.diag.message_detail is None
    assert error.diag.constraint_name is None


def test_a_key_that_only_higher_labels_have_is_accepted(smith_and_brown: Subjects) -> None:
    smith_and_brown.at("U").execute("INSERT INTO employee (name, salary) VALUES ('Brown', 1)")
    assert ("Brown", "U", 1, "U", None, "U", "U") in smith_and_brown.seen("U")
    assert [row[:4] for row in smith_and_brown.seen("C") if row[0] == "Brown"] == [
        ("Brown", "C", None, "C"),
        ("Brown", "U", 1, "U"),
    ]


def test_an_update_of_a_lower_value_makes_a_version_of_its_own(smith_and_brown: Subjects) -> None:
    smith_and_brown.at("C").execute("UPDATE employee SET perf = 'Great' WHERE name = 'Smith'")
    assert smith_and_brown.seen("C")[1] == ("Smith", "U", 40000, "C", "Great", "C", "C")
    assert smith_and_brown.seen("S")[1:] == [
        ("Smith", "U", 40000, "C", "Fair", "S", "S"),
        ("Smith", "U", 40000, "C", "Great", "C", "C"),
    ]
    assert smith_and_brown.seen("U") == [("Smith", "U", None, "U", None, "U", "U")]


def test_an_update_above_leaves_the_value_below(smith_and_brown: Subjects) -> None:
    smith_and_brown.at("S").execute("UPDATE employee SET perf = 'Bad' WHERE name = 'Brown'")
    assert smith_and_brown.seen("S")[:2] == [
        ("Brown", "C", 80000, "S", "Bad", "S", "S"),
        ("Brown", "C", 80000, "S", "Good", "C", "S"),
    ]
    assert smith_and_brown.seen("C")[0] == ("Brown", "C", None, "C", "Good", "C", "C")


def test_a_low_update_is_seen_above_where_it_is_borrowed(employee: Subjects) -> None:
    employee.at("U").execute("INSERT INTO employee VALUES ('Rossi', DEFAULT, 1, DEFAULT, 'Fair')")
    employee.at("S").execute("UPDATE employee SET perf = 'Bad'")
    employee.at("U").execute("UPDATE employee SET salary = 2")
    assert ("Rossi", "U", 2, "U", "Bad", "S", "S") in employee.seen("S")


def test_null_is_a_value_when_it_is_set(employee: Subjects) -> None:
    employee.at("U").execute("INSERT INTO employee (name, salary) VALUES ('Rossi', 1)")
    employee.at("C").execute("UPDATE employee SET salary = NULL")
    assert employee.seen("C") == [
        ("Rossi", "U", 1, "U", None, "C", "C"),
        ("Rossi", "U", None, "C", None, "C", "C"),
    ]
    # absent before and after for U, a value now: shown with its own label, and at S with that of U
    employee.at("U").execute("UPDATE employee SET perf = NULL")
    assert employee.seen("S", columns="perf, perf_label")[0] == (None, "U")


def test_a_cell_that_is_set_to_what_it_shows_becomes_the_sessions_own(employee: Subjects) -> None:
    employee.at("U").execute("INSERT INTO employee (name, salary, perf) VALUES ('Rossi', 1, 'Fair')")
    employee.at("C").execute("UPDATE employee SET salary = 1")
    employee.at("U").execute("UPDATE employee SET salary = 2")
    assert employee.seen("C") == [
        ("Rossi", "U", 1, "C", "Fair", "U", "C"),
        ("Rossi", "U", 2, "U", "Fair", "U", "U"),
    ]


def test_keys_labels_and_ids_are_not_updatable(smith_and_brown: Subjects) -> None:
    session = smith_and_brown.at("U")
    for change in ("name = 'Jones'", "salary_label = 'C'", "row_id = 1", "tc = 'U'"):
        assert refused(session, f"UPDATE employee SET {change}").sqlstate == "0A000"
    # what stays the same is no change: clients write whole rows back
    session.execute("UPDATE employee SET name = name, salary = 7")
    assert smith_and_brown.seen("U") == [("Smith", "U", 7, "U", None, "U", "U")]


def test_of_several_versions_the_one_of_the_session_is_acted_on(smith_and_brown: Subjects) -> None:
    smith_and_brown.at("S").execute("UPDATE employee SET perf = 'Bad' WHERE name = 'Brown'")
    updated = smith_and_brown.at("S").execute("UPDATE employee SET salary = 1 WHERE name = 'Brown'")
    assert updated.rowcount == 1
    assert smith_and_brown.seen("C")[0] == ("Brown", "C", None, "C", "Good", "C", "C")


def test_of_several_lower_versions_the_highest_is_acted_on(employee: Subjects) -> None:
    employee.at("U").execute("INSERT INTO employee (name, salary, perf) VALUES ('Rossi', 1, 'Fair')")
    employee.at("C").execute("UPDATE employee SET salary = 2")
    updated = employee.at("S").execute(
        "UPDATE employee SET perf = 'Bad' RETURNING name, salary, salary_label, perf, tc"
    )
    assert updated.fetchall() == [("Rossi", 2, "C", "Bad", "S")]


def test_incomparable_highest_versions_are_an_error(employee: Subjects) -> None:
    employee.at("U").execute("INSERT INTO employee (name, salary) VALUES ('Rossi', 1)")
    employee.at("C:NATO").execute("UPDATE employee SET salary = 2")
    employee.at("C:CRYPTO").execute("UPDATE employee SET salary = 3")
    error = refused(employee.at("C:NATO,CRYPTO"), "UPDATE employee SET perf = 'Good'")
    assert error.sqlstate == "0A000"
    assert "mls_uplevel" in (error.diag.message_hint or "")


def test_a_delete_removes_the_row_at_the_sessions_label_only(smith_and_brown: Subjects) -> None:
    smith_and_brown.at("C").execute("UPDATE employee SET perf = 'Great' WHERE name = 'Smith'")
    smith_and_brown.at("C").execute("DELETE FROM employee WHERE name = 'Smith'")
    assert smith_and_brown.seen("C") == [
        ("Brown", "C", None, "C", "Good", "C", "C"),
        ("Smith", "U", None, "C", None, "C", "C"),
    ]
    assert ("Smith", "U", 40000, "C", "Fair", "S", "S") in smith_and_brown.seen("S")


def test_a_row_of_a_lower_label_cannot_be_deleted(smith_and_brown: Subjects) -> None:
    smith_and_brown.at("U").execute("INSERT INTO employee (name) VALUES ('Jones')")
    assert refused(smith_and_brown.at("C"), "DELETE FROM employee WHERE name = 'Jones'").sqlstate == "42501"
    assert ("Jones",) in smith_and_brown.seen("U", columns="name")


def test_a_low_delete_is_never_refused_and_what_is_borrowed_stays(employee: Subjects) -> None:
    employee.at("U").execute("INSERT INTO employee (name, salary, perf) VALUES ('Rossi', 1, 'Fair')")
    employee.at("C").execute("UPDATE employee SET perf = 'Good'")
    assert employee.at("U").execute("DELETE FROM employee").rowcount == 1
    assert employee.seen("U") == []
    assert employee.seen("C") == [("Rossi", "U", 1, "U", "Good", "C", "C")]


def test_the_same_key_inserted_again_is_a_new_entity(employee: Subjects) -> None:
    employee.at("U").execute("INSERT INTO employee (name, salary) VALUES ('Rossi', 1)")
    employee.at("C").execute("UPDATE employee SET perf = 'Good'")
    employee.at("U").execute("DELETE FROM employee")
    employee.at("U").execute("INSERT INTO employee (name, salary) VALUES ('Rossi', 2)")
    assert employee.seen("U") == [("Rossi", "U", 2, "U", None, "U", "U")]
    assert employee.seen("C") == [
        ("Rossi", "U", 1, "U", "Good", "C", "C"),
        ("Rossi", "U", 2, "U", None, "C", "C"),
    ]


def test_an_update_after_a_delete_brings_the_row_of_the_session_back(employee: Subjects) -> None:
    employee.at("U").execute("INSERT INTO employee (name, salary, perf) VALUES ('Rossi', 1, 'Fair')")
    employee.at("C").execute("UPDATE employee SET perf = 'Good', salary = 2")
    employee.at("C").execute("DELETE FROM employee WHERE tc = 'C'")
    employee.at("C").execute("UPDATE employee SET perf = 'Bad'")
    assert ("Rossi", "U", 1, "U", "Bad", "C", "C") in employee.seen("C")
    assert len(employee.seen("C")) == 2


def test_ids_and_tuple_classes_are_not_for_users_to_choose(smith_and_brown: Subjects) -> None:
    session = smith_and_brown.at("U")
    (known,) = session.execute("SELECT row_id FROM employee").fetchall()
    (given,) = session.execute(
        "INSERT INTO employee (name, row_id) VALUES ('x', %s) RETURNING row_id", known
    ).fetchall()
    assert given != known
    assert refused(session, "INSERT INTO employee (name, tc) VALUES ('q', 'S')").sqlstate == "42501"


def test_errors_of_keys_tell_of_the_view_alone(employee: Subjects) -> None:
    for value, code in (("NULL", "23502"), ("repeat('é', 1500)", "54000")):
        error = refused(employee.at("U"), f"INSERT INTO employee (name) VALUES ({value})")
        assert error.sqlstate == code
        assert error.diag.message_detail is None
        assert "_mls" not in (error.diag.message_primary or "")


def test_writing_without_a_clearance_is_an_error(employee: Subjects) -> None:
    error = refused(employee.admin, "INSERT INTO employee (name) VALUES ('Rossi')")
    assert error.sqlstate == "42501"
    assert "no clearance" in str(error)


def test_giving_labels_without_trust_is_denied(employee: Subjects) -> None:
    error = refused(employee.at("C"), "INSERT INTO employee (name, name_label) VALUES ('Rossi', 'U')")
    assert error.sqlstate == "42501"
    assert employee.seen("C") == []
    # the label that it would have anyway may be given
    employee.at("C").execute("INSERT INTO employee (name, name_label) VALUES ('Rossi', 'C')")
    assert employee.seen("C", columns="name") == [("Rossi",)]


def test_what_stores_a_row_takes_rows_of_multilevel_tables_alone(employee: Subjects) -> None:
    """Only triggers and superusers may call it."""
    nobody = "ROW(" + ", ".join(["NULL"] * 8) + ")::employee"
    for arguments in (
        "NULL, NULL, NULL, NULL, NULL",
        "'pg_class', ROW(1), 0, NULL, ''",
        "'employee_mls', NULL::employee, 1, NULL, ''",
        "'employee_mls', ROW(1), 1, NULL, ''",
        f"'employee_mls', {nobody}, 1, NULL, ''",
    ):
        assert refused(employee.admin, f"SELECT discreet._insert_root({arguments})").sqlstate == "XX000"
    assert (
        refused(employee.at("C"), f"SELECT discreet._insert_root('employee_mls', {nobody}, 1, NULL, '')").sqlstate
        == "42501"
    )


@pytest.mark.parametrize("statement", ["UPDATE employee SET perf = 'Bad'", "DELETE FROM employee WHERE tc = 'S'"])
def test_a_statement_over_many_rows_looks_for_each_by_its_key(employee: Subjects, statement: str) -> None:
    """Plans may be made while the index of rows above is empty, and are kept while a statement fills it."""
    count = 300
    employee.at("U").execute(
        f"INSERT INTO employee SELECT n::text, 'U', n, 'U', 'Good' FROM generate_series(1, {count}) n"
    )
    employee.admin.execute("VACUUM ANALYZE employee_mls")
    session = employee.at("S")
    if statement.startswith("DELETE"):
        session.execute("UPDATE employee SET perf = 'Fair'")
    read = "SELECT pg_stat_get_xact_tuples_returned('employee_mls_above'::regclass)"
    with session.transaction():
        assert session.execute(statement.encode()).rowcount == count
        ((tuples,),) = session.execute(read).fetchall()
    assert tuples <= 20 * count
