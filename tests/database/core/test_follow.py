"""The catalog follows what happens to a protected table: no hole opens, and no stale row is left."""

from __future__ import annotations

import pytest
from tests.databases import Connection, Database, MakeRole
from tests.messages import refused

TABLES = "SELECT relation::text, unit FROM discreet.protected_tables ORDER BY 1"
COLUMNS = "SELECT relation::text, column_name FROM discreet.protected_columns ORDER BY 1, 2"


@pytest.fixture(autouse=True)
def described(carol: Connection, person: str) -> None:
    carol.execute("SELECT discreet.describe_column('hr.person', 'id', 0, 100)")
    carol.execute("SELECT discreet.describe_column('hr.person', 'salary', 0, 100)")


def test_a_renamed_table_stays_protected(carol: Connection) -> None:
    carol.execute("ALTER TABLE hr.person RENAME TO human")
    assert carol.execute(TABLES).fetchall() == [("hr.human", "id")]
    assert carol.execute(COLUMNS).fetchall() == [("hr.human", "id"), ("hr.human", "salary")]


def test_a_table_of_a_renamed_schema_stays_protected(admin: Connection) -> None:
    admin.execute("ALTER SCHEMA hr RENAME TO staff")
    assert admin.execute(TABLES).fetchall() == [("staff.person", "id")]


def test_a_table_that_moves_to_another_schema_stays_protected(admin: Connection) -> None:
    admin.execute("ALTER TABLE hr.person SET SCHEMA public")
    assert admin.execute(TABLES).fetchall() == [("person", "id")]


def test_a_table_that_takes_the_old_name_is_another_table(carol: Connection) -> None:
    carol.execute("ALTER TABLE hr.person RENAME TO human; CREATE TABLE hr.person (id int)")
    assert carol.execute(TABLES).fetchall() == [("hr.human", "id")]


@pytest.mark.parametrize(
    "rename",
    [
        "ALTER TABLE hr.person RENAME {} TO {}",
        # PostgreSQL takes these for a table too, and calls the command by another name
        "ALTER VIEW hr.person RENAME {} TO {}",
        "ALTER MATERIALIZED VIEW hr.person RENAME {} TO {}",
        "ALTER FOREIGN TABLE hr.person RENAME {} TO {}",
        "ALTER TYPE hr.person RENAME ATTRIBUTE {} TO {}",
    ],
)
def test_renamed_columns_are_followed(carol: Connection, rename: str) -> None:
    carol.execute(rename.format("id", "number"))
    carol.execute(rename.format("salary", "wage"))
    assert carol.execute(TABLES).fetchall() == [("hr.person", "number")]
    assert carol.execute(COLUMNS).fetchall() == [("hr.person", "number"), ("hr.person", "wage")]


def test_columns_that_exchange_their_names_are_followed(carol: Connection) -> None:
    carol.execute("ALTER TABLE hr.person RENAME salary TO x; ALTER TABLE hr.person RENAME id TO salary")
    carol.execute("ALTER TABLE hr.person RENAME x TO id")
    assert carol.execute(TABLES).fetchall() == [("hr.person", "salary")]
    ((lower_of_id,),) = carol.execute(
        "SELECT lower FROM discreet.protected_columns WHERE column_name = 'id'"
    ).fetchall()
    assert lower_of_id == 0


def test_a_column_renamed_at_the_parent_is_followed_in_the_child(carol: Connection) -> None:
    carol.execute("CREATE TABLE hr.guest () INHERITS (hr.person)")
    carol.execute("SELECT discreet.protect('hr.guest', 'id', dataset => 'people', max_rows => 1)")
    carol.execute("ALTER TABLE hr.person RENAME id TO number")
    assert carol.execute(TABLES).fetchall() == [("hr.guest", "number"), ("hr.person", "number")]


def test_a_column_renamed_with_the_type_of_its_table_is_followed(carol: Connection) -> None:
    carol.execute("CREATE TYPE hr.human AS (id int, size int); CREATE TABLE hr.humans OF hr.human")
    carol.execute("SELECT discreet.protect('hr.humans', 'id', epsilon => 1, max_rows => 1)")
    carol.execute("ALTER TYPE hr.human RENAME ATTRIBUTE id TO number CASCADE")
    assert carol.execute(TABLES).fetchall()[0] == ("hr.humans", "number")


def test_a_rename_by_somebody_else_is_followed(carol: Connection, database: Database, make_role: MakeRole) -> None:
    # an owner of the table who is no curator can still rename its columns
    owner = make_role("owner")
    database.connect().execute(f"ALTER TABLE hr.person OWNER TO {owner}; GRANT ALL ON SCHEMA hr TO {owner}")
    database.connect(owner).execute("ALTER TABLE hr.person RENAME id TO number")
    assert carol.execute(TABLES).fetchall() == [("hr.person", "number")]


