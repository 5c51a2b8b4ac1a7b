"""discreet.add_limit: at most so many rows of a kind, judged after each statement."""

from __future__ import annotations

import pytest
from tests.databases import Connection
from tests.messages import refused

ONE_CHIEF = "SELECT discreet.add_limit('hr.staff', 'one chief', $$position = 'CEO'$$, 1)"
REACHED = 'limit "one chief" of hr.staff is reached: at most 1'
HINT = "(\"position\" = 'CEO'::text); free a place first"


@pytest.fixture
def chief(carol: Connection, staff: str) -> Connection:
    carol.execute(ONE_CHIEF)
    return carol


def chiefs(connection: Connection) -> list[object]:
    return [row[0] for row in connection.execute("SELECT id FROM hr.staff WHERE position = 'CEO' ORDER BY id")]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO hr.staff VALUES (9, 1, 1, 'CEO')",
        "INSERT INTO hr.staff SELECT n, 1, 1, 'CEO' FROM generate_series(10, 19) n",
        "UPDATE hr.staff SET position = 'CEO' WHERE id = 2",
        "UPDATE hr.staff SET position = 'CEO'",
        "INSERT INTO hr.staff VALUES (2) ON CONFLICT (id) DO UPDATE SET position = 'CEO'",
        "MERGE INTO hr.staff s USING (VALUES (3)) v(id) ON s.id = v.id WHEN MATCHED THEN UPDATE SET position = 'CEO'",
    ],
)
def test_a_statement_that_would_go_beyond_a_limit_does_nothing(chief: Connection, statement: str) -> None:
    with refused("23514", REACHED, HINT):
        chief.execute(statement)
    assert chiefs(chief) == [1]
    assert chief.execute("SELECT count(*) FROM hr.staff").fetchone() == (3,)


def test_copy_is_counted(chief: Connection) -> None:
    with refused("23514", REACHED, HINT), chief.cursor().copy("COPY hr.staff (id, position) FROM STDIN") as copy:
        copy.write("10\tclerk\n11\tCEO\n")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE hr.staff SET position = CASE id WHEN 1 THEN 'clerk' WHEN 3 THEN 'CEO' ELSE position END",
        "UPDATE hr.staff SET position = CASE id WHEN 1 THEN 'clerk' WHEN 2 THEN 'CEO' ELSE position END",
        "WITH gone AS (DELETE FROM hr.staff WHERE id = 1) INSERT INTO hr.staff VALUES (9, 1, 1, 'CEO')",
        "DELETE FROM hr.staff WHERE id = 1; INSERT INTO hr.staff VALUES (9, 1, 1, 'CEO')",
        "TRUNCATE hr.staff; INSERT INTO hr.staff VALUES (9, 1, 1, 'CEO')",
        "UPDATE hr.staff SET position = NULL; INSERT INTO hr.staff VALUES (9, 1, 1, 'CEO')",
        "UPDATE hr.staff SET salary = 1, id = 8 WHERE id = 1",
        "BEGIN; SAVEPOINT s; DELETE FROM hr.staff; INSERT INTO hr.staff VALUES (1, 1, 1, 'CEO'); ROLLBACK TO s; COMMIT",
    ],
)
def test_places_that_a_statement_frees_can_be_taken(chief: Connection, statement: str) -> None:
    """Whichever row comes first: only the table after the statement is judged."""
    chief.execute(statement)
    assert len(chiefs(chief)) == 1


def test_who_cannot_read_the_rows_is_judged_by_all_of_them(chief: Connection, writer: Connection) -> None:
    chief.execute(
        "ALTER TABLE hr.staff ENABLE ROW LEVEL SECURITY; CREATE POLICY mine ON hr.staff USING (false) WITH CHECK (true)"
    )
    with refused("23514", REACHED, HINT):
        writer.execute("INSERT INTO hr.staff VALUES (9, 1, 1, 'CEO')")
    writer.execute("INSERT INTO hr.staff VALUES (9, 1, 1, 'clerk')")


def test_a_limit_that_cannot_be_judged_lets_nothing_in(chief: Connection) -> None:
    chief.execute("ALTER TABLE hr.staff ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    chief.execute("CREATE POLICY a ON hr.staff USING (true)")
    with refused("55000", 'limit "one chief" of hr.staff cannot be judged', "discreet.drop_rule()"):
        chief.execute("INSERT INTO hr.staff VALUES (9, 1, 1, 'CEO')")
    chief.execute("SELECT discreet.drop_rule('hr.staff', 'one chief')")
    with refused("42809", "row security is forced upon the owner of hr.staff", "NO FORCE"):
        chief.execute(ONE_CHIEF)


def test_a_limit_of_none_and_one_of_many(carol: Connection, staff: str) -> None:
    carol.execute("SELECT discreet.add_limit('hr.staff', 'no slaves', 'salary <= 0', 0)")
    carol.execute("SELECT discreet.add_limit('hr.staff', 'seats', 'position IS NOT NULL', 100)")
    carol.execute("INSERT INTO hr.staff SELECT n, 1, 1, 'clerk' FROM generate_series(4, 100) n")
    with refused("23514", 'limit "no slaves" of hr.staff is reached: at most 0', "free a place"):
        carol.execute("UPDATE hr.staff SET salary = 0 WHERE id = 7")
    with refused("23514", 'limit "seats" of hr.staff is reached: at most 100', "free a place"):
        carol.execute("INSERT INTO hr.staff VALUES (101, 1, 1, 'clerk')")


def test_more_rows_than_a_new_limit_allows_are_found(carol: Connection, staff: str) -> None:
    with refused("23514", 'hr.staff holds more than 1 rows of limit "clerk" already', "Remove some first"):
        carol.execute("SELECT discreet.add_limit('hr.staff', 'clerk', $$position = 'clerk'$$, 1)")
    assert carol.execute("SELECT count(*) FROM pg_indexes WHERE tablename = 'staff'").fetchone() == (1,)


def test_the_rows_are_found_by_the_index_of_the_limit(chief: Connection) -> None:
    chief.execute("INSERT INTO hr.staff SELECT n, 1, 1, 'clerk' FROM generate_series(10, 5000) n; ANALYZE hr.staff")
    plan = chief.execute("EXPLAIN SELECT FROM hr.staff WHERE position = 'CEO' LIMIT 2").fetchall()
    assert any("staff_one chief_limit" in str(line) for line in plan)
