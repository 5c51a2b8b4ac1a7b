"""Somebody reads the server's log for values that messages of errors quote: the statement did not have them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest
from dev.cluster import Cluster
from tests.databases import throw_away_cluster

VALUE = "Value9E44B7"
TABLES = f"""
    SET client_min_messages = warning;
    CREATE EXTENSION discreet CASCADE;
    SELECT discreet.create_key('k', 'secret'), discreet.open_key('k', 'secret');
    CREATE TABLE customer (id int, note text);
    CREATE TABLE other (note text PRIMARY KEY);
    SELECT discreet.seal_column('customer', 'note', 'k');
    INSERT INTO customer SELECT n, translate('{VALUE[::-1]}', 'x', 'y') FROM generate_series(1, 2000) n;
    UPDATE customer SET note = reverse(note);
"""
FAILING = [
    "SELECT note::int FROM customer",
    "INSERT INTO other SELECT note FROM customer",
    "DO $$ BEGIN RAISE EXCEPTION '%', (SELECT note FROM customer LIMIT 1); END $$",
    "DO $$ BEGIN RAISE WARNING '%', (SELECT note FROM customer LIMIT 1); END $$",
    "DO $$ DECLARE n text; BEGIN SELECT note INTO n FROM customer LIMIT 1;"
    " RAISE EXCEPTION USING ERRCODE = '54000', MESSAGE = n; END $$",
    "DO $$ DECLARE n text; BEGIN SELECT note INTO n FROM customer LIMIT 1;"
    " RAISE LOG '%', n; RAISE EXCEPTION '%', n; END $$",
    "DO $$ BEGIN EXECUTE 'SELECT ' || (SELECT note FROM customer LIMIT 1); END $$",
    "SELECT jsonb(note) FROM customer",
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with throw_away_cluster(log_statement="all", log_min_messages="warning") as running:
        running.sql(TABLES)
        yield running


@pytest.mark.parametrize("workers", ["off", "on"])
def test_messages_go_to_the_client_and_not_to_the_log(cluster: Cluster, workers: str) -> None:
    with closing(psycopg.connect(cluster.dsn(), autocommit=True)) as session:
        session.execute("SELECT discreet.open_key('k', 'secret')")
        session.execute(
            "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;"
            "SET parallel_leader_participation = off"
        )
        session.execute(f"SET max_parallel_workers_per_gather = {2 if workers == 'on' else 0}".encode())
        notices: list[str | None] = []
        session.add_notice_handler(lambda notice: notices.append(notice.message_primary))
        for statement in FAILING:
            if "WARNING" in statement:
                session.execute(statement.encode())
                assert notices == [VALUE]
                continue
            with pytest.raises(psycopg.Error, match=f"(?i){VALUE}"):
                session.execute(statement.encode())
    log = (cluster.folder / "log").read_text()
    assert VALUE.lower() not in log.lower()
    assert "error 22P02, whose message is not logged" in log
    assert "SELECT note::int FROM customer" in log, "the statement is there"


def test_other_transactions_are_logged_as_ever(cluster: Cluster) -> None:
    with closing(psycopg.connect(cluster.dsn(), autocommit=True)) as session:
        session.execute("SELECT discreet.open_key('k', 'secret')")
        session.execute("SELECT note FROM customer LIMIT 1")
        with pytest.raises(psycopg.Error):
            session.execute("SELECT 'Marker42'::int")
    assert 'invalid input syntax for type integer: "Marker42"' in (cluster.folder / "log").read_text()
