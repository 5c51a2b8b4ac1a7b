"""The server crashes while many ask: every answer that a client saw has its charge."""

import itertools
import threading

import psycopg
from tests.attacks.gate.asking import ask
from tests.attacks.target import Target
from tests.databases import Connection

SESSIONS = 6
ANSWERS = 120


def test_a_crash_loses_no_charge(lonely_gated: Target) -> None:
    target = lonely_gated
    seen: dict[str, object] = {}
    enough, numbers = threading.Event(), itertools.count()

    def load(connection: Connection) -> None:
        """Asks until the server is gone; each question is another, since what was measured is free."""
        while True:
            question = f"SELECT count(*) FROM hr.person WHERE salary > {next(numbers)}"
            try:
                seen[question] = ask(connection, question)
            except psycopg.Error:
                return
            if len(seen) >= ANSWERS:
                enough.set()

    threads = [threading.Thread(target=load, args=(target.connect("blind"),), daemon=True) for _ in range(SESSIONS)]
    for thread in threads:
        thread.start()
    assert enough.wait(120)
    target.database.cluster.stop("immediate")
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    target.database.cluster.start()
    target.reconnect()

    charged = [question for (question,) in target.admin.execute("SELECT question FROM discreet._charge").fetchall()]
    assert len(set(charged)) == len(charged)
    assert set(seen) <= set(charged)
    assert len(charged) <= len(seen) + SESSIONS
    question, answer = next(iter(seen.items()))
    with target.free():
        assert ask(target.connect("blind"), question) == answer
