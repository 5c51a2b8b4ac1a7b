"""A function in a parallel worker reads above, where nothing is remembered; then the session goes below and writes."""

import psycopg
import pytest
from tests.attacks.mls.levels import Levels
from tests.databases import Connection

READER = """
    CREATE FUNCTION pg_temp.told() RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS
    $$ BEGIN RETURN (SELECT {what}); END $$;
    SET force_parallel_mode = on;
"""
PERF = "perf FROM public.employee WHERE name = 'Smith' AND perf IS NOT NULL"
LEDGER = "count(*) FROM discreet.budget_status"


@pytest.mark.parametrize("what", [PERF, LEDGER])
def test_a_function_in_a_worker_reads_nothing_that_has_labels(levels: Levels, high: Connection, what: str) -> None:
    levels.admin.execute("GRANT discreet_analyst TO mls_high")
    high.execute(READER.format(what=what))
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="in a parallel worker"):
        high.execute("SELECT pg_temp.told()")
    high.execute("SET discreet.level = 'U'")  # nothing was read
    levels.admin.execute("REVOKE discreet_analyst FROM mls_high")


def test_explain_analyze_is_refused_there_too(low: Connection) -> None:
    low.execute(READER.format(what=PERF))
    with pytest.raises(psycopg.errors.FeatureNotSupported):
        low.execute("EXPLAIN (ANALYZE, BUFFERS) SELECT pg_temp.told()")


def test_a_function_that_is_not_for_workers_keeps_the_session_at_its_label(high: Connection) -> None:
    high.execute(READER.format(what=PERF).replace("SAFE", "RESTRICTED"))
    assert high.execute("SELECT pg_temp.told()").fetchall() == [("Fair",)]
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="below what this session has read"):
        high.execute("SET discreet.level = 'U'")


def test_workers_of_a_statement_that_names_the_table_read_it(levels: Levels, high: Connection) -> None:
    high.execute("SET force_parallel_mode = on; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0")
    assert high.execute("SELECT count(*) FROM employee").fetchall() == [(2,)]
    high.execute(READER.format(what=PERF))
    assert high.execute("SELECT DISTINCT pg_temp.told() FROM employee").fetchall() == [("Fair",)]
