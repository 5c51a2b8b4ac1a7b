"""Django takes row_id for the identity of a row of a multilevel table."""

from __future__ import annotations

import json
import subprocess

from tests.clients_more.conftest import PROGRAMS, PYTHON
from tests.database.mls.subjects import Subjects
from tests.databases import Connection, Database, MakeRole


def test_django_inserts_updates_and_deletes_at_each_label(
    database: Database, admin: Connection, make_role: MakeRole
) -> None:
    admin.execute("SELECT discreet.mls_define(ARRAY['U', 'C', 'S'])")
    subjects = Subjects(database, admin, make_role)
    subjects.make_table("CREATE TABLE employee (name text PRIMARY KEY, salary int, perf text)", "employee", ["name"])
    where = {"PGHOST": str(database.cluster.socket), "PGPORT": str(database.cluster.port), "PGDATABASE": database.name}
    roles = {"LOW": subjects.role("U"), "HIGH": subjects.role("C")}
    command = [str(PYTHON / "python"), str(PROGRAMS / "django_levels.py")]
    done = subprocess.run(command, capture_output=True, text=True, env=where | roles, check=False)
    assert done.returncode == 0, done.stderr
    lower = ["Smith", 2, "U", "Fair", "U"]
    assert json.loads(done.stdout) == {
        "inserted": [True, "Smith", [["Smith", 1, "U", "Fair", "U"]]],
        "inserted many": list(range(20)),
        "duplicate": 'IntegrityError: duplicate key in multilevel table "public"."employee"',
        "updated": 2,
        "deleted many": 20,
        "versions": [["Smith", 2, "U", "Good", "C"], lower],
        "below": [lower],
        "own": [["Smith", 7, "C", "Good", "C"], lower],
        "deleted": 1,
        "lower": "ProgrammingError: a row that lives at a lower label cannot be deleted",
        "key": 'NotSupportedError: keys, labels and ids of multilevel table "public"."employee" cannot be updated',
        "gone": 1,
        "saved again": "DatabaseError: Save with update_fields did not affect any rows.",
    }
