"""A function in a parallel worker reads above, where nothing is remembered; then the session goes below and writes."""

import socket
import struct

import psycopg
import pytest
from tests.attacks.mls.levels import Levels
from tests.databases import Connection
from tests.versions import FORCE_WORKERS

READER = f"""
    CREATE FUNCTION pg_temp.told() RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS
    $$ BEGIN RETURN (SELECT {{what}}); END $$;
    {FORCE_WORKERS};
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
    high.execute(f"{FORCE_WORKERS}; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0")
    assert high.execute("SELECT count(*) FROM employee").fetchall() == [(2,)]
    high.execute(READER.format(what=PERF))
    assert high.execute("SELECT DISTINCT pg_temp.told() FROM employee").fetchall() == [("Fair",)]


def test_a_function_with_a_level_of_its_own_takes_nothing_down(high: Connection) -> None:
    """The leader has read at U only; what a worker reads at S would be forgotten."""
    high.execute("SET discreet.level = 'U'")
    high.execute(READER.format(what=PERF).replace("PARALLEL SAFE", "PARALLEL SAFE SET discreet.level = 'S'"))
    with pytest.raises((psycopg.errors.FeatureNotSupported, psycopg.errors.InsufficientPrivilege)):
        high.execute("SELECT pg_temp.told() FROM (SELECT count(*) FROM employee) n")


class Wire:
    """The protocol by hand: no driver runs a portal at another time than it is bound."""

    def __init__(self, levels: Levels, user: str) -> None:
        cluster = levels.database.cluster
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(cluster.socket / f".s.PGSQL.{cluster.port}"))
        names = f"user\0{user}\0database\0{levels.database.name}\0\0".encode()
        self.told(struct.pack("!ii", len(names) + 8, 196608) + names)

    def told(self, *messages: bytes) -> bytes:
        """All that the server answers, until it is ready for more."""
        self._socket.sendall(b"".join(messages))
        answer = b""
        while not answer.endswith((b"Z\0\0\0\5I", b"Z\0\0\0\5T", b"Z\0\0\0\5E")):
            answer += self._socket.recv(65536)
        return answer

    def close(self) -> None:
        self._socket.close()


def message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


def query(sql: str) -> bytes:
    return message(b"Q", sql.encode() + b"\0")


def test_a_portal_that_is_run_at_another_label_than_it_was_bound_is_remembered(levels: Levels) -> None:
    """Bound at U; its workers begin when it is run, at S."""
    wire = Wire(levels, "mls_high")
    secret = "SELECT perf FROM employee WHERE name = 'Smith' AND perf_label = 'S'"
    for statement in ("SET discreet.level = 'U'", FORCE_WORKERS, "BEGIN"):
        wire.told(query(statement))
    wire.told(
        message(b"P", b"\0" + secret.encode() + b"\0\0\0"), message(b"B", b"late\0\0" + bytes(6)), message(b"S", b"")
    )
    wire.told(query("SET discreet.level = 'S'"))
    assert b"Fair" in wire.told(message(b"E", b"late\0" + bytes(4)), message(b"S", b""))
    assert b"below what this session has read" in wire.told(query("SET discreet.level = 'U'"))
    wire.close()
