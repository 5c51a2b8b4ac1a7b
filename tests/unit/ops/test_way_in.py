"""pg_hba.conf is read as the server reads it: the first line that fits decides."""

from __future__ import annotations

import pytest

from discreet.ops.way_in import Line, Role, weak_lines

ALICE = Role("alice", frozenset(["alice", "discreet_analyst"]))
BOB = Role("bob", frozenset(["bob"]))


def lines(text: str) -> tuple[Line, ...]:
    made = []
    for number, line in enumerate(text.strip().splitlines(), 1):
        line, _, options = line.partition(" |")
        kind, databases, users, *address, method = line.split()
        place, _, mask = address[0].partition("/") if address else (None, "", "")
        made.append(
            Line(number, kind, tuple(databases.split(",")), tuple(users.split(",")), place, mask or None, method,
                 tuple(options.split()))
        )  # fmt: skip
    return tuple(made)


def found(text: str, *roles: Role, database: str = "hr", tls: bool = True) -> list[tuple[int, str, list[str]]]:
    return [
        (line.number, what, named) for line, what, _, named in weak_lines(lines(text), roles or (ALICE,), database, tls)
    ]


PLAIN = "over TCP without TLS"


@pytest.mark.parametrize("method", ["scram-sha-256", "cert", "ldap | ldaptls=1", "peer", "reject"])
def test_strong_methods_over_tls_and_sockets_are_no_finding(method: str) -> None:
    assert found(f"local all all {method}\nhostssl all all all {method}") == []


@pytest.mark.parametrize(("method", "what"), [("trust", "without a password"), ("md5", "with a password hashed by MD5"),
                                             ("password", "with a password in the clear")])  # fmt: skip
def test_weak_methods_are_named(method: str, what: str) -> None:
    assert found(f"local all all {method}") == [(1, what, ["alice"])]
    assert found(f"hostssl all all all {method}") == [(1, what, ["alice"])]


def test_host_lets_unencrypted_connections_in() -> None:
    assert found("host all all all scram-sha-256") == [(1, PLAIN, ["alice"])]
    assert found("hostnossl all all 10.0.0.0/255.0.0.0 scram-sha-256") == [(1, PLAIN, ["alice"])]
    assert found("hostgssenc all all all gss") == []
    assert found("hostgssenc all all all trust") == [(1, "without a password", ["alice"])]


def test_what_the_clients_machine_says_is_no_proof() -> None:
    assert found("hostssl all all all ident") == [(1, "by what the client's own machine says", ["alice"])]


def test_a_certificate_that_names_the_role_is_enough() -> None:
    assert found("hostssl all all all trust | clientcert=verify-full") == []
    assert found("hostssl all all all trust | clientcert=verify-ca") == [(1, "without a password", ["alice"])]
    assert found("local all all trust | clientcert=verify-full") == [(1, "without a password", ["alice"])]


@pytest.mark.parametrize(
    ("options", "secure"),
    [("", False), ("ldapscheme=ldap", False), ("ldaptls=0", False), ("ldapurl=ldap://dir/ou=people", False),
     ("ldaptls=1", True), ("ldapscheme=ldaps", True), ("ldapurl=ldaps://dir/ou=people", True)],
)  # fmt: skip
def test_a_directory_gets_passwords_over_tls_only(options: str, secure: bool) -> None:
    named = [(1, "with a password that the server sends to the directory without TLS", ["alice"])]
    assert found(f"hostssl all all all ldap | {options}") == ([] if secure else named)


def test_without_ssl_a_line_for_tls_is_never_met() -> None:
    assert found("hostssl all all all trust", tls=False) == []


def test_the_first_line_that_fits_decides() -> None:
    assert found("hostnossl all all all reject\nhost all all all scram-sha-256") == []
    assert found("local all alice peer\nlocal all all trust", ALICE, BOB) == [(2, "without a password", ["bob"])]
    narrow = "hostssl all all 10.0.0.0/255.0.0.0 scram-sha-256\nhostssl all all 10.1.0.0/255.255.0.0 trust"
    assert found(narrow) == []
    wide = "hostssl all all 10.1.0.0/255.255.0.0 scram-sha-256\nhostssl all all 10.0.0.0/255.0.0.0 trust"
    assert found(wide) == [(2, "without a password", ["alice"])]
    assert found(
        "hostssl all all ::1/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff scram-sha-256\nhostssl all all all trust"
    ) == [(2, "without a password", ["alice"])]


def test_databases_and_groups_decide_whom_a_line_is_for() -> None:
    assert found("local shop all trust") == []
    assert found("local replication all trust") == []
    assert found("local shop,hr all trust") == [(1, "without a password", ["alice"])]
    assert found("local all +discreet_analyst trust", ALICE, BOB) == [(1, "without a password", ["alice"])]
    assert found("local sameuser all trust", database="alice") == [(1, "without a password", ["alice"])]
    assert found("local samerole all trust", database="discreet_analyst") == [(1, "without a password", ["alice"])]
