"""Views over protected tables: asked about like tables where they filter, map and join, by hand and in plain SQL."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from tests.database.gate.conftest import Asker
from tests.messages import refused

VIEWS = """
    CREATE SCHEMA seen;
    GRANT USAGE ON SCHEMA seen TO PUBLIC;
    CREATE VIEW seen.employee AS SELECT * FROM hr.employee;
    CREATE VIEW seen.sales(who, monthly, town) AS
        SELECT e.id, e.salary / 12, z.city FROM hr.employee e LEFT JOIN zip_area z USING (zip) WHERE e.dept = 'Sales';
    CREATE VIEW seen.well_paid_sales AS SELECT who, monthly * 12 AS yearly FROM seen.sales WHERE monthly > 5000;
    CREATE VIEW seen.patient AS SELECT * FROM clinic.patient;
    CREATE VIEW seen.treated WITH (security_invoker) AS
        SELECT p.sex, v.ward, v.patient_id AS person FROM clinic.patient p JOIN clinic.visit v ON v.patient_id = p.id;
    CREATE VIEW seen.household AS SELECT household AS nights FROM census.person;
    CREATE VIEW seen.twice AS SELECT dept FROM hr.employee UNION ALL SELECT dept FROM seen.employee;
    CREATE VIEW seen.recent AS SELECT * FROM hr.employee WHERE hired > CURRENT_DATE - 36500 AND hired < now();
    CREATE VIEW seen.city AS SELECT zip, upper(city) AS city FROM zip_area;
    CREATE VIEW seen.by_dept AS
        SELECT dept, count(*) AS n, round(avg(salary)) AS mean FROM hr.employee GROUP BY dept HAVING count(*) > 0;
    CREATE VIEW seen.big_depts AS SELECT dept, n FROM seen.by_dept WHERE n > 20;
    CREATE VIEW seen."Odd ""view" AS SELECT salary AS "The ""pay", dept AS "select" FROM hr.employee;
    GRANT SELECT ON ALL TABLES IN SCHEMA seen TO PUBLIC;
