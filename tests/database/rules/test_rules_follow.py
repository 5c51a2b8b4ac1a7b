"""Rules follow their table: partitions, new names, other owners, a dump; and go with it."""

from __future__ import annotations

import pytest
from tests.databases import Connection, Database, MakeRole, restore
from tests.messages import refused

RULES = """
    SELECT discreet.add_rule('hr.staff', 'ages', 'NEW.age < 150');
    SELECT discreet.add_limit('hr.staff', 'one "chief', $$position = 'CEO'$$, 1);
"""
TOO_OLD = "INSERT INTO {} (id, {}) VALUES (9, 151)"
SECOND = "INSERT INTO {} (id, {}) VALUES (9, 'CEO')"


@pytest.fixture
def ruled(carol: Connection, staff: str) -> Connection:
    carol.execute(RULES)
    return carol


def holds(connection: Connection, table: str, age: str = "age", position: str = "position") -> None:
    with refused("23514", 'breaks rule "ages"', f"new.{age} < 150"):
        connection.execute(TOO_OLD.format(table, age))
    with refused("23514", 'limit "one "chief" of', "free a place first"):
        connection.execute(SECOND.format(table, position))


def test_rules_follow_new_names_and_another_owner(ruled: Connection, admin: Connection, make_role: MakeRole) -> None:
    ruled.execute("ALTER TABLE hr.staff RENAME age TO years; ALTER TABLE hr.staff RENAME position TO job")
    ruled.execute("ALTER TABLE hr.staff RENAME TO people")
    admin.execute("CREATE SCHEMA other; GRANT USAGE ON SCHEMA other TO PUBLIC; ALTER TABLE hr.people SET SCHEMA other")
    admin.execute(f"ALTER TABLE other.people OWNER TO {make_role('next')}")
    holds(admin, "other.people", "years", "job")


def test_a_column_that_a_rule_names_is_not_dropped_in_passing(ruled: Connection) -> None:
    for column in ("age", "position"):
        with refused("2BP01", f"cannot drop column {column} of table hr.staff", "CASCADE"):
            ruled.execute(f"ALTER TABLE hr.staff DROP {column}")
    ruled.execute("ALTER TABLE hr.staff DROP age CASCADE")
    assert ruled.execute("SELECT name FROM discreet.rules").fetchall() == [('one "chief',)]


def test_a_dropped_table_takes_its_rules_along(ruled: Connection, admin: Connection) -> None:
    ruled.execute("UPDATE hr.staff SET position = 'x'; UPDATE hr.staff SET position = 'CEO' WHERE id = 1")
    assert admin.execute("SELECT count(*) FROM discreet._limit_turn").fetchone() == (1,)
    ruled.execute("DROP TABLE hr.staff")
    assert ruled.execute("SELECT * FROM discreet.rules").fetchall() == []
    assert admin.execute("SELECT count(*) FROM discreet._limit_turn").fetchone() == (0,)


def test_rules_hold_in_every_partition(carol: Connection) -> None:
    carol.execute(
        """
        CREATE TABLE hr.staff (id int, age int, position text) PARTITION BY RANGE (id);
        CREATE TABLE hr.low PARTITION OF hr.staff FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (id);
        CREATE TABLE hr.lowest PARTITION OF hr.low FOR VALUES FROM (0) TO (10);
        """
    )
    carol.execute(RULES)
    carol.execute("CREATE TABLE hr.high PARTITION OF hr.staff FOR VALUES FROM (10) TO (20)")
    carol.execute("INSERT INTO hr.staff VALUES (15, 1, 'CEO')")
    for table in ("hr.staff", "hr.low", "hr.lowest"):
        holds(carol, table)
    carol.execute("UPDATE hr.staff SET id = 5 WHERE id = 15")
    with refused("23514", 'limit "one "chief" of hr.staff is reached', ""):
        carol.execute("INSERT INTO hr.high VALUES (16, 1, 'CEO')")
    carol.execute("TRUNCATE hr.lowest; INSERT INTO hr.high VALUES (16, 1, 'CEO')")
    assert carol.execute("SELECT name FROM discreet.rules ORDER BY 1").fetchall() == [("ages",), ('one "chief',)]


def test_rows_of_an_attached_partition_are_counted(carol: Connection) -> None:
    carol.execute("CREATE TABLE hr.staff (id int, age int, position text) PARTITION BY RANGE (id)")
    carol.execute(RULES)
    carol.execute("CREATE TABLE hr.part (id int, age int, position text); INSERT INTO hr.part VALUES (1, 1, 'CEO')")
    carol.execute("ALTER TABLE hr.staff ATTACH PARTITION hr.part FOR VALUES FROM (0) TO (10)")
    holds(carol, "hr.staff")


def test_rules_survive_a_dump(ruled: Connection, database: Database, empty_database: Database) -> None:
    listed = "SELECT relation::text, name, kind, rule, at_most, index_name::text FROM discreet.rules ORDER BY name"
    before = ruled.execute(listed).fetchall()
    restore(database, empty_database)
    restored = empty_database.connect()
    assert restored.execute(listed).fetchall() == before
    assert len(before) == 2
    holds(restored, "hr.staff")
