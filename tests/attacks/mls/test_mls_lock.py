"""LOCK TABLE by a high session makes low sessions wait."""

import psycopg
import pytest
from tests.attacks.mls.levels import refusal
from tests.databases import Connection

MODES = ["ACCESS SHARE", "ROW SHARE", "ROW EXCLUSIVE", "SHARE", "EXCLUSIVE", "ACCESS EXCLUSIVE"]


def test_lock_signals_where_labels_are_row_security(naive: Connection, high: Connection, low: Connection) -> None:
    high.execute("BEGIN; LOCK naive")
    low.execute("SET lock_timeout = '10ms'")
    with pytest.raises(psycopg.errors.LockNotAvailable):
        low.execute("SELECT count(*) FROM naive")
    high.execute("ROLLBACK")


@pytest.mark.parametrize("mode", MODES)
def test_a_multilevel_table_cannot_be_locked(high: Connection, mode: str) -> None:
    for relation in ("employee", "public.employee"):
        code, message = refusal(high, f"BEGIN; LOCK {relation} IN {mode} MODE")
        assert (code, "cannot be locked" in message) == ("0A000", True)
        high.execute("ROLLBACK")


def test_nor_through_a_view_around_it(high: Connection) -> None:
    high.execute("CREATE TEMP VIEW around AS SELECT * FROM employee")
    assert refusal(high, "BEGIN; LOCK around")[0] == "0A000"


def test_the_table_that_holds_the_rows_cannot_be_locked(high: Connection) -> None:
    assert refusal(high, "BEGIN; LOCK employee_mls") == ("42501", "permission denied for table employee_mls")
