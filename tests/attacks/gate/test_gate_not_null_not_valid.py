"""NOT NULL … NOT VALID, NO INHERIT (PostgreSQL 18): a unit that is unique and may be NULL, many times."""

import psycopg
import pytest
from tests.attacks.target import Target
from tests.databases import Connection
from tests.versions import since

pytestmark = since(18)

NOBODY = """
    CREATE TABLE extra.late (id int UNIQUE, salary int);
    INSERT INTO extra.late SELECT NULL, 1 FROM generate_series(1, 3000);
    INSERT INTO extra.late SELECT n, 1 FROM generate_series(1, 10) n;
    ALTER TABLE extra.late ADD CONSTRAINT known NOT NULL id NOT VALID;
"""
PROTECT = "SELECT discreet.protect('extra.late', 'id', dataset => 'people'{})"


def test_postgresql_calls_the_column_not_null(gated: Target) -> None:
    gated.admin.execute(NOBODY)
    marked = "SELECT attnotnull FROM pg_attribute WHERE attrelid = 'extra.late'::regclass AND attname = 'id'"
    assert gated.admin.execute(marked).fetchall() == [(True,)]


def test_it_is_not_taken_for_one_row_a_person(gated: Target) -> None:
    gated.admin.execute(NOBODY)
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="max_rows is missing"):
        gated.admin.execute(PROTECT.format(""))


def test_rows_without_a_person_take_no_part(gated: Target, blind: Connection) -> None:
    gated.admin.execute(NOBODY + PROTECT.format(", max_rows => 1"))
    ((answer,),) = blind.execute("SELECT count(*) FROM extra.late").fetchall()
    # noise of scale 10 is beyond 300 with probability e^-30
    assert abs(answer - 10) < 300


def test_it_counts_once_it_is_valid(gated: Target) -> None:
    gated.admin.execute(
        NOBODY + "DELETE FROM extra.late WHERE id IS NULL; ALTER TABLE extra.late VALIDATE CONSTRAINT known"
    )
    gated.admin.execute(PROTECT.format(""))


def test_a_constraint_of_the_parent_alone_is_none(gated: Target) -> None:
    gated.admin.execute("CREATE TABLE extra.late (id int UNIQUE, salary int, CONSTRAINT known NOT NULL id NO INHERIT)")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="max_rows is missing"):
        gated.admin.execute(PROTECT.format(""))
