"""Somebody with the rights of a superuser edits the log of charges."""

import pytest
from tests.attacks.target import ASK, Target
from tests.databases import Connection

TAMPERINGS = {
    "amount made smaller": ("UPDATE discreet._charge SET amount = 0.01, epsilon = 0.01 WHERE id = 3", 3),
    "amount by a trailing zero": ("UPDATE discreet._charge SET amount = 0.10 WHERE id = 4", 4),
    "role changed": ("UPDATE discreet._charge SET role = 'eve' WHERE id = 2", 2),
    "question changed": ("UPDATE discreet._charge SET question = 'SELECT 1' WHERE id = 5", 5),
    "details changed": ("UPDATE discreet._charge SET details = '{}' WHERE id = 1", 1),
    "time changed": ("UPDATE discreet._charge SET at = at - interval '1 microsecond' WHERE id = 6", 6),
    "hash changed": ("UPDATE discreet._charge SET hash = sha256('') WHERE id = 6", 6),
    "delta changed": ("UPDATE discreet._charge SET delta = 1e-9 WHERE id = 1", 1),
    "first deleted": ("DELETE FROM discreet._charge WHERE id = 1", 2),
    "middle deleted": ("DELETE FROM discreet._charge WHERE id = 3", 4),
    "middle deleted and renumbered": (
        "DELETE FROM discreet._charge WHERE id = 3; UPDATE discreet._charge SET id = id - 1 WHERE id > 3", 3),
    "two exchanged": (
        "UPDATE discreet._charge SET id = -2 WHERE id = 2; UPDATE discreet._charge SET id = 2 WHERE id = 3;"
        "UPDATE discreet._charge SET id = 3 WHERE id = -2", 2),
    "one put before the first": (
        "INSERT INTO discreet._charge SELECT dataset, label, 0, at, role, epsilon, amount, delta, question, details,"
        " hash FROM discreet._charge WHERE id = 1", 0),
    "copied to the end": (
        "INSERT INTO discreet._charge SELECT dataset, label, 7, at, role, epsilon, amount, delta, question, details,"
        " hash FROM discreet._charge WHERE id = 6", 7),
    "moved to another dataset": ("UPDATE discreet._charge SET dataset = 'default' WHERE id = 6", None),
}  # fmt: skip
LOG = "SELECT charges, intact, first_bad, finding, head FROM discreet.verify_log() WHERE dataset = 'people'"


@pytest.fixture
def charged(target: Target, mallory: Connection) -> Target:
    """Six charges, and a transaction in which the log is edited."""
    for _ in range(6):
        mallory.execute(ASK)
    return target


@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_first_row_that_does_not_fit_is_named(charged: Target, tampering: str) -> None:
    statement, first_bad = TAMPERINGS[tampering]
    with charged.admin.transaction(force_rollback=True):
        charged.admin.execute(statement)
        (_, intact, named, finding, _) = charged.admin.execute(LOG).fetchone() or (None,) * 5
        assert (intact, named) == (False, first_bad), finding


def test_charge_moved_away_shows_in_the_other_dataset(charged: Target) -> None:
    with charged.admin.transaction(force_rollback=True):
        charged.admin.execute("UPDATE discreet._charge SET dataset = 'default', id = 1 WHERE id = 1")
        rows = charged.admin.execute("SELECT dataset, intact, first_bad FROM discreet.verify_log()").fetchall()
    assert rows == [("default", False, 1), ("people", False, 2)]


def test_last_charge_deleted_shows_in_what_is_spent(charged: Target) -> None:
    with charged.admin.transaction(force_rollback=True):
        charged.admin.execute("DELETE FROM discreet._charge WHERE id = 6")
        (_, intact, named, finding, _) = charged.admin.execute(LOG).fetchone() or (None,) * 5
    assert (intact, named, finding) == (False, None, "the charges add up to 0.5, but 0.6 is spent")


def test_last_charge_deleted_and_refunded_shows_in_the_anchored_head(charged: Target) -> None:
    """Whoever may write everything can forge a shorter log; the head that was kept elsewhere tells."""
    (_, intact, _, _, anchored) = charged.admin.execute(LOG).fetchone() or (None,) * 5
    assert intact
    with charged.admin.transaction(force_rollback=True):
        charged.admin.execute("DELETE FROM discreet._charge WHERE id = 6")
        charged.admin.execute("UPDATE discreet._budget SET amount_spent = 0.5 WHERE dataset = 'people'")
        (charges, intact, _, _, head) = charged.admin.execute(LOG).fetchone() or (None,) * 5
        known = charged.admin.execute("SELECT encode(hash, 'hex') FROM discreet._charge").fetchall()
    assert (charges, intact) == (5, True)
    assert head != anchored
    assert (anchored,) not in known


def test_refunded_budget_shows(charged: Target) -> None:
    with charged.admin.transaction(force_rollback=True):
        charged.admin.execute("UPDATE discreet._budget SET amount_spent = 0 WHERE dataset = 'people' AND role = 0")
        (_, intact, _, finding, _) = charged.admin.execute(LOG).fetchone() or (None,) * 5
    assert (intact, finding) == (False, "the charges add up to 0.6, but 0 is spent")


def test_log_in_order_has_the_hash_of_the_last_charge_as_head(charged: Target) -> None:
    last = charged.value("SELECT encode(hash, 'hex') FROM discreet.charges ORDER BY id DESC LIMIT 1")
    assert charged.admin.execute(LOG).fetchone() == (
        6,
        True,
        None,
        "every charge fits the one before it",
        last,
    )


@pytest.mark.parametrize("setting", ["TimeZone = 'Asia/Kolkata'", "DateStyle = 'SQL, DMY'", "extra_float_digits = 0"])
def test_log_fits_whatever_the_settings_of_the_reader(charged: Target, setting: str) -> None:
    with charged.admin.transaction(force_rollback=True):
        charged.admin.execute(f"SET LOCAL {setting}")
        (_, intact, _, _, _) = charged.admin.execute(LOG).fetchone() or (None,) * 5
    assert intact


def test_plain_table_does_not_show_that_it_was_edited(target: Target) -> None:
    target.admin.execute("CREATE TABLE extra.log AS SELECT n AS id, 0.1 AS amount FROM generate_series(1, 6) n")
    target.admin.execute("DELETE FROM extra.log WHERE id = 6")
    assert target.value("SELECT count(*) = max(id) FROM extra.log") is True
