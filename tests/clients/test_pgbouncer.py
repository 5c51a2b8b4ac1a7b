"""pgbouncer: a backend handed from client to client, after each transaction or when a client leaves."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from dev.cluster import Cluster, throw_away_folder
from tests.databases import Connection, Database
from tests.messages import refused
from tests.office import ANALYST, CANARY, NOISE, READER, Office

PORT = 54431
CLEARED = "sam_of_the_pool"
COUNT = "SELECT count(*) FROM hr.person"
SETTINGS = """
[databases]
* = host={socket} port={port}
[pgbouncer]
listen_port = {own_port}
listen_addr =
unix_socket_dir = {folder}
auth_type = trust
auth_file = {folder}/users
pool_mode = {mode}
default_pool_size = {size}
min_pool_size = 0
logfile = {folder}/log
pidfile = {folder}/pid
"""


@dataclass(frozen=True)
class Pooler:
    """A pgbouncer that runs, with its socket in `folder`."""

    folder: Path

    def connect(self, database: Database, role: str) -> Connection:
        dsn = f"host={self.folder} port={PORT} dbname={database.name} user={role}"
        return psycopg.connect(dsn, autocommit=True, prepare_threshold=None)


def start(cluster: Cluster, folder: Path, mode: str, size: int) -> subprocess.Popen[bytes]:
    """pgbouncer refuses to run as root, as PostgreSQL does: it runs as the same user."""
    settings = SETTINGS.format(
        socket=cluster.socket, port=cluster.port, own_port=PORT, folder=folder, mode=mode, size=size
    )
    (folder / "settings.ini").write_text(settings)
    (folder / "users").write_text("".join(f'"{role}" ""\n' for role in (ANALYST, READER, CLEARED, "postgres")))
    command = ["/usr/sbin/pgbouncer", "-q", str(folder / "settings.ini")]
    if os.getuid() == 0:
        subprocess.run(["chown", "-R", cluster.user, str(folder)], check=True)
        command = ["runuser", "-u", cluster.user, "--", *command]
    return subprocess.Popen(command, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextmanager
def running(cluster: Cluster, mode: str, size: int = 1) -> Iterator[Pooler]:
    """A pooler with so many backends for each role and database."""
    with throw_away_folder() as folder:
        process = start(cluster, folder, mode, size)
        try:
            deadline = time.monotonic() + 60
            while not (folder / f".s.PGSQL.{PORT}").exists():
                assert process.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < deadline, "pgbouncer does not listen"
                time.sleep(0.05)
            yield Pooler(folder)
        finally:
            process.terminate()
            process.wait(60)


@pytest.fixture(scope="module")
def by_transaction(cluster: Cluster) -> Iterator[Pooler]:
    with running(cluster, "transaction") as pooler:
        yield pooler


@pytest.fixture(scope="module")
def by_session(cluster: Cluster) -> Iterator[Pooler]:
    with running(cluster, "session") as pooler:
        yield pooler


@pytest.fixture(scope="module", params=["transaction", "session"])
def pooler(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Pooler]:
    """In either mode: where a session keeps its backend, there are as many as clients."""
    with running(cluster, request.param, 1 if request.param == "transaction" else 4) as pooler:
        yield pooler


@pytest.fixture
def clients(office: Office, pooler: Pooler) -> Iterator[list[Connection]]:
    """Four connections of the analyst."""
    with ExitStack() as stack:
        yield [stack.enter_context(pooler.connect(office.database, ANALYST)) for _ in range(4)]


def backend(client: Connection) -> object:
    return client.execute("SELECT pg_backend_pid()").fetchall()[0][0]


def test_clients_take_turns_at_one_backend(office: Office, by_transaction: Pooler) -> None:
    with ExitStack() as stack:
        clients = [stack.enter_context(by_transaction.connect(office.database, ANALYST)) for _ in range(4)]
        assert len({backend(client) for client in clients}) == 1
        answers = {client.execute(COUNT).fetchall()[0] for client in clients}
    assert len(answers) == 1
    assert (office.spent(), office.questions()) == (10, 1)


def test_a_session_has_the_backend_of_the_one_before_and_none_of_its_settings(
    office: Office, by_session: Pooler
) -> None:
    with by_session.connect(office.database, ANALYST) as first:
        before = backend(first)
        first.execute("SET discreet.epsilon = 0.5")
        first.execute(COUNT)
        first.execute(f"{COUNT} WHERE age > 30")
    with by_session.connect(office.database, ANALYST) as second:
        assert backend(second) == before
        second.execute(f"{COUNT} WHERE age > 40")
    assert office.truth("SELECT epsilon FROM discreet._charge ORDER BY id") == [(0.5,), (0.5,), (10,)]


def test_a_backend_that_has_asked_holds_no_further_connection(office: Office, clients: list[Connection]) -> None:
    for client in clients:
        client.execute(COUNT)
    backends = {backend(client) for client in clients}
    found = office.truth(
        "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND datname = current_database()"
        " AND application_name LIKE 'discreet%'"
    )
    assert len(backends) > 0
    assert found == []


def test_transactions_with_parameters_and_cursors(office: Office, clients: list[Connection]) -> None:
    for number, client in enumerate(clients):
        with client.transaction():
            ((answer,),) = client.execute(f"{COUNT} WHERE dept = %s", [f"dept {number}"]).fetchall()
            assert abs(int(str(answer)) - 500) <= NOISE
            with client.cursor("pieces") as cursor:
                cursor.execute("SELECT dept, count(*) FROM hr.person GROUP BY dept")
                assert len(cursor.fetchall()) == 4
    # the other filters are cells of the stored GROUP BY
    assert office.questions() == 2


def test_the_charge_names_who_asked(office: Office, clients: list[Connection]) -> None:
    clients[0].execute(COUNT)
    assert office.truth("SELECT role FROM discreet._charge") == [(ANALYST,)]


def test_a_pooler_that_answers_one_role_shows_rows_to_another_and_not_back(
    office: Office, pooler: Pooler, clients: list[Connection]
) -> None:
    with pooler.connect(office.database, READER) as reader:
        for _ in range(3):
            clients[0].execute(COUNT)
            assert reader.execute("SELECT name FROM hr.person WHERE id = 7").fetchall() == [("canary 7",)]
            with pytest.raises(psycopg.Error) as caught:
                clients[1].execute("SELECT name FROM hr.person WHERE id = 7")
            assert (caught.value.sqlstate or "").startswith("DP")
            assert not CANARY.search(str(caught.value))


def test_a_wish_that_is_local_to_a_transaction_ends_with_it(office: Office, clients: list[Connection]) -> None:
    with clients[0].transaction():
        clients[0].execute("SET LOCAL discreet.epsilon = 0.5")
        clients[0].execute(COUNT)
    clients[1].execute(f"{COUNT} WHERE age > 30")
    assert office.truth("SELECT epsilon FROM discreet._charge ORDER BY id") == [(0.5,), (10,)]


def test_a_client_that_goes_away_in_the_middle_harms_nobody(office: Office, clients: list[Connection]) -> None:
    clients[0].execute("BEGIN")
    clients[0].execute(COUNT)
    clients[0].close()
    with suppress(psycopg.Error):
        clients[1].execute("SELECT 1")
    assert abs(int(str(clients[2].execute(COUNT).fetchall()[0][0])) - 2000) <= NOISE
    assert office.spent() == 10


# -- levels


@pytest.fixture
def sam(cluster: Cluster, template: str) -> Iterator[str]:
    """A role that pgbouncer knows; dropped after the database of the test."""
    cluster.sql(f"CREATE ROLE {CLEARED} LOGIN")
    yield CLEARED
    cluster.sql(f"DROP ROLE {CLEARED}")


@pytest.fixture
def levels(sam: str, database: Database) -> Database:
    """A multilevel table, and a role that is cleared for the higher of two levels."""
    admin = database.connect()
    admin.execute("SELECT discreet.mls_define(ARRAY['U', 'S'])")
    admin.execute(f"CREATE TABLE agent (name text PRIMARY KEY); GRANT SELECT, INSERT ON agent TO {sam}")
    admin.execute("SELECT discreet.mls_clear(%s, 'S')", [sam])
    admin.execute("SELECT discreet.mls_table('agent', ARRAY['name'])")
    return database


@pytest.mark.parametrize("mode", ["by_transaction", "by_session"])
def test_what_a_backend_has_read_holds_for_the_client_that_gets_it_next(
    levels: Database, sam: str, mode: str, request: pytest.FixtureRequest
) -> None:
    pooler = request.getfixturevalue(mode)
    with levels.connect(sam) as fresh:
        fresh.execute("SET discreet.level = 'U'")
        fresh.execute("INSERT INTO agent (name) VALUES ('Bond')")
    with pooler.connect(levels, sam) as first:
        before = backend(first)
        first.execute("SELECT * FROM agent")
        if mode == "by_session":  # as the pooler does by itself when the client leaves
            first.execute("DISCARD ALL")
    with pooler.connect(levels, sam) as second:
        assert backend(second) == before
        with refused("42501", "label U is below what this session has read", "not down again"):
            second.execute("SET discreet.level = 'U'")
        assert second.execute("SELECT name FROM agent").fetchall() == [("Bond",)]


def test_a_backend_that_has_read_below_may_go_up(levels: Database, sam: str, by_session: Pooler) -> None:
    with by_session.connect(levels, sam) as first:
        before = backend(first)
        first.execute("SET discreet.level = 'U'")
        first.execute("SELECT * FROM agent")
    with by_session.connect(levels, sam) as second:
        assert backend(second) == before
        assert second.execute("SHOW discreet.level").fetchall() == [("",)]
        second.execute("INSERT INTO agent (name) VALUES ('Smiley')")
        assert second.execute("SELECT name_label FROM agent").fetchall() == [("S",)]
