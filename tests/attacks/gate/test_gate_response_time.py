"""Response time depends on the rows; a dataset with a response_quantum answers on a grid of time.

Only lower bounds are tested, which no busy machine can break.
"""

import threading
import time
from collections.abc import Iterator

import pytest
from tests.attacks.gate.asking import BROKEN, COUNT, FRESH, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

QUANTUM = 1.0


@pytest.fixture
def warm(gated: Target, blind: Connection) -> Iterator[Connection]:
    assert how_it_ends(blind, COUNT) == "answer"
    gated.admin.execute("UPDATE discreet._dataset SET response_quantum = make_interval(secs => %s)", [QUANTUM])
    yield blind
    gated.admin.execute("UPDATE discreet._dataset SET response_quantum = NULL")


def test_neither_answer_nor_notice_comes_before_the_quantum(warm: Connection) -> None:
    told: list[float] = []
    warm.add_notice_handler(lambda _: told.append(time.monotonic()))
    started = time.monotonic()
    warm.execute(FRESH)
    assert time.monotonic() - started >= QUANTUM
    assert [moment - started >= QUANTUM for moment in told] == [True]


def test_another_session_does_not_see_that_the_work_is_done(gated: Target, warm: Connection) -> None:
    """The first second is all waiting: a warm question takes a hundredth of it."""
    thread = threading.Thread(target=warm.execute, args=(FRESH,))
    watcher, shown = gated.connect("blind"), set()
    thread.start()
    while thread.is_alive():
        event = "SELECT wait_event_type FROM pg_stat_activity WHERE pid = %s AND state = 'active'"
        shown |= set(watcher.execute(event, [warm.info.backend_pid]).fetchall())
    assert ("Timeout",) not in shown


def test_no_answer_is_stored_before_the_quantum(gated: Target, warm: Connection) -> None:
    """Who cancels after a moment and asks again would learn, by what that costs, whether the work was done by then."""
    stored = "SELECT count(*) FROM discreet._answer WHERE at > %s"
    (began,) = gated.admin.execute("SELECT clock_timestamp()").fetchone() or (None,)
    thread = threading.Thread(target=warm.execute, args=(FRESH,))
    started = time.monotonic()
    thread.start()
    while gated.admin.execute(stored, [began]).fetchone() == (0,):
        time.sleep(0.01)
    seen = time.monotonic()
    thread.join()
    assert seen - started >= QUANTUM


def test_an_error_does_not_come_before_the_quantum(gated: Target, warm: Connection) -> None:
    gated.admin.execute(BROKEN)
    try:
        started = time.monotonic()
        assert how_it_ends(warm, "SELECT count(*) FROM extra.whole") == "DP000"
        assert time.monotonic() - started >= QUANTUM
    finally:
        gated.admin.execute("DROP SERVER nowhere CASCADE")
