"""A dump by a trusted role holds rows of all labels, clearances and the log; restored, all is as it was."""

from __future__ import annotations

import subprocess
from pathlib import Path

from dev.interpreter import pg_config
from tests.database.mls.subjects import Subjects
from tests.databases import Database


def test_a_restored_database_shows_each_label_the_same(smith_and_brown: Subjects, empty_database: Database) -> None:
    smith_and_brown.at("C").execute("UPDATE employee SET perf = 'Great' WHERE name = 'Smith'")
    smith_and_brown.at("U").execute("DELETE FROM employee")
    before = {label: smith_and_brown.seen(label) for label in ("U", "C", "S")}
    admin = smith_and_brown.admin
    dumper = smith_and_brown.role("S", trusted=True)
    admin.execute(f"GRANT pg_read_all_data TO {dumper}")
    tools = Path(pg_config("--bindir"))
    dump = subprocess.run(
        [tools / "pg_dump", smith_and_brown.database.dsn(dumper)], check=True, capture_output=True, text=True
    ).stdout
    restored = subprocess.run(
        [tools / "psql", "-X", "-v", "ON_ERROR_STOP=1", "-q", empty_database.dsn()],
        input=dump, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert restored.returncode == 0, restored.stderr
    fresh = Subjects(empty_database, empty_database.connect(), smith_and_brown._make_role)
    fresh._roles = smith_and_brown._roles
    assert {label: fresh.seen(label) for label in before} == before
    fresh.at("U").execute("INSERT INTO employee (name, salary) VALUES ('Smith', 1)")
    assert fresh.seen("U") == [("Smith", "U", 1, "U", None, "U", "U")]
    verify = "SELECT intact FROM discreet.verify_log() WHERE dataset IS NULL"
    assert empty_database.connect().execute(verify).fetchall() == [(True,)]
