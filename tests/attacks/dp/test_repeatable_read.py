"""Askers whose transaction sees an old state, may not write, or fails when others write."""

from decimal import Decimal

import pytest
from tests.attacks.target import ASK, PRICE, Target, ask_until_refused
from tests.databases import Connection
from tests.messages import refused

ISOLATIONS = ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE", "SERIALIZABLE READ ONLY DEFERRABLE"]


def test_old_snapshot_hides_what_others_spent_from_a_check_in_the_same_transaction(
    target: Target, mallory: Connection
) -> None:
    mallory.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    assert mallory.execute("SELECT spent FROM naive.budget").fetchone() == (0,)
    target.admin.execute("UPDATE naive.budget SET spent = 1")
    assert mallory.execute("SELECT spent < 1 FROM naive.budget").fetchone() == (True,)


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_old_snapshot_does_not_hide_what_others_spent(target: Target, mallory: Connection, isolation: str) -> None:
    mallory.execute(f"BEGIN ISOLATION LEVEL {isolation}")
    mallory.execute("SELECT count(*) FROM hr.person")
    assert ask_until_refused(target.connect("eve")) == 10
    assert ask_until_refused(mallory) == 0


@pytest.mark.parametrize("isolation", ISOLATIONS)
@pytest.mark.parametrize("access", ["READ WRITE", "READ ONLY"])
def test_every_kind_of_transaction_pays(target: Target, mallory: Connection, isolation: str, access: str) -> None:
    mallory.execute(f"BEGIN ISOLATION LEVEL {isolation}, {access}")
    mallory.execute("SELECT count(*) FROM hr.person")
    target.connect("eve").execute(ASK)
    with target.costs(2 * PRICE):
        mallory.execute(ASK)
        mallory.execute(ASK)
        mallory.execute("COMMIT")


def test_own_charge_is_not_a_serialization_failure(target: Target) -> None:
    first, second = target.connect("mallory"), target.connect("eve")
    for session in (first, second):
        session.execute("BEGIN ISOLATION LEVEL SERIALIZABLE")
    with target.costs(4 * PRICE):
        for session in (first, second, first, second):
            session.execute(ASK)
        first.execute("COMMIT")
        second.execute("COMMIT")


@pytest.mark.parametrize("setting", ["default_transaction_read_only", "transaction_read_only"])
def test_read_only_session_pays(target: Target, mallory: Connection, setting: str) -> None:
    with target.costs(PRICE):
        mallory.execute(f"BEGIN; SET {setting} = on")
        mallory.execute(ASK)
        mallory.execute("COMMIT")


def test_imported_snapshot_hides_nothing(target: Target, mallory: Connection) -> None:
    eve = target.connect("eve")
    mallory.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    snapshot = mallory.execute("SELECT pg_export_snapshot()").fetchone()
    assert snapshot is not None
    assert ask_until_refused(target.connect("eve")) == 10
    eve.execute(f"BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '{snapshot[0]}'")
    assert ask_until_refused(eve) == 0
    assert target.spent() == Decimal(1)


def test_a_key_that_is_newer_than_the_snapshot_bounds_nothing(target: Target, mallory: Connection) -> None:
    """The snapshot still holds a person's 5000 rows, of which all but one are gone when the key is made."""
    admin = target.admin
    admin.execute("CREATE TABLE extra.once (id int NOT NULL); GRANT SELECT ON extra.once TO PUBLIC")
    admin.execute("INSERT INTO extra.once SELECT n FROM generate_series(1, 20) n")
    admin.execute("INSERT INTO extra.once SELECT 1 FROM generate_series(1, 4999)")
    admin.execute("SELECT discreet.protect('extra.once', 'id', dataset => 'people', max_rows => 1)")
    mallory.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    mallory.execute("SELECT 1 FROM pg_class LIMIT 1")
    admin.execute("DELETE FROM extra.once a WHERE id = 1 AND ctid > (SELECT min(ctid) FROM extra.once WHERE id = 1)")
    admin.execute("ALTER TABLE extra.once ADD PRIMARY KEY (id)")
    assert mallory.execute("SELECT count(*) FROM extra.once").fetchone() == (5019,)
    with target.costs(0), refused("DP001", "may not have been unique and NOT NULL", "Begin a new transaction"):
        mallory.execute("SELECT discreet.dp_count(*) FROM extra.once")
    mallory.execute("ROLLBACK")
    with target.costs(PRICE):
        mallory.execute("SELECT discreet.dp_count(*) FROM extra.once")
