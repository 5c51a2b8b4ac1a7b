"""pgbouncer in transaction mode: one backend per role, handed from client to client after each transaction."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import psycopg
import pytest
from dev.cluster import Cluster, throw_away_folder
from tests.databases import Connection
from tests.office import ANALYST, CANARY, NOISE, READER, Office

PORT = 54431
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
pool_mode = transaction
default_pool_size = 1
min_pool_size = 0
logfile = {folder}/log
pidfile = {folder}/pid
"""


def start(cluster: Cluster, folder: Path) -> subprocess.Popen[bytes]:
    """pgbouncer refuses to run as root, as PostgreSQL does: it runs as the same user."""
    settings = SETTINGS.format(socket=cluster.socket, port=cluster.port, own_port=PORT, folder=folder)
    (folder / "settings.ini").write_text(settings)
    (folder / "users").write_text("".join(f'"{role}" ""\n' for role in (ANALYST, READER, "postgres")))
    command = ["/usr/sbin/pgbouncer", "-q", str(folder / "settings.ini")]
    if os.getuid() == 0:
        subprocess.run(["chown", "-R", cluster.user, str(folder)], check=True)
        command = ["runuser", "-u", cluster.user, "--", *command]
    return subprocess.Popen(command, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def pooler(office_database: Office) -> Iterator[Path]:
    """The folder of the socket of a pgbouncer that runs."""
    with throw_away_folder() as folder:
        process = start(office_database.database.cluster, folder)
        try:
            deadline = time.monotonic() + 60
            while not (folder / f".s.PGSQL.{PORT}").exists():
                assert process.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < deadline, "pgbouncer does not listen"
                time.sleep(0.05)
            yield folder
        finally:
            process.terminate()
            process.wait(60)


@pytest.fixture
def clients(office: Office, pooler: Path) -> Iterator[list[Connection]]:
    """Four connections of the analyst."""
    with ExitStack() as stack:
        yield [stack.enter_context(connect(office, pooler, ANALYST)) for _ in range(4)]


def connect(office: Office, pooler: Path, role: str) -> Connection:
    dsn = f"host={pooler} port={PORT} dbname={office.database.name} user={role}"
    return psycopg.connect(dsn, autocommit=True, prepare_threshold=None)


def test_clients_take_turns_at_one_backend(office: Office, clients: list[Connection]) -> None:
    backends = {client.execute("SELECT pg_backend_pid()").fetchall()[0] for client in clients}
    assert len(backends) == 1
    answers = {client.execute(COUNT).fetchall()[0] for client in clients}
    assert len(answers) == 1
    assert (office.spent(), office.questions()) == (10, 1)


def test_transactions_with_parameters_and_cursors(office: Office, clients: list[Connection]) -> None:
    for number, client in enumerate(clients):
        with client.transaction():
            ((answer,),) = client.execute(f"{COUNT} WHERE dept = %s", [f"dept {number}"]).fetchall()
            assert abs(int(str(answer)) - 500) <= NOISE
            with client.cursor("pieces") as cursor:
                cursor.execute("SELECT dept, count(*) FROM hr.person GROUP BY dept")
                assert len(cursor.fetchall()) == 4
    assert office.questions() == 5


def test_the_charge_names_who_asked(office: Office, clients: list[Connection]) -> None:
    clients[0].execute(COUNT)
    assert office.truth("SELECT role FROM discreet._charge") == [(ANALYST,)]


def test_a_backend_that_answered_one_role_shows_rows_to_another_and_not_back(
    office: Office, pooler: Path, clients: list[Connection]
) -> None:
    with connect(office, pooler, READER) as reader:
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
