"""Ordinary SQL on multilevel tables: COPY, INSERT … SELECT, UPDATE … FROM, CTEs, PREPARE, cursors."""

from __future__ import annotations

import re

import pytest
from tests.database.mls.subjects import Subjects, refused


def test_copy_inserts_at_the_label_of_the_session(employee: Subjects) -> None:
    with employee.at("C").cursor().copy("COPY employee (name, salary) FROM STDIN") as copy:
        copy.write("Rossi\t1\nWeiss\t2\n")
    assert employee.seen("C", columns="name, salary, tc") == [("Rossi", 1, "C"), ("Weiss", 2, "C")]
    assert employee.seen("U") == []


def test_copy_takes_the_rows_that_its_condition_means(employee: Subjects) -> None:
    session = employee.at("C")
    with session.cursor().copy("COPY employee (name, salary) FROM STDIN WHERE salary > 1 AND perf IS NULL") as copy:
        copy.write("Rossi\t1\nWeiss\t2\n")
    assert employee.seen("C", columns="name, salary, tc") == [("Weiss", 2, "C")]


def test_several_rows_and_rows_of_a_query(employee: Subjects) -> None:
    session = employee.at("C")
    session.execute("INSERT INTO employee (name, salary) VALUES ('a', 1), ('b', 2)")
    assert refused(session, "INSERT INTO employee (name) VALUES ('c'), ('c')").sqlstate == "23505"
    session.execute("INSERT INTO employee (name, salary) SELECT name || name, salary FROM employee")
    assert employee.seen("C", columns="name") == [("a",), ("aa",), ("b",), ("bb",)]


def test_update_from_and_expressions(employee: Subjects) -> None:
    session = employee.at("U")
    session.execute("INSERT INTO employee (name, salary) VALUES ('a', 1), ('b', 2)")
    session.execute(
        "UPDATE employee e SET salary = e.salary + v.more FROM (VALUES ('a', 10)) v(name, more) WHERE e.name = v.name"
    )
    session.execute("UPDATE employee SET (salary, perf) = (SELECT salary * 2, 'x') WHERE name = 'b'")
    assert employee.seen("U", columns="name, salary, perf") == [("a", 11, None), ("b", 4, "x")]


def test_explain_of_an_update(employee: Subjects) -> None:
    """PostgreSQL has the statement that is explained analysed twice."""
    session = employee.at("U")
    session.execute("INSERT INTO employee (name, salary) VALUES ('a', 1)")
    for statement in (
        "UPDATE employee SET salary = 3 WHERE name = 'a'",
        "UPDATE employee SET (salary, perf) = (SELECT 3, 'x')",
        "WITH changed AS (UPDATE employee SET salary = 3 RETURNING *) SELECT * FROM changed",
    ):
        plan = session.execute(f"EXPLAIN (VERBOSE, COSTS OFF) {statement}").fetchall()
        assert any("Update on public.employee" in line for (line,) in plan)
    session.execute(
        "DO $$ DECLARE line text; BEGIN FOR n IN 1..3 LOOP"
        " FOR line IN EXPLAIN UPDATE employee SET salary = 3 LOOP END LOOP; END LOOP; END $$"
    )
    session.execute("PREPARE change AS UPDATE employee SET salary = $1")
    session.execute("EXPLAIN EXECUTE change(3)")
    assert employee.seen("U", columns="name, salary") == [("a", 1)]
    session.execute("EXECUTE change(3)")
    assert employee.seen("U", columns="name, salary") == [("a", 3)]


def test_explain_does_not_let_tc_be_set(employee: Subjects) -> None:
    """Nor with a text that looks like what travels in it."""
    session = employee.at("U")
    number = session.execute(
        "SELECT attnum FROM pg_attribute WHERE attrelid = 'employee'::regclass AND attname = 'salary'"
    ).fetchall()[0][0]
    for explain in ("", "EXPLAIN "):
        for value in ("'S'", f"'{{{number}}}'", "NULL", "DEFAULT", "name"):
            told = refused(session, f"{explain}UPDATE employee SET salary = 3, tc = {value}")
            assert "column tc cannot be set" in str(told)


def test_writes_in_a_with_clause(employee: Subjects) -> None:
    session = employee.at("C")
    rows = session.execute(
        "WITH added AS (INSERT INTO employee (name, salary) VALUES ('a', 1) RETURNING *) SELECT name, tc FROM added"
    )
    assert rows.fetchall() == [("a", "C")]
    rows = session.execute(
        "WITH one AS (UPDATE employee SET salary = 2 RETURNING salary, salary_label) SELECT * FROM one"
    )
    assert rows.fetchall() == [(2, "C")]


