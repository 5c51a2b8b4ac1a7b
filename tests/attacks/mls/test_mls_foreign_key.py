"""Guessing keys by foreign keys: a child that is accepted, or a parent that cannot be deleted, tells of hidden rows."""

from collections.abc import Iterator

import psycopg
import pytest
from tests.attacks.mls.levels import Levels, refusal
from tests.databases import Connection


@pytest.fixture
def child(levels: Levels) -> Iterator[Connection]:
    yield levels.admin
    levels.admin.execute("DROP TABLE IF EXISTS child CASCADE")


def test_a_foreign_key_tells_where_labels_are_row_security(
    naive: Connection, child: Connection, low: Connection, high: Connection
) -> None:
    child.execute("CREATE TABLE child (name text REFERENCES naive); GRANT ALL ON child TO mls_low, mls_high")
    low.execute("INSERT INTO child VALUES ('Brown')")
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        low.execute("INSERT INTO child VALUES ('nobody')")
    high.execute("INSERT INTO child VALUES ('Smith')")
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        low.execute("DELETE FROM naive WHERE name = 'Smith'")


def test_no_foreign_key_leads_to_or_from_a_multilevel_table(levels: Levels, child: Connection) -> None:
    child.execute("CREATE TABLE child (name text PRIMARY KEY, boss text REFERENCES child)")
    code, message = refusal(child, "SELECT discreet.mls_table('child', ARRAY['name'])")
    assert (code, "has the foreign key" in message) == ("42809", True)
    for target in ("employee", "employee_mls"):
        assert refusal(child, f"CREATE TABLE second (name text REFERENCES {target})")[0] in ("42809", "42830", "42704")
    assert refusal(levels.at("low"), "CREATE TEMP TABLE second (name text REFERENCES employee_mls)")[0] in (
        "42501",
        "42P16",
        "42809",
    )
