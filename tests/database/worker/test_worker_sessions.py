"""What a session carries that asks, and what becomes of it when its worker dies."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from tests.database.waiting import waited_for
from tests.database.worker.asking import WAYS, Asking, Town, ask, is_blocked, numbers
from tests.databases import Connection

# that a first question adds to what a session of PostgreSQL has anyway: mostly its own caches of catalogs and plans
MOST_KILOBYTES = 3 * 1024
WORKERS = """
    SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'discreet%'
        AND (datname = current_database() OR datname IS NULL)
"""
CLIENTS = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND datname = current_database()"


def private_kilobytes(session: Connection) -> int:
    lines = Path(f"/proc/{session.info.backend_pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Clean", "Private_Dirty")))


def end_workers(admin: Connection) -> int:
    return len(admin.execute(f"SELECT pg_terminate_backend(pid) FROM ({WORKERS}) AS worker").fetchall())


@pytest.mark.parametrize("way", WAYS)
def test_a_session_that_asks_stays_small(town: Town, way: str) -> None:
    # of two sessions, neither is the only one that has mapped a library
    session, other = town.asker(way), town.asker(way)
    ask(other, way)
    session.execute("SELECT 1")
    before = private_kilobytes(session)
    ask(session, way)
    grown = private_kilobytes(session) - before
    print(before, grown)
    assert 0 < grown <= MOST_KILOBYTES


@pytest.mark.parametrize("way", WAYS)
def test_a_session_that_asks_loads_no_python(town: Town, way: str) -> None:
    session = town.asker(way)
    ask(session, way)
    assert "libpython" not in Path(f"/proc/{session.info.backend_pid}/maps").read_text()


def test_no_session_has_a_second_connection(town: Town, admin: Connection) -> None:
    before = set(admin.execute(CLIENTS).fetchall())
    sessions = {way: town.asker(way) for way in WAYS}
    for way, session in sessions.items():
        ask(session, way)
    new = set(admin.execute(CLIENTS).fetchall()) - before
    assert new == {(session.info.backend_pid,) for session in sessions.values()}


@pytest.mark.parametrize("way", WAYS)
def test_questions_are_answered_after_the_workers_were_ended(town: Town, admin: Connection, way: str) -> None:
    session = town.asker(way)
    ask(session, way)
    for _ in range(3):
        assert end_workers(admin) > 0
        waited_for(lambda: answered(session, way))
    town.charged()


@pytest.mark.parametrize("way", WAYS)
def test_a_question_whose_worker_is_ended_is_refused_and_can_be_asked_again(
    town: Town, admin: Connection, way: str
) -> None:
    session, locker, number = town.asker(way), town.database.connect(autocommit=False), next(numbers)
    ask(session, way)
    locker.execute("SELECT FROM discreet._budget WHERE dataset = 'citizens' FOR UPDATE")
    question = Asking(lambda: ask(session, way, number=number))
    waited_for(lambda: is_blocked(admin, locker) or not question.is_alive())
    assert end_workers(admin) > 0
    assert question.end() == "DP007"
    locker.rollback()
    waited_for(lambda: answered(session, way))
    assert town.charges_of(number) <= 1
    town.charged()


def answered(session: Connection, way: str) -> bool:
    """Whether a question was answered; while the worker is started anew, one may be refused."""
    try:
        ask(session, way)
    except psycopg.Error as error:
        if error.sqlstate != "DP007":
            raise
        return False
    return True


def test_a_gate_worker_that_ends_while_the_ledger_charges_leaves_other_questions_alone(
    town: Town, admin: Connection
) -> None:
    """The ledger worker still has the slot of the first question when the second one is asked."""
    first, second, locker = town.asker("query()"), town.asker("query()"), town.database.connect(autocommit=False)
    lost, paid = next(numbers), next(numbers)
    ask(first, "query()")
    locker.execute("SELECT FROM discreet._budget WHERE dataset = 'citizens' FOR UPDATE")
    question = Asking(lambda: ask(first, "query()", number=lost))
    waited_for(lambda: is_blocked(admin, locker) or not question.is_alive())
    gates = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'discreet gate'"
    assert len(admin.execute(gates).fetchall()) > 0
    assert question.end() == "DP007"
    other = Asking(lambda: ask(second, "query()", number=paid))
    waited_for(lambda: is_blocked(admin, locker) or not other.is_alive())
    locker.rollback()
    assert other.end() == "answered"
    assert town.charges_of(paid) == 1
    assert town.charges_of(lost) <= 1
    town.charged()


@pytest.mark.parametrize("encoding", ["LATIN2", "KOI8R", "WIN874"])
def test_a_client_whose_encoding_has_no_plus_minus_sign_gets_its_answer(town: Town, encoding: str) -> None:
    session = town.asker("plain SQL")
    session.execute(f"SET client_encoding = '{encoding}'")
    heard: list[str] = []
    session.add_notice_handler(lambda notice: heard.append(str(notice.message_primary)))
    ask(session, "plain SQL")
    assert "95 % error: count +-" in heard[0]


def test_a_cancel_of_an_idle_worker_changes_nothing(town: Town, admin: Connection) -> None:
    session = town.asker("query()")
    ask(session, "query()")
    before = set(admin.execute(WORKERS).fetchall())
    admin.execute(f"SELECT pg_cancel_backend(pid) FROM ({WORKERS}) AS worker")
    ask(session, "query()")
    assert before <= set(admin.execute(WORKERS).fetchall())
