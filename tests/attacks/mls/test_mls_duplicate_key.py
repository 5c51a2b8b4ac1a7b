"""Guessing keys: an INSERT that fails tells that somebody above has the key."""

import psycopg
import pytest
from tests.attacks.mls.levels import Levels
from tests.databases import Connection


def test_a_duplicate_key_tells_where_labels_are_row_security(naive: Connection, low: Connection) -> None:
    assert low.execute("SELECT name FROM naive").fetchall() == [("Smith",)]
    with pytest.raises(psycopg.errors.UniqueViolation):
        low.execute("INSERT INTO naive (name) VALUES ('Brown')")


def test_a_key_that_only_higher_rows_have_is_free(levels: Levels) -> None:
    told = levels.tell_nothing(
        ["INSERT INTO employee (name, salary) VALUES ('Spy', 7)"],
        [
            "INSERT INTO employee (name) VALUES ('Spy') RETURNING *",
            "INSERT INTO employee (name) VALUES ('Spy')",
            "INSERT INTO employee (name) VALUES ('a'), ('Spy')",
            "INSERT INTO employee (name) SELECT 'Brown'",
            "SELECT name, salary FROM employee",
        ],
    )
    assert told[0] == ("INSERT 0 1", [("Spy", "U", None, "U", None, "U", "U")])


def test_a_key_of_an_incomparable_label_is_free(levels: Levels) -> None:
    levels.tell_nothing(
        ["INSERT INTO employee (name, salary) VALUES ('Spy', 7)"],
        ["INSERT INTO employee (name) VALUES ('Spy') RETURNING *", "SELECT * FROM employee"],
        who="high",
        by="nato",
    )
