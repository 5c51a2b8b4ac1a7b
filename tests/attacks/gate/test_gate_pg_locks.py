"""pg_locks, which everybody reads: the locks of a question are those of its tables, whatever rows it reads."""

from tests.attacks.gate.asking import FEW, ask
from tests.attacks.target import Target
from tests.databases import Connection

HELD = """
    SELECT locktype, relation::regclass::text, page, tuple, mode FROM pg_locks
    WHERE pid = %s AND locktype <> 'virtualxid' ORDER BY 1, 2
"""


def test_the_locks_of_a_question_do_not_depend_on_the_rows(gated: Target, blind: Connection) -> None:
    """Those of a SERIALIZABLE transaction do: test_gate_serializable_locks.py."""
    for _ in range(8):  # until the session keeps its plans: making them takes locks of the catalog
        ask(blind, FEW.replace("1090", "7"), fresh=True)
    held = []
    for question in (FEW, FEW.replace("1090", "0"), FEW.replace("1090", "5000")):
        with blind.transaction():
            ask(blind, question)
            held.append(gated.admin.execute(HELD, [blind.info.backend_pid]).fetchall())
    assert held[0] == held[1] == held[2]
    assert {(kind, mode) for kind, _, _, _, mode in held[0]} == {("relation", "AccessShareLock")}
