"""DDL on relations that discreet knows nothing of takes no lock on its tables, and leaves no trace there."""

from __future__ import annotations

import pytest
from tests.databases import Connection, Database, Row

COMMANDS = (
    "CREATE TABLE other.t (a int PRIMARY KEY, b text)",
    "CREATE TABLE other.child () INHERITS (other.t)",
    "CREATE TABLE other.copy AS SELECT * FROM other.t",
    "SELECT * INTO other.another FROM other.t",
    "CREATE TABLE other.whole (a int) PARTITION BY LIST (a)",
    "CREATE TABLE other.part PARTITION OF other.whole FOR VALUES IN (1)",
    "ALTER TABLE other.whole DETACH PARTITION other.part",
    "ALTER TABLE other.whole ATTACH PARTITION other.part FOR VALUES IN (2)",
    "ALTER TABLE other.t ADD c int",
    "ALTER TABLE other.t RENAME c TO d",
    "ALTER TABLE other.t ALTER d TYPE bigint",
    "ALTER TABLE other.t DROP d",
    "ALTER TABLE other.child NO INHERIT other.t",
    "CREATE INDEX i ON other.t (b)",
    "CREATE VIEW other.v AS SELECT a FROM other.t",
    "CREATE MATERIALIZED VIEW other.m AS SELECT a FROM other.t",
    "REFRESH MATERIALIZED VIEW other.m",
    "CREATE FUNCTION other.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE TYPE other.pair AS (a int, b int)",
    "ALTER TYPE other.pair RENAME ATTRIBUTE a TO c",
    "CREATE POLICY p ON other.t",
    "CREATE RULE r AS ON INSERT TO other.copy DO NOTHING",
    "GRANT SELECT ON other.t TO PUBLIC",
    "COMMENT ON TABLE other.t IS 'of others'",
    "ALTER TABLE other.t RENAME TO u",
    "ALTER TABLE other.u SET SCHEMA public",
    "ALTER SCHEMA other RENAME TO others",
    "CREATE TEMP TABLE scratch (a int)",
    "DROP TABLE scratch",
    "DROP SCHEMA others CASCADE",
)

# Serializable transactions remember what they read under the mode SIReadLock. Commands that name a function, a type or
# a schema lock it as an object.
LOCKS = """
    SELECT c.relname::text, l.mode FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
    WHERE l.pid = %(pid)s AND c.relnamespace = 'discreet'::regnamespace
    UNION
    SELECT pg_describe_object(l.classid, l.objid, 0), l.mode FROM pg_locks l JOIN pg_depend d USING (classid, objid)
    WHERE l.pid = %(pid)s AND d.deptype = 'e'
      AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'discreet')
    UNION
    SELECT 'the schema', l.mode FROM pg_locks l
    WHERE l.pid = %(pid)s AND l.classid = 'pg_namespace'::regclass AND l.objid = 'discreet'::regnamespace
"""


def locks(watcher: Connection, session: Connection) -> list[Row]:
    return watcher.execute(LOCKS, {"pid": session.info.backend_pid}).fetchall()


@pytest.mark.parametrize("isolation", ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"])
def test_it_locks_and_reads_nothing_of_discreet(
    admin: Connection, database: Database, person: str, isolation: str
) -> None:
    session = database.connect(autocommit=False)
    session.execute(f"SET TRANSACTION ISOLATION LEVEL {isolation}")
    session.execute("CREATE SCHEMA other")
    for command in COMMANDS:
        session.execute(command)
        assert (command, locks(admin, session)) == (command, [])
    session.commit()


def test_the_locks_of_ddl_on_a_protected_table_are_seen(admin: Connection, database: Database, person: str) -> None:
    """The watcher of the test above can fail."""
    session = database.connect(autocommit=False)
    session.execute("ALTER TABLE hr.person RENAME salary TO wage")
    assert ("_protected_column", "RowExclusiveLock") in locks(admin, session)


def test_the_predicate_locks_of_a_reader_are_seen(admin: Connection, database: Database, person: str) -> None:
    session = database.connect(autocommit=False)
    session.execute("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
    session.execute("SELECT count(*) FROM discreet._protected_column")
    assert ("_protected_column", "SIReadLock") in locks(admin, session)


def test_the_locks_of_a_function_and_of_the_schema_are_seen(admin: Connection, database: Database) -> None:
    session = database.connect(autocommit=False)
    session.execute("COMMENT ON FUNCTION discreet.version() IS 'looked at'")
    session.execute("CREATE TABLE discreet.foreign_table (a int)")
    found = {name for name, _ in locks(admin, session)}
    assert {"function discreet.version()", "the schema"} <= found
    session.rollback()


def test_every_column_that_names_relations_is_watched(admin: Connection) -> None:
    """A table of discreet's that names relations is either read by core_follow.c, or is about what was and stays."""
    watched = admin.execute(
        "SELECT c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
        " WHERE t.tgname = '_known_tables_changed' AND t.tgenabled = 'A' ORDER BY 1"
    ).fetchall()
    naming = admin.execute(
        "SELECT DISTINCT c.relname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
        " WHERE c.relnamespace = 'discreet'::regnamespace AND c.relkind = 'r' AND a.attnum > 0"
        " AND (a.atttypid = 'regclass'::regtype OR c.relname = '_limit_turn') ORDER BY 1"
    ).fetchall()
    details = {
        "_protected_column", "_multilevel_trigger", "_multilevel_rule", "_audit_column", "_audit_event", "_audit_base",
        "_audit_known",
    }  # fmt: skip
    history = {"_release", "_release_turn"}
    assert {name for (name,) in naming} == {name for (name,) in watched} | details | history
