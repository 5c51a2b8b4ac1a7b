"""Clients that never read their answer, and sessions that die between two messages."""

from __future__ import annotations

import os
import socket

from tests.database.waiting import waited_for
from tests.database.worker.asking import PLAIN, Town, ask, numbers


def test_a_client_that_never_reads_its_answer_keeps_nobody_from_one(town: Town) -> None:
    """It sends questions until its socket is full, and reads nothing."""
    silent, other = town.asker("plain SQL"), town.asker("query()")
    ask(silent, "plain SQL")
    raw = socket.socket(fileno=os.dup(silent.fileno()))
    raw.setblocking(False)
    try:
        for _ in range(200):
            text = PLAIN.format(table="citizen", number=next(numbers)).encode()
            raw.send(b"Q" + (len(text) + 5).to_bytes(4, "big") + text + b"\0")
    except BlockingIOError:
        pass
    for _ in range(5):
        ask(other, "query()")
    raw.close()
    silent.close()
    waited_for(lambda: ask(other, "query()") is not None)
    town.charged()
