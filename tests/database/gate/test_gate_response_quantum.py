"""An answer leaves at a multiple of the dataset's response_quantum: a lower bound, which no busy machine can break."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.database.gate.conftest import Asker

QUANTUM = 0.4
QUESTION = "SELECT count(*) FROM hr.employee"

WAYS: dict[str, Callable[[Asker], object]] = {
    "query_json": lambda asker: asker.json(QUESTION, 1, fresh=True),
    "from the store": lambda asker: asker.json(QUESTION, 1),
    "ask": lambda asker: asker.rows(QUESTION, 1),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_answer_leaves_before_the_quantum(asker: Asker, way: str) -> None:
    asker.json(QUESTION, 1)
    asker.admin.execute("UPDATE discreet._dataset SET response_quantum = make_interval(secs => %s)", [QUANTUM])
    try:
        told: list[float] = []
        asker.connection.add_notice_handler(lambda notice: told.append(time.monotonic()))
        started = time.monotonic()
        WAYS[way](asker)
        assert time.monotonic() - started >= QUANTUM
        assert min(told) - started >= QUANTUM
    finally:
        asker.admin.execute("UPDATE discreet._dataset SET response_quantum = NULL")


def test_the_wait_does_not_show_in_the_list_of_sessions(asker: Asker) -> None:
    """pg_sleep would: the session's own role sees there that the work is done."""
    with asker.database.connect() as sleeper, ThreadPoolExecutor(1) as pool:
        done = pool.submit(sleeper.execute, "SELECT discreet._wait(0.5)")
        shown = set()
        while not done.done():
            shown |= set(asker.truth(f"SELECT wait_event FROM pg_stat_activity WHERE pid = {sleeper.info.backend_pid}"))
        assert not {event for (event,) in shown} - {None, "ClientRead"}
