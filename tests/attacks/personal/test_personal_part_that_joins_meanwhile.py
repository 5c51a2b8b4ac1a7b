"""A child with many rows of one person joins the table while the charge waits: the person would pay for one row."""

import psycopg
import pytest
from tests.attacks.target import in_thread
from tests.database.waiting import waited_for
from tests.village import Village

WAITS = """
    SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'discreet ledger' AND wait_event_type = 'Lock'
"""


def test_a_child_is_not_counted(village: Village) -> None:
    holder = village.database.connect()
    holder.execute("BEGIN; SELECT FROM discreet._budget FOR UPDATE")
    endings: list[psycopg.Error | None] = []

    def ask() -> None:
        try:
            village.ask("SELECT count(*) FROM person")
            endings.append(None)
        except psycopg.Error as error:
            endings.append(error)

    thread = in_thread(ask)
    waited_for(lambda: bool(village.admin.execute(WAITS).fetchall()))
    village.admin.execute(
        "CREATE TABLE child () INHERITS (person);"
        "INSERT INTO child SELECT 'ann', 20, 'A' FROM generate_series(1, 100000)"
    )
    holder.execute("COMMIT")
    thread.join(60)
    (error,) = endings
    with pytest.raises(psycopg.Error) as raised:
        raise error or AssertionError("the question was answered")
    assert raised.value.sqlstate == "DP000"
