"""Statistics views, EXPLAIN ANALYZE and log messages, which could tell of the rows beside the answer."""

import psycopg
import pytest
from tests.attacks.gate.asking import ask
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import notices, refused

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


@pytest.mark.parametrize("options", ["ANALYZE", "ANALYZE, FORMAT JSON, TIMING OFF", "ANALYZE, BUFFERS"])
def test_explain_analyze_of_a_question_is_refused(gated: Target, blind: Connection, options: str) -> None:
    """Buffers that were read, and temporary files that were written, depend on the rows."""
    spent = gated.admin.execute("SELECT sum(epsilon_spent) FROM discreet.budget_status").fetchall()
    with refused("DP001", "EXPLAIN ANALYZE", ""):
        blind.execute(f"EXPLAIN ({options}) SELECT discreet.query_json('{FEW}', 0.001, fresh => true)")
    assert gated.admin.execute("SELECT sum(epsilon_spent) FROM discreet.budget_status").fetchall() == spent
    blind.execute(f"EXPLAIN SELECT discreet.query_json('{FEW}', 0.001)")


EXPLAINED = f"EXPLAIN (ANALYZE, BUFFERS) SELECT discreet.query_json('{FEW}', 0.001, fresh => true)"


@pytest.mark.parametrize(
    "statement", [EXPLAINED, f"DO $do$ BEGIN EXECUTE $x${EXPLAINED}$x$; END $do$"], ids=["alone", "within a function"]
)
def test_explain_analyze_is_refused_as_the_first_statement_of_a_session(gated: Target, statement: str) -> None:
    """The library is loaded by the call, too late to see the EXPLAIN around it."""
    with gated.connect("blind") as fresh:
        with refused("DP001", "EXPLAIN ANALYZE", ""):
            fresh.execute(statement)
        with refused("DP001", "EXPLAIN ANALYZE", ""):
            fresh.execute(statement)
        ask(fresh, FEW)


def test_a_function_of_the_asker_hides_no_explain(gated: Target, blind: Connection) -> None:
    blind.execute(
        f"CREATE OR REPLACE FUNCTION pg_temp.told() RETURNS SETOF text LANGUAGE plpgsql AS "
        f"$f$ BEGIN RETURN QUERY EXECUTE $x${EXPLAINED}$x$; END $f$"
    )
    with refused("DP001", "EXPLAIN ANALYZE", ""):
        blind.execute("SELECT * FROM pg_temp.told()")


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
    with pytest.raises(psycopg.Error) as caught:
        blind.execute("EXPLAIN (ANALYZE, BUFFERS) SELECT count(*) FROM hr.person")
    assert caught.value.sqlstate == "DP001"
