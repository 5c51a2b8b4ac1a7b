"""Somebody listens on the network while a session sends the secret of a key."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from dev.cluster import Cluster, throw_away_folder
from tests.databases import FAST_AND_FORGETFUL

PORT = 54327


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with throw_away_folder(in_memory=True) as folder:
        certify(folder)
        settings = FAST_AND_FORGETFUL | {
            "listen_addresses": "127.0.0.1", "ssl": "on",
            "ssl_cert_file": str(folder / "server.crt"), "ssl_key_file": str(folder / "server.key"),
        }  # fmt: skip
        running = Cluster(folder / "cluster", PORT, settings=settings)
        try:
            running.start()
            running.sql("SET client_min_messages = warning; CREATE EXTENSION discreet CASCADE")
            running.sql("SELECT discreet.create_key('k', 'secret')")
            yield running
        finally:
            running.remove()


def certify(folder: Path) -> None:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", str(folder / "server.key"), "-out", str(folder / "server.crt")],
        check=True, capture_output=True,
    )  # fmt: skip
    account = pwd.getpwnam("postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name)
    os.chown(folder / "server.key", account.pw_uid, account.pw_gid)
    (folder / "server.key").chmod(0o600)


def connected(cluster: Cluster, sslmode: str) -> psycopg.Connection[tuple[object, ...]]:
    root = str(cluster.folder.parent / "server.crt")
    return psycopg.connect(host="127.0.0.1", port=PORT, user="postgres", dbname="postgres", sslmode=sslmode,
                           sslrootcert=root, autocommit=True)  # fmt: skip


@pytest.mark.parametrize(
    "function", ["open_key('k', 'secret')", "create_key('l', 'secret')", "rotate_key('k', 'secret', 'x')"]
)
def test_a_secret_is_refused_without_tls(cluster: Cluster, function: str) -> None:
    with (
        connected(cluster, "disable") as session,
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="unencrypted TCP"),
    ):
        session.execute(f"SELECT discreet.{function}".encode())


def test_over_tls_and_over_a_local_socket_it_is_accepted(cluster: Cluster) -> None:
    with connected(cluster, "verify-full") as session:
        session.execute("SELECT discreet.open_key('k', 'secret')")
    with psycopg.connect(cluster.dsn(), autocommit=True) as session:
        session.execute("SELECT discreet.open_key('k', 'secret')")