def test_a_rolled_back_rename_is_taken_back(database: Database, curator: str) -> None:
    connection = database.connect(curator, autocommit=False)
    connection.execute("SAVEPOINT here")
    connection.execute("ALTER TABLE hr.person RENAME id TO number")
    connection.execute("ROLLBACK TO here")
    connection.commit()
    assert connection.execute(TABLES).fetchall() == [("hr.person", "id")]


def test_a_dropped_table_leaves_no_row(carol: Connection, admin: Connection) -> None:
    carol.execute("DROP TABLE hr.person")
    for table in ("_protected_table", "_protected_column"):
        assert admin.execute(f"SELECT * FROM discreet.{table}").fetchall() == []
    assert carol.execute("SELECT dataset FROM discreet.datasets").fetchall() == [("people",)]


@pytest.mark.parametrize("drop", ["DROP SCHEMA hr CASCADE", "DROP OWNED BY {curator} CASCADE"])
def test_a_table_dropped_along_with_others_leaves_no_row(admin: Connection, curator: str, drop: str) -> None:
    admin.execute(drop.format(curator=curator))
    assert admin.execute("SELECT * FROM discreet._protected_table").fetchall() == []
    assert admin.execute("SELECT * FROM discreet._protected_column").fetchall() == []


def test_a_dropped_partition_leaves_no_row(carol: Connection) -> None:
    carol.execute("CREATE TABLE hr.visit (person int) PARTITION BY LIST (person)")
    carol.execute("CREATE TABLE hr.visit_1 PARTITION OF hr.visit FOR VALUES IN (1)")
    carol.execute("SELECT discreet.protect('hr.visit_1', 'person', epsilon => 1, max_rows => 1)")
    carol.execute("DROP TABLE hr.visit")
    assert carol.execute(TABLES).fetchall() == [("hr.person", "id")]


def test_a_rolled_back_drop_leaves_the_table_protected(database: Database, curator: str) -> None:
    connection = database.connect(curator, autocommit=False)
    connection.execute("DROP TABLE hr.person")
    connection.rollback()
    assert connection.execute(TABLES).fetchall() == [("hr.person", "id")]
    assert len(connection.execute(COLUMNS).fetchall()) == 2


def test_a_dropped_column_leaves_no_row(carol: Connection) -> None:
    carol.execute("ALTER TABLE hr.person DROP salary")
    assert carol.execute(COLUMNS).fetchall() == [("hr.person", "id")]


def test_a_column_that_takes_the_name_of_a_dropped_one_inherits_no_bounds(carol: Connection) -> None:
    # bounds of the old column would let values of the new one count for more than was paid
    carol.execute("ALTER TABLE hr.person DROP salary; ALTER TABLE hr.person ADD salary numeric")
    assert carol.execute(COLUMNS).fetchall() == [("hr.person", "id")]


@pytest.mark.parametrize(
    "drop",
    [
        "ALTER TABLE hr.person DROP id",
        "ALTER TABLE hr.person DROP salary, DROP id CASCADE",
        "ALTER TABLE hr.person DROP id, ADD id int",
    ],
)
def test_the_unit_cannot_be_dropped(carol: Connection, drop: str) -> None:
    with refused("2BP01", "column id of hr.person names the people", "First call discreet.unprotect('hr.person')."):
        carol.execute(drop)
    assert carol.execute(TABLES).fetchall() == [("hr.person", "id")]


def test_the_unit_cannot_be_dropped_at_the_parent(carol: Connection) -> None:
    carol.execute("CREATE TABLE hr.base (number int); CREATE TABLE hr.derived () INHERITS (hr.base)")
    carol.execute("SELECT discreet.protect('hr.derived', 'number', epsilon => 1, max_rows => 1)")
    with refused("2BP01", "column number of hr.derived names the people", "discreet.unprotect('hr.derived')"):
        carol.execute("ALTER TABLE hr.base DROP number")


def test_the_unit_cannot_be_dropped_with_its_type(carol: Connection) -> None:
    carol.execute("CREATE DOMAIN hr.number AS int; CREATE TABLE hr.thing (number hr.number)")
    carol.execute("SELECT discreet.protect('hr.thing', 'number', epsilon => 1, max_rows => 1)")
    with refused("2BP01", "column number of hr.thing names the people", "discreet.unprotect('hr.thing')"):
        carol.execute("DROP DOMAIN hr.number CASCADE")


def test_after_unprotecting_the_unit_can_be_dropped(carol: Connection) -> None:
    carol.execute("SELECT discreet.unprotect('hr.person'); ALTER TABLE hr.person DROP id")


def test_the_unit_can_be_renamed_and_is_then_known_by_its_new_name_only(carol: Connection) -> None:
    carol.execute("ALTER TABLE hr.person RENAME id TO number; ALTER TABLE hr.person ADD id int")
    with refused("2BP01", "column number of hr.person names the people", "First call discreet.unprotect"):
        carol.execute("ALTER TABLE hr.person DROP number")
    carol.execute("ALTER TABLE hr.person DROP id")


