"""Secrets: who may compute under them, that nobody reads them, and that they can be renewed."""

from __future__ import annotations

import hashlib
import hmac

import psycopg
import pytest
from tests.databases import Connection, Database, MakeRole
from tests.messages import refused


@pytest.fixture
def people(carol: Connection) -> str:
    """A secret of the curator."""
    carol.execute("SELECT discreet.create_secret('people')")
    return "people"


def pseudonym(connection: Connection, value: str = "'Alice'") -> str:
    return str(connection.execute(f"SELECT discreet.pseudonym({value}, 'people')").fetchone()[0])  # type: ignore[index]


def test_a_pseudonym_is_the_hmac_of_the_value(admin: Connection, carol: Connection, people: str) -> None:
    (row,) = admin.execute("SELECT key FROM discreet._secret_key").fetchall()
    expected = hmac.new(bytes(row[0]), "pÄnne".encode(), hashlib.sha256).hexdigest()[:32]
    assert pseudonym(carol, "'Änne'") == expected


def test_it_is_the_same_in_every_table_whatever_the_type(carol: Connection, people: str) -> None:
    carol.execute("CREATE TABLE hr.a AS SELECT 7 AS id; CREATE TABLE hr.b AS SELECT '7'::varchar AS id")
    carol.execute("CREATE TABLE hr.c AS SELECT 7::bigint AS id")
    found = carol.execute(
        "SELECT count(DISTINCT p) FROM (SELECT discreet.pseudonym(id, 'people') FROM hr.a UNION ALL"
        " SELECT discreet.pseudonym(id, 'people') FROM hr.b UNION ALL"
        " SELECT discreet.pseudonym(id, 'people') FROM hr.c) t(p)"
    )
    assert found.fetchall() == [(1,)]


def test_null_and_empty_values(carol: Connection, people: str) -> None:
    (row,) = carol.execute(
        "SELECT discreet.pseudonym(NULL::text, 'people'), length(discreet.pseudonym('', 'people')),"
        " discreet.pseudonym(NULL::int, 'people'), discreet.pseudonym('x', NULL)"
    )
    assert row == (None, 32, None, None)


def test_another_secret_gives_another_pseudonym(carol: Connection, people: str) -> None:
    carol.execute("SELECT discreet.create_secret('other')")
    (row,) = carol.execute("SELECT discreet.pseudonym('Alice', 'people') = discreet.pseudonym('Alice', 'other')")
    assert row == (False,)


def test_a_call_may_name_a_secret_for_each_row(carol: Connection, people: str) -> None:
    carol.execute("SELECT discreet.create_secret('other')")
    (row,) = carol.execute(
        "SELECT count(DISTINCT discreet.pseudonym('Alice', s)) FROM generate_series(1, 3),"
        " (VALUES ('people'), ('other')) t(s)"
    )
    assert row == (2,)


def test_only_who_holds_a_secret_computes_under_it(
    database: Database, carol: Connection, people: str, make_role: MakeRole
) -> None:
    team = make_role("team", options="NOLOGIN")
    member, stranger = database.connect(make_role("member", team)), database.connect(make_role("stranger"))
    for connection in (member, stranger):
        with refused("42501", 'does not hold secret "people"', "grant_secret"):
            pseudonym(connection)
    carol.execute(f"SELECT discreet.grant_secret('people', '{team}')")
    assert pseudonym(member) == pseudonym(carol)
    with refused("42501", 'does not hold secret "people"', "grant_secret"):
        stranger.execute("SELECT discreet.add_noise(1::float8, 1, 'r', 'people')")
    carol.execute(f"SELECT discreet.revoke_secret('people', '{team}')")
    with refused("42501", 'does not hold secret "people"', "grant_secret"):
        pseudonym(member)


def test_taking_another_role_within_a_statement_block_is_noticed(
    admin: Connection, carol: Connection, people: str, make_role: MakeRole
) -> None:
    stranger = make_role("stranger")
    with refused("42501", "does not hold secret", "grant_secret"):
        admin.execute(
            f"""
            DO $$ BEGIN
                FOR round IN 1..2 LOOP
                    PERFORM discreet.pseudonym('Alice', 'people');
                    SET LOCAL ROLE {stranger};
                END LOOP;
            END $$
            """
        )


def test_a_definer_function_lends_the_pseudonyms_but_not_the_secret(
    database: Database, carol: Connection, people: str, make_role: MakeRole
) -> None:
    reader = make_role("reader")
    carol.execute(
        f"""
        CREATE FUNCTION hr.published() RETURNS TABLE (person text, dept text) LANGUAGE sql STABLE SECURITY DEFINER
        SET search_path = pg_catalog, pg_temp
        BEGIN ATOMIC SELECT discreet.pseudonym(name, 'people'), dept FROM hr.person; END;
        CREATE VIEW hr.published AS SELECT * FROM hr.published();
        GRANT USAGE ON SCHEMA hr TO {reader};
        GRANT SELECT ON hr.published TO {reader};
        """
    )
    session = database.connect(reader)
    assert session.execute("SELECT count(DISTINCT person) FROM hr.published").fetchall() == [(20,)]
    with refused("42501", "does not hold secret", "grant_secret"):
        pseudonym(session, "'name 1'")


