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


@pytest.fixture
def memo(levels: Levels) -> Iterator[None]:
    """A multilevel table whose rows name employees."""
    levels.admin.execute(
        """
        CREATE TABLE memo (id int PRIMARY KEY, about text);
        GRANT SELECT, INSERT, UPDATE, DELETE ON memo TO mls_low, mls_middle, mls_high;
        SELECT discreet.mls_table('memo', ARRAY['id']);
        SELECT discreet.mls_reference('memo', ARRAY['about'], 'employee');
        """
    )
    yield
    levels.admin.execute("SELECT discreet.mls_drop('memo')")


@pytest.mark.usefixtures("memo")
def test_a_hidden_parent_is_as_good_as_none(low: Connection, middle: Connection) -> None:
    told = [refusal(low, f"INSERT INTO memo VALUES (1, 'U', '{name}')") for name in ("Brown", "nobody")]
    assert told[0] == told[1]
    assert told[0][0] == "23503"
    low.execute("INSERT INTO memo (id, about) VALUES (1, 'Smith'), (2, NULL)")
    told = [refusal(low, f"UPDATE memo SET about = '{name}' WHERE id = 1") for name in ("Brown", "nobody")]
    assert told[0] == told[1]
    middle.execute("INSERT INTO memo (id, about) VALUES (3, 'Brown')")


@pytest.mark.usefixtures("memo")
def test_a_parent_that_higher_children_name_is_deleted_below(levels: Levels) -> None:
    told = levels.tell_nothing(
        ["INSERT INTO memo (id, about) VALUES (7, 'Smith') RETURNING id"],
        ["DELETE FROM employee WHERE name = 'Smith' RETURNING *", "SELECT * FROM memo"],
    )
    assert told[0] == ("DELETE 1", [("Smith", "U", None, "U", None, "U", "U")])


@pytest.mark.usefixtures("memo")
def test_a_parent_that_visible_children_name_stays(low: Connection) -> None:
    low.execute("INSERT INTO memo (id, about) VALUES (1, 'Smith')")
    assert refusal(low, "DELETE FROM employee WHERE name = 'Smith'")[0] == "23503"
