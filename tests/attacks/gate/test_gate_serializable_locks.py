"""A SERIALIZABLE transaction leaves locks on the rows that it read, and pg_locks shows them to everybody."""

from tests.attacks.gate.asking import COUNT, ask
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import refused

LOCKS = "SELECT count(*) FROM pg_locks WHERE mode = 'SIReadLock' AND locktype = 'tuple'"
FEW = "SELECT count(*) FROM hr.person WHERE id IN (5, 500, 900)"


def test_a_naive_definer_function_leaves_a_lock_per_row(gated: Target, blind: Connection) -> None:
    gated.admin.execute(
        f"CREATE FUNCTION extra.few() RETURNS float8 LANGUAGE sql SECURITY DEFINER"
        f" SET enable_seqscan = off SET enable_bitmapscan = off AS $${FEW}$$"
    )
    with blind.transaction():
        blind.execute("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
        blind.execute("SELECT extra.few()")
        assert blind.execute(LOCKS).fetchall() == [(3,)]


def test_a_question_in_a_serializable_transaction_is_refused(gated: Target, blind: Connection) -> None:
    with gated.free():
        blind.execute("BEGIN ISOLATION LEVEL SERIALIZABLE")
        with refused("DP001", "SERIALIZABLE", "READ COMMITTED"):
            ask(blind, COUNT)
        blind.execute("ROLLBACK")
    with blind.transaction():
        blind.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        ask(blind, COUNT)
        assert blind.execute(LOCKS).fetchall() == [(0,)]