def test_nobody_reads_the_key(database: Database, carol: Connection, people: str, make_role: MakeRole) -> None:
    auditor = database.connect(make_role("otto", "discreet_auditor"))
    for connection in (carol, auditor):
        for table in ("_secret", "_secret_key", "_secret_holder"):
            with refused("42501", f"permission denied for table {table}", None):
                connection.execute(f"TABLE discreet.{table}")
    shown = auditor.execute("SELECT * FROM discreet.secrets")
    assert [column.name for column in shown.description or ()] == [
        "secret", "owner", "version", "kept_versions", "holders",
    ]  # fmt: skip


def test_a_new_key_gives_new_pseudonyms_and_the_owner_recognises_the_old(
    database: Database, carol: Connection, people: str, make_role: MakeRole
) -> None:
    holder = make_role("holder")
    carol.execute(f"SELECT discreet.grant_secret('people', '{holder}')")
    old = pseudonym(carol)
    assert carol.execute("SELECT discreet.rotate_secret('people')").fetchall() == [(2,)]
    assert pseudonym(carol) != old
    assert carol.execute("SELECT discreet.pseudonym('Alice', 'people', 1)").fetchall() == [(old,)]
    with refused("42501", "only the owner", "grant_secret"):
        database.connect(holder).execute("SELECT discreet.pseudonym('Alice', 'people', 1)")
    shown = carol.execute("SELECT version, kept_versions, holders FROM discreet.secrets").fetchall()
    assert shown == [(2, [1, 2], [holder])]


def test_a_key_that_is_forgotten_is_gone(carol: Connection, people: str) -> None:
    carol.execute("SELECT discreet.rotate_secret('people', forget => true)")
    with refused("42704", "has no key of version 1", "discreet.secrets"):
        carol.execute("SELECT discreet.pseudonym('Alice', 'people', 1)")
    assert carol.execute("SELECT kept_versions FROM discreet.secrets").fetchall() == [([2],)]


def test_a_new_key_is_used_within_the_same_transaction(carol: Connection, people: str) -> None:
    with carol.transaction():
        before = pseudonym(carol)
        carol.execute("SELECT discreet.rotate_secret('people')")
        assert pseudonym(carol) != before


@pytest.mark.parametrize(
    "call", ["rotate_secret('people')", "drop_secret('people')", "grant_secret('people', 'discreet_analyst')",
             "revoke_secret('people', 'discreet_analyst')"],
)  # fmt: skip
def test_only_the_owner_changes_a_secret(
    database: Database, people: str, curator: str, make_role: MakeRole, call: str
) -> None:
    other = database.connect(make_role("dora", "discreet_curator"))
    with refused("42501", f'secret "people" belongs to {curator}', "Only its owner"):
        other.execute(f"SELECT discreet.{call}")


@pytest.mark.parametrize(
    ("call", "sqlstate", "message", "hint"),
    [
        ("create_secret('people')", "42710", "there is a secret", "rotate_secret"),
        ("create_secret('')", "22023", "needs a name", "not empty"),
        ("create_secret(NULL)", "22023", "needs a name", "not empty"),
        ("pseudonym('a', 'nothing')", "42704", 'no secret "nothing"', "create_secret"),
        ("pseudonym('a', 'people', 0)", "22023", "no version of a key", "count from 1"),
        ("pseudonym('a', 'people', 5)", "42704", "no key of version 5", "discreet.secrets"),
        ("rotate_secret('nothing')", "42704", 'no secret "nothing"', "create_secret"),
        ("grant_secret('people', NULL)", "22023", "role must not be NULL", "Name a role"),
        ("revoke_secret('people', 'discreet_auditor')", "42704", "does not hold", "discreet.secrets"),
    ],
)
def test_what_makes_no_sense_is_refused(
    carol: Connection, people: str, call: str, sqlstate: str, message: str, hint: str
) -> None:
    with refused(sqlstate, message, hint):
        carol.execute(f"SELECT discreet.{call}")


def test_a_dropped_secret_is_gone(carol: Connection, people: str) -> None:
    carol.execute("SELECT discreet.drop_secret('people')")
    with refused("42704", "there is no secret", "create_secret"):
        pseudonym(carol)


def test_workers_compute_the_same(database: Database, admin: Connection, carol: Connection, people: str) -> None:
    carol.execute("CREATE TABLE hr.many AS SELECT n AS id FROM generate_series(1, 2000) n")
    query = "SELECT md5(string_agg(p, ',' ORDER BY p)) FROM (SELECT discreet.pseudonym(id, 'people') p FROM hr.many) t"
    alone = carol.execute(query).fetchall()
    carol.execute(
        "SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;"
        "ALTER TABLE hr.many SET (parallel_workers = 2)"
    )
    plan = str(carol.execute("EXPLAIN (VERBOSE) SELECT discreet.pseudonym(id, 'people') FROM hr.many").fetchall())
    assert "Gather" in plan
    assert carol.execute(query).fetchall() == alone


def test_an_analyst_makes_no_secret(database: Database, make_role: MakeRole) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        database.connect(make_role("alice", "discreet_analyst")).execute("SELECT discreet.create_secret('mine')")
