"""pg_locks, which everybody reads: the locks of a question are those of its tables, whatever rows it reads."""

from tests.attacks.gate.asking import FEW, ask
from tests.attacks.target import Target
from tests.databases import Connection

HELD = """
    SELECT locktype, relation::regclass::text, page, tuple, mode FROM pg_locks
    WHERE pid = %s AND locktype <> 'virtualxid' ORDER BY 1, 2
"""


Locks = list[tuple[object, ...]]


def held_by_questions(gated: Target, blind: Connection) -> list[Locks]:
    """The locks of three questions that read few rows, none, and all."""
    held = []
    for question in (FEW, FEW.replace("1090", "0"), FEW.replace("1090", "5000")):
        with blind.transaction():
            ask(blind, question, fresh=True)
            held.append(gated.admin.execute(HELD, [blind.info.backend_pid]).fetchall())
    return held


def test_the_locks_of_a_question_do_not_depend_on_the_rows(gated: Target, blind: Connection) -> None:
    """Those of a SERIALIZABLE transaction do: test_gate_serializable_locks.py.

    A session that makes its plans takes locks of catalogs as well. It makes them with its first questions, and again
    when another session, such as autovacuum, changes a catalog. So the questions are asked until nothing comes between
    them. If a lock depended on the rows, it would differ each time.
    """
    for _ in range(20):
        held = held_by_questions(gated, blind)
        assert {(kind, mode) for locks in held for kind, _, _, _, mode in locks} == {("relation", "AccessShareLock")}
        if held[0] == held[1] == held[2]:
            return
    raise AssertionError(held)