def test_prepared_statements_and_cursors(employee: Subjects) -> None:
    session = employee.at("C")
    session.execute("PREPARE add AS INSERT INTO employee (name, salary) VALUES ($1, $2)")
    for number in range(10):
        session.execute(f"EXECUTE add('{number}', {number})")
    session.execute("PREPARE change AS UPDATE employee SET salary = $1 WHERE name = $2")
    session.execute("EXECUTE change(100, '3')")
    session.execute("BEGIN")
    session.execute("DECLARE walk CURSOR FOR SELECT salary FROM employee ORDER BY salary DESC")
    assert session.execute("FETCH 2 FROM walk").fetchall() == [(100,), (9,)]
    session.execute("COMMIT")


def test_a_prepared_statement_follows_the_label(smith_and_brown: Subjects) -> None:
    session = smith_and_brown.another("S")
    session.execute("SET discreet.level = 'U'")
    session.execute("PREPARE all_names AS SELECT name, salary FROM employee ORDER BY 1")
    for _ in range(7):
        assert session.execute("EXECUTE all_names").fetchall() == [("Smith", None)]
    session.execute("SET discreet.level = 'S'")
    assert session.execute("EXECUTE all_names").fetchall() == [("Brown", 80000), ("Smith", 40000)]


def test_key_lookups_use_the_index(employee: Subjects) -> None:
    session = employee.at("C")
    session.execute("INSERT INTO employee (name) SELECT 'n' || g FROM generate_series(1, 2000) g")
    employee.admin.execute("ANALYZE employee_mls")
    plan = str(session.execute("EXPLAIN SELECT * FROM employee WHERE name = 'n5'").fetchall())
    assert re.search("Index Scan using employee_mls_(key|whole) on employee_mls r ", plan)
    assert "Seq Scan on employee_mls" not in plan


@pytest.mark.parametrize("salary", ["NULL", "1", "CASE WHEN g = 1 THEN 1 END", "CASE WHEN g > 1 THEN 1 END"])
def test_the_first_rows_of_an_order_are_read_alone(employee: Subjects, salary: str) -> None:
    """Whether all, none or one of the rows were inserted with a NULL."""
    session = employee.at("C")
    inserted = f"SELECT 'n' || lpad(g::text, 4, '0'), {salary}, 'Fair' FROM generate_series(1, 2000) g"
    session.execute(f"INSERT INTO employee (name, salary, perf) {inserted}".encode())
    employee.admin.execute("VACUUM ANALYZE employee_mls")
    read = """SELECT sum(pg_stat_get_xact_tuples_returned(indexrelid)) + pg_stat_get_xact_tuples_returned(indrelid)
              FROM pg_index WHERE indrelid = 'employee_mls'::regclass GROUP BY indrelid"""
    with session.transaction():
        rows = session.execute("SELECT name FROM employee WHERE name > 'n0500' ORDER BY name LIMIT 3").fetchall()
        ((tuples,),) = session.execute(read).fetchall()
    assert rows == [("n0501",), ("n0502",), ("n0503",)]
    assert tuples < 30


def test_functions_of_users_see_visible_rows_alone(smith_and_brown: Subjects) -> None:
    messages: list[str] = []
    session = smith_and_brown.another("U")
    session.add_notice_handler(lambda notice: messages.append(str(notice.message_primary)))
    session.execute(
        "CREATE FUNCTION pg_temp.leak(value text) RETURNS boolean LANGUAGE plpgsql COST 0.0001"
        " AS $$ BEGIN RAISE NOTICE 'saw %', value; RETURN true; END $$"
    )
    session.execute("SELECT * FROM employee WHERE pg_temp.leak(name)")
    assert messages == ["saw Smith"]


def test_a_cleared_user_cannot_change_what_triggers_mean(employee: Subjects) -> None:
    """An operator of the user's own, found first, would run with the rights of the table's owner."""
    role = employee.role("U")
    employee.admin.execute(f"CREATE SCHEMA evil AUTHORIZATION {role}")
    session = employee.at("U")
    session.execute(
        "CREATE FUNCTION evil.steal(bigint, bigint) RETURNS boolean LANGUAGE plpgsql"
        " AS $$ BEGIN RAISE EXCEPTION 'ran as %', current_user; END $$;"
        "CREATE OPERATOR evil.= (FUNCTION = evil.steal, LEFTARG = bigint, RIGHTARG = bigint);"
        "CREATE OPERATOR evil.<> (FUNCTION = evil.steal, LEFTARG = bigint, RIGHTARG = bigint);"
        "SET search_path = evil, public, pg_catalog"
    )
    session.execute("INSERT INTO employee (name, salary) VALUES ('a', 1)")
    session.execute("UPDATE employee SET salary = 2")
    assert session.execute("DELETE FROM employee").rowcount == 1
