"""Statements around a plain question: cursors, prepared statements, copies of the answer, own tables beside it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from decimal import Decimal

import pytest
from tests.database.gate.conftest import Asker
from tests.messages import notices, refused

BY_DEPT = "SELECT dept, count(*) FROM hr.employee GROUP BY dept ORDER BY dept"
DEPARTMENTS = 8


@pytest.fixture
def worker(asker: Asker) -> Iterator[Asker]:
    """An analyst with a schema of her own."""
    asker.admin.execute(f"CREATE SCHEMA work AUTHORIZATION {asker.role}")
    asker.connection.execute("SET search_path = work, public")
    yield asker
    asker.connection.execute("RESET ALL; DEALLOCATE ALL")
    asker.admin.execute("DROP SCHEMA work CASCADE")


def test_the_price_is_told_and_the_same_question_is_free(asker: Asker) -> None:
    heard = notices(asker.connection)
    first = asker.plain(BY_DEPT)
    assert "epsilon 0.1 spent" in str(heard[-1][1])
    assert asker.plain(BY_DEPT) == first
    assert "free of charge" in str(heard[-1][1])
    assert asker.charges() == [(Decimal("0.1"), 0)]


def test_columns_have_the_names_that_were_asked_for(asker: Asker) -> None:
    cursor = asker.connection.execute(
        'SELECT avg(salary), avg(salary) AS "The Mean", avg(salary), 1 + 1, dept AS "drop" FROM hr.employee'
        " GROUP BY dept"
    )
    assert [column.name for column in cursor.description or ()] == ["avg", "The Mean", "avg", "?column?", "drop"]


def test_a_cursor_is_read_in_parts_and_back_again(worker: Asker) -> None:
    rows = worker.plain(BY_DEPT)
    with worker.connection.transaction():
        worker.plain(f"DECLARE answer SCROLL CURSOR FOR {BY_DEPT}")
        assert worker.plain("FETCH 2 FROM answer") == rows[:2]
        assert worker.plain("FETCH LAST FROM answer") == rows[-1:]
        assert worker.plain("FETCH FIRST FROM answer") == rows[:1]
    worker.plain(f"DECLARE kept CURSOR WITH HOLD FOR {BY_DEPT}")
    assert worker.plain("FETCH ALL FROM kept") == rows
    worker.plain("CLOSE kept")
    assert len(worker.charges()) == 1


def test_explain_shows_the_call_and_costs_nothing(worker: Asker) -> None:
    assert "query" in str(worker.plain(f"EXPLAIN {BY_DEPT}"))
    assert worker.charges() == []
    with refused("DP001", "EXPLAIN ANALYZE of a question would tell of the rows", "discreet.explain"):
        worker.plain(f"EXPLAIN ANALYZE {BY_DEPT}")
    assert worker.charges() == []


def test_an_answer_becomes_a_table(worker: Asker) -> None:
    rows = worker.plain(BY_DEPT)
    worker.plain(f"CREATE TABLE made AS {BY_DEPT}")
    worker.plain("SELECT dept, count(*) AS n INTO into_table FROM hr.employee GROUP BY dept")
    worker.plain(f"CREATE TABLE filled (d text, n int); INSERT INTO filled {BY_DEPT}")
    worker.plain(f"CREATE TEMP TABLE temporary AS {BY_DEPT}")
    assert worker.plain("SELECT dept, count FROM made ORDER BY 1") == rows
    assert worker.plain("SELECT * FROM filled ORDER BY 1") == rows
    assert worker.plain("SELECT * FROM temporary ORDER BY 1") == rows
    assert len(worker.plain("SELECT * FROM into_table")) == DEPARTMENTS
    worker.plain("DROP TABLE temporary")


def test_an_answer_is_copied_to_the_client(worker: Asker) -> None:
    rows = worker.plain(BY_DEPT)
    with worker.connection.cursor() as cursor, cursor.copy(f"COPY ({BY_DEPT}) TO STDOUT".encode()) as copied:
        assert [tuple(row) for row in copied.rows()] == [(dept, str(n)) for dept, n in rows]


def test_a_view_of_the_analyst_asks_when_it_is_read(worker: Asker) -> None:
    worker.plain(f"CREATE VIEW mine AS {BY_DEPT}")
    assert worker.charges() == []
    assert worker.plain("SELECT * FROM mine") == worker.plain(BY_DEPT)
    assert len(worker.charges()) == 1


def test_a_loop_asks_a_question_for_each_value(worker: Asker) -> None:
    worker.plain("""
        CREATE FUNCTION by_dept() RETURNS TABLE (d text, n bigint) LANGUAGE plpgsql AS $$
        DECLARE wanted text;
        BEGIN
            FOREACH wanted IN ARRAY ARRAY['Sales', 'Support', 'Sales'] LOOP
                RETURN QUERY SELECT wanted, count(*) FROM hr.employee WHERE dept = wanted;
            END LOOP;
        END $$""")
    rows = worker.plain("SELECT * FROM by_dept()")
    assert [dept for dept, _ in rows] == ["Sales", "Support", "Sales"]
    assert rows[0] == rows[2]
    assert len(worker.charges()) == 2


def test_a_function_of_the_analyst_asks_as_she_does(worker: Asker) -> None:
    worker.plain("CREATE FUNCTION staff() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM hr.employee'")
    assert worker.plain("SELECT staff()") == worker.plain("SELECT count(*) FROM hr.employee")
    with refused("DP001", "column name", ""):
        worker.plain(
            "CREATE FUNCTION raw() RETURNS SETOF text LANGUAGE sql AS 'SELECT name FROM hr.employee';SELECT raw()"
        )


# own tables and functions beside a question of its own, which is one charge each
MIXED = [
    "SELECT o.boss, n FROM own o JOIN (SELECT dept, count(*) AS n FROM hr.employee GROUP BY dept) t USING (dept)",
    "WITH t AS (SELECT dept, count(*) AS n FROM hr.employee GROUP BY dept) SELECT boss, n FROM own JOIN t USING (dept)",
    "SELECT boss FROM own WHERE dept IN (SELECT dept FROM hr.employee GROUP BY dept HAVING count(*) > 0)",
    "SELECT boss, (SELECT count(*) FROM hr.employee) FROM own",
    "SELECT g, (SELECT count(*) FROM hr.employee) FROM generate_series(1, 3) g",
    "SELECT to_char(n, 'FM000') FROM (SELECT count(*) AS n FROM hr.employee) t",
    "SELECT city, n FROM zip_area, (SELECT count(*) AS n FROM hr.employee) t LIMIT 1",
    "SELECT count(*) FROM hr.employee UNION ALL SELECT count(*) FROM own",
    "SELECT 1 WHERE 0 < (SELECT count(*) FROM hr.employee)",
    "VALUES ((SELECT count(*) FROM hr.employee))",
    "INSERT INTO own SELECT dept, 'no' FROM (SELECT dept, count(*) FROM hr.employee GROUP BY dept) t RETURNING dept",
    "UPDATE own SET boss = 'many' WHERE (SELECT count(*) FROM hr.employee) > 10 RETURNING boss",
    "SELECT * FROM (SELECT * FROM (SELECT count(*) AS n FROM hr.employee) a) b, own",
]


@pytest.mark.parametrize("statement", MIXED)
def test_own_tables_work_on_the_private_answer(worker: Asker, statement: str) -> None:
    worker.plain("CREATE TABLE own (dept text, boss text); INSERT INTO own VALUES ('Sales', 'Ann'), ('Legal', 'Bob')")
    assert worker.plain(statement)
    assert len(worker.charges()) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT count(*) FROM own JOIN hr.employee USING (dept)",
        "SELECT boss, (SELECT count(*) FROM hr.employee e WHERE e.dept = own.dept) FROM own",
        "SELECT * FROM own, LATERAL (SELECT count(*) FROM hr.employee e WHERE e.dept = own.dept) t",
        "SELECT count(*) FROM hr.employee, generate_series(1, 3) WITH ORDINALITY",
        "SELECT name FROM hr.employee UNION ALL SELECT boss FROM own",
        "INSERT INTO own SELECT dept, name FROM hr.employee",
        "UPDATE own SET boss = e.name FROM hr.employee e WHERE e.dept = own.dept",
        "DELETE FROM own USING hr.employee e WHERE e.dept = own.dept",
        "MERGE INTO own USING hr.employee e ON e.dept = own.dept WHEN MATCHED THEN UPDATE SET boss = e.name",
        "CREATE TABLE raw AS SELECT name FROM hr.employee",
        "INSERT INTO own VALUES ('x', (SELECT max(name) FROM hr.employee))",
        "SELECT EXISTS (SELECT FROM hr.employee WHERE name = 'x')",
        "SELECT * FROM own WHERE dept = ANY (SELECT name FROM hr.employee)",
    ],
)
def test_own_tables_never_meet_single_rows(worker: Asker, statement: str) -> None:
    worker.plain("CREATE TABLE own (dept text, boss text); INSERT INTO own VALUES ('Sales', 'Ann')")
    with refused("DP001", "", ""):
        worker.plain(statement)
    assert worker.charges() == []
    assert worker.plain("SELECT * FROM own") == [("Sales", "Ann")]


def test_the_wish_of_the_session_is_the_price(asker: Asker) -> None:
    asker.plain("SET discreet.epsilon = 0.25")
    try:
        asker.plain(BY_DEPT)
        assert asker.charges() == [(Decimal("0.25"), 0)]
    finally:
        asker.plain("RESET discreet.epsilon")


def test_the_wish_of_the_role_is_the_price(asker: Asker) -> None:
    asker.admin.execute(f"ALTER ROLE {asker.role} SET discreet.epsilon = 0.125")
    try:
        asker.database.connect(asker.role).execute(BY_DEPT)
        assert asker.charges() == [(Decimal("0.125"), 0)]
    finally:
        asker.admin.execute(f"ALTER ROLE {asker.role} RESET discreet.epsilon")


def test_policy_caps_the_wish(asker: Asker) -> None:
    asker.admin.execute(
        "UPDATE discreet._protected_table SET max_epsilon = 0.05 WHERE relation = 'hr.employee'::regclass"
    )
    try:
        asker.plain(BY_DEPT)
        assert asker.charges() == [(Decimal("0.05"), 0)]
    finally:
        asker.admin.execute("UPDATE discreet._protected_table SET max_epsilon = NULL")


def test_who_may_read_pays_nothing(asker: Asker) -> None:
    ((staff,),) = asker.truth("SELECT count(*) FROM hr.employee")
    assert staff == 200
    asker.admin.execute(f"GRANT SELECT ON hr.employee TO {asker.role}")
    try:
        assert len(asker.plain("SELECT name FROM hr.employee")) == 200
    finally:
        asker.admin.execute(f"REVOKE SELECT ON hr.employee FROM {asker.role}")
    assert asker.charges() == []


def test_a_member_of_a_role_that_may_read_pays_nothing(asker: Asker) -> None:
    asker.admin.execute("CREATE ROLE plain_reader; GRANT SELECT ON hr.employee TO plain_reader")
    asker.admin.execute(f"GRANT plain_reader TO {asker.role}")
    try:
        assert len(asker.plain("SELECT name FROM hr.employee")) == 200
        asker.admin.execute(f"REVOKE plain_reader FROM {asker.role}")
        with refused("DP001", "column name", ""):
            asker.plain("SELECT name FROM hr.employee")
    finally:
        asker.admin.execute("DROP OWNED BY plain_reader; DROP ROLE plain_reader")
    assert asker.charges() == []


def test_the_catalog_is_browsed_as_ever(asker: Asker) -> None:
    """\\d and tab completion of psql, and what tools ask for columns, keys and rights."""
    dsn = asker.database.dsn(asker.role)
    commands = [
        "\\d",
        "\\d hr.employee",
        "\\d+ clinic.visit",
        "\\dt *.*",
        "\\dn",
        "\\du",
        "\\df discreet.*",
        "\\dp hr.*",
        "\\l",
    ]
    done = subprocess.run(
        ["psql", "-X", "-v", "ON_ERROR_STOP=1", dsn, *(part for command in commands for part in ("-c", command))],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "salary" in done.stdout
    columns = "SELECT column_name FROM information_schema.columns WHERE table_name = 'zip_area'"
    assert len(asker.plain(columns)) == 3
    catalog = "SELECT attname FROM pg_attribute WHERE attrelid = 'hr.employee'::regclass AND attnum > 0"
    assert len(asker.plain(catalog)) == 9
    assert asker.charges() == []


def test_without_a_budget_postgresql_denies_as_ever(asker: Asker) -> None:
    with refused("42501", "permission denied for table secret", None):
        asker.plain("SELECT count(*) FROM hr.secret")
