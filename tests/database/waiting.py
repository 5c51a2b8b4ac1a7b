"""Waiting for what another session does."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.databases import Connection, Database


def wait_for_lock(database: Database, connection: Connection, seconds: float = 10) -> None:
    """Returns when the connection's statement waits for a lock."""
    watcher = database.connect()
    deadline = time.monotonic() + seconds
    question = "SELECT wait_event_type FROM pg_stat_activity WHERE pid = %s"
    while watcher.execute(question, [connection.info.backend_pid]).fetchone() != ("Lock",):
        assert time.monotonic() < deadline, "the other session does not wait"
        time.sleep(0.01)


def waited_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited for {seconds} seconds"
        time.sleep(0.02)
