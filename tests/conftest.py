"""A throw-away cluster for all tests of a run, and a fresh database in it for each test that asks for one.

The cluster is made by dev.cluster, so the tests run as root and as an ordinary user; databases are cloned and dropped
by pytest-postgresql from a template that has the extension already.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import hypothesis
import psycopg
import pytest
from psycopg import sql
from pytest_postgresql.janitor import DatabaseJanitor

os.environ.setdefault("PG_CONFIG", "/usr/lib/postgresql/15/bin/pg_config")

from dev.cluster import Cluster  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
FAST_AND_FORGETFUL = {
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_connections": "100",
    "wal_level": "minimal",
    "max_wal_senders": "0",
}

Connection = psycopg.Connection[tuple[object, ...]]

hypothesis.settings.register_profile("usual", deadline=None, print_blob=True)
hypothesis.settings.register_profile("more", deadline=None, print_blob=True, max_examples=2000)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--more", action="store_true", help="run tests marked slow, and more random cases of the others")


def pytest_configure(config: pytest.Config) -> None:
    hypothesis.settings.load_profile("more" if config.getoption("--more") else "usual")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--more"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if not item.get_closest_marker("slow")]


@pytest.fixture(scope="session")
def more(pytestconfig: pytest.Config) -> bool:
    """Whether the run was asked for many random cases."""
    return bool(pytestconfig.getoption("--more"))


@contextmanager
def throw_away_cluster(**settings: str) -> Iterator[Cluster]:
    """A running cluster below /var/tmp, where the server's user can reach it; gone afterwards, whatever happens."""
    folder = Path(tempfile.mkdtemp(prefix="discreet-test-", dir="/var/tmp"))
    folder.chmod(0o755)
    cluster = Cluster(folder / "cluster", settings=FAST_AND_FORGETFUL | settings)
    try:
        cluster.start()
        yield cluster
    finally:
        try:
            cluster.remove()
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with throw_away_cluster() as running:
        yield running


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

    def close(self) -> None:
        for connection in self._opened:
            connection.close()


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


numbers = count(1)


@pytest.fixture(scope="session")
def template(cluster: Cluster) -> Iterator[str]:
    """Name of a database with the extension, to be cloned."""
    with created(cluster, "template_discreet", as_template=True) as database:
        cluster.sql("SET client_min_messages = warning; CREATE EXTENSION discreet CASCADE", database.name)
        yield database.name


@pytest.fixture(scope="session")
def sample_template(cluster: Cluster, template: str) -> Iterator[str]:
    """Name of a database with the extension and a tenth of the sample data, to be cloned."""
    command = [sys.executable, str(ROOT / "demo" / "sample_data.py"), "--size", "0.1"]
    rows = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    with created(cluster, "template_sample", template, as_template=True) as database:
        cluster.sql(rows, database.name)
        yield database.name


MakeRole = Callable[..., str]


@pytest.fixture
def make_role(cluster: Cluster, template: str) -> Iterator[MakeRole]:
    """Makes login roles of unique names, and drops them after the test's databases are gone.

    Roles belong to the whole cluster: tests that share a name would see each other's.
    """
    made: list[str] = []

    def make(name: str, *groups: str, options: str = "LOGIN") -> str:
        unique = f"{name}_{next(numbers)}"
        with psycopg.connect(cluster.dsn(), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE ROLE {} " + options).format(sql.Identifier(unique)))
            made.append(unique)
            for group in groups:
                connection.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(group), sql.Identifier(unique)))
        return unique

    yield make
    with psycopg.connect(cluster.dsn(), autocommit=True) as connection:
        left = connection.execute("SELECT rolname FROM pg_roles WHERE rolname = ANY (%s)", [made]).fetchall()
        if left:
            listed = sql.SQL(", ").join(sql.Identifier(name) for (name,) in left)
            connection.execute(sql.SQL("DROP OWNED BY {} CASCADE").format(listed))
            connection.execute(sql.SQL("DROP ROLE {}").format(listed))


@pytest.fixture
def database(cluster: Cluster, template: str, make_role: MakeRole) -> Iterator[Database]:
    """A database of the test's own, with the extension."""
    with created(cluster, f"test_{next(numbers)}", template) as fresh:
        yield fresh


@pytest.fixture
def sample_database(cluster: Cluster, sample_template: str, make_role: MakeRole) -> Iterator[Database]:
    """A database of the test's own, with the extension and sample data."""
    with created(cluster, f"sample_{next(numbers)}", sample_template) as fresh:
        yield fresh


@pytest.fixture
def empty_database(cluster: Cluster, make_role: MakeRole) -> Iterator[Database]:
    """A database of the test's own, without the extension."""
    with created(cluster, f"empty_{next(numbers)}") as fresh:
        yield fresh


@pytest.fixture
def admin(database: Database) -> Connection:
    """The superuser, in the test's database."""
    return database.connect()
