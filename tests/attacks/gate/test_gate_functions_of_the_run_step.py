"""The functions of the run step are open to all roles: called in odd ways, they end in an error, not in a crash."""

from __future__ import annotations

from contextlib import suppress

import psycopg
import pytest
from tests.databases import Connection

TABLE = """
    CREATE TABLE extra.big AS SELECT n FROM generate_series(1, 100000) n;
    ALTER TABLE extra.big SET (parallel_workers = 4);
    CREATE FUNCTION extra.kinds() RETURNS text LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS
    $$BEGIN RETURN CASE WHEN pg_backend_pid() % 2 = 0 THEN 'R' ELSE 'QQQQQQQQ' END; END$$;
    SET max_parallel_workers_per_gather = 4;
    SET parallel_setup_cost = 0;
    SET parallel_tuple_cost = 0;
    SET min_parallel_table_scan_size = 0;
"""
CALLS = {
    "a window": "SELECT discreet._people(1::int4, 1::int8, 1, 1, 1, 'R', 1::int8) OVER () FROM generate_series(1, 3)",
    "workers that do not agree": (
        "SELECT discreet._people(n, 1::int8, 1, 1, 1, extra.kinds(), n::int8, n::int8, n::int8, n::int8, n::int8,"
        " n::int8, n::int8, n::int8) FROM extra.big"
    ),
    "more keys": "SELECT discreet._people(n, 1::int8, 1, 1, 1, 'R', n::int8, n, n, n) FROM extra.big",
    "an unknown kind": "SELECT discreet._people(n, 1::int8, 1, 1, 1, 'X', n::int8) FROM extra.big",
    "no kind": "SELECT discreet._people(n, 1::int8, 1, 1, 1, NULL, n::int8) FROM extra.big",
    "no scale": "SELECT discreet._on_grid(n, -20000, 0, 1) FROM extra.big",
    "no version": "SELECT discreet._person(n, 0::oid, '0'::xid, NULL::tid, 1) FROM extra.big",
    "no marginals": "SELECT discreet._synthesis_count(NULL, n) FROM extra.big",
    "text": "SELECT discreet._text(ROW(n, 'x', ARRAY[n])) FROM extra.big",
}


@pytest.mark.parametrize("way", CALLS)
def test_the_server_survives(blind: Connection, way: str) -> None:
    blind.execute(TABLE)
    backend = blind.info.backend_pid
    for _ in range(3):
        with suppress(psycopg.Error):
            blind.execute(CALLS[way])
    assert blind.execute("SELECT pg_backend_pid()").fetchall() == [(backend,)]


def test_a_window_is_refused(blind: Connection) -> None:
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="no window function"):
        blind.execute(CALLS["a window"])
