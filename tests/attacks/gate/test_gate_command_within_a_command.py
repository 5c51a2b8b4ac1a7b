"""DDL of a table's owner whose CHECK runs another command, in a subtransaction that is taken back: what is followed?"""

import psycopg
import pytest
from tests.attacks.target import Target
from tests.databases import Connection

NESTED = """
    CREATE FUNCTION extra.nested(value int) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
        CREATE TEMP TABLE inner_one (n int);
        RAISE 'take it back';
    EXCEPTION WHEN OTHERS THEN
        RETURN true;
    END $$
"""
DROP_UNIT = "ALTER TABLE extra.{} DROP COLUMN id, ADD CHECK (extra.nested(v))"
LEAVE = "ALTER TABLE extra.child NO INHERIT extra.whole, ADD CHECK (extra.nested(v))"


@pytest.fixture
def owner(target: Target, mallory: Connection) -> Connection:
    mallory.execute(NESTED)
    for table in ("plain", "whole"):
        mallory.execute(f"CREATE TABLE extra.{table} (id int NOT NULL, v int); INSERT INTO extra.{table} VALUES (1, 1)")
    mallory.execute("CREATE TABLE extra.child () INHERITS (extra.whole); INSERT INTO extra.child VALUES (2, 2)")
    target.admin.execute("SELECT discreet.protect('extra.whole', 'id', dataset => 'people', max_rows => 1)")
    return mallory


def test_a_unit_is_not_dropped_unseen(owner: Connection) -> None:
    owner.execute(DROP_UNIT.format("plain"))
    with pytest.raises(psycopg.errors.DependentObjectsStillExist):
        owner.execute(DROP_UNIT.format("whole"))


def test_a_child_does_not_leave_unseen(target: Target, owner: Connection) -> None:
    owner.execute(LEAVE)
    found = target.admin.execute("SELECT unit FROM discreet.protected_tables WHERE relation = 'extra.child'::regclass")
    assert found.fetchall() == [("id",)]


def test_a_child_that_leaves_unseen_does_not_escape_with_its_whole(target: Target, owner: Connection) -> None:
    owner.execute(f"BEGIN; {LEAVE}; DROP TABLE extra.whole; COMMIT")
    found = target.admin.execute("SELECT unit FROM discreet.protected_tables WHERE relation = 'extra.child'::regclass")
    assert found.fetchall() == [("id",)]


def test_the_unit_of_a_child_that_leaves_unseen_is_not_replaced(owner: Connection) -> None:
    owner.execute(f"BEGIN; {LEAVE}")
    with pytest.raises(psycopg.errors.DependentObjectsStillExist):
        owner.execute("ALTER TABLE extra.child DROP COLUMN id, ADD COLUMN id serial")
    owner.execute("ROLLBACK")
