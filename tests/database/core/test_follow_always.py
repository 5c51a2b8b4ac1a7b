"""A protected table is followed whatever surrounds the command: errors, old snapshots, other sessions, no library."""

from __future__ import annotations

import threading

import psycopg
import pytest
from tests.database.waiting import wait_for_lock
from tests.databases import Connection, Database, throw_away_cluster

TABLES = "SELECT relation::text, unit FROM discreet.protected_tables ORDER BY 1"
FAMILY = """
    CREATE TABLE hr.family (id int PRIMARY KEY, name text);
    CREATE TABLE hr.guest () INHERITS (hr.family);
    INSERT INTO hr.family VALUES (1, 'one');
"""


def test_a_drop_that_is_taken_back_by_an_exception_leaves_the_table_protected(carol: Connection, person: str) -> None:
    carol.execute("""
        DO $$ BEGIN
            DROP TABLE hr.person;
            PERFORM 1 / 0;
        EXCEPTION WHEN division_by_zero THEN
            ALTER TABLE hr.person ADD more int;
        END $$
    """)
    assert carol.execute(TABLES).fetchall() == [("hr.person", "id")]


def test_a_drop_that_fails_half_way_leaves_the_table_protected(
    admin: Connection, database: Database, curator: str, person: str
) -> None:
    # the hook hears of the drop before an event trigger of somebody makes it fail
    admin.execute("""
        CREATE FUNCTION fail() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no drop'; END $$;
        CREATE EVENT TRIGGER fail ON sql_drop EXECUTE FUNCTION fail();
    """)
    session = database.connect(curator, autocommit=False)
    session.execute("SAVEPOINT here")
    with pytest.raises(psycopg.errors.RaiseException, match="no drop"):
        session.execute("DROP TABLE hr.person")
    session.execute("ROLLBACK TO here")
    session.execute("ALTER TABLE hr.person RENAME id TO number")
    session.commit()
    assert admin.execute(TABLES).fetchall() == [("hr.person", "number")]


def test_ddl_in_a_function_is_followed_at_once(carol: Connection, person: str) -> None:
    carol.execute("""
        CREATE FUNCTION hr.rename() RETURNS name LANGUAGE plpgsql AS $$
        BEGIN
            ALTER TABLE hr.person RENAME id TO number;
            RETURN (SELECT unit FROM discreet.protected_tables);
        END $$
    """)
    assert carol.execute("SELECT hr.rename()").fetchall() == [("number",)]


def test_ddl_of_a_transaction_that_is_prepared_is_followed(database: Database, curator: str, person: str) -> None:
    session = database.connect(curator)
    session.execute("BEGIN; ALTER TABLE hr.person RENAME id TO number; PREPARE TRANSACTION 'follow'")
    session.execute("COMMIT PREPARED 'follow'")
    assert session.execute(TABLES).fetchall() == [("hr.person", "number")]


def test_a_replica_follows_too(admin: Connection, carol: Connection, person: str) -> None:
    # event triggers and ordinary triggers are off in such a session
    admin.execute("SET session_replication_role = replica; ALTER TABLE hr.person RENAME id TO number")
    assert carol.execute(TABLES).fetchall() == [("hr.person", "number")]


def test_what_a_replica_protects_is_followed_by_sessions_that_knew_of_nothing(
    admin: Connection, carol: Connection
) -> None:
    carol.execute("CREATE TABLE hr.other (a int); DROP TABLE hr.other")
    admin.execute("SELECT discreet.create_dataset('people', 1)")
    admin.execute("SET session_replication_role = replica")
    admin.execute(
        "INSERT INTO discreet._protected_table"
        " (relation, dataset, unit, unit_attnum, policy, max_groups, max_rows, min_group)"
        " VALUES ('hr.person', 'people', 'id', 1, 'noisy', 1, 1, 10)"
    )
    carol.execute("ALTER TABLE hr.person RENAME id TO number")
    assert admin.execute(TABLES).fetchall() == [("hr.person", "number")]


@pytest.mark.parametrize(
    ("change", "follows"),
    [
        ("ALTER TABLE hr.family RENAME id TO number", ("hr.family", "number")),
        ("ALTER TABLE hr.guest NO INHERIT hr.family", ("hr.guest", "id")),
    ],
)
def test_a_change_waits_for_the_curator_and_is_followed(
    database: Database, curator: str, change: str, follows: tuple[str, str]
) -> None:
    busy, other = database.connect(curator, autocommit=False), database.connect(curator)
    other.execute(FAMILY)
    # by now the other session has read of what there is something to follow
    busy.execute("SELECT discreet.protect('hr.family', 'id', epsilon => 1, max_rows => 1)")
    waiting = threading.Thread(target=other.execute, args=(change,))
    waiting.start()
    wait_for_lock(database, other)
    busy.commit()
    waiting.join()
    assert follows in other.execute(TABLES).fetchall()


