"""One throw-away cluster for all tests of a run, and in it a fresh database for each test that asks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import hypothesis
import psycopg
import pytest
from dev.cluster import Cluster
from psycopg import sql
from tests.databases import Connection, Database, MakeRole, created, throw_away_cluster
from tests.office import Office, opened
from tests.payroll import Payroll
from tests.payroll import opened as payroll_opened

pytest.register_assert_rewrite("tests.messages")

ROOT = Path(__file__).resolve().parent.parent

hypothesis.settings.register_profile("usual", deadline=None, print_blob=True)
hypothesis.settings.register_profile("more", deadline=None, print_blob=True, max_examples=2000)


# begun first, so that no process waits for another at the end
LONG_FILES = {"test_mls_noninterference.py", "test_neighbours.py", "test_plain_sql_loop.py", "test_documentation.py",
              "test_selftest.py", "test_laboratory.py", "test_audited_random_subsets.py", "test_session_memory.py",
              "test_largest_arguments.py", "test_crash.py"}  # fmt: skip


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--more", action="store_true", help="run tests marked slow, and more random cases of the others")
    parser.addoption("--questions", type=int, help="how many random questions are asked with and without three people")
    parser.addoption("--tenth", action="store_true", help="run the tests of every tenth file")


def pytest_configure(config: pytest.Config) -> None:
    hypothesis.settings.load_profile("more" if config.getoption("--more") else "usual")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name not in LONG_FILES)
    if config.getoption("--tenth"):
        chosen = set(sorted({item.path for item in items})[::10])
        config.hook.pytest_deselected(items=[item for item in items if item.path not in chosen])
        items[:] = [item for item in items if item.path in chosen]
    if config.getoption("--more"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if not item.get_closest_marker("slow")]


@pytest.fixture(scope="session")
def more(pytestconfig: pytest.Config) -> bool:
    """Whether the run was asked for many random cases."""
    return bool(pytestconfig.getoption("--more"))


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with throw_away_cluster() as running:
        yield running


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


@pytest.fixture(scope="session")
def office_database(cluster: Cluster, template: str) -> Iterator[Office]:
    with opened(cluster, template) as office:
        yield office


@pytest.fixture
def office(office_database: Office) -> Office:
    """The database of tests/office.py, with a whole budget; answers given before are forgotten."""
    office_database.reset()
    return office_database


@pytest.fixture
def nora(office: Office) -> Iterator[psycopg.Connection[Any]]:
    """Its analyst."""
    with psycopg.connect(office.dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def payroll_database(cluster: Cluster, template: str) -> Iterator[Payroll]:
    with payroll_opened(cluster, template) as payroll:
        yield payroll


@pytest.fixture
def payroll(payroll_database: Payroll) -> Payroll:
    """The database of tests/payroll.py, about whose people nothing was asked."""
    payroll_database.again()
    return payroll_database


@pytest.fixture
def admin(database: Database) -> Connection:
    """The superuser, in the test's database."""
    return database.connect()
