"""Statistics views, EXPLAIN ANALYZE and log messages, which could tell of the rows beside the answer."""

from contextlib import suppress

import psycopg
import pytest
from tests.attacks.gate.asking import ask
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import notices

SEEN = "SELECT seq_tup_read, idx_tup_fetch, seq_scan FROM pg_stat_xact_user_tables WHERE relname = 'person'"
FEW = "SELECT count(*), avg(salary) FROM hr.person WHERE smoker AND salary > 1090"
DEFINER = """
    CREATE FUNCTION naive.few() RETURNS float8 LANGUAGE sql SECURITY DEFINER AS
    $$SELECT count(*) + 1000 * random() FROM hr.person WHERE id BETWEEN 5 AND 11$$
"""


def test_statistics_tell_of_a_naive_definer_function(target: Target, mallory: Connection) -> None:
    target.admin.execute(f"DROP FUNCTION IF EXISTS naive.few; {DEFINER}")
    with mallory.transaction():
        mallory.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
        ((_, before, _),) = mallory.execute(SEEN).fetchall()
        mallory.execute("SELECT naive.few()")
        ((_, after, _),) = mallory.execute(SEEN).fetchall()
    target.admin.execute("DROP FUNCTION naive.few")
    # the planner looks at an end of the index too
    assert 7 <= int(str(after)) - int(str(before)) <= 9


def test_statistics_tell_nothing_of_a_question(gated: Target, blind: Connection) -> None:
    with blind.transaction():
        (before,) = blind.execute(SEEN).fetchall()
        ask(blind, FEW)
        assert blind.execute(SEEN).fetchall() == [before]
    blind.execute("SELECT pg_stat_force_next_flush()")
    flushed = SEEN.replace("_xact", "")
    before = gated.admin.execute(flushed).fetchall()
    ask(blind, FEW, "0.002")
    blind.execute("SELECT pg_stat_force_next_flush()")
    assert gated.admin.execute(flushed).fetchall() == before


@pytest.mark.parametrize(
    "options",
    [
        "ANALYZE",
        "ANALYZE, FORMAT JSON, TIMING OFF",
        pytest.param("ANALYZE, BUFFERS", marks=pytest.mark.xfail(strict=True, reason="not refused yet")),
    ],
)
def test_explain_analyze_shows_nothing_of_the_rows(gated: Target, blind: Connection, options: str) -> None:
    """Buffers that were read, and temporary files that were written, depend on the rows."""
    plan = ""
    with suppress(psycopg.Error):
        plan = str(blind.execute(f"EXPLAIN ({options}) SELECT discreet.query_json('{FEW}', 0.001)").fetchall())
    assert "Seq Scan" not in plan
    assert "Buffers" not in plan


@pytest.mark.parametrize(
    "setting",
    [
        "client_min_messages = debug5", "log_executor_stats = on", "debug_print_plan = on", "trace_sort = on",
        "debug_print_parse = on", "auto_explain.log_min_duration = 0", "log_min_messages = debug5", "track_counts = on",
    ],
)  # fmt: skip
def test_messages_tell_nothing_of_the_rows(gated: Target, blind: Connection, setting: str) -> None:
    try:
        blind.execute(f"SET {setting}")
    except psycopg.errors.InsufficientPrivilege:
        return
    heard = notices(blind)
    ask(blind, FEW)
    inside = [message for level, message, _ in heard if level not in ("NOTICE", "DEBUG", "LOG")]
    assert inside == []
    assert [message for _, message, _ in heard if "hr.person" in str(message) or "sort" in str(message)] == []


def test_the_number_of_blocks_read_is_not_told(gated: Target, blind: Connection) -> None:
    """Whoever may not read a table sees no plan of it either."""
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        blind.execute("EXPLAIN (ANALYZE, BUFFERS) SELECT count(*) FROM hr.person")
