"""A question that is interrupted while it is checked is not refused: the error is PostgreSQL's own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import psycopg
import pytest
from tests.database.gate.conftest import Asker
from tests.database.waiting import wait_for_lock
from tests.databases import Connection

COUNT = "SELECT count(*) FROM hr.employee"
WAYS = [
    f"SELECT discreet.query_json('{COUNT}', 1)",
    f"SELECT * FROM discreet.query('{COUNT}', 1) AS t(n bigint)",
    f"SELECT discreet.ask('{COUNT}', 1)",
    f"SELECT discreet.explain('{COUNT}')",
    f"SELECT * FROM discreet.lint('{COUNT}')",
    f"SELECT discreet.query_json('{COUNT}', 1), discreet.query_json('{COUNT} WHERE dept = $$Sales$$', 1)",
    "SELECT discreet.suggest_bounds('hr.employee', 'salary', 1)",
]


@pytest.fixture
def locked(asker: Asker) -> Iterator[Asker]:
    """The table is locked by somebody else: a question waits while it is checked."""
    owner = asker.database.connect()
    owner.execute("BEGIN; LOCK TABLE hr.employee")
    yield asker
    owner.execute("ROLLBACK")
    owner.close()


def ending(session: Connection, statement: str, interrupt: Callable[[], object] | None = None) -> str | None:
    """The SQLSTATE of a statement, interrupted once it waits for a lock."""
    ended: list[str | None] = []

    def ask() -> None:
        try:
            session.execute(statement.encode())
            ended.append("answered")
        except psycopg.Error as error:
            ended.append(error.sqlstate)

    thread = threading.Thread(target=ask)
    thread.start()
    if interrupt is not None:
        interrupt()
    thread.join(60)
    return ended[0]


def nothing_is_written_down(asker: Asker) -> None:
    assert asker.truth("SELECT code, message FROM discreet._refusal") == []
    assert asker.charges() == []


@pytest.mark.parametrize("statement", WAYS)
def test_a_cancel_is_a_cancel(locked: Asker, statement: str) -> None:
    session = locked.database.connect(locked.role)

    def cancel() -> None:
        wait_for_lock(locked.database, session)
        session.cancel()

    assert ending(session, statement, cancel) == "57014"
    nothing_is_written_down(locked)


@pytest.mark.parametrize(("setting", "code"), [("statement_timeout", "57014"), ("lock_timeout", "55P03")])
@pytest.mark.parametrize("statement", WAYS)
def test_a_timeout_is_a_timeout(locked: Asker, statement: str, setting: str, code: str) -> None:
    session = locked.database.connect(locked.role)
    session.execute(f"SELECT discreet.explain('{COUNT.replace('employee', 'secret')}'); SET {setting} = '1500ms'")
    assert ending(session, statement) == code
    nothing_is_written_down(locked)


def test_a_terminated_session_is_terminated(locked: Asker) -> None:
    session = locked.database.connect(locked.role)

    def terminate() -> None:
        wait_for_lock(locked.database, session)
        locked.admin.execute("SELECT pg_terminate_backend(%s)", [session.info.backend_pid])

    assert ending(session, WAYS[0], terminate) in ("57P01", None)
    nothing_is_written_down(locked)


def test_a_deadlock_is_a_deadlock(asker: Asker) -> None:
    """Two sessions, each with a lock that the other waits for; the one that asks looks for deadlocks first."""
    owner, session = asker.database.connect(), asker.database.connect(asker.role)
    asker.admin.execute(f"CREATE TABLE public.shared (); GRANT ALL ON public.shared TO {asker.role}")
    asker.admin.execute(f"ALTER ROLE {asker.role} SET deadlock_timeout = '10ms'")
    try:
        session = asker.database.connect(asker.role)
        session.execute("BEGIN; LOCK TABLE public.shared")
        owner.execute("SET deadlock_timeout = '60s'; BEGIN; LOCK TABLE hr.employee")
        waiting = threading.Thread(target=lambda: owner.execute("LOCK TABLE public.shared"))
        waiting.start()
        wait_for_lock(asker.database, owner)
        assert ending(session, WAYS[0]) == "40P01"
        session.rollback()
        waiting.join(60)
    finally:
        session.close()
        owner.close()
        asker.admin.execute(f"ALTER ROLE {asker.role} RESET deadlock_timeout; DROP TABLE public.shared")
    nothing_is_written_down(asker)


def test_what_is_wrong_with_the_question_is_still_a_refusal(asker: Asker) -> None:
    with pytest.raises(psycopg.Error) as caught:
        asker.json("SELECT count(*) FROM hr.employee WHERE dob = date '2000-99-99'")
    assert caught.value.sqlstate == "DP001"
    assert asker.truth("SELECT code FROM discreet._refusal") == [("DP001",)]


@pytest.mark.parametrize("statement", [WAYS[0], COUNT])
def test_a_timeout_does_not_show_the_statement_of_the_gate(locked: Asker, statement: str) -> None:
    session = locked.database.connect(locked.role)
    session.execute(f"SELECT discreet.explain('{COUNT.replace('employee', 'secret')}'); SET lock_timeout = '1500ms'")
    with pytest.raises(psycopg.errors.LockNotAvailable) as caught:
        session.execute(statement.encode())
    assert (caught.value.diag.internal_query, caught.value.diag.internal_position) == (None, None)
