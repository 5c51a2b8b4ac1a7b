"""Sealed columns by TLS, as docs/sealed.md tells developers to open a key: a pool of psycopg, and JDBC."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from dev.cluster import ROOT, Cluster, throw_away_folder
from tests.clients_more.conftest import PROGRAMS, PYTHON, free_port
from tests.database.ops.test_connections import certify
from tests.databases import FAST_AND_FORGETFUL

SECRET = "correct horse battery staple"
TABLES = f"""
    SET client_min_messages = warning;
    CREATE EXTENSION discreet CASCADE;
    CREATE ROLE shop_app LOGIN;
    CREATE SCHEMA shop;
    CREATE TABLE shop.customer (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text, ssn text UNIQUE,
        salary numeric(10, 2) CHECK (salary > 0));
    INSERT INTO shop.customer (name, ssn, salary) VALUES ('Ada', '123-45-6789', 5000);
    GRANT USAGE ON SCHEMA shop TO shop_app;
    GRANT SELECT, INSERT, UPDATE, DELETE ON shop.customer TO shop_app;
    SELECT discreet.create_key('customers', '{SECRET}'), discreet.open_key('customers', '{SECRET}');
    SELECT discreet.grant_key('customers', 'shop_app');
    SELECT discreet.seal_column('shop.customer', 'salary', 'customers');
    SELECT discreet.seal_column('shop.customer', 'ssn', 'customers', searchable => true);
"""


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with throw_away_folder(in_memory=True) as made:
        certify(made)
        yield made


@pytest.fixture(scope="module")
def tls_cluster(folder: Path) -> Iterator[Cluster]:
    settings = FAST_AND_FORGETFUL | {
        "listen_addresses": "127.0.0.1", "ssl": "on", "ssl_cert_file": str(folder / "server.crt"),
        "ssl_key_file": str(folder / "server.key"),
    }  # fmt: skip
    running = Cluster(folder / "cluster", free_port(), settings)
    try:
        running.start()
        running.sql(TABLES)
        yield running
    finally:
        running.remove()


def snippet(beginning: str) -> str:
    """The block of docs/sealed.md that begins so."""
    page = (ROOT / "docs" / "sealed.md").read_text(encoding="utf-8")
    (found,) = (text for text in re.findall(r"```text\n(.*?)```", page, re.DOTALL) if text.startswith(beginning))
    return found


def printed(cluster: Cluster, folder: Path, command: list[str], text: str = "") -> list[str]:
    variables = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "PGPORT": str(cluster.port),
        "PGSSLROOTCERT": str(folder / "ca.crt"), "CUSTOMERS_SECRET": SECRET,
    }  # fmt: skip
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=300, env=variables, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_a_pool_opens_the_key_in_each_connection(tls_cluster: Cluster, folder: Path) -> None:
    shown = snippet("def configure(")
    here = {
        "host=db": f"host=localhost port={tls_cluster.port}",
        "ca.crt": str(folder / "ca.crt"),
        "dbname=shop": "dbname=postgres",
    }
    for there, place in here.items():
        assert there in shown
        shown = shown.replace(there, place)
    told = printed(tls_cluster, folder, [str(PYTHON / "python"), str(PROGRAMS / "sealed_pool.py")], shown)
    assert told == ["open: (Decimal('5000.00'),)"] * 3 + ["again: ('pooled', Decimal('77.00'))"]


def test_jdbc_opens_the_key_over_tls_only(tls_cluster: Cluster, folder: Path) -> None:
    program = PROGRAMS / "Sealed.java"
    assert "".join(snippet("try (PreparedStatement").split()) in "".join(program.read_text().split())
    command = ["java", "-cp", "/usr/share/java/postgresql.jar", str(program)]
    refused, closed, opened, written = printed(tls_cluster, folder, command)
    assert re.match(r"without TLS: ERROR: .*encrypt", refused)
    assert (closed, opened, written) == ("closed: nothing", "open: Ada 5000.00", "written: Java 1234.50")
