"""An old snapshot (REPEATABLE READ) that hides newer charges and decisions."""

import psycopg
import pytest
from tests.attacks.gate.asking import COUNT, FRESH, how_it_ends, number
from tests.attacks.target import Target, ask_until_refused
from tests.databases import Connection


def test_an_old_snapshot_hides_charges_of_a_naive_ledger(target: Target, mallory: Connection) -> None:
    mallory.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
    before = mallory.execute("SELECT spent FROM naive.budget").fetchall()
    target.connect("eve").execute("SELECT naive.ask()")
    assert mallory.execute("SELECT spent FROM naive.budget").fetchall() == before
    assert target.naive_spent() != 0


def test_an_old_snapshot_hides_no_charge(gated: Target, blind: Connection) -> None:
    blind.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    blind.execute("SELECT 1 FROM discreet.budget_status")
    assert ask_until_refused(gated.connect("eve"), FRESH) == 10
    with pytest.raises(psycopg.Error) as caught:
        blind.execute(FRESH)
    assert caught.value.sqlstate == "DP003"


def test_an_old_snapshot_hides_no_decision_of_a_curator(gated: Target, blind: Connection) -> None:
    blind.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    blind.execute("SELECT 1 FROM discreet.budget_status")
    gated.admin.execute("SELECT discreet.revoke_budget('people', 'blind')")
    with gated.free():
        assert how_it_ends(blind, COUNT) == "DP004"


def test_an_old_snapshot_does_not_take_a_new_key_for_granted(gated: Target, blind: Connection) -> None:
    """Person 1 has a thousand rows in the old snapshot, and one since the key was made."""
    gated.admin.execute(
        """
        CREATE TABLE extra.once (person int NOT NULL);
        INSERT INTO extra.once SELECT 1 FROM generate_series(1, 1000);
        SELECT discreet.protect('extra.once', 'person', dataset => 'people', max_rows => 1);
        """
    )
    question = "SELECT count(*) FROM extra.once"
    blind.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM discreet.budget_status")
    gated.admin.execute("DELETE FROM extra.once; INSERT INTO extra.once VALUES (1)")
    gated.admin.execute("ALTER TABLE extra.once ADD PRIMARY KEY (person)")
    old = number(blind, question, "0.5")
    blind.execute("COMMIT")
    # noise of scale 2: beyond 100 with a probability below 1e-21
    assert abs(old - 1) < 100


def test_an_old_snapshot_holds_rows_without_a_person(gated: Target, blind: Connection) -> None:
    """A thousand rows are nobody's in the old snapshot, and gone since the unit must not be NULL."""
    gated.admin.execute(
        """
        CREATE TABLE extra.owned (person int UNIQUE);
        INSERT INTO extra.owned SELECT NULL FROM generate_series(1, 1000);
        SELECT discreet.protect('extra.owned', 'person', dataset => 'people', max_rows => 1);
        """
    )
    blind.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM discreet.budget_status")
    gated.admin.execute("DELETE FROM extra.owned; ALTER TABLE extra.owned ALTER person SET NOT NULL")
    old = number(blind, "SELECT count(*) FROM extra.owned", "0.5")
    blind.execute("COMMIT")
    # as above
    assert abs(old) < 100


def test_an_old_snapshot_does_not_take_the_key_of_a_new_part_for_granted(gated: Target, blind: Connection) -> None:
    """Which parts a table has is seen without a snapshot; person 1 has a thousand rows in the old one of this part."""
    gated.admin.execute(
        """
        CREATE TABLE extra.parts (person int PRIMARY KEY) PARTITION BY LIST (person);
        CREATE TABLE extra.part (person int NOT NULL);
        INSERT INTO extra.part SELECT 1 FROM generate_series(1, 1000);
        SELECT discreet.protect('extra.parts', 'person', dataset => 'people', max_rows => 1);
        """
    )
    blind.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM discreet.budget_status")
    gated.admin.execute("DELETE FROM extra.part; INSERT INTO extra.part VALUES (1)")
    gated.admin.execute("ALTER TABLE extra.parts ATTACH PARTITION extra.part FOR VALUES IN (1)")
    old = number(blind, "SELECT count(*) FROM extra.parts", "0.5")
    blind.execute("COMMIT")
    # as above
    assert abs(old - 1) < 100
