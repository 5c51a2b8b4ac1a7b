"""Raw rows by the rights of somebody else: a view of a role that may read the table, on all ways to it.

Each way works for a clerk, who is no analyst and was granted the view: that is the attack. It must not work for blind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import psycopg
import pytest
from tests.attacks.target import Target
from tests.databases import Connection, MakeRole
from tests.messages import notices

A_NAME = re.compile("name[ ']")  # as a value: 'name 1', and 'name' as a word of it

WINDOW = """
    SET ROLE mallory;
    CREATE VIEW extra.window AS SELECT name, dept, salary FROM hr.person WHERE id < 10;
    RESET ROLE;
    GRANT SELECT, UPDATE ON extra.window TO PUBLIC;
    GRANT UPDATE ON hr.person TO mallory;
"""

OWN_TABLE = "CREATE TABLE extra.own (a int); INSERT INTO extra.own VALUES (1); CREATE TABLE extra.loot (name text);"
WAYS = {
    "the view": "SELECT name FROM extra.window",
    "a view over it": "CREATE VIEW extra.v AS SELECT * FROM extra.window; SELECT name FROM extra.v",
    "a temporary view": "CREATE TEMP VIEW v AS SELECT * FROM extra.window; SELECT name FROM v",
    "an SQL function that is inlined":
        "CREATE FUNCTION extra.f() RETURNS SETOF text LANGUAGE sql STABLE AS 'SELECT name FROM extra.window';"
        "SELECT * FROM extra.f()",
    "a body that is inlined":
        "CREATE FUNCTION extra.f() RETURNS SETOF text LANGUAGE sql STABLE"
        " BEGIN ATOMIC SELECT name FROM extra.window; END;"
        "SELECT * FROM extra.f()",
    "a body that is not":
        "CREATE FUNCTION extra.f() RETURNS text LANGUAGE sql BEGIN ATOMIC SELECT name FROM extra.window; END;"
        "SELECT extra.f()",
    "a body with a subquery":
        "CREATE FUNCTION extra.f() RETURNS text LANGUAGE sql RETURN (SELECT min(name) FROM extra.window);"
        "SELECT extra.f()",
    "a rule beside": OWN_TABLE
        + "CREATE RULE r AS ON UPDATE TO extra.own DO ALSO INSERT INTO extra.loot SELECT name FROM extra.window;"
        "UPDATE extra.own SET a = 2; SELECT name FROM extra.loot",
    "a rule instead": OWN_TABLE
        + "CREATE RULE r AS ON DELETE TO extra.own DO INSTEAD SELECT name FROM extra.window; DELETE FROM extra.own",
    "a condition of a rule": OWN_TABLE
        + "CREATE RULE r AS ON UPDATE TO extra.own WHERE EXISTS (SELECT FROM extra.window WHERE name LIKE 'n%')"
        " DO INSTEAD INSERT INTO extra.loot VALUES ('name ?'); UPDATE extra.own SET a = 2; SELECT name FROM extra.loot",
    "a policy": OWN_TABLE
        + "ALTER TABLE extra.own ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;"
        "CREATE POLICY p ON extra.own USING (EXISTS (SELECT FROM extra.window WHERE name LIKE 'n%'));"
        "SELECT 'name ' || a FROM extra.own",
    "a materialized view":
        "CREATE MATERIALIZED VIEW extra.m AS SELECT name FROM extra.window WITH NO DATA;"
        "REFRESH MATERIALIZED VIEW extra.m; SELECT name FROM extra.m",
    "a trigger": OWN_TABLE
        + "CREATE FUNCTION extra.t() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN INSERT INTO extra.loot SELECT name FROM extra.window; RETURN NEW; END';"
        "CREATE TRIGGER t BEFORE UPDATE ON extra.own FOR EACH ROW EXECUTE FUNCTION extra.t();"
        "UPDATE extra.own SET a = 2; SELECT name FROM extra.loot",
    "a row that is written back": "UPDATE extra.window SET salary = salary RETURNING name",
    "a new value that is read": OWN_TABLE
        + "ALTER TABLE extra.own ADD name text;"
        "UPDATE extra.own SET name = w.name FROM extra.window w; SELECT name FROM extra.own",
    "a merge": OWN_TABLE
        + "MERGE INTO extra.loot USING extra.window w ON false WHEN NOT MATCHED THEN INSERT VALUES (w.name);"
        "SELECT name FROM extra.loot",
    "a table from a table": "CREATE TABLE extra.copy AS TABLE extra.window; SELECT name FROM extra.copy",
    "a WITH query": "WITH w AS MATERIALIZED (SELECT * FROM extra.window) SELECT name FROM w",
    "a join": OWN_TABLE + "SELECT w.name FROM extra.own LEFT JOIN extra.window w ON true",
    "an aggregate as a window": "SELECT name, count(*) OVER () FROM extra.window",
    "an array": "SELECT ARRAY(SELECT name FROM extra.window)",
    "a prepared statement": "PREPARE p AS SELECT name FROM extra.window; EXECUTE p",
    "a cursor": "BEGIN; DECLARE c CURSOR FOR SELECT name FROM extra.window; FETCH ALL FROM c; COMMIT",
    "XML": "SELECT query_to_xml('SELECT name FROM extra.window', true, true, '')::text",
    "XML of a cursor":
        "BEGIN; DECLARE c CURSOR FOR SELECT name FROM extra.window; SELECT cursor_to_xml('c', 9, true, true, '')::text;"
        "COMMIT",
    "XML of the view": "SELECT table_to_xml('extra.window', true, true, '')::text",
    "statistics of text search": "SELECT word FROM ts_stat('SELECT to_tsvector(''simple'', name) FROM extra.window')",
    "a DO block": "DO $$BEGIN RAISE EXCEPTION '%', (SELECT min(name) FROM extra.window); END$$",
}  # fmt: skip


@pytest.fixture
def window(gated: Target) -> Target:
    gated.admin.execute(WINDOW)
    return gated


def seen(connection: Connection, statements: str) -> str:
    """All that the statements show, errors included."""
    shown: list[object] = []
    try:
        cursor = connection.execute(statements)
        shown += cursor.fetchall() if cursor.description else []
        while cursor.nextset():
            shown += cursor.fetchall() if cursor.description else []
    except psycopg.Error as error:
        shown.append(error.diag.message_primary)
    finally:
        connection.execute("ROLLBACK")
    return repr(shown)


@pytest.fixture
def clerk(window: Target, make_role: MakeRole) -> Iterator[Connection]:
    with psycopg.connect(window.database.dsn(make_role("clerk")), autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize("way", WAYS)
def test_no_way_through_a_view_shows_a_row(window: Target, blind: Connection, clerk: Connection, way: str) -> None:
    assert A_NAME.search(seen(clerk, f"BEGIN; {WAYS[way]}"))
    with window.free():
        assert not A_NAME.search(seen(blind, WAYS[way]))


def test_a_view_that_is_older_than_the_protection(window: Target, blind: Connection) -> None:
    window.admin.execute(
        "CREATE TABLE extra.later (id int PRIMARY KEY, name text); INSERT INTO extra.later VALUES (1, 'x')"
    )
    window.admin.execute("CREATE VIEW extra.early AS SELECT * FROM extra.later; GRANT SELECT ON extra.early TO PUBLIC")
    blind.execute("CREATE VIEW extra.mine AS SELECT * FROM extra.early")
    blind.execute("PREPARE early AS SELECT name FROM extra.mine")
    assert blind.execute("EXECUTE early").fetchall() == [("x",)]
    window.admin.execute("SELECT discreet.protect('extra.later', 'id', dataset => 'people')")
    for statement in ("SELECT name FROM extra.mine", "EXECUTE early"):
        with pytest.raises(psycopg.Error):
            blind.execute(statement)
    window.admin.execute("SELECT discreet.unprotect('extra.later')")


SPYING_OPERATOR = """
    CREATE FUNCTION extra.tell(text, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
    $$BEGIN RAISE NOTICE 'seen: %', $1; RETURN true; END$$;
    CREATE OPERATOR extra.=== (leftarg = text, rightarg = text, function = extra.tell, restrict = eqsel);
    CREATE VIEW extra.twice AS SELECT dept FROM hr.person UNION ALL SELECT dept FROM hr.person;
    GRANT SELECT ON extra.twice TO PUBLIC;
"""
PEEK = "EXPLAIN SELECT * FROM extra.f() f WHERE f OPERATOR(extra.===) 'x'"


@pytest.mark.parametrize("view", ["extra.window", "extra.twice"])
def test_the_planner_shows_no_value_of_the_statistics(
    window: Target, blind: Connection, clerk: Connection, view: str
) -> None:
    """An operator's estimate is made with the most common values, by the code of whoever made the operator."""
    window.admin.execute(SPYING_OPERATOR)
    window.admin.execute(
        f"CREATE FUNCTION extra.f() RETURNS SETOF text LANGUAGE sql STABLE BEGIN ATOMIC SELECT dept FROM {view}; END"
    )
    heard = notices(clerk)
    clerk.execute(PEEK)
    assert any("seen: dept" in (text or "") for _, text, _ in heard)
    heard = notices(blind)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        blind.execute(PEEK)
    assert [text for _, text, _ in heard if "seen" in (text or "")] == []


def test_a_plan_that_was_made_for_a_reader(window: Target, blind: Connection) -> None:
    """A function keeps its plans for the session, whoever calls it next."""
    window.connect("mallory").execute("""
        CREATE FUNCTION extra.helper() RETURNS bigint LANGUAGE plpgsql AS
        'BEGIN RETURN (SELECT count(*) FROM extra.window); END';
        CREATE FUNCTION extra.official() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS
        'BEGIN RETURN extra.helper(); END';
    """)
    for _ in range(7):
        assert blind.execute("SELECT extra.official()").fetchall() == [(9,)]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        blind.execute("SELECT extra.helper()")


def test_a_statement_that_another_role_prepared(window: Target) -> None:
    with window.database.connect() as session:
        session.execute("SET ROLE mallory")
        session.execute("PREPARE names AS SELECT name FROM extra.window ORDER BY 1 LIMIT 1")
        for _ in range(7):
            assert session.execute("EXECUTE names").fetchall() == [("name 1",)]
        session.execute("SET ROLE blind")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.execute("EXECUTE names")


def test_a_function_that_blind_lends_to_others(blind: Connection, clerk: Connection) -> None:
    blind.execute(
        "CREATE FUNCTION extra.lent() RETURNS SETOF text LANGUAGE sql SECURITY DEFINER"
        " BEGIN ATOMIC SELECT name FROM extra.window; END"
    )
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        clerk.execute("SELECT * FROM extra.lent()")


def test_maintenance_by_a_superuser_reads_nothing_for_blind(window: Target, blind: Connection) -> None:
    """Index expressions run as the owner of the table, in the session of whoever analyses it."""
    blind.execute("""
        CREATE TABLE extra.loot (name text);
        CREATE FUNCTION extra.spy(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1; END';
        CREATE TABLE extra.bait (a int);
        INSERT INTO extra.bait SELECT generate_series(1, 10);
        CREATE INDEX ON extra.bait (extra.spy(a));
        CREATE OR REPLACE FUNCTION extra.spy(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
        'BEGIN INSERT INTO extra.loot SELECT name FROM extra.window; RETURN $1; END';
    """)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        window.admin.execute("ANALYZE extra.bait")
    assert window.value("SELECT count(*) FROM extra.loot") == 0


def test_an_exempt_view_opens_no_other(window: Target, blind: Connection) -> None:
    """What a curator opened may be read as it is; beside it, the same table behind another view stays shut."""
    window.admin.execute("""
        SET ROLE mallory;
        CREATE VIEW extra.open AS SELECT dept FROM hr.person WHERE id < 3;
        RESET ROLE;
        GRANT SELECT ON extra.open TO PUBLIC;
        SELECT discreet.exempt_view('extra.open');
    """)
    assert sorted(blind.execute("SELECT dept FROM extra.open").fetchall()) == [("dept 1",), ("dept 2",)]
    blind.execute("""
        CREATE FUNCTION extra.f() RETURNS SETOF text LANGUAGE sql STABLE BEGIN ATOMIC SELECT dept FROM extra.open; END;
        CREATE FUNCTION extra.g() RETURNS SETOF text LANGUAGE sql STABLE
        BEGIN ATOMIC SELECT w.name FROM extra.window w, extra.open o; END;
    """)
    assert len(blind.execute("SELECT * FROM extra.f()").fetchall()) == 2
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        blind.execute("SELECT * FROM extra.g()")
