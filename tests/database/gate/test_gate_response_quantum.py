"""An answer leaves at a multiple of the dataset's response_quantum: a lower bound, which no busy machine can break."""

from __future__ import annotations

import time
from collections.abc import Callable

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
        started = time.monotonic()
        WAYS[way](asker)
        assert time.monotonic() - started >= QUANTUM
    finally:
        asker.admin.execute("UPDATE discreet._dataset SET response_quantum = NULL")
