"""The run step of a question uses parallel workers as any SELECT does, also where a superuser owns the table."""

from __future__ import annotations

import re

from tests.database.gate.conftest import Asker

CHEAP = """
    SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
    SET max_parallel_workers_per_gather = 2; SET enable_indexscan = off; SET enable_bitmapscan = off;
    SET enable_indexonlyscan = off
"""


def started_for(asker: Asker) -> int:
    """How many parallel workers the server's log says were started for this session."""
    pid = asker.connection.info.backend_pid
    log = (asker.database.cluster.folder / "log").read_text(errors="replace")
    return len(re.findall(rf'registering background worker "parallel worker for PID {pid}"', log))


def test_a_question_is_run_by_parallel_workers(asker: Asker) -> None:
    assert asker.truth("SELECT rolsuper FROM pg_class c JOIN pg_roles r ON r.oid = relowner WHERE relname = 'visit'")[
        0
    ][0]
    asker.admin.execute("ALTER SYSTEM SET log_min_messages = debug1")
    asker.admin.execute("SELECT pg_reload_conf()")
    try:
        asker.plain(CHEAP)
        before = started_for(asker)
        for _ in range(100):  # until the postmaster has read the file
            asker.number("SELECT count(*) FROM clinic.visit WHERE day > '2000-01-01'", 0.01)
            asker.reset()
            if started_for(asker) > before:
                return
        raise AssertionError("no parallel worker was started")
    finally:
        asker.plain("RESET ALL")
        asker.admin.execute("ALTER SYSTEM RESET log_min_messages")
        asker.admin.execute("SELECT pg_reload_conf()")
