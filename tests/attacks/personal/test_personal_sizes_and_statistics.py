"""Sizes and statistics of the ledger's tables, which PostgreSQL shows to everybody."""

import time

import pytest
from tests.databases import Row
from tests.village import Village

WRITES = """
    SELECT c.relname, pg_relation_size(c.oid), s.n_tup_ins, s.n_tup_upd, s.n_tup_del
    FROM pg_class c JOIN pg_stat_all_tables s ON s.relid = c.oid
    WHERE c.relnamespace = 'discreet'::regnamespace AND c.relname LIKE '\\_personal%' ORDER BY 1
"""

# a worker reports what it has written before it is idle, a session when it ends
AT_WORK = """
    SELECT pid FROM pg_stat_activity
    WHERE application_name LIKE 'discreet%%' AND state <> 'idle' OR pid = %s
"""


def written(village: Village, question: str) -> list[Row]:
    """How the sizes and counts change by a question of a fresh session, when all have reported what they wrote."""
    before = village.nora.execute(WRITES).fetchall()
    session = village.connect()
    backend = session.info.backend_pid
    village.ask(question, connection=session)
    session.close()
    for _ in range(600):
        if village.admin.execute(AT_WORK, [backend]).fetchall() == []:
            break
        time.sleep(0.1)
    else:
        pytest.fail("the workers have not finished")
    after = village.nora.execute(WRITES).fetchall()
    return [
        (old[0], *(int(str(b)) - int(str(a)) for a, b in zip(old[1:], new[1:], strict=True)))
        for old, new in zip(before, after, strict=True)
    ]


def test_they_change_alike_whoever_pays(village: Village) -> None:
    village.admin.execute("INSERT INTO person SELECT 'x' || n, n % 100, 'A' FROM generate_series(1, 5000) n")
    written(village, "SELECT count(*) FROM person")
    everybody = written(village, "SELECT count(*) FROM person")
    nobody = written(village, "SELECT count(*) FROM person WHERE age > 99")
    one = written(village, "SELECT count(*) FROM person WHERE blood = '0'")
    assert everybody == nobody == one
    assert [row for row in everybody if row[0] == "_personal_page"] == [("_personal_page", 0, 0, 0, 0)]


def test_new_people_are_written_down_whether_they_are_selected_or_not(village: Village) -> None:
    changes = []
    for first, condition in ((10_000, "age < 100"), (20_000, "age > 99")):
        village.admin.execute(
            f"INSERT INTO person SELECT 'x' || n, n % 100, 'A' FROM generate_series({first}, {first} + 2999) n"
        )
        changes.append(written(village, f"SELECT count(*) FROM person WHERE {condition}"))
    assert [[(row[0], *row[2:]) for row in change if row[0] == "_personal_people"] for change in changes] == [
        [("_personal_people", 1, 0, 0)]
    ] * 2