@pytest.mark.parametrize("isolation", ["REPEATABLE READ", "SERIALIZABLE"])
@pytest.mark.parametrize(
    "declare",
    [
        "SELECT discreet.protect('hr.family', 'id', epsilon => 1, max_rows => 1)",
        "SELECT discreet.describe_column('hr.person', 'name')",
    ],
)
def test_an_old_snapshot_cannot_change_what_was_declared_after_it(
    database: Database, curator: str, person: str, isolation: str, declare: str
) -> None:
    carol, old = database.connect(curator), database.connect(curator, autocommit=False)
    carol.execute(FAMILY)
    old.execute(f"SET TRANSACTION ISOLATION LEVEL {isolation}")
    old.execute("SELECT count(*) FROM hr.family")
    carol.execute(declare)
    table = "hr.family" if "family" in declare else "hr.person"
    with pytest.raises(psycopg.errors.SerializationFailure, match="after this transaction began"):
        old.execute(f"ALTER TABLE {table} RENAME name TO called")
    old.rollback()
    old.execute(f"ALTER TABLE {table} RENAME name TO called")
    old.commit()


SESSION_WITHOUT = (
    "ALTER TABLE person RENAME id TO number",
    "CREATE TABLE person_2 PARTITION OF person FOR VALUES IN (2)",
    "ALTER TABLE person DETACH PARTITION person_1",
    "DROP TABLE shop",
)


def test_sessions_that_begin_without_the_library_follow() -> None:
    with throw_away_cluster(shared_preload_libraries="") as cluster:
        cluster.sql("""
            SET client_min_messages = warning;
            CREATE EXTENSION discreet CASCADE;
            CREATE TABLE shop (id int);
            CREATE TABLE person (id int, name text) PARTITION BY LIST (id);
            CREATE TABLE person_1 PARTITION OF person FOR VALUES IN (1);
            SELECT discreet.protect('shop', 'id', epsilon => 1, max_rows => 1);
            SELECT discreet.protect('person', 'id', epsilon => 1, max_rows => 1);
        """)
        for command in SESSION_WITHOUT:
            cluster.sql(command)  # a session each
        assert cluster.sql(TABLES) == "person|number\nperson_1|number"
        assert cluster.sql("SELECT relation::text FROM discreet._protected_part") == "person_2"
        # the first command of a session, of which the library hears when it has begun
        with pytest.raises(RuntimeError, match="names the people of a protected table"):
            cluster.sql("ALTER TABLE person_1 DROP number")
        with pytest.raises(RuntimeError, match="names the people of a protected table"):
            cluster.sql("BEGIN; ALTER TABLE person_1 DROP number; COMMIT")


# a command within the command, in a subtransaction that is rolled back
NESTED = """
    CREATE FUNCTION hr.nested(value anyelement) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
        CREATE TEMP TABLE inner_one (n int);
        RAISE 'take it back';
    EXCEPTION WHEN OTHERS THEN
        RETURN true;
    END $$
"""


def test_a_command_within_the_command_does_not_hide_that_the_unit_is_dropped(
    admin: Connection, carol: Connection, person: str
) -> None:
    admin.execute("INSERT INTO hr.person SELECT 900001 WHERE NOT EXISTS (SELECT FROM hr.person)")
    carol.execute(NESTED)
    with pytest.raises(psycopg.errors.DependentObjectsStillExist):
        carol.execute("ALTER TABLE hr.person DROP COLUMN id CASCADE, ADD CHECK (hr.nested(1))")
    assert carol.execute(TABLES).fetchall() == [("hr.person", "id")]


def test_a_command_within_the_command_does_not_hide_a_child_that_leaves(admin: Connection, carol: Connection) -> None:
    admin.execute(f"{FAMILY}; INSERT INTO hr.guest VALUES (2, 'two')")
    admin.execute(
        "SELECT discreet.create_dataset('guests', 1);"
        "SELECT discreet.protect('hr.family', 'id', 'guests', max_rows => 1)"
    )
    admin.execute(NESTED)
    admin.execute("ALTER TABLE hr.guest NO INHERIT hr.family, ADD CHECK (hr.nested(id))")
    assert ("hr.guest", "id") in admin.execute(TABLES).fetchall()


def test_an_event_trigger_of_others_hides_nothing(admin: Connection, carol: Connection, person: str) -> None:
    admin.execute("""
        CREATE FUNCTION tell() RETURNS event_trigger LANGUAGE plpgsql AS $$
        BEGIN NOTIFY ddl; EXCEPTION WHEN OTHERS THEN NULL; END $$;
        CREATE EVENT TRIGGER tell ON ddl_command_end EXECUTE FUNCTION tell();
    """)
    with pytest.raises(psycopg.errors.DependentObjectsStillExist):
        carol.execute("ALTER TABLE hr.person DROP COLUMN id CASCADE")


def test_parts_that_are_dropped_on_commit_are_forgotten_with_the_next_one(admin: Connection) -> None:
    admin.execute(f"CREATE SCHEMA IF NOT EXISTS hr; {FAMILY}; SELECT discreet.create_dataset('guests', 1)")
    admin.execute("SELECT discreet.protect('hr.family', 'id', 'guests', max_rows => 1)")
    parts = "SELECT count(*) FROM discreet._protected_part WHERE whole = 'hr.family'::regclass"
    ((before,),) = admin.execute(parts).fetchall()
    for _ in range(3):
        admin.execute("BEGIN; CREATE TEMP TABLE brief () INHERITS (hr.family) ON COMMIT DROP; COMMIT")
    assert admin.execute(parts).fetchall() == [(int(str(before)) + 1,)]
    admin.execute("DROP TABLE hr.family CASCADE")
    assert admin.execute("SELECT count(*) FROM discreet._protected_part").fetchall() == [(0,)]
