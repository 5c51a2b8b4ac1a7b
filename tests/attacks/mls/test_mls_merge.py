"""MERGE does one thing where a row exists and another where it does not."""

import pytest
from tests.attacks.mls.levels import Levels, refusal
from tests.databases import Connection

MERGE = "MERGE INTO employee e USING (VALUES ('Grey')) v(name) ON e.name = v.name "
MERGES = [
    MERGE + "WHEN MATCHED THEN DELETE",
    MERGE + "WHEN NOT MATCHED THEN INSERT (name) VALUES ('a')",
]


@pytest.mark.parametrize("merge", MERGES)
def test_merge_into_a_multilevel_table_is_refused(levels: Levels, low: Connection, merge: str) -> None:
    assert refusal(low, merge)[0] == "0A000"
    levels.tell_nothing(["INSERT INTO employee (name) VALUES ('Grey')"], [merge, "SELECT * FROM employee"])


def test_merge_from_one_sees_what_the_session_sees(low: Connection) -> None:
    low.execute("CREATE TEMP TABLE mine (name text)")
    low.execute("MERGE INTO mine USING employee e ON mine.name = e.name WHEN NOT MATCHED THEN INSERT VALUES (e.name)")
    assert low.execute("TABLE mine").fetchall() == [("Smith",)]
