"""pg_stat_xact_user_tables after a definer function tells how many rows it read."""

from tests.attacks.gate.asking import FEW, ask, protect
from tests.attacks.target import Target
from tests.databases import Connection

SEEN = "SELECT seq_tup_read, idx_tup_fetch, seq_scan FROM pg_stat_xact_user_tables WHERE relname = 'person'"
DEFINER = """
    CREATE FUNCTION extra.few() RETURNS float8 LANGUAGE sql SECURITY DEFINER AS
    $$SELECT count(*) + 1000 * random() FROM hr.person WHERE id BETWEEN 5 AND 11$$
"""


def test_they_tell_of_a_naive_definer_function(target: Target) -> None:
    target.admin.execute(DEFINER)
    attacker = target.connect("blind")
    with attacker.transaction():
        attacker.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
        ((_, before, _),) = attacker.execute(SEEN).fetchall()
        attacker.execute("SELECT extra.few()")
        ((_, after, _),) = attacker.execute(SEEN).fetchall()
    # the planner looks at an end of the index too
    assert 7 <= int(str(after)) - int(str(before)) <= 9


def test_they_tell_nothing_of_a_question(gated: Target, blind: Connection) -> None:
    with blind.transaction():
        (before,) = blind.execute(SEEN).fetchall()
        ask(blind, FEW)
        assert blind.execute(SEEN).fetchall() == [before]


def test_nor_do_those_that_are_kept(gated: Target, blind: Connection) -> None:
    """Of a table that nobody else reads: other sessions flush what they have counted when they like."""
    protect(gated, "seen", "id int PRIMARY KEY, x int", "SELECT n, n FROM generate_series(1, 100) n")
    kept = "SELECT seq_scan, seq_tup_read, idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'seen'"
    gated.admin.execute("SELECT pg_stat_force_next_flush()")
    before = gated.admin.execute(kept).fetchall()
    ask(blind, "SELECT count(*), sum(length(x::text)) FROM extra.seen WHERE x::text <> '3'")
    blind.execute("SELECT pg_stat_force_next_flush()")
    assert gated.admin.execute(kept).fetchall() == before
