"""A database with levels, a login role for each label, and a table of employees."""

from __future__ import annotations

import pytest
from tests.database.mls.subjects import Subjects
from tests.databases import Connection, Database, MakeRole

EMPLOYEE = "CREATE TABLE employee (name text PRIMARY KEY, salary int, perf text)"
LOAD = """
    INSERT INTO employee (name, name_label, salary, salary_label, perf, perf_label)
    VALUES ('Smith', 'U', 40000, 'C', 'Fair', 'S'), ('Brown', 'C', 80000, 'S', 'Good', 'C')
"""


@pytest.fixture
def subjects(database: Database, admin: Connection, make_role: MakeRole) -> Subjects:
    """Levels U, C, S and compartments NATO, CRYPTO; who asks for a session of a label gets one of its own role."""
    admin.execute("SELECT discreet.mls_define(ARRAY['U', 'C', 'S'], ARRAY['NATO', 'CRYPTO'])")
    return Subjects(database, admin, make_role)


@pytest.fixture
def employee(subjects: Subjects) -> Subjects:
    """Multilevel table employee, with nobody in it."""
    subjects.make_table(EMPLOYEE, "employee", ["name"])
    return subjects


@pytest.fixture
def smith_and_brown(employee: Subjects) -> Subjects:
    """Multilevel table employee as a trusted session has loaded it."""
    employee.trusted("S").execute(LOAD)
    return employee
