"""Questions leave no memory behind: neither in the workers, which serve all sessions, nor in a session.

What PostgreSQL itself counts is compared, which no other process disturbs. What Python has in use in a gate worker is
counted in tests/database/gate/test_session_memory.py. The memory that the system shows for a
ledger worker grows further: pages of shared buffers that no other process has looked at yet are counted as its own.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.database.waiting import waited_for
from tests.database.worker.asking import Town, ask
from tests.databases import Connection

# A session has kept its plans by then, and the ledger worker all that it needs.
WARM, QUESTIONS = 60, 200
# of a question: less than any thing that could be kept of one
MOST_BYTES = 16
WORKERS = """
    SELECT backend_type, pid FROM pg_stat_activity
    WHERE backend_type LIKE 'discreet%' AND datname = current_database() ORDER BY 1, 2
"""


def used_by(town: Town, admin: Connection, process: int) -> int:
    """Bytes that the memory contexts of another process hold, which it writes to the server's log."""
    log = Path(town.database.cluster.folder) / "log"
    told = re.compile(rf"\[{process}\].*Grand total: .*; (\d+) used")
    before = len(told.findall(log.read_text(errors="replace")))
    admin.execute("SELECT pg_log_backend_memory_contexts(%s)", [process])
    found: list[str] = []

    def is_told() -> bool:
        found[:] = told.findall(log.read_text(errors="replace"))
        return len(found) > before

    waited_for(is_told)
    return int(found[-1])


def test_questions_leave_nothing_in_the_workers_and_in_the_session(town: Town, admin: Connection) -> None:
    session = town.asker("plain SQL")
    for _ in range(WARM):
        ask(session, "plain SQL")
    workers = admin.execute(WORKERS).fetchall()
    processes = {f"{name} {pid}": int(str(pid)) for name, pid in workers} | {"session": session.info.backend_pid}
    before = {name: used_by(town, admin, process) for name, process in processes.items()}
    for _ in range(QUESTIONS):
        ask(session, "plain SQL")
    grown = {name: used_by(town, admin, process) - before[name] for name, process in processes.items()}
    print(grown)
    assert {name: n for name, n in grown.items() if n > MOST_BYTES * QUESTIONS} == {}
    assert admin.execute(WORKERS).fetchall() == workers
    assert {name for name, _ in workers} == {"discreet gate", "discreet ledger"}