def test_a_table_that_changes_hands_stays_protected(admin: Connection, carol: Connection, make_role: MakeRole) -> None:
    admin.execute(f"ALTER TABLE hr.person OWNER TO {make_role('heir')}")
    assert carol.execute(TABLES).fetchall() == [("hr.person", "id")]
    with refused("42501", "does not own hr.person", "Its owner, being a curator, or a superuser can do this."):
        carol.execute("SELECT discreet.unprotect('hr.person')")


PARTITIONED = """
    CREATE TABLE hr.visit (person int, cost int) PARTITION BY LIST (person);
    CREATE TABLE hr.visit_1 PARTITION OF hr.visit FOR VALUES IN (1);
    SELECT discreet.protect('hr.visit', 'person', epsilon => 1, max_groups => 3, max_rows => 4, max_total_rows => 5);
    SELECT discreet.describe_column('hr.visit', 'cost', 0, 9);
"""


def test_a_detached_partition_stays_protected(carol: Connection) -> None:
    carol.execute(PARTITIONED)
    carol.execute("ALTER TABLE hr.visit DETACH PARTITION hr.visit_1")
    assert carol.execute(TABLES).fetchall()[1:] == [("hr.visit", "person"), ("hr.visit_1", "person")]
    assert ("hr.visit_1", "cost") in carol.execute(COLUMNS).fetchall()
    policies = "SELECT DISTINCT dataset, max_groups, max_rows, max_total_rows FROM discreet.protected_tables"
    assert carol.execute(f"{policies} WHERE unit = 'person'").fetchall() == [("hr.visit", 3, 4, 5)]


def test_a_partition_made_after_protecting_and_then_detached_stays_protected(carol: Connection) -> None:
    carol.execute(PARTITIONED)
    carol.execute("CREATE TABLE hr.visit_2 PARTITION OF hr.visit FOR VALUES IN (2)")
    carol.execute("ALTER TABLE hr.visit DETACH PARTITION hr.visit_2")
    assert ("hr.visit_2", "person") in carol.execute(TABLES).fetchall()


def test_a_child_that_no_longer_inherits_stays_protected(carol: Connection) -> None:
    carol.execute("CREATE TABLE hr.guest () INHERITS (hr.person); ALTER TABLE hr.guest NO INHERIT hr.person")
    assert carol.execute(TABLES).fetchall() == [("hr.guest", "id"), ("hr.person", "id")]


def test_a_detached_partition_that_is_dropped_leaves_no_row(carol: Connection, admin: Connection) -> None:
    carol.execute(PARTITIONED)
    carol.execute("ALTER TABLE hr.visit DETACH PARTITION hr.visit_1; DROP TABLE hr.visit_1, hr.visit")
    assert carol.execute(TABLES).fetchall() == [("hr.person", "id")]
    assert admin.execute("SELECT * FROM discreet._protected_part").fetchall() == []


def test_other_peoples_tables_come_and_go_as_before(database: Database, admin: Connection, make_role: MakeRole) -> None:
    """The event triggers run for everybody, also for those without any rights on discreet."""
    somebody = make_role("somebody")
    admin.execute(f"CREATE SCHEMA own AUTHORIZATION {somebody}")
    connection = database.connect(somebody)
    connection.execute("CREATE TABLE own.t (a int, b int); ALTER TABLE own.t RENAME a TO c; ALTER TABLE own.t DROP b")
    connection.execute("CREATE TEMP TABLE scratch (a int); DROP TABLE scratch; DROP TABLE own.t")


def test_other_peoples_ddl_does_not_wait_for_a_curator(database: Database, curator: str, make_role: MakeRole) -> None:
    somebody = make_role("somebody")
    database.connect().execute(f"CREATE SCHEMA own AUTHORIZATION {somebody}")
    busy = database.connect(curator, autocommit=False)
    busy.execute("SELECT discreet.unprotect('hr.person')")
    busy.execute("SELECT discreet.protect('hr.person', 'id', dataset => 'people')")
    connection = database.connect(somebody)
    connection.execute("SET lock_timeout = '2s'; CREATE TABLE own.t (a int); ALTER TABLE own.t RENAME a TO b")
    connection.execute("DROP TABLE own.t")
    busy.commit()


def test_a_transaction_that_becomes_read_only_is_followed(carol: Connection) -> None:
    carol.execute("BEGIN; ALTER TABLE hr.person RENAME id TO number; SET TRANSACTION READ ONLY; COMMIT")
    assert carol.execute(TABLES).fetchall() == [("hr.person", "number")]


def test_it_stays_read_only(carol: Connection) -> None:
    carol.execute("BEGIN; ALTER TABLE hr.person RENAME id TO number; SET TRANSACTION READ ONLY")
    with refused("25006", "cannot execute", None):
        carol.execute("CREATE TABLE hr.other (id int)")
    carol.execute("ROLLBACK")
