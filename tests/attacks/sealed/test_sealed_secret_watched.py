"""Somebody reads the server's log, pg_stat_activity, pg_stat_statements and error messages for the secret of a key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest
from dev.cluster import Cluster
from tests.databases import throw_away_cluster

SECRET = "Secret5D81E0"
SETTINGS = {
    "log_statement": "all", "log_min_duration_statement": "0", "log_parameter_max_length": "-1",
    "log_parameter_max_length_on_error": "-1", "log_min_error_statement": "debug5", "log_duration": "on",
    "debug_print_parse": "off", "shared_preload_libraries": "discreet,auto_explain,pg_stat_statements",
    "auto_explain.log_min_duration": "0", "auto_explain.log_nested_statements": "on",
}  # fmt: skip


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with throw_away_cluster(**SETTINGS) as running:
        running.sql(
            "SET client_min_messages = warning; CREATE EXTENSION discreet CASCADE; CREATE EXTENSION pg_stat_statements"
        )
        yield running


def test_the_log_shows_other_statements_but_no_secret(cluster: Cluster) -> None:
    with closing(psycopg.connect(cluster.dsn(), autocommit=True)) as session:
        session.execute("SELECT 'Marker42'")
        session.execute(f"SELECT discreet.create_key('k', '{SECRET}')".encode())
        session.execute("SELECT discreet.open_key('k', %s)", [SECRET.encode()], prepare=True)
        session.execute(f"SELECT discreet.rotate_key('k', '{SECRET}', '{SECRET}')".encode())
        session.execute("PREPARE p (bytea) AS SELECT discreet.open_key('k', $1)")
        session.execute(f"EXECUTE p('{SECRET}')".encode())
        for wrong in (
            f"SELECT discreet.open_key('k', '{SECRET}x')",
            f"SELECT discreet.open_key('k', '{SECRET}'",
            f"SELECT discreet.open_key('k', '\\x{SECRET}')",
            f"SELECT discreet.open_key('none', '{SECRET}')",
            f"SELECT discreet.open_key('k', '{SECRET}'), 1 / 0",
            f"SELECT discreet.open_key('k', \"{SECRET}\")",
            f"EXECUTE p('{SECRET}x')",
            f"EXECUTE p('\\x{SECRET}')",
            f"EXECUTE p('{SECRET}', 'too many')",
        ):
            with pytest.raises(psycopg.Error):
                session.execute(wrong.encode())
        with pytest.raises(psycopg.Error):
            session.execute("SELECT discreet.open_key('k', %s)", [f"{SECRET}x".encode()], prepare=True)
        assert SECRET not in cluster.sql("SELECT string_agg(query, ' ') FROM pg_stat_statements")
        # what pg_stat_statements keeps of it: docs/limits.md
        session.execute(f"DO $$ BEGIN PERFORM discreet.open_key('k', '{SECRET}'); END $$".encode())
    text = (cluster.folder / "log").read_text()
    assert "Marker42" in text
    assert SECRET not in text
    assert SECRET.encode().hex() not in text


def test_pg_stat_activity_does_not_show_it(cluster: Cluster) -> None:
    with closing(psycopg.connect(cluster.dsn(), autocommit=True)) as session:
        session.execute(f"SELECT discreet.open_key('k', '{SECRET}')".encode())
        seen = cluster.sql(f"SELECT query FROM pg_stat_activity WHERE pid = {session.info.backend_pid}")
        assert seen
        assert SECRET not in seen


def test_a_function_that_hands_it_on_is_hidden_when_it_fails(cluster: Cluster) -> None:
    """That the statement is logged before it runs is in docs/limits.md."""
    with closing(psycopg.connect(cluster.dsn(), autocommit=True)) as session:
        session.execute("SET log_statement = none; SET log_min_duration_statement = -1; SET log_duration = off")
        session.execute(
            "CREATE FUNCTION pg_temp.hand_on(secret text) RETURNS void LANGUAGE plpgsql AS"
            " $$ BEGIN PERFORM discreet.open_key('k', secret::bytea); END $$"
        )
        session.execute("SELECT pg_temp.hand_on(%s)", [f"{SECRET}"])
        with pytest.raises(psycopg.errors.InvalidPassword):
            session.execute(f"SELECT pg_temp.hand_on('Handed{SECRET}')".encode())
    text = (cluster.folder / "log").read_text()
    assert "the secret does not open key" in text
    assert SECRET not in text
