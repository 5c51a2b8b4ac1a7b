"""A call that keeps a core and the memory of the server busy, and that neither a cancel nor a termination ends."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

import psycopg
import pytest
from tests.database.waiting import waited_for
from tests.databases import Connection, Database, MakeRole

# pure Python that takes minutes, and libraries in a loop
CALLS = [
    "SELECT discreet.best_ranges('own', 'v', 20)",
    # the argument depends on the row, so that the call is not made once for all rows when the statement is planned
    "SELECT max(discreet.compose_sequential(array_fill(0.1 + 0 * n, ARRAY[100000]))) FROM generate_series(1, 10000) n",
]
# seconds: a backend that goes on for so long is stuck
STUCK = 60


@pytest.fixture
def nora(database: Database, make_role: MakeRole) -> Connection:
    """An analyst with tables of her own, and nothing else."""
    analyst = database.connect(make_role("nora", "discreet_analyst"))
    analyst.execute("CREATE TEMPORARY TABLE own AS SELECT generate_series(1, 30000) AS v")
    analyst.execute("CREATE TEMPORARY TABLE few AS SELECT generate_series(1, 30) AS v")
    return analyst


def ended_by(nora: Connection, call: str, end: Callable[[], object]) -> str | None:
    """The SQLSTATE with which a call ends that somebody else ends once it is under way."""
    told: list[str | None] = []

    def run() -> None:
        try:
            nora.execute(call)
        except psycopg.Error as error:
            told.append(error.sqlstate)

    calling = threading.Thread(target=run)
    calling.start()
    end()
    calling.join(STUCK)
    if calling.is_alive():
        os.kill(nora.info.backend_pid, signal.SIGKILL)
        calling.join()
        pytest.fail("the backend did not react")
    return told[0] if told else "no error"


def busy(admin: Connection, backend: int) -> bool:
    state = admin.execute("SELECT state FROM pg_stat_activity WHERE pid = %s", [backend]).fetchall()
    return state == [("active",)]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("function", "state"), [("pg_cancel_backend", "57014"), ("pg_terminate_backend", "57P01")])
def test_a_call_is_ended_from_outside(
    admin: Connection, nora: Connection, call: str, function: str, state: str
) -> None:
    backend = nora.info.backend_pid

    def end() -> None:
        waited_for(lambda: busy(admin, backend))
        admin.execute(f"SELECT pg_sleep(0.5), {function}(%s)", [backend])

    assert ended_by(nora, call, end) == state


@pytest.mark.parametrize("milliseconds", [1, 20, 60, 100, 150, 250])
def test_a_cancel_leaves_a_session_in_which_everything_works(nora: Connection, milliseconds: int) -> None:
    # the first call imports libraries, which cannot be imported a second time when they were left halfway
    nora.execute(f"SET statement_timeout = {milliseconds}")
    for call in CALLS:
        with pytest.raises(psycopg.errors.QueryCanceled):
            nora.execute(call)
    nora.execute("SET statement_timeout = 0")
    assert nora.execute("SELECT count(*) FROM discreet.best_ranges('few', 'v', 1)").fetchall() == [(1,)]
    assert nora.execute("SELECT discreet.compose_sequential(ARRAY[1.5, 2])").fetchall() != []


def test_a_list_that_would_fill_the_memory_is_refused_before_python_sees_it(nora: Connection) -> None:
    for call in (
        "mechanism_epsilon(array_fill(0.0002::float8, ARRAY[5000, 5000]))",
        "mechanism_epsilon(array_fill(NULL::float8, ARRAY[5000, 5000]))",
        "compose_sequential(array_fill(0.1::numeric, ARRAY[5000000]))",
    ):
        with pytest.raises(psycopg.errors.ProgramLimitExceeded):
            nora.execute(f"SELECT discreet.{call}")
