"""MERGE does one thing where a row exists and another where it does not; it writes to views since PostgreSQL 17."""

from collections.abc import Iterator

import pytest
from tests.attacks.mls.levels import Levels, refusal
from tests.databases import Connection
from tests.versions import since

MERGE = "MERGE INTO employee e USING (VALUES ('Grey')) v(name) ON e.name = v.name "
MERGES = [
    MERGE + "WHEN MATCHED THEN DELETE",
    MERGE + "WHEN NOT MATCHED THEN INSERT (name) VALUES ('a')",
    pytest.param(MERGE + "WHEN MATCHED THEN UPDATE SET salary = salary", marks=since(17)),
    pytest.param(MERGE + "WHEN NOT MATCHED BY SOURCE THEN DELETE", marks=since(17)),
    pytest.param(
        f"WITH gone AS ({MERGE} WHEN NOT MATCHED BY SOURCE THEN DELETE RETURNING e.name) TABLE gone", marks=since(17)
    ),
]


@pytest.fixture
def around(levels: Levels) -> Iterator[None]:
    """A view that PostgreSQL writes through."""
    levels.admin.execute("CREATE VIEW around AS SELECT * FROM employee; GRANT ALL ON around TO PUBLIC")
    yield
    levels.admin.execute("DROP VIEW around")


@pytest.mark.parametrize("merge", MERGES)
def test_merge_into_a_multilevel_table_is_refused(levels: Levels, low: Connection, merge: str) -> None:
    assert refusal(low, merge)[0] == "0A000"
    levels.tell_nothing(["INSERT INTO employee (name) VALUES ('Grey')"], [merge, "SELECT * FROM employee"])


@pytest.mark.parametrize("merge", MERGES)
def test_nor_through_a_view_around_it(levels: Levels, around: None, low: Connection, merge: str) -> None:
    assert refusal(low, merge.replace("employee", "around"))[0] == "0A000"
    assert low.execute("SELECT name FROM employee").fetchall() == [("Smith",)]


def test_merge_from_one_sees_what_the_session_sees(low: Connection) -> None:
    low.execute("CREATE TEMP TABLE mine (name text)")
    low.execute("MERGE INTO mine USING employee e ON mine.name = e.name WHEN NOT MATCHED THEN INSERT VALUES (e.name)")
    assert low.execute("TABLE mine").fetchall() == [("Smith",)]
