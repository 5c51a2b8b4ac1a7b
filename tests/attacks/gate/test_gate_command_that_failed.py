"""DDL of a table's owner that fails half-way, and is caught: what it left behind hides what follows."""

import pytest
from tests.attacks.gate.asking import FEW
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import refused

# touches the table, and fails on its rows
FAILS = "ALTER TABLE extra.whole ADD COLUMN x int, ADD CHECK (1 / (v - 1) = 0)"
EXPLAINED = f"EXPLAIN (ANALYZE, BUFFERS) SELECT discreet.query_json('{FEW}', 0.001, fresh => true)"
LEAVE = """
    ALTER TABLE extra.child NO INHERIT extra.whole;
    ALTER TABLE extra.child RENAME id TO x; ALTER TABLE extra.child RENAME v TO id;
    ALTER TABLE extra.child RENAME x TO v;
    ALTER TABLE extra.child RENAME secret TO open; ALTER TABLE extra.child ADD secret text;
"""
# a command within a command does the same
WITHIN = f"""
    CREATE FUNCTION extra.leave(value int) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN {LEAVE} RETURN true; END $$;
    CREATE TABLE extra.other (id int NOT NULL, v int);
    INSERT INTO extra.other VALUES (1, 1)
"""
COMMITS = """
    CREATE PROCEDURE extra.commits() LANGUAGE plpgsql AS $$
    BEGIN
        COMMIT;
        PERFORM count(*) FROM generate_series(1, 100000);
        EXECUTE 'CREATE TEMP TABLE IF NOT EXISTS other (a int)';
    END $$
"""
COMMITTED = f"""
    DO $$
    BEGIN
        FOR i IN 1..20 LOOP
            BEGIN
                {FAILS};
            EXCEPTION WHEN division_by_zero THEN NULL;
            END;
            CALL extra.commits();
        END LOOP;
    END $$
"""


def with_a_table(target: Target, owner: Connection) -> Connection:
    owner.execute(
        "CREATE TABLE extra.whole (id int PRIMARY KEY, v int, secret text); INSERT INTO extra.whole VALUES (1, 1);"
        "CREATE TABLE extra.child () INHERITS (extra.whole); INSERT INTO extra.child VALUES (2, 2)"
    )
    target.admin.execute(
        "SELECT discreet.protect('extra.whole', 'id', dataset => 'people', max_rows => 1),"
        " discreet.describe_column('extra.whole', 'secret', visibility => 'hidden')"
    )
    return owner


@pytest.fixture
def owner(gated: Target, blind: Connection) -> Connection:
    return with_a_table(gated, blind)


def test_a_transaction_that_ends_within_a_procedure_does_not_crash_the_server(lonely_gated: Target) -> None:
    owner = with_a_table(lonely_gated, lonely_gated.connect("blind", new=True))
    owner.execute(COMMITS)
    owner.execute(COMMITTED)
    assert lonely_gated.value("SELECT 1") == 1


def fail(owner: Connection) -> None:
    """Begins a transaction in which a command has failed."""
    owner.execute("BEGIN; SAVEPOINT a")
    with refused("22012", "division by zero", None):
        owner.execute(FAILS)
    owner.execute("ROLLBACK TO a")


def test_explain_analyze_stays_refused(gated: Target, owner: Connection) -> None:
    fail(owner)
    with gated.free(), refused("DP001", "EXPLAIN ANALYZE", ""):
        owner.execute(EXPLAINED)
    owner.execute("ROLLBACK")


def test_explain_analyze_stays_refused_within_a_command(gated: Target, owner: Connection) -> None:
    owner.execute(
        "CREATE FUNCTION extra.told(value int) RETURNS boolean LANGUAGE plpgsql AS"
        f" $f$ BEGIN EXECUTE $x${EXPLAINED}$x$; RETURN true; END $f$"
    )
    with gated.free(), refused("DP001", "EXPLAIN ANALYZE", ""):
        owner.execute("ALTER TABLE extra.whole ADD COLUMN x int, ADD CHECK (extra.told(v))")


DECLARED = """
    SELECT p.unit, c.column_name, c.visibility
    FROM discreet.protected_tables p JOIN discreet.protected_columns c USING (relation)
    WHERE relation = 'extra.child'::regclass
"""


def test_a_part_that_leaves_afterwards_keeps_its_unit_and_what_is_hidden(gated: Target, owner: Connection) -> None:
    fail(owner)
    owner.execute(f"{LEAVE}; COMMIT")
    assert gated.admin.execute(DECLARED).fetchall() == [("v", "open", "hidden")]


def test_so_does_one_that_leaves_within_a_command(gated: Target, owner: Connection) -> None:
    owner.execute(WITHIN)
    gated.admin.execute("SELECT discreet.protect('extra.other', 'id', dataset => 'people', max_rows => 1)")
    owner.execute("ALTER TABLE extra.other ADD COLUMN x int, ADD CHECK (extra.leave(v))")
    assert gated.admin.execute(DECLARED).fetchall() == [("v", "open", "hidden")]
