"""Somebody who has the disk, a backup, the WAL, a standby or a dump looks for a value of a sealed column."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from dev.cluster import Cluster, throw_away_folder
from tests.database.waiting import waited_for
from tests.databases import FAST_AND_FORGETFUL, Connection, program
from tests.sealed import SECRET, one

MARKER = "Marker7F3A9C51"
SETTINGS = FAST_AND_FORGETFUL | {
    "shared_preload_libraries": "discreet,pg_stat_statements",
    "wal_level": "logical", "max_wal_senders": "4", "hot_standby": "on", "log_statement": "all",
    "log_min_error_statement": "error", "log_parameter_max_length": "0", "log_parameter_max_length_on_error": "0",
}  # fmt: skip
TABLES = """
    SET client_min_messages = warning;
    CREATE EXTENSION discreet CASCADE;
    CREATE EXTENSION pg_stat_statements;
    CREATE TABLE customer (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text, secret text, search text);
    CREATE INDEX ON customer (search);
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with throw_away_folder(in_memory=True) as folder:
        cluster = Cluster(folder / "primary", settings=SETTINGS)
        try:
            cluster.start()
            cluster.sql(TABLES)
            yield cluster
        finally:
            cluster.remove()


def connected(cluster: Cluster) -> Connection:
    connection = psycopg.connect(cluster.dsn(), autocommit=True)
    connection.execute("SELECT discreet.open_key('k', %s)", [SECRET])
    return connection


def files_with(folder: Path, text: str) -> set[str]:
    """Files below a folder that hold a text, compressed or not it would be found: nothing here compresses."""
    found = subprocess.run(["grep", "-rlaF", text, str(folder)], capture_output=True, text=True, check=False)
    return {str(Path(name).relative_to(folder)) for name in found.stdout.splitlines()}


def write(session: Connection) -> None:
    """The marker comes as a parameter, many times, so that what spills has it."""
    session.execute("INSERT INTO customer (name, secret, search) VALUES ('one', %s, %s)", [MARKER, MARKER])
    session.execute(
        "INSERT INTO customer (name, secret, search) SELECT 'many', %s || n, %s || n FROM generate_series(1, 20000) n",
        [MARKER, MARKER],
    )
    session.execute("UPDATE customer SET secret = secret || '!' WHERE id %% 3 = 0", [])
    with session.cursor() as cursor, cursor.copy("COPY customer (name, secret, search) FROM STDIN") as copy:
        for n in range(100):
            copy.write_row(("copied", f"{MARKER}-{n}", f"{MARKER}-c{n}"))


def use(session: Connection) -> None:
    """Sorts, hashes, windows, cursors and functions, of which those that would spill are refused."""
    session.execute("SET work_mem = '64kB'")
    for statement in (
        "SELECT secret FROM customer ORDER BY secret",
        "SELECT secret, count(*) FROM customer GROUP BY secret",
        "SELECT DISTINCT secret FROM customer",
        "SELECT count(*) FROM customer a JOIN customer b ON a.secret = b.secret",
        "SELECT lag(secret) OVER (ORDER BY secret) FROM customer",
        "WITH c AS MATERIALIZED (SELECT secret FROM customer) SELECT count(*) FROM c a, c b WHERE a.secret < 'z'",
        "BEGIN; DECLARE held CURSOR WITH HOLD FOR SELECT secret FROM customer; COMMIT",
        "SELECT array_agg(secret ORDER BY secret) FROM customer",
    ):
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded, match="cannot be written to a temporary file"):
            session.execute(statement.encode())
        session.execute("ROLLBACK")
    session.execute("SET work_mem = '256MB'")
    assert one(session, "SELECT count(DISTINCT secret) FROM customer") == 20101
    session.execute("RESET work_mem")


def test_a_plain_table_has_the_marker_everywhere(cluster: Cluster) -> None:
    cluster.sql("CREATE TABLE plain AS SELECT 'Plain6B20D4'::text AS x; CHECKPOINT")
    found = files_with(cluster.data, "Plain6B20D4")
    assert any(name.startswith("base/") for name in found)
    assert any(name.startswith("pg_wal/") for name in found)
    cluster.sql("DROP TABLE plain; CHECKPOINT")


def test_no_file_holds_a_value_of_a_sealed_column(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> None:
    marker = MARKER
    with closing(psycopg.connect(cluster.dsn(), autocommit=True)) as first:
        first.execute("SELECT discreet.create_key('k', %s)", [SECRET])
    with closing(connected(cluster)) as session:
        session.execute("SELECT discreet.seal_column('customer', 'secret', 'k')")
        session.execute("SELECT discreet.seal_column('customer', 'search', 'k', searchable => true)")
        session.execute("SELECT pg_create_logical_replication_slot('decoded', 'test_decoding')")
        write(session)
        use(session)
        session.execute("ALTER TABLE customer_sealed ALTER name SET NOT NULL")
        with pytest.raises(psycopg.errors.NotNullViolation) as failed:
            session.execute("INSERT INTO customer (secret) VALUES (%s)", [marker])
        assert marker not in str(failed.value)
        session.execute("ANALYZE customer_sealed")
        session.execute("VACUUM customer_sealed")
        session.execute("CREATE INDEX ON customer_sealed (search, name)")
        assert one(session, "SELECT count(*) FROM customer WHERE search = %s", [marker]) == 1
        stats = session.execute(
            "SELECT most_common_vals::text, histogram_bounds::text FROM pg_stats"
            " WHERE tablename = 'customer_sealed' AND attname IN ('secret', 'search')"
        ).fetchall()
        decoded = session.execute("SELECT data FROM pg_logical_slot_peek_changes('decoded', NULL, NULL)").fetchall()
        statements = session.execute("SELECT query FROM pg_stat_statements").fetchall()
        for seen in (stats, decoded, statements):
            assert seen
            assert marker not in str(seen)
            assert marker.encode().hex() not in str(seen)
        session.execute("CHECKPOINT")
        session.execute("SELECT pg_switch_wal()")

    folder = cluster.folder
    account = pwd.getpwnam(cluster.user)
    standby = Cluster(folder / "standby", 54328, settings=SETTINGS)
    standby.folder.mkdir()
    os.chown(standby.folder, account.pw_uid, account.pw_gid)
    cluster.run("pg_basebackup", "-D", str(standby.data), "-R", "-c", "fast", "-d", cluster.dsn())
    (standby.folder / "complete").touch()
    dump = folder / "dump.sql"
    dump.write_text(program("pg_dump", cluster.dsn()))
    assert "customer_sealed" in dump.read_text()
    try:
        standby.start()
        with closing(connected(cluster)) as session, closing(connected(standby)) as other:
            session.execute("INSERT INTO customer (name, secret) VALUES ('late', %s)", [marker])
            waited_for(lambda: bool(one(other, "SELECT count(*) = 1 FROM customer WHERE name = 'late'")))
            assert one(other, "SELECT secret FROM customer WHERE name = 'late'") == marker
        cluster.sql("CHECKPOINT")
        standby.sql("CHECKPOINT")
        # the server was started with a log file beside its data
        assert files_with(folder, marker) == set()
        assert files_with(folder, SECRET.decode()) == set()
    finally:
        standby.remove()
