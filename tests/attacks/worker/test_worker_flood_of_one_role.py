"""One role with many sessions that ask long questions: explain() plans each for seconds, and costs nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from tests.database.waiting import waited_for
from tests.database.worker.asking import Town, numbers
from tests.databases import Connection

SESSIONS = 12
CONDITIONS = 450
SHORT = "SELECT discreet.explain('SELECT count(*) FROM town.citizen')"
WORKING = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'discreet gate' AND state = 'active'"


def long_question() -> str:
    """A question that a gate worker plans for seconds, and that was not asked before."""
    columns = ", ".join(f"max(badge + {n}) AS c{n}" for n in range(CONDITIONS))
    conditions = " AND ".join(f"c{n} > 1" for n in range(CONDITIONS))
    persons = f"SELECT id, {columns} FROM town.citizen GROUP BY id"
    return f"SELECT count(*) FROM ({persons}) AS person WHERE {conditions} AND c0 > {next(numbers)}"


def explained(session: Connection) -> float:
    """Seconds of a long question."""
    begun = time.monotonic()
    session.execute("SELECT discreet.explain(%s)", [long_question()])
    return time.monotonic() - begun


@contextmanager
def flooded(sessions: list[Connection]) -> Iterator[None]:
    """While sessions of one role ask without end."""
    ended = threading.Event()

    def flood(session: Connection) -> None:
        while not ended.is_set():
            try:
                explained(session)
            except psycopg.Error:  # cancelled at the end
                return

    threads = [threading.Thread(target=flood, args=[session], daemon=True) for session in sessions]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for session in sessions:
            session.cancel()
        for thread in threads:
            thread.join(60)


def test_a_role_with_many_sessions_leaves_workers_to_others(town: Town) -> None:
    sessions = [town.asker("query()") for _ in range(SESSIONS)]
    other = town.asker("an aggregate")
    other.execute(SHORT)
    long = explained(sessions[0])
    with flooded(sessions):
        time.sleep(2 * long)
        begun = time.monotonic()
        other.execute(SHORT)
        waited = time.monotonic() - begun
    # in the order of the messages it would wait for half of them, at each of its steps
    assert waited < 3 * long, (waited, long)


def test_a_role_that_is_alone_has_all_workers(town: Town, admin: Connection) -> None:
    sessions = [town.asker("query()") for _ in range(SESSIONS)]
    explained(sessions[0])
    with flooded(sessions):
        waited_for(lambda: admin.execute(WORKING).fetchone() == (2,))
    town.each_way_is_answered_and_charged()
