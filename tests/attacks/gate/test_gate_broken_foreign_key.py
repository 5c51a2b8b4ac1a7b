"""A way to the person over a foreign key that is not validated, deferrable, disabled, dropped, or to no unique key."""

import psycopg
import pytest
from tests.attacks.gate.asking import how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

TABLES = """
    CREATE TABLE extra.trip (trip_id int PRIMARY KEY, person int REFERENCES hr.person);
    INSERT INTO extra.trip SELECT n, n % 1000 + 1 FROM generate_series(1, 2000) n;
    CREATE TABLE extra.stop (trip_id int, minutes int);
    INSERT INTO extra.stop SELECT n % 2000 + 1, n % 10 FROM generate_series(1, 4000) n;
    SELECT discreet.protect('extra.trip', 'person', dataset => 'people', max_rows => 3);
"""
KEY = "ALTER TABLE extra.stop ADD CONSTRAINT k FOREIGN KEY (trip_id) REFERENCES extra.trip"
PROTECT = "SELECT discreet.protect('extra.stop', 'trip_id -> extra.trip.person', dataset => 'people', max_rows => 6)"
COUNT = "SELECT count(*) FROM extra.stop"
UNFIT = ["SELECT 1", f"{KEY} NOT VALID", f"{KEY} DEFERRABLE", f"{KEY} DEFERRABLE INITIALLY DEFERRED",
         f"{KEY}; ALTER TABLE extra.stop DISABLE TRIGGER ALL"]  # fmt: skip
BREAKS = ["ALTER TABLE extra.stop DROP CONSTRAINT k", "ALTER TABLE extra.stop DISABLE TRIGGER ALL",
          "ALTER TABLE extra.trip DROP CONSTRAINT trip_pkey CASCADE",
          "ALTER TABLE extra.stop ALTER CONSTRAINT k DEFERRABLE"]  # fmt: skip
# the key is there again, but rows without a parent came in meanwhile, and nothing has looked at them
NOT_VALIDATED = f"""
    ALTER TABLE extra.stop DROP CONSTRAINT k;
    INSERT INTO extra.stop SELECT 1000000 + n % 7, 5 FROM generate_series(1, 100) n;
    {KEY} NOT VALID
"""


@pytest.mark.parametrize("key", UNFIT)
def test_such_a_table_is_not_protected(gated: Target, key: str) -> None:
    gated.admin.execute(TABLES)
    gated.admin.execute(key.encode())
    with pytest.raises(psycopg.Error, match="validated foreign key"):
        gated.admin.execute(PROTECT)


@pytest.mark.parametrize("change", [*BREAKS, NOT_VALIDATED])
def test_a_key_that_is_gone_later_ends_the_answers(gated: Target, blind: Connection, change: str) -> None:
    gated.admin.execute(TABLES)
    gated.admin.execute(f"{KEY}; {PROTECT}")
    assert how_it_ends(blind, COUNT) == "answer"
    gated.admin.execute(change.encode())
    gated.admin.execute("TRUNCATE discreet._answer")
    with gated.free():
        assert how_it_ends(blind, COUNT) == "DP001"


def test_a_mutant_that_ignores_whether_the_key_is_validated_is_noticed(gated: Target, blind: Connection) -> None:
    """What ends the answers is that one condition: without it, the same question is answered over the same key."""
    definition = str(gated.value("SELECT pg_get_functiondef('discreet._unit_path'::regproc)"))
    mutant = definition.replace(" AND k.convalidated", "")
    assert mutant != definition
    gated.admin.execute(TABLES)
    gated.admin.execute(f"{KEY}; {PROTECT}")
    gated.admin.execute(NOT_VALIDATED)
    with gated.free():
        assert how_it_ends(blind, COUNT) == "DP001"
    gated.admin.execute(mutant.encode())
    try:
        assert how_it_ends(blind, COUNT) == "answer"
    finally:
        gated.admin.execute(definition.encode())


def test_a_parent_is_not_unprotected_before_its_children(gated: Target) -> None:
    gated.admin.execute(TABLES)
    gated.admin.execute(f"{KEY}; {PROTECT}")
    with pytest.raises(psycopg.Error, match="have their person over"):
        gated.admin.execute("SELECT discreet.unprotect('extra.trip')")


def test_renamed_tables_and_columns_are_followed(gated: Target, blind: Connection) -> None:
    gated.admin.execute(TABLES)
    gated.admin.execute(f"{KEY}; {PROTECT}; ALTER TABLE extra.trip RENAME trip_id TO number")
    gated.admin.execute("ALTER TABLE extra.trip RENAME person TO who; ALTER TABLE extra.trip RENAME TO journey")
    assert how_it_ends(blind, COUNT) == "answer"
    shown = "SELECT unit FROM discreet.protected_tables WHERE relation = 'extra.stop'::regclass"
    assert gated.value(shown) == "trip_id -> extra.journey.who"