"""
# At epsilon 100 the noise of a count is 0 but for a chance of 2 e**-100.
EXACT = [
    "SELECT count(*) FROM seen.employee",
    "SELECT dept, count(*) FROM seen.employee WHERE dept LIKE 'S%' GROUP BY dept HAVING count(*) > 0 ORDER BY dept",
    "SELECT count(*) FROM seen.employee e WHERE e.gender = 'F' AND e.salary > 50000",
    "SELECT count(DISTINCT who) FROM seen.sales",
    "SELECT count(*) FROM seen.well_paid_sales WHERE yearly > 70000",
    "SELECT count(*) FROM seen.sales s JOIN seen.employee e ON s.who = e.id WHERE e.gender = 'F'",
    "SELECT count(*) FROM seen.well_paid_sales s JOIN hr.employee e ON s.who = e.id",
    "SELECT sex, count(*) FROM seen.patient GROUP BY sex ORDER BY sex",
    "SELECT count(DISTINCT person) FROM seen.treated WHERE ward = 'Surgery'",
    "SELECT count(*) FROM seen.recent",
    "SELECT count(*) FROM seen.employee e JOIN seen.city c ON e.zip = c.zip WHERE c.city = 'CAMBRIDGE'",
    "SELECT count(*) FROM (SELECT * FROM seen.employee WHERE dept = 'Sales') s",
    "WITH s AS (SELECT * FROM seen.employee) SELECT count(*) FROM s WHERE gender = 'F'",
    "SELECT count(*) FROM seen.employee AS t(a, b, sex) WHERE t.sex = 'M'",
    'SELECT count(*) FROM seen."Odd ""view" WHERE "select" = \'Sales\'',
    "SELECT dept, n FROM seen.by_dept WHERE dept IN ('Sales', 'Support') ORDER BY dept",
    "SELECT max(n) FROM seen.by_dept",
    "SELECT dept FROM seen.big_depts ORDER BY n DESC",
    "SELECT t.d FROM seen.by_dept AS t(d, number) WHERE t.number > 20 ORDER BY t.number",
]


@pytest.fixture(scope="module")
def with_views(gate_database: Asker) -> Iterator[Asker]:
    gate_database.admin.execute(VIEWS)
    yield gate_database
    gate_database.admin.execute("DROP SCHEMA seen CASCADE")


@pytest.fixture
def viewer(with_views: Asker) -> Iterator[Asker]:
    with_views.reset()
    with_views.connection.execute("SET discreet.epsilon = 100")
    yield with_views
    with_views.connection.execute("RESET discreet.epsilon")


@pytest.mark.parametrize("question", EXACT)
def test_a_view_is_asked_about_like_a_table(viewer: Asker, question: str) -> None:
    truth = viewer.truth(question)
    assert viewer.plain(question) == truth
    viewer.reset()
    assert viewer.rows(question, 100) == truth


def test_rows_of_a_view_count_for_their_people(viewer: Asker) -> None:
    """A person has two rows in the view, of which one counts (max_rows)."""
    assert viewer.plain("SELECT count(*) FROM seen.twice") == viewer.truth("SELECT count(*) FROM hr.employee")


def test_bounds_and_categories_are_those_of_the_table(viewer: Asker) -> None:
    assert len(viewer.plain("SELECT dept, avg(salary) FROM seen.employee GROUP BY dept")) == 8
    with refused("DP005", "column nights has no bounds", "describe_column"):
        viewer.plain("SELECT sum(nights) FROM seen.household")


def test_a_hidden_column_is_left_out_of_a_view(viewer: Asker) -> None:
    assert viewer.plain("SELECT count(*) FROM seen.patient") == viewer.truth("SELECT count(*) FROM clinic.patient")
    with refused("DP001", "there is no column name", "Hidden"):
        viewer.plain("SELECT count(*) FROM seen.patient WHERE name LIKE 'A%'")


def test_a_view_costs_what_its_table_costs(viewer: Asker) -> None:
    question = "SELECT dept, count(*), avg(salary) FROM {}.employee GROUP BY dept"
    view, table = (viewer.explain(question.format(schema)) for schema in ("seen", "hr"))
    assert view == table


def test_a_changed_view_is_another_question(viewer: Asker) -> None:
    viewer.plain("SELECT count(*) FROM seen.city c JOIN hr.employee e ON e.zip = c.zip")
    viewer.admin.execute("CREATE OR REPLACE VIEW seen.city AS SELECT zip, city FROM zip_area WHERE population > 9")
    viewer.plain("SELECT count(*) FROM seen.city c JOIN hr.employee e ON e.zip = c.zip")
    assert len(viewer.charges()) == 2


def test_a_view_is_found_in_the_search_path(viewer: Asker) -> None:
    viewer.connection.execute("SET search_path = seen")
    try:
        question = "SELECT count(*) FROM employee"
        assert viewer.plain(question) == viewer.rows(question, 100) == viewer.truth("SELECT count(*) FROM hr.employee")
    finally:
        viewer.connection.execute("RESET search_path")


def test_a_refusal_names_the_view_and_quotes_it(viewer: Asker) -> None:
    viewer.admin.execute("CREATE VIEW seen.odd AS SELECT quote_ident(name) AS x, dept FROM hr.employee")
    viewer.admin.execute("GRANT SELECT ON seen.odd TO PUBLIC")
    try:
        with refused(
            "DP001",
            "view seen.odd: function quote_ident() is not supported in questions about protected tables (in: SELECT",
            "around the answer",
        ):
            viewer.plain("SELECT count(x) FROM seen.odd")
    finally:
        viewer.admin.execute("DROP VIEW seen.odd")


@pytest.mark.parametrize("below", ["", "UNION ALL SELECT dept FROM hr.employee"])
def test_views_that_read_each_other_are_an_error_of_postgresql(asker: Asker, below: str) -> None:
    asker.admin.execute(
        "CREATE SCHEMA cyclic; GRANT USAGE ON SCHEMA cyclic TO PUBLIC; CREATE VIEW cyclic.a AS SELECT text 'x' AS dept;"
        f"CREATE VIEW cyclic.b AS SELECT * FROM cyclic.a {below};"
        "CREATE OR REPLACE VIEW cyclic.a AS SELECT * FROM cyclic.b;"
        "GRANT SELECT ON ALL TABLES IN SCHEMA cyclic TO PUBLIC"
    )
    try:
        for view in ("a", "b"):
            with pytest.raises(psycopg.Error, match=r"infinite recursion|nested too deeply"):
                asker.plain(f"SELECT count(*) FROM cyclic.{view}")
    finally:
        asker.admin.execute("DROP SCHEMA cyclic CASCADE")
