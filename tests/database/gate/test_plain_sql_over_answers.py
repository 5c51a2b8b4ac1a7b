"""What stands around the aggregates is the asker's own query over released rows: any function, own tables, windows."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import psycopg
import pytest
from tests.database.gate.conftest import Asker
from tests.messages import notices

FROM = "FROM hr.employee GROUP BY dept ORDER BY dept"


@pytest.fixture
def exact(asker: Asker) -> Iterator[Asker]:
    """An analyst with a schema of her own; noise is hardly ever more than 0."""
    asker.admin.execute(f"CREATE SCHEMA work AUTHORIZATION {asker.role}; GRANT USAGE ON SCHEMA work TO PUBLIC")
    asker.connection.execute("SET search_path = work, public, discreet; SET discreet.epsilon = 50")
    asker.plain("CREATE TABLE boss (dept text, name text); INSERT INTO boss VALUES ('Sales', 'Ann'), ('Legal', 'Bob')")
    asker.plain("CREATE FUNCTION twice(bigint) RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT 2 * $1'")
    yield asker
    asker.connection.execute("RESET ALL; DEALLOCATE ALL")
    asker.admin.execute("DROP SCHEMA work CASCADE")


# each is one question, and gives what PostgreSQL gives
AROUND = [
    f"SELECT dept, to_char(count(*), 'FM0000') {FROM}",
    f"SELECT dept, work.twice(count(*)) AS n {FROM}",
    f"SELECT upper(dept) || ': ' || count(*)::text AS line {FROM}",
    f"SELECT dept, format('%s has %s', dept, count(*)) {FROM}",
    f"SELECT jsonb_build_object(dept, count(*)) {FROM}",
    f"SELECT ROW(dept, count(*))::text {FROM}",
    f'SELECT dept COLLATE "C" AS d, count(*) {FROM}',
    "SELECT dept, (SELECT name FROM work.boss b WHERE b.dept = e.dept) AS boss, count(*)"
    " FROM hr.employee e GROUP BY dept ORDER BY dept",
    "SELECT dept, count(*) FROM hr.employee GROUP BY dept HAVING dept IN (SELECT dept FROM work.boss) ORDER BY 1",
    "SELECT dept, count(*) FROM hr.employee e GROUP BY dept"
    " HAVING EXISTS (SELECT FROM work.boss b WHERE b.dept = e.dept AND count(e.zip) >= 0) ORDER BY 1",
    "SELECT DISTINCT ON (length(dept)) length(dept), dept, count(*) FROM hr.employee GROUP BY dept ORDER BY 1, 2",
    "SELECT dept, generate_series(1, 2), count(*) FROM hr.employee GROUP BY dept ORDER BY 1, 2",
    "SELECT dept, count(*) FROM hr.employee GROUP BY dept ORDER BY dept USING ~>~",
    "SELECT dept, rank() OVER w, sum(count(*)) OVER (w ROWS 1 PRECEDING), to_char(avg(salary), '999G999') <> ''"
    " FROM hr.employee GROUP BY dept WINDOW w AS (ORDER BY dept DESC) ORDER BY dept LIMIT (SELECT 3) OFFSET 1",
    "SELECT gender, dept, GROUPING(gender), GROUPING(gender, dept), count(*) FROM hr.employee"
    " WHERE dept IN ('Sales', 'Production') AND gender <> ''"
    " GROUP BY ROLLUP (gender, dept) HAVING count(*) > 0 ORDER BY 3, 4, 1, 2",
    "SELECT gender, GROUPING(gender) = 1 AS total, to_char(count(*), '999') FROM hr.employee"
    " WHERE dept = 'Sales' AND gender <> '' GROUP BY GROUPING SETS ((gender), ()) HAVING count(*) > 0 ORDER BY 2, 1",
    "SELECT initcap(to_char(date_trunc('year', hired), 'YYYY')) AS year, count(*) FROM hr.employee"
    " WHERE hired < '1950-01-01' GROUP BY date_trunc('year', hired)",
    "WITH s AS (SELECT * FROM hr.employee WHERE dept = 'Sales'), o AS (SELECT 'Sales'::text AS d)"
    " SELECT format('%s', count(*)) FROM s HAVING 'Sales' IN (SELECT d FROM o)",
    "SELECT dept, count(*) FROM hr.employee GROUP BY dept"
    " HAVING count(*) > (SELECT count(*) / 100 FROM work.boss) ORDER BY 1",
    "SELECT md5(string_agg(d, ',' ORDER BY d)) FROM (SELECT dept AS d FROM hr.employee GROUP BY dept) t",
    "SELECT min(dept) FILTER (WHERE n >= 0), array_agg(DISTINCT upper(dept))"
    " FROM (SELECT dept, count(*) AS n FROM hr.employee GROUP BY dept) t",
]


@pytest.mark.parametrize("statement", AROUND)
def test_it_is_what_postgresql_makes_of_the_same_rows(exact: Asker, statement: str) -> None:
    exact.admin.execute("SET search_path = work, public, discreet")
    # groups that are not declared take no part
    exact.admin.execute("CREATE VIEW work.known AS SELECT * FROM hr.employee WHERE dept <> 'Human resources'")
    assert exact.plain(statement) == exact.truth(statement.replace("hr.employee", "work.known"))
    exact.admin.execute("RESET ALL")
    # which declared groups there are costs nothing
    assert [epsilon for epsilon, _ in exact.charges()] in ([], [Decimal(50)], [Decimal(100)], [Decimal(150)])


def test_what_changes_own_tables_beside_a_question_is_done(exact: Asker) -> None:
    statement = "WITH gone AS (DELETE FROM work.boss RETURNING *) SELECT count(*) FROM hr.employee"
    assert exact.plain(statement) == exact.truth("SELECT count(*) FROM hr.employee")
    assert exact.plain("SELECT * FROM work.boss") == []


def test_names_types_and_order_of_columns_are_those_of_postgresql(exact: Asker) -> None:
    statement = f"SELECT lpad(dept, 20, '.'), count(*), count(*) AS \"Count\", to_char(avg(salary), 'FM9'), 7 {FROM}"
    told = [
        [(column.name, column.type_code) for column in session.execute(statement.encode()).description or ()]
        for session in (exact.connection, exact.admin)
    ]
    assert told[0] == told[1]


def test_a_view_and_a_prepared_statement_keep_what_stands_around(exact: Asker) -> None:
    exact.plain(f"CREATE VIEW work.shown AS SELECT dept, format('%s!', count(*)) AS told {FROM}")
    exact.plain(f"PREPARE shown(text) AS SELECT dept, format($1, count(*)) AS told {FROM}")
    assert exact.plain("SELECT * FROM work.shown") == exact.plain("EXECUTE shown('%s!')")
    assert len(exact.charges()) == 1


def test_it_runs_with_the_rights_of_the_asker(exact: Asker) -> None:
    exact.plain("CREATE TABLE seen (who name, session name)")
    exact.plain(
        "CREATE FUNCTION noted(bigint) RETURNS bigint LANGUAGE sql"
        " AS 'INSERT INTO work.seen VALUES (current_user, session_user); SELECT $1'"
    )
    exact.plain(f"SELECT dept, work.noted(count(*)) {FROM}")
    assert set(exact.plain("SELECT * FROM work.seen")) == {(exact.role, exact.role)}


@pytest.mark.parametrize(
    "around",
    [
        "(SELECT max(name) FROM hr.secret_names)",
        "(SELECT string_agg(name, ',') FROM hr.employee)",
        "(SELECT max(e.name) FROM hr.employee e WHERE e.dept = x.dept)",
        "(SELECT n FROM (SELECT name AS n FROM hr.employee LIMIT 1) t)",
        "array(SELECT name FROM hr.employee)::text",
        "name",
        "x::text",
        "query_to_xml('SELECT name FROM hr.employee', true, true, '')::text",
    ],
)
def test_nothing_of_the_protected_tables_is_reached_from_there(exact: Asker, around: str) -> None:
    exact.admin.execute("CREATE TABLE hr.secret_names AS SELECT name FROM hr.employee")
    try:
        with pytest.raises(psycopg.Error) as error:
            exact.plain(f"SELECT dept, format('%s', count(*)), {around} FROM hr.employee x GROUP BY dept")
        assert error.value.sqlstate in ("DP001", "DP002", "42501", "42803")
    finally:
        exact.admin.execute("DROP TABLE hr.secret_names")


def test_an_error_around_the_answer_is_the_askers_own_and_the_charge_stays(exact: Asker) -> None:
    with pytest.raises(psycopg.errors.DivisionByZero):
        exact.plain(f"SELECT dept, to_char(1 / (count(*) - count(*)), '9') {FROM}")
    assert len(exact.charges()) == 1


def test_the_error_of_each_aggregate_is_told(exact: Asker) -> None:
    heard = notices(exact.connection)
    exact.plain(f"SELECT dept, to_char(count(*), '999'), avg(salary) AS pay {FROM}")
    told = str(heard[-1][1])
    assert "count ±" in told
    assert "pay" in told
