"""A role may write from a label on only; what it reads is the same."""

from __future__ import annotations

import pytest
from tests.database.mls.subjects import Subjects, refused
from tests.databases import Connection


@pytest.fixture
def clerk(smith_and_brown: Subjects) -> Connection:
    """A session that may read up to S and write from C on."""
    role = smith_and_brown.role("S")
    smith_and_brown.admin.execute("SELECT discreet.mls_clear(%s, 'S', write_from => 'C')", [role])
    return smith_and_brown.at("S")


def test_a_session_below_the_range_reads_and_does_not_write(smith_and_brown: Subjects, clerk: Connection) -> None:
    clerk.execute("SET discreet.level = 'U'")
    assert clerk.execute("SELECT name FROM employee").fetchall() == [("Smith",)]
    for statement in (
        "INSERT INTO employee (name) VALUES ('Rossi')",
        "UPDATE employee SET perf = 'Bad'",
        "DELETE FROM employee",
        """SELECT discreet.mls_upsert('employee', '{"name": "Smith", "perf": "Bad"}')""",
    ):
        error = refused(clerk, statement)
        assert (error.sqlstate, "may not write at label U" in str(error)) == ("42501", True)
    assert smith_and_brown.seen("U") == [("Smith", "U", None, "U", None, "U", "U")]


@pytest.mark.parametrize("label", ["C", "S"])
def test_within_the_range_it_writes(smith_and_brown: Subjects, clerk: Connection, label: str) -> None:
    clerk.execute("SELECT set_config('discreet.level', %s, false)", [label])
    clerk.execute("INSERT INTO employee (name, perf) VALUES ('Rossi', 'Good')")
    assert clerk.execute("UPDATE employee SET perf = 'Bad' WHERE name = 'Rossi'").rowcount == 1
    assert clerk.execute("DELETE FROM employee WHERE name = 'Rossi'").rowcount == 1


def test_trusted_acts_stay_within_the_range(smith_and_brown: Subjects) -> None:
    role = smith_and_brown.role("S", trusted=True)
    smith_and_brown.admin.execute("SELECT discreet.mls_clear(%s, 'S', 'C')", [role])
    trusted = smith_and_brown.trusted("S")
    load = "INSERT INTO employee (name, name_label, perf, perf_label) VALUES ('%s', '%s', 'Good', 'S')"
    assert "a label is below those" in str(refused(trusted, load % ("Rossi", "U")))
    trusted.execute(load % ("Rossi", "C"))
    lower = """SELECT discreet.mls_declassify('employee', '{"name": "Smith"}', '{perf}', '%s', 'tests')"""
    assert "may not write at label U" in str(refused(trusted, lower % "U"))
    trusted.execute(lower % "C")
    assert smith_and_brown.seen("C", columns="name, perf") == [("Brown", "Good"), ("Rossi", None), ("Smith", "Fair")]


def test_a_range_without_a_label_in_it_is_refused(subjects: Subjects) -> None:
    role = subjects.role("C")
    for label, write_from in (("C", "S"), ("C", "U:NATO"), ("S", "C:NATO")):
        error = refused(subjects.admin, "SELECT discreet.mls_clear(%s, %s, %s)", role, label, write_from)
        assert "not dominated by the clearance" in str(error)
    subjects.admin.execute("SELECT discreet.mls_clear(%s, 'S:NATO', 'C:NATO')", [role])
    shown = subjects.admin.execute("SELECT label, write_from FROM discreet.clearances WHERE role = %s::regrole", [role])
    assert shown.fetchall() == [("S:NATO", "C:NATO")]
    subjects.admin.execute("SELECT discreet.mls_clear(%s, 'C')", [role])
    assert subjects.admin.execute(
        "SELECT write_from FROM discreet.clearances WHERE role = %s::regrole", [role]
    ).fetchall() == [("U",)]
