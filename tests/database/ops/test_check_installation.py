"""discreet.check_installation says what is installed, and what is wrong in plain words."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import psycopg
import pytest
from dev.cluster import Cluster
from dev.install import extension_version, locked, python_folder
from dev.postgresql import major
from tests.databases import Connection, Database, MakeRole, Row, created, throw_away_cluster
from tests.messages import refused

from discreet.server.ops_installation import DEPENDENCIES, locked_versions

CHECK = "SELECT item, status, finding FROM discreet.check_installation()"


def findings(connection: Connection, item: str) -> list[Row]:
    return connection.execute(
        "SELECT status, finding FROM discreet.check_installation() WHERE item = %s", [item]
    ).fetchall()


def test_a_sound_installation_has_nothing_to_complain_about(admin: Connection) -> None:
    found = admin.execute(CHECK).fetchall()
    # the socket of the cluster trusts everybody, and roles of other tests may be there
    judged = [finding for finding in found if finding[0] != "way in"]
    assert [finding for finding in judged if finding[1] != "ok"] == []
    items = ["version", "interpreter", "package folder", *DEPENDENCIES, "grammar", "encoding", "library", "ledger"]
    assert [item for item, _, _ in found][: len(items)] == items


def test_dependencies_have_the_versions_that_are_locked(admin: Connection) -> None:
    pinned = locked_versions(locked())
    for name in DEPENDENCIES:
        assert findings(admin, name) == [("ok", pinned[name])]


def test_the_parser_has_the_grammar_of_the_server(admin: Connection) -> None:
    assert findings(admin, "grammar") == [("ok", f"pglast parses the SQL of PostgreSQL {major()}")]


def test_it_names_versions_interpreter_and_folder(admin: Connection) -> None:
    found = {item: finding for item, _, finding in admin.execute(CHECK).fetchall()}
    assert found["version"].startswith(f"discreet {extension_version()} on PostgreSQL {major()}.")
    assert found["interpreter"] == f"Python {sys.version.split()[0]} of PL/Python"
    assert found["package folder"] == str(python_folder())


def test_the_version_is_that_of_the_control_file(admin: Connection) -> None:
    assert admin.execute("SELECT discreet.version()").fetchall() == [(extension_version(),)]


@pytest.mark.parametrize(("setting", "code"), [("statement_timeout", "57014"), ("lock_timeout", "55P03")])
def test_a_timeout_is_a_timeout(database: Database, admin: Connection, setting: str, code: str) -> None:
    """Also while one of its statements runs, which makes one row after the other."""
    with database.connect(autocommit=False) as holder:
        holder.execute("LOCK TABLE discreet._protected_table")
        admin.execute(f"SET {setting} = '1s'")
        with pytest.raises(psycopg.Error) as error:
            admin.execute(CHECK)
    assert error.value.sqlstate == code


@pytest.mark.parametrize("group", ["discreet_curator", "discreet_auditor"])
def test_curators_and_auditors_may_check(database: Database, make_role: MakeRole, group: str) -> None:
    found = database.connect(make_role("watcher", group)).execute(CHECK).fetchall()
    assert ("ledger", "ok", "its worker answers, and commits durably") in found


def test_analysts_may_not_check(database: Database, make_role: MakeRole) -> None:
    # it names every role that reads past the budget
    with refused("42501", "permission denied for function check_installation", None):
        database.connect(make_role("alice", "discreet_analyst")).execute(CHECK)


def test_it_names_who_reads_a_protected_table_directly(carol: Connection, person: str, make_role: MakeRole) -> None:
    reader = make_role("reader")
    carol.execute(f"GRANT SELECT ON hr.person TO {reader}")
    assert findings(carol, "direct readers") == [("warning", f"hr.person can be read without a budget by: {reader}")]


@pytest.mark.parametrize(
    "group", ["pg_read_all_data", "pg_read_all_stats", "pg_stat_scan_tables", "pg_read_server_files"]
)
def test_it_names_analysts_who_see_past_the_budget(admin: Connection, make_role: MakeRole, group: str) -> None:
    alice = make_role("alice", "discreet_analyst", group)
    assert findings(admin, "watching roles") == [
        ("warning", f"analyst {alice} is a member of {group} and sees past the budget")
    ]


@pytest.fixture
def alice(person: str, carol: Connection, make_role: MakeRole) -> str:
    """An analyst who may ask about the people of hr.person, and use its schema."""
    role = make_role("alice")
    carol.execute(f"SELECT discreet.grant_budget('people', '{role}', 1); GRANT USAGE ON SCHEMA hr TO {role}")
    return role


COUNT = "SELECT count(*) FROM hr.person"


@pytest.mark.parametrize(
    "body",
    [
        f"LANGUAGE sql AS '{COUNT}'",
        f"LANGUAGE sql BEGIN ATOMIC {COUNT}; END",
        "LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT count(*) FROM HR.Person); END'",
        "LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT count(*) FROM hr.smoker); END'",
    ],
)
def test_it_names_definer_functions_that_read_protected_tables(carol: Connection, alice: str, body: str) -> None:
    carol.execute("CREATE VIEW hr.smoker AS SELECT * FROM hr.person WHERE smoker")
    carol.execute(f"CREATE FUNCTION hr.people() RETURNS bigint SECURITY DEFINER {body}")
    ((status, finding),) = findings(carol, "definer functions")
    assert status == "warning"
    assert f"hr.people() runs as {carol.info.user} and names hr.{'smoker' if 'smoker' in body else 'person'}" in finding
    assert alice in finding
    carol.execute("REVOKE EXECUTE ON FUNCTION hr.people() FROM PUBLIC")
    assert findings(carol, "definer functions") == []


@pytest.mark.parametrize(
    "function",
    [
        f"RETURNS bigint LANGUAGE sql AS '{COUNT}'",
        "RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1 AS person_or_not'",
    ],
)
def test_other_functions_are_not_named(carol: Connection, alice: str, function: str) -> None:
    carol.execute(f"CREATE FUNCTION hr.f() {function}")
    assert findings(carol, "definer functions") == []


def test_it_names_views_that_show_rows_to_analysts(carol: Connection, alice: str) -> None:
    carol.execute("CREATE VIEW hr.names AS SELECT name FROM hr.person; SELECT discreet.exempt_view('hr.names')")
    carol.execute("CREATE MATERIALIZED VIEW hr.copied AS SELECT * FROM hr.names")
    assert findings(carol, "exempt views") == findings(carol, "copies") == []
    carol.execute(f"GRANT SELECT ON hr.names, hr.copied TO {alice}")
    assert findings(carol, "exempt views") == [("warning", f"hr.names shows rows of protected tables to {alice}")]
    copies = f"materialized view hr.copied holds rows of protected tables, which {alice} may read"
    assert findings(carol, "copies") == [("warning", copies)]


def test_it_names_analysts_who_cannot_name_their_tables(carol: Connection, alice: str) -> None:
    assert findings(carol, "closed schemas") == []
    carol.execute(f"REVOKE USAGE ON SCHEMA hr FROM {alice}")
    ((status, finding),) = findings(carol, "closed schemas")
    assert (status, str(finding).endswith(f"GRANT USAGE ON SCHEMA hr TO {alice}")) == ("warning", True)


SENT = "is sent to subscribers by publication {}: rows arrive without their protection"


def test_it_names_protected_tables_that_are_published(admin: Connection, carol: Connection, person: str) -> None:
    admin.execute("SET client_min_messages = error")
    admin.execute(
        """
        CREATE TABLE hr.visit (person int) PARTITION BY LIST (person);
        CREATE TABLE hr.visit_1 PARTITION OF hr.visit FOR VALUES IN (1);
        SELECT discreet.protect('hr.visit', 'person', 'people', max_rows => 1);
        CREATE TABLE hr.dept (name text);
        SELECT discreet.protect('hr.dept', NULL, policy => 'public');
        CREATE PUBLICATION harmless FOR TABLE hr.dept;
        """
    )
    assert findings(carol, "published tables") == []
    admin.execute("CREATE PUBLICATION people FOR TABLE hr.person; CREATE PUBLICATION again FOR TABLE hr.person (dept)")
    ((status, finding),) = findings(carol, "published tables")
    assert (status, str(finding).startswith(f"{person} " + SENT.format("again, people"))) == ("warning", True)
    admin.execute("DROP PUBLICATION people, again; CREATE PUBLICATION parts FOR TABLE hr.visit_1")
    ((_, finding),) = findings(carol, "published tables")
    assert str(finding).startswith("hr.visit " + SENT.format("parts"))


def test_it_names_rows_of_all_labels_and_tables_of_discreet_that_are_published(admin: Connection) -> None:
    admin.execute("SET client_min_messages = error")
    admin.execute(
        """
        SELECT discreet.mls_define(ARRAY['U', 'S']);
        CREATE TABLE agent (name text PRIMARY KEY);
        SELECT discreet.mls_table('agent', key => '{name}');
        CREATE PUBLICATION everything FOR ALL TABLES;
        """
    )
    found = [str(finding) for _, finding in findings(admin, "published tables")]
    assert [text.partition(":")[0] for text in found] == [
        "public.agent is sent to subscribers by publication everything",
        "schema discreet is sent to subscribers by publication everything",
    ]
    assert found[1].endswith("keys and charges are sent with the other tables")


@pytest.mark.parametrize("state", ["DISABLE", "ENABLE", "ENABLE REPLICA"])
def test_it_notices_an_event_trigger_that_is_not_always_on(admin: Connection, state: str) -> None:
    admin.execute(f"ALTER EVENT TRIGGER discreet_load_before_ddl {state}")
    ((verdict, finding),) = findings(admin, "event triggers")
    assert verdict == "problem"
    command = finding.partition("run ")[2]
    admin.execute(command)
    assert findings(admin, "event triggers") == [("ok", "renamed and dropped tables and columns are followed")]


def test_a_role_that_only_sounds_like_a_group_is_no_problem(admin: Connection, make_role: MakeRole) -> None:
    make_role("discreet_app")
    assert findings(admin, "group roles") == [("ok", "5 group roles without login")]


@pytest.fixture(scope="module")
def own_cluster() -> Iterator[Cluster]:
    """A cluster whose settings these tests may spoil."""
    with throw_away_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def unloaded() -> Iterator[Database]:
    """A cluster with the extension, where the library is not preloaded."""
    with throw_away_cluster(shared_preload_libraries="") as cluster, created(cluster, "unloaded") as database:
        database.connect().execute("SET client_min_messages = warning; CREATE EXTENSION discreet CASCADE")
        yield database


@pytest.fixture
def own(own_cluster: Cluster) -> Iterator[Database]:
    """A database of it with the extension; what a test altered for all databases is reset afterwards."""
    with created(own_cluster, "own") as database:
        connection = database.connect()
        connection.execute("SET client_min_messages = warning; CREATE EXTENSION discreet CASCADE")
        yield database
        connection.execute("ALTER SYSTEM RESET ALL")
        connection.execute("SELECT pg_reload_conf()")


def place_ledger(database: Database, place: str) -> Connection:
    """A session that knows discreet.ledger by this value."""
    connection = database.connect()
    connection.execute(f"ALTER SYSTEM SET discreet.ledger = '{place}'")
    connection.execute("SELECT pg_reload_conf()")
    while connection.execute("SHOW discreet.ledger").fetchone() != (place,):
        time.sleep(0.01)
    return connection


def test_it_notices_that_the_library_is_not_preloaded(unloaded: Database) -> None:
    ((status, finding),) = findings(unloaded.connect(), "library")
    assert status == "problem"
    assert str(finding).startswith("not preloaded: every question is refused")
    assert "Add discreet to shared_preload_libraries" in str(finding)
    ((status, finding),) = findings(unloaded.connect(), "ledger")
    assert (status, str(finding).startswith("not reachable")) == ("problem", True)


def test_it_notices_that_the_library_is_preloaded_for_the_database_only(unloaded: Database) -> None:
    unloaded.connect().execute("ALTER DATABASE unloaded SET session_preload_libraries = 'discreet'")
    ((status, finding),) = findings(unloaded.connect(), "library")
    assert status == "problem"
    assert str(finding).startswith("loaded by session_preload_libraries, which starts no workers")


@pytest.mark.parametrize("place", ["host=/nowhere", "port=1", "nonsense", "dbname=postgres"])
def test_it_notices_that_the_ledger_cannot_be_reached(own: Database, place: str) -> None:
    ((status, finding),) = findings(place_ledger(own, place), "ledger")
    assert status == "problem"
    assert str(finding).startswith("not reachable, so every question is refused with DP007")


def test_why_the_ledger_cannot_be_reached_is_told_to_the_log_only(own: Database, own_cluster: Cluster) -> None:
    connection = place_ledger(own, "host=/nowhere password=s3cret")
    with refused("DP007", "the ledger is not reachable: no charge, no answer", "discreet.check_installation()"):
        connection.execute("SELECT discreet._ledger('ping', '{}')")
    log = (own_cluster.folder / "log").read_text()
    reason = log[log.rindex("discreet: ledger: ") :]
    assert "/nowhere" in reason
    assert "s3cret" not in reason


def test_settings_of_roles_and_databases_do_not_make_the_ledger_forgetful(own: Database) -> None:
    connection = own.connect()
    connection.execute("ALTER DATABASE own SET synchronous_commit = off")
    connection.execute("ALTER ROLE discreet_ledger IN DATABASE own SET synchronous_commit = off")
    connection.execute("ALTER ROLE postgres IN DATABASE own SET synchronous_commit = off")
    connection.execute("ALTER DATABASE own SET default_transaction_read_only = on")
    assert findings(own.connect(), "ledger") == [("ok", "its worker answers, and commits durably")]
    own.cluster.sql("ALTER DATABASE own RESET ALL")


@pytest.mark.parametrize(
    ("spoil", "mend"),
    [
        ("ALTER ROLE discreet_analyst LOGIN", "ALTER ROLE discreet_analyst NOLOGIN"),
        ("ALTER ROLE discreet_curator CREATEROLE", "ALTER ROLE discreet_curator NOCREATEROLE"),
        ("CREATE ROLE thief; GRANT discreet_ledger TO thief", "DROP ROLE thief"),
    ],
)
def test_it_notices_group_roles_with_might_of_their_own(own: Database, spoil: str, mend: str) -> None:
    connection = own.connect()
    connection.execute(spoil)
    try:
        ((status, finding),) = findings(connection, "group roles")
    finally:
        connection.execute(mend)
    assert status == "problem"
    assert "group roles must not log in nor hold privileges of their own" in str(finding)


def test_it_notices_files_of_another_version(own: Database) -> None:
    connection = own.connect()
    connection.execute("UPDATE pg_extension SET extversion = '0.0.1' WHERE extname = 'discreet'")
    ((status, finding),) = findings(connection, "version")
    assert status == "problem"
    assert str(finding).endswith("run ALTER EXTENSION discreet UPDATE")
