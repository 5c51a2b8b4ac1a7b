"""Passwords that a directory knows: a server of OpenLDAP, asked by PostgreSQL over TLS, as docs/operations.md says."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from dev.cluster import Cluster, throw_away_folder
from tests.database.ops.test_connections import ROLES, allow, certify, come, findings
from tests.database.waiting import waited_for
from tests.databases import FAST_AND_FORGETFUL, Connection

SLAPD = Path("/usr/sbin/slapd")
PORT, DIRECTORY, CLEAR = 54325, 54324, 54323
CONFIGURATION = """
include /etc/ldap/schema/core.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {folder}/slapd.pid
TLSCACertificateFile {folder}/ca.crt
TLSCertificateFile {folder}/server.crt
TLSCertificateKeyFile {folder}/directory.key
database mdb
suffix dc=example,dc=org
directory {folder}/directory
access to attrs=userPassword by anonymous auth by * none
access to * by * none
"""
PEOPLE = """
dn: dc=example,dc=org
objectClass: dcObject
objectClass: organization
o: example
dc: example

dn: ou=people,dc=example,dc=org
objectClass: organizationalUnit
ou: people

dn: uid=alice,ou=people,dc=example,dc=org
objectClass: uidObject
objectClass: person
uid: alice
cn: alice
sn: alice
userPassword: known to the directory
"""
LINE = (
    'hostssl all all 127.0.0.1/32 ldap ldapserver=127.0.0.1 ldapport={} ldapscheme={} ldapprefix="uid="'
    ' ldapsuffix=",ou=people,dc=example,dc=org"\n'
)
PASSWORD = "known to the directory"


def answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


@pytest.fixture(scope="module")
def directory() -> Iterator[Path]:
    if not SLAPD.exists():
        pytest.skip("slapd is not installed (Debian: slapd)")
    with throw_away_folder(in_memory=True) as folder:
        certify(folder)
        (folder / "directory.key").write_bytes((folder / "server.key").read_bytes())
        (folder / "directory").mkdir()
        (folder / "slapd.conf").write_text(CONFIGURATION.format(folder=folder))
        people = folder / "people.ldif"
        people.write_text(PEOPLE)
        subprocess.run(
            ["/usr/sbin/slapadd", "-f", "slapd.conf", "-l", people], cwd=folder, check=True, capture_output=True
        )
        # its certificate is for 127.0.0.1, not for 127.0.0.2
        places = f"ldaps://127.0.0.1:{DIRECTORY} ldap://127.0.0.1:{CLEAR} ldaps://127.0.0.2:{DIRECTORY}"
        command = [str(SLAPD), "-f", str(folder / "slapd.conf"), "-h", places, "-d", "0"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                waited_for(lambda: answers(DIRECTORY) and answers(CLEAR))
                yield folder
            finally:
                process.terminate()


@pytest.fixture(scope="module")
def own_cluster(directory: Path) -> Iterator[Cluster]:
    """The server trusts the authority of the directory, which libldap reads from its environment."""
    settings = FAST_AND_FORGETFUL | {
        "listen_addresses": "127.0.0.1", "ssl": "on", "ssl_cert_file": str(directory / "server.crt"),
        "ssl_key_file": str(directory / "server.key"),
    }  # fmt: skip
    running = Cluster(directory / "cluster", PORT, settings=settings)
    os.environ["LDAPTLS_CACERT"] = str(directory / "ca.crt")
    try:
        running.start()
        running.sql(ROLES)
        yield running
    finally:
        del os.environ["LDAPTLS_CACERT"]
        running.remove()


@pytest.fixture
def admin(own_cluster: Cluster) -> Iterator[Connection]:
    with psycopg.connect(own_cluster.dsn(), autocommit=True) as connection:
        yield connection


def test_the_directory_decides_over_tls(own_cluster: Cluster, admin: Connection) -> None:
    allow(own_cluster, admin, LINE.format(DIRECTORY, "ldaps"))
    assert findings(admin, "way in") == []
    assert come(own_cluster, password=PASSWORD) == "(True,)"
    for wrong in ("alices", ""):
        with pytest.raises(psycopg.OperationalError, match=r"LDAP authentication failed|no password supplied"):
            come(own_cluster, password=wrong)
    with pytest.raises(psycopg.OperationalError, match="LDAP authentication failed"):
        come(own_cluster, user="olga", password=PASSWORD)
    with pytest.raises(psycopg.OperationalError, match=r"no pg_hba\.conf entry"):
        come(own_cluster, password=PASSWORD, sslmode="disable")


def test_ldaptls_protects_the_password_too(own_cluster: Cluster, admin: Connection) -> None:
    allow(own_cluster, admin, LINE.format(CLEAR, "ldap").rstrip() + " ldaptls=1\n")
    assert findings(admin, "way in") == []
    assert come(own_cluster, password=PASSWORD) == "(True,)"


def test_a_directory_with_the_certificate_of_another_is_not_asked(own_cluster: Cluster, admin: Connection) -> None:
    line = LINE.format(DIRECTORY, "ldaps").replace("ldapserver=127.0.0.1", "ldapserver=127.0.0.2")
    allow(own_cluster, admin, line)
    with pytest.raises(psycopg.OperationalError, match="LDAP authentication failed"):
        come(own_cluster, password=PASSWORD)


def test_a_password_that_reaches_the_directory_in_the_clear_is_named(own_cluster: Cluster, admin: Connection) -> None:
    allow(own_cluster, admin, LINE.format(CLEAR, "ldap"))
    assert come(own_cluster, password=PASSWORD) == "(True,)"
    (found,) = findings(admin, "way in")
    assert "sends to the directory without TLS by line 2 of pg_hba.conf" in found
    assert found.endswith("add ldaptls=1 or ldapscheme=ldaps")
