"""One session's question answered to another: many sessions ask at once, and each gets its own answers."""

from __future__ import annotations

import threading

from tests.database.worker.asking import Town

SESSIONS, QUESTIONS = 10, 4
# Laplace noise of scale 1 leaves a number further than 40 from its truth with probability below e^-40
EPSILON, FURTHEST, APART = 1, 40, 90


def test_every_session_gets_its_own_answers(town: Town) -> None:
    """Session n asks how many people have badges below 100 * 90 * n: the answers of two sessions are 90 apart."""
    begin = threading.Barrier(SESSIONS)
    wrong: list[tuple[int, int]] = []

    def asks(number: int) -> None:
        session = town.asker("query()")
        begin.wait()
        for _ in range(QUESTIONS):
            count = f"SELECT count(*) FROM town.citizen WHERE badge <= {100 * APART * number}"
            ((answer,),) = session.execute(
                f"SELECT n FROM discreet.query('{count}', {EPSILON}, fresh => true) AS t(n bigint)".encode()
            ).fetchall()
            if abs(answer - APART * number) > FURTHEST:
                wrong.append((number, answer))

    threads = [threading.Thread(target=asks, args=(number,)) for number in range(1, SESSIONS + 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert town.charged() == SESSIONS * QUESTIONS
