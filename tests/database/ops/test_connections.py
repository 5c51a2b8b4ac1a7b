"""How people come in, with a real server: what check_installation() says of it, and what it then lets in."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from dev.cluster import Cluster, throw_away_folder
from tests.databases import FAST_AND_FORGETFUL, Connection

PORT = 54326
LOCAL = "local all postgres trust\n"
ROLES = """
    SET client_min_messages = warning;
    CREATE EXTENSION discreet CASCADE;
    CREATE ROLE alice LOGIN PASSWORD 'alices' IN ROLE discreet_analyst;
    SET password_encryption = 'md5';
    CREATE ROLE olga LOGIN PASSWORD 'olgas';
"""


def openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=folder)


def certify(folder: Path) -> None:
    """An authority, a certificate of the server and one of alice, as docs/operations.md makes them."""
    openssl(folder, "req", "-new", "-x509", "-days", "2", "-nodes", "-newkey", "rsa:2048", "-subj", "/CN=our authority",
            "-keyout", "ca.key", "-out", "ca.crt")  # fmt: skip
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    for name, subject in (("server", "/CN=localhost"), ("alice", "/CN=alice")):
        openssl(folder, "req", "-new", "-nodes", "-newkey", "rsa:2048", "-subj", subject, "-keyout", f"{name}.key",
                "-out", f"{name}.csr")  # fmt: skip
        openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-days", "2", "-CA", "ca.crt", "-CAkey", "ca.key",
                "-CAcreateserial", "-extfile", "names", "-out", f"{name}.crt")  # fmt: skip
        (folder / f"{name}.key").chmod(0o600)
    account = pwd.getpwnam("postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name)
    os.chown(folder / "server.key", account.pw_uid, account.pw_gid)


@pytest.fixture(scope="module")
def own_cluster() -> Iterator[Cluster]:
    with throw_away_folder(in_memory=True) as folder:
        certify(folder)
        settings = FAST_AND_FORGETFUL | {
            "listen_addresses": "127.0.0.1", "ssl": "on", "ssl_ca_file": str(folder / "ca.crt"),
            "ssl_cert_file": str(folder / "server.crt"), "ssl_key_file": str(folder / "server.key"),
        }  # fmt: skip
        running = Cluster(folder / "cluster", PORT, settings=settings)
        try:
            running.start()
            running.sql(ROLES)
            yield running
        finally:
            running.remove()


@pytest.fixture
def admin(own_cluster: Cluster) -> Iterator[Connection]:
    with psycopg.connect(own_cluster.dsn(), autocommit=True) as connection:
        yield connection


def allow(cluster: Cluster, admin: Connection, lines: str) -> None:
    """New lines, in force for the connections that come after."""
    (cluster.data / "pg_hba.conf").write_text(LOCAL + lines)
    before = admin.execute("SELECT pg_conf_load_time()").fetchone()
    admin.execute("SELECT pg_reload_conf()")
    while admin.execute("SELECT pg_conf_load_time()").fetchone() == before:
        pass


def findings(admin: Connection, item: str) -> list[str]:
    rows = admin.execute("SELECT finding FROM discreet.check_installation() WHERE item = %s AND status <> 'ok'", [item])
    return [str(row[0]) for row in rows]


def come(cluster: Cluster, user: str = "alice", **options: str) -> str:
    folder = cluster.folder.parent
    given = {
        "sslmode": "verify-full",
        "sslrootcert": str(folder / "ca.crt"),
        "sslcert": "none",
        "sslkey": "none",
    } | options
    with psycopg.connect(host="127.0.0.1", port=cluster.port, dbname="postgres", user=user, **given) as connection:  # type: ignore[arg-type]
        row = connection.execute("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").fetchone()
    return str(row)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("local all all trust", "without a password by line 2 of pg_hba.conf (local all all trust)"),
        ("hostssl all all 127.0.0.1/32 md5", "write scram-sha-256 instead of md5"),
        ("hostssl all +discreet_analyst all password", "write scram-sha-256 instead of password"),
        ("host all all 127.0.0.1/32 scram-sha-256", "over TCP without TLS by line 2 of pg_hba.conf"),
        ("hostnossl postgres alice all scram-sha-256", "write hostssl instead of hostnossl"),
    ],
)
def test_a_line_that_asks_too_little_is_named(own_cluster: Cluster, admin: Connection, line: str, said: str) -> None:
    allow(own_cluster, admin, line + "\n")
    (found,) = findings(admin, "way in")
    assert found.startswith("alice can connect ")
    assert said in found


def test_a_line_that_cannot_be_read_is_named(own_cluster: Cluster, admin: Connection) -> None:
    (own_cluster.data / "pg_hba.conf").write_text(LOCAL + "host all all nonsense\n")
    (found,) = findings(admin, "way in")
    assert "line 2 of pg_hba.conf cannot be read" in found


def test_scram_over_tls_with_channel_binding(own_cluster: Cluster, admin: Connection) -> None:
    allow(own_cluster, admin, "hostssl all all 127.0.0.1/32 scram-sha-256\n")
    assert findings(admin, "way in") == []
    assert come(own_cluster, password="alices", channel_binding="require") == "(True,)"
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        come(own_cluster, password="wrong", channel_binding="require")
    with pytest.raises(psycopg.OperationalError, match=r"no pg_hba\.conf entry"):
        come(own_cluster, password="alices", sslmode="disable")
    # a hash by MD5 is no SCRAM secret
    with pytest.raises(psycopg.OperationalError):
        come(own_cluster, user="olga", password="olgas")


def test_certificates_on_both_sides(own_cluster: Cluster, admin: Connection) -> None:
    allow(own_cluster, admin, "hostssl all all 127.0.0.1/32 cert\n")
    assert findings(admin, "way in") == []
    folder = own_cluster.folder.parent
    with_certificate = {"sslcert": str(folder / "alice.crt"), "sslkey": str(folder / "alice.key")}
    assert come(own_cluster, **with_certificate) == "(True,)"
    with pytest.raises(psycopg.OperationalError, match="certificate authentication failed"):
        come(own_cluster, user="olga", **with_certificate)
    with pytest.raises(psycopg.OperationalError, match="requires a valid client certificate"):
        come(own_cluster)
    with pytest.raises(psycopg.OperationalError, match="certificate verify failed"):
        come(own_cluster, sslrootcert=str(folder / "alice.crt"), **with_certificate)


def test_passwords_that_are_no_scram_secrets_are_named(admin: Connection) -> None:
    (found,) = findings(admin, "passwords")
    assert "passwords of olga are not stored as SCRAM-SHA-256" in found


@pytest.mark.parametrize(
    ("item", "setting", "said"),
    [
        ("TLS", "ssl = off", "set ssl = on"),
        ("TLS", "ssl_min_protocol_version = 'TLSv1'", "set it to 'TLSv1.2'"),
        ("passwords", "password_encryption = 'md5'", "password_encryption is md5"),
        ("row security", "row_security = off", "row_security is off for postgresql.conf"),
        ("logged parameters", "log_statement = 'all'", "set log_parameter_max_length = 0"),
        ("logged parameters", "log_parameter_max_length_on_error = -1", "set log_parameter_max_length_on_error = 0"),
    ],
)
def test_settings_that_let_too_much_through_are_named(own_cluster: Cluster, item: str, setting: str, said: str) -> None:
    name = setting.split(" = ")[0]
    with psycopg.connect(own_cluster.dsn(), autocommit=True) as admin:
        admin.execute(f"ALTER SYSTEM SET {setting}".encode())
        allow(own_cluster, admin, "")
    try:
        with psycopg.connect(own_cluster.dsn(), autocommit=True) as admin:
            assert any(said in found for found in findings(admin, item)), findings(admin, item)
    finally:
        with psycopg.connect(own_cluster.dsn(), autocommit=True) as admin:
            admin.execute(f"ALTER SYSTEM RESET {name}".encode())
            allow(own_cluster, admin, "")
    with psycopg.connect(own_cluster.dsn(), autocommit=True) as admin:
        assert not any(said in found for found in findings(admin, item))


def test_superusers_among_analysts_are_named(admin: Connection) -> None:
    admin.execute("ALTER ROLE alice SUPERUSER")
    (found,) = findings(admin, "mighty roles")
    assert found.endswith("ALTER ROLE alice NOSUPERUSER")
    admin.execute("ALTER ROLE alice NOSUPERUSER BYPASSRLS")
    (found,) = findings(admin, "mighty roles")
    assert found.endswith("ALTER ROLE alice NOBYPASSRLS")
    admin.execute("ALTER ROLE alice NOBYPASSRLS")
    assert findings(admin, "mighty roles") == []


def test_what_to_type_names_roles_and_databases_as_sql_does(admin: Connection) -> None:
    admin.execute('CREATE ROLE "Odd one" LOGIN SUPERUSER IN ROLE discreet_analyst')
    try:
        admin.execute('ALTER ROLE "Odd one" IN DATABASE postgres SET row_security = off')
        (mighty,), (policies,) = findings(admin, "mighty roles"), findings(admin, "row security")
        for found in (mighty, policies):
            admin.execute(found.rpartition(": ")[2].encode())
        assert findings(admin, "mighty roles") == findings(admin, "row security") == []
    finally:
        admin.execute('DROP ROLE "Odd one"')
