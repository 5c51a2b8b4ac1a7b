"""Neither a session that asks again and again nor the gate worker needs more memory.

What Python and malloc have in use is counted exactly, in both processes by the process itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from tests.office import Office

WARM_UP, ROUNDS = 150, 120
# malloc counts the chunks that it holds ready for the next call as used: some 100 kB of the worker, in all
ROUNDS_OF_WORKER = 240
# Blocks of Python: an object that each question leaves behind is 1 or more; the interpreter still learns a little.
MOST_BLOCKS = 0.3
# The library of the parser keeps 32 bytes of a parse (docs/limits.md): a question is parsed, its answer printed twice.
MOST_BYTES = 3 * 32

COUNTED = """
    import ctypes, gc, json, sys
    class Mallinfo(ctypes.Structure):
        _fields_ = [(name, ctypes.c_size_t) for name in
                    "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]
    gc.collect()
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Mallinfo
    used = mallinfo()
    counted = json.dumps([sys.getallocatedblocks(), used.uordblks + used.hblkhd])
"""
MEASURED = f"""
    CREATE FUNCTION public.memory() RETURNS text LANGUAGE plpython3u AS $python${COUNTED}
    return counted
    $python$
"""

# The gate worker counts when it meets these words in a message. It first forgets what it keeps of questions and of
# distributions, which has bounds of its own (tests/unit/worker/test_kept.py) and would hide a leak.
GATES = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'discreet gate' AND datname = current_database()"
COUNT_NOW = "count_what_is_in_use"
COUNTING = """
    if {words!r}.encode() in message:
        import functools, os
        from discreet.worker.kept import Kept
        {counted}
        for thing in gc.get_objects():
            if isinstance(thing, Kept):
                thing._values.clear()
                thing._weight = 0
            elif isinstance(thing, functools._lru_cache_wrapper) and thing.__module__.startswith("discreet.dp"):
                thing.cache_clear()
        {counted}
        with open({told!r}, "w") as file:
            print(json.dumps([os.getpid(), *json.loads(counted)]), file=file)
"""

KINDS: dict[str, Callable[[int], str]] = {
    "answered": lambda n: f"SELECT count(*) FROM hr.person WHERE salary > {n}",
    "the same": lambda n: "SELECT count(*) FROM hr.person",
    "grouped": lambda n: f"SELECT dept, avg(salary), count(*) FROM hr.person WHERE age > {n % 90} GROUP BY dept",
    "of people with several rows": lambda n: f"SELECT sum(cost) FROM hr.visit WHERE cost > {n % 90}",
    "as JSON, at another price": lambda n: (
        f"SELECT discreet.query_json('SELECT max(salary) FROM hr.person', {1 + n / 1000})"
    ),
    "explained": lambda n: f"SELECT discreet.explain('SELECT sum(salary) FROM hr.person WHERE age > {n}')",
    "refused": lambda n: f"SELECT name, {n} FROM hr.person",
    "refused after planning": lambda n: f"SELECT discreet.query_json('SELECT count(*) + ''x{n}'' FROM hr.person')",
    "of names that are not there": lambda n: f"SELECT discreet.query_json('SELECT count(no_{n}) FROM hr.person')",
    "by an aggregate": lambda n: f"SELECT discreet.dp_sum(x, 0, {n + 1}) FROM nora.own",
}


@pytest.fixture
def memory(office: Office, nora: psycopg.Connection[Any]) -> Iterator[Callable[[], tuple[int, int]]]:
    """Blocks of Python and bytes of malloc that the analyst's backend has in use."""
    office.admin.execute("CREATE EXTENSION IF NOT EXISTS plpython3u")
    office.admin.execute(MEASURED)

    def measured() -> tuple[int, int]:
        blocks, used = json.loads(nora.execute("SELECT public.memory()").fetchall()[0][0])
        return blocks, used

    yield measured
    office.admin.execute("DROP FUNCTION public.memory()")


@pytest.fixture
def memory_of_worker(office: Office, nora: psycopg.Connection[Any]) -> Iterator[Callable[[], tuple[int, int]]]:
    """Blocks of Python and bytes of malloc that the gate worker has in use, apart from what it keeps on purpose."""
    ((step,),) = office.truth("SELECT pg_get_functiondef('discreet._worker_step'::regproc)")
    told = office.database.cluster.folder / "data" / "memory_of_worker"
    workers: set[int] = set()
    counting = COUNTING.format(words=COUNT_NOW, counted=COUNTED.replace("\n", "\n    ").strip(), told=str(told))
    before, body = step.split("$function$", 1)
    office.admin.execute("ALTER SYSTEM SET discreet.workers = 1")
    office.admin.execute("SELECT pg_reload_conf()")
    office.admin.execute(f"{before}$function${counting}{body}".encode())
    office.admin.execute(f"SELECT pg_terminate_backend(pid, 60000) FROM ({GATES}) AS gate")

    def measured() -> tuple[int, int]:
        nora.execute(f"SELECT discreet.lint('{COUNT_NOW}')")
        process, blocks, used = json.loads(told.read_text())
        told.unlink()
        workers.add(process)
        assert len(workers) == 1, "several workers answered"
        return blocks, used

    yield measured
    office.admin.execute(step.encode())
    office.admin.execute("ALTER SYSTEM RESET discreet.workers")
    office.admin.execute("SELECT pg_reload_conf()")


def ask(nora: psycopg.Connection[Any], sql: str) -> str:
    try:
        nora.execute(sql).fetchall()
    except psycopg.Error as error:
        return str(error.sqlstate)
    return ""


@pytest.fixture
def own_dataset(office: Office, nora: psycopg.Connection[Any]) -> Iterator[None]:
    """Which pays for aggregates of the analyst's own table."""
    nora.prepare_threshold = None
    nora.execute("CREATE TABLE nora.own AS SELECT generate_series(1, 10) AS x")
    office.admin.execute("SELECT discreet.create_dataset('default', 1000)")
    office.admin.execute("SELECT discreet.grant_budget('default', 'nora', 1000)")
    yield
    office.admin.execute("SELECT discreet.revoke_budget('default', 'nora')")
    office.admin.execute("DELETE FROM discreet._budget WHERE dataset = 'default'")
    office.admin.execute("DELETE FROM discreet._dataset WHERE dataset = 'default'")


def left_behind(
    office: Office, nora: psycopg.Connection[Any], memory: Callable[[], tuple[int, int]], rounds: int
) -> tuple[float, float]:
    """How many blocks and bytes a question leaves behind in a process, all kinds taken together."""
    seen: dict[str, set[str]] = {kind: set() for kind in KINDS}
    before = (0, 0)
    for n in range(WARM_UP + rounds):
        if n % 20 == 0:
            office.admin.execute("UPDATE discreet._budget SET amount_spent = 0, delta_spent = 0")
            office.admin.execute("TRUNCATE discreet._charge, discreet._refusal, discreet._answer")
        if n == WARM_UP:
            memory()  # what measuring itself needs
            before = memory()
        for kind, question in KINDS.items():
            seen[kind].add(ask(nora, question(n)))
    after = memory()
    assert seen["answered"] == seen["by an aggregate"] == seen["explained"] == {""}
    asked = rounds * len(KINDS)
    blocks, used = ((now - then) / asked for then, now in zip(before, after, strict=True))
    print(f"a question left {blocks:.3f} blocks of Python and {used:.1f} bytes of malloc behind; {seen}")
    return blocks, used


@pytest.mark.usefixtures("own_dataset")
def test_questions_leave_nothing_behind_in_the_memory_of_the_session(
    office: Office, nora: psycopg.Connection[Any], memory: Callable[[], tuple[int, int]]
) -> None:
    blocks, used = left_behind(office, nora, memory, ROUNDS)
    assert blocks < MOST_BLOCKS
    assert used < MOST_BYTES


@pytest.mark.usefixtures("own_dataset")
def test_questions_leave_nothing_behind_in_the_memory_of_the_gate_worker(
    office: Office, nora: psycopg.Connection[Any], memory_of_worker: Callable[[], tuple[int, int]]
) -> None:
    """The gate's Python runs there: it parses, plans and draws for all sessions of the database."""
    blocks, used = left_behind(office, nora, memory_of_worker, ROUNDS_OF_WORKER)
    assert blocks < MOST_BLOCKS
    assert used < MOST_BYTES
