"""Throw-away clusters and databases.

The cluster is made by dev.cluster, so the tests run as root and as an ordinary user; databases are cloned and
dropped by pytest-postgresql.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import psycopg
from dev.cluster import Cluster, throw_away
from dev.postgresql import pg_config
from psycopg import sql
from pytest_postgresql.janitor import DatabaseJanitor

FAST_AND_FORGETFUL = {
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_connections": "100",
    "max_prepared_transactions": "4",
    "max_worker_processes": "32",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "discreet.step_timeout": "30s",  # the machine may be busy
}

# the types of a row are those of its statement
Row: TypeAlias = tuple[Any, ...]
Connection = psycopg.Connection[Row]
MakeRole = Callable[..., str]


@contextmanager
def throw_away_cluster(**settings: str) -> Iterator[Cluster]:
    """A running cluster that is gone afterwards, whatever happens, and loses data in a power cut."""
    with throw_away(in_memory=True, **(FAST_AND_FORGETFUL | settings)) as cluster:
        yield cluster


class Database:
    """A database of the throw-away cluster."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.cluster = cluster
        self.name = name
        self._opened: list[Connection] = []

    def dsn(self, user: str = "postgres") -> str:
        return self.cluster.dsn(self.name, user)

    def connect(self, user: str = "postgres", autocommit: bool = True) -> Connection:
        """A connection that is closed when the test ends."""
        connection = psycopg.connect(self.dsn(user), autocommit=autocommit)
        self._opened.append(connection)
        return connection

    def close(self, but: int = 0) -> None:
        """Closes what was opened, but for the first ones."""
        for connection in self._opened[but:]:
            connection.close()
        del self._opened[but:]

    @contextmanager
    def lent(self) -> Iterator[None]:
        """What a test opens is closed with it, where a database is there for many tests."""
        before = len(self._opened)
        yield
        self.close(before)


@contextmanager
def created(cluster: Cluster, name: str, template: str | None = None, as_template: bool = False) -> Iterator[Database]:
    janitor = DatabaseJanitor(
        user="postgres",
        host=str(cluster.socket),
        port=cluster.port,
        dbname=name,
        template_dbname=template,
        as_template=as_template,
    )
    with janitor:
        database = Database(cluster, name)
        try:
            yield database
        finally:
            database.close()


@contextmanager
def ledger_elsewhere(database: Database, conninfo: str) -> Iterator[None]:
    """discreet.ledger has this value, which leads nowhere; the worker of the database knows it."""
    admin = database.connect()

    def is_reached() -> bool:
        try:
            admin.execute("SELECT discreet._ledger('ping', '{}')")
        except psycopg.Error as error:
            if error.sqlstate != "DP007":
                raise
            return False
        return True

    def wait_until(reached: bool) -> None:
        deadline = time.monotonic() + 60
        while is_reached() is not reached:
            assert time.monotonic() < deadline, "the worker does not read its settings"

    admin.execute(sql.SQL("ALTER SYSTEM SET discreet.ledger = {}").format(conninfo))
    admin.execute("SELECT pg_reload_conf()")
    try:
        wait_until(False)
        yield
    finally:
        admin.execute("ALTER SYSTEM RESET discreet.ledger")
        admin.execute("SELECT pg_reload_conf()")
        wait_until(True)


def program(name: str, *arguments: str, text: str = "") -> str:
    """What a client program of PostgreSQL prints; it must succeed, and complain of nothing."""
    command = [str(Path(pg_config("--bindir")) / name), *arguments]
    done = subprocess.run(command, input=text, capture_output=True, check=False, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def restore(source: Database, target: Database, dumped_by: str = "postgres") -> None:
    """pg_dump of one database into psql of another."""
    script = program("pg_dump", source.dsn(dumped_by))
    program("psql", "-Xq", "-v", "ON_ERROR_STOP=1", target.dsn(), text=script)
