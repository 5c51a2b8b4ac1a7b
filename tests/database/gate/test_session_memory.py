"""A session that asks again and again needs no more memory: what Python and malloc have in use is counted exactly."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from tests.office import Office

WARM_UP, ROUNDS = 150, 120
# Blocks of Python: an object that each question leaves behind is 1 or more; the interpreter still learns a little.
MOST_BLOCKS = 0.3
# The library of the parser keeps 32 bytes of a parse (docs/limits.md): a question is parsed, its answer printed twice.
MOST_BYTES = 3 * 32

MEASURED = """
    CREATE FUNCTION public.memory() RETURNS text LANGUAGE plpython3u AS $python$
    import ctypes, gc, json, sys
    class Mallinfo(ctypes.Structure):
        _fields_ = [(name, ctypes.c_size_t) for name in
                    "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]
    gc.collect()
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Mallinfo
    used = mallinfo()
    return json.dumps([sys.getallocatedblocks(), used.uordblks + used.hblkhd])
    $python$
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


def ask(nora: psycopg.Connection[Any], sql: str) -> str:
    try:
        nora.execute(sql).fetchall()
    except psycopg.Error as error:
        return str(error.sqlstate)
    return ""


def test_questions_leave_nothing_behind_in_the_memory_of_the_session(
    office: Office, nora: psycopg.Connection[Any], memory: Callable[[], tuple[int, int]]
) -> None:
    nora.prepare_threshold = None
    nora.execute("CREATE TABLE nora.own AS SELECT generate_series(1, 10) AS x")
    office.admin.execute("SELECT discreet.create_dataset('default', 1000)")
    office.admin.execute("SELECT discreet.grant_budget('default', 'nora', 1000)")
    seen: dict[str, set[str]] = {kind: set() for kind in KINDS}
    before = (0, 0)
    try:
        for n in range(WARM_UP + ROUNDS):
            if n % 20 == 0:
                office.admin.execute("UPDATE discreet._budget SET amount_spent = 0, delta_spent = 0")
                office.admin.execute("TRUNCATE discreet._charge, discreet._refusal, discreet._answer")
            if n == WARM_UP:
                memory()  # what measuring itself needs
                before = memory()
            for kind, question in KINDS.items():
                seen[kind].add(ask(nora, question(n)))
        after = memory()
    finally:
        office.admin.execute("SELECT discreet.revoke_budget('default', 'nora')")
        office.admin.execute("DELETE FROM discreet._budget WHERE dataset = 'default'")
        office.admin.execute("DELETE FROM discreet._dataset WHERE dataset = 'default'")
    asked = ROUNDS * len(KINDS)
    blocks, used = ((now - then) / asked for then, now in zip(before, after, strict=True))
    print(f"a question left {blocks:.3f} blocks of Python and {used:.1f} bytes of malloc behind; {seen}")
    assert seen["answered"] == seen["by an aggregate"] == seen["explained"] == {""}
    assert blocks < MOST_BLOCKS
    assert used < MOST_BYTES
