"""Random numbers repeated after a fork: workers that begin anew draw other noise than those before them."""

from __future__ import annotations

from tests.database.worker.asking import Town, ask
from tests.database.worker.test_worker_sessions import answered
from tests.databases import Connection

# counts with Laplace noise of scale 1000: two sequences of four are equal with probability below 1e-12
DRAWS, WORKERS = 4, 4
GATES = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'discreet gate' AND datname = current_database()"


def test_workers_that_begin_anew_draw_other_noise(town: Town, admin: Connection) -> None:
    sequences, pids = [], set()
    for _ in range(WORKERS):
        session = town.asker("query()")
        sequences.append(tuple(ask(session, "query()", number=999_999_999) for _ in range(DRAWS)))
        pids |= {pid for (pid,) in admin.execute(GATES).fetchall()}
        admin.execute(f"SELECT pg_terminate_backend(pid) FROM ({GATES}) AS gate")
        while not answered(session, "query()"):
            pass
    assert len(pids) >= WORKERS
    assert len(set(sequences)) == WORKERS
    # nor is one a later part of another
    assert len({number for sequence in sequences for number in sequence}) > DRAWS
