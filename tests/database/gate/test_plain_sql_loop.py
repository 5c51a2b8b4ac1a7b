"""Plain SQL without end in one backend, answered, refused, broken and cancelled: its memory does not grow."""

from __future__ import annotations

import random
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.database.gate.test_plain_sql_topics import CORPUS, OWN
from tests.office import CANARY, Office

STATEMENTS, MORE_STATEMENTS = 2_000, 100_000
# milliseconds: a recursion may have lost the word that ends it
LONGEST = 10_000
# In the second half: what was asked before fills caches. A leak of 12 kB a statement is found by the short run, one of
# 250 bytes by the long one.
MOST_GROWTH = 12 * 2**20
# refused, cancelled, and what a broken text may be: of bad syntax, types, names or values, without a cursor
STATES = re.compile(r"DP00[1-6]|DP000|42.{3}|57014|22.{3}|0A000|34000|54.{3}|21000|26000|25P0.|HV.*")


def anonymous_memory(backend: int) -> int:
    """Bytes that the backend has of its own, Python's among them."""
    status = Path(f"/proc/{backend}/status").read_text()
    found = re.search(r"^RssAnon:\s+(\d+) kB", status, re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024


def broken(sql: str, chance: random.Random) -> str:
    """The text without some words, or with others in their place."""
    words = sql.split(" ")
    place = chance.randrange(len(words))
    other = chance.choice(["", "NULL", "hr.person", "(", "'", "1/0", "salary", "count(*)", "FROM", "$1", ";"])
    return " ".join([*words[:place], other, *words[place + 1 :]])


def dressed(sql: str, chance: random.Random) -> str:
    """The same as a prepared statement, a cursor or an explained one."""
    plain = sql.rstrip().rstrip(";")
    return chance.choice(
        [
            f"PREPARE p AS {plain}; EXECUTE p; DEALLOCATE p",
            f"BEGIN; DECLARE c CURSOR FOR {plain}; FETCH 1 FROM c; ROLLBACK",
            f"EXPLAIN {plain}",
            f"CREATE TEMPORARY TABLE t AS {plain}; DROP TABLE t",
            f"DO $do$ BEGIN PERFORM * FROM ({plain}) q; EXCEPTION WHEN OTHERS THEN NULL; END $do$",
        ]
    )


def run(nora: psycopg.Connection[Any], sql: str, timeout: int) -> str:
    """What came of a statement: a SQLSTATE, or nothing."""
    try:
        nora.execute(f"SET statement_timeout = {timeout}")
        cursor = nora.execute(sql.encode(), prepare=False)
        told = repr(cursor.fetchall() if cursor.description else [])
        state = ""
    except psycopg.Error as error:
        told, state = str(error), str(error.sqlstate)
    assert not CANARY.search(told), sql
    if nora.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        surely(nora, "ROLLBACK")
    surely(nora, "SET statement_timeout = 0")
    nora.execute("DEALLOCATE ALL")
    return state


def surely(nora: psycopg.Connection[Any], sql: str) -> None:
    """The timeout of the statement before holds still."""
    while True:
        with suppress(psycopg.errors.QueryCanceled):
            nora.execute(sql)
            return


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory of a process from /proc")
def test_statements_without_end_leave_the_backend_as_it_was(
    office: Office, nora: psycopg.Connection[Any], more: bool
) -> None:
    chance = random.Random(20261116)
    nora.prepare_threshold = None
    nora.execute(OWN)
    backend, course, seen = nora.info.backend_pid, list[int](), set[str]()
    statements = MORE_STATEMENTS if more else STATEMENTS
    for n in range(statements):
        if n % 100 == 0:
            office.admin.execute("UPDATE discreet._budget SET amount_spent = 0, delta_spent = 0")
            office.admin.execute("TRUNCATE discreet._charge, discreet._refusal")
            if n % 1000 == 0:
                office.admin.execute("TRUNCATE discreet._answer")
        if n % (statements // 10) == 0:
            course.append(anonymous_memory(backend))
        sql = chance.choice(CORPUS).sql
        kind = chance.random()
        if kind < 0.3:
            sql = broken(sql, chance)
        elif kind < 0.5:
            sql = dressed(sql, chance)
        state = run(nora, sql, chance.randrange(1, 12) if chance.random() < 0.1 else LONGEST)
        assert not state or STATES.fullmatch(state), (state, sql)
        seen.add(state)
    assert {"", "DP001", "42601", "57014"} <= seen
    assert nora.info.backend_pid == backend
    assert nora.execute("SELECT 1").fetchall() == [(1,)]
    course.append(anonymous_memory(backend))
    print("the backend had, from tenth to tenth of the run, kB:", *(each // 1024 for each in course))
    assert course[-1] - course[len(course) // 2] < MOST_GROWTH
