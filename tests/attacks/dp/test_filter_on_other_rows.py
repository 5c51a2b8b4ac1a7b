"""Filters and values that depend on other people's rows: one person changes what many others count."""

import pytest
from tests.attacks.target import PRICE, Target
from tests.databases import Connection
from tests.messages import refused

SHAPES = [
    "SELECT discreet.dp_count(*) FROM hr.person WHERE salary > (SELECT avg(salary) FROM hr.person)",
    "SELECT discreet.dp_count(*) FROM hr.person WHERE (SELECT max(salary) FROM hr.person) > 5000",
    "SELECT discreet.dp_count(*) FROM hr.person WHERE EXISTS (SELECT FROM hr.person WHERE name = 'name 7')",
    "SELECT discreet.dp_count(*) FROM hr.person p WHERE EXISTS (SELECT FROM hr.person q WHERE q.id = p.id + 1)",
    "SELECT discreet.dp_count(*) FROM hr.person WHERE dept IN (SELECT dept FROM hr.person WHERE id = 7)",
    "SELECT discreet.dp_count(*) FROM hr.person WHERE dept = ANY (ARRAY(SELECT dept FROM hr.person WHERE id = 7))",
    "SELECT discreet.dp_count(*) FROM hr.person WHERE id NOT IN (SELECT person FROM hr.visit)",
    "SELECT discreet.dp_count(*) FILTER (WHERE salary > (SELECT avg(salary) FROM hr.person)) FROM hr.person",
    "SELECT discreet.dp_sum(salary - (SELECT min(salary) FROM hr.person), 0, 9) FROM hr.person",
    "SELECT discreet.dp_count(*) FROM (SELECT * FROM hr.person LIMIT 10) p",
    "SELECT discreet.dp_count(*) FROM (SELECT * FROM hr.person ORDER BY salary LIMIT 10 OFFSET 5) p",
    "SELECT discreet.dp_count(*) FROM (SELECT * FROM hr.person ORDER BY salary FETCH FIRST 3 ROWS WITH TIES) p",
    "SELECT discreet.dp_count(*) FROM (SELECT DISTINCT dept FROM hr.person) p",
    "SELECT discreet.dp_count(*) FROM (SELECT DISTINCT ON (dept) * FROM hr.person ORDER BY dept, salary) p",
    "SELECT discreet.dp_count(*) FROM (SELECT dept, count(*) AS n FROM hr.person GROUP BY dept) p",
    "SELECT discreet.dp_count(*) FROM (SELECT dept FROM hr.person GROUP BY dept HAVING count(*) > 5) p",
    "SELECT discreet.dp_sum(n, 0, 9) FROM (SELECT rank() OVER (ORDER BY salary) n FROM hr.person) p",
    "SELECT discreet.dp_count(*) FROM hr.person TABLESAMPLE BERNOULLI (50) REPEATABLE (1)",
    "SELECT discreet.dp_count(*) FROM hr.person TABLESAMPLE SYSTEM (50)",
    "SELECT discreet.dp_count(*) FROM hr.person WHERE ctid < '(3,1)'",
    "SELECT discreet.dp_count(*) FROM hr.person WHERE xmin::text <> ''",
    "SELECT discreet.dp_count(*) FROM hr.person WHERE tableoid > 0",
    "SELECT discreet.dp_count_distinct(ctid) FROM hr.person",
    "SELECT discreet.dp_count(*) FROM (SELECT discreet.dp_sum(salary, 0, 1) FROM hr.person GROUP BY id) p",
    "WITH RECURSIVE r AS (SELECT id FROM hr.person UNION ALL SELECT id FROM r WHERE false)"
    " SELECT discreet.dp_count(*) FROM r",
    "SELECT discreet.dp_count(*) FROM (SELECT * FROM hr.person FOR KEY SHARE) p",
    "SELECT discreet.dp_count(*) FROM hr.person WHERE pg_relation_size('hr.person') > 8192",
    "SELECT discreet.dp_count(*) FROM hr.person WHERE random() < 0.5",
    "SELECT discreet.dp_count(*) FROM hr.person WHERE query_to_xml('SELECT 1', true, true, '') IS NOT NULL",
    "SELECT discreet.dp_count(*) FROM hr.person WHERE current_setting('extra.x', true) IS NULL",
    "SELECT discreet.dp_count(*) FROM hr.person WHERE has_table_privilege('hr.person', 'SELECT')",
    "SELECT discreet.dp_count(*) FROM hr.person WHERE pg_try_advisory_lock(id)",
]
LOCKING = "FOR KEY SHARE"


def test_native_filter_lets_one_person_change_every_row(target: Target) -> None:
    target.admin.execute("BEGIN")
    question = "SELECT count(*) FROM hr.person WHERE (SELECT max(salary) FROM hr.person) > 5000"
    before = target.value(question)
    target.admin.execute("UPDATE hr.person SET salary = 9999 WHERE id = 7")
    assert (before, target.value(question)) == (0, 1000)
    target.admin.execute("ROLLBACK")


@pytest.mark.parametrize("question", SHAPES)
def test_shape_is_refused_and_costs_nothing(target: Target, mallory: Connection, question: str) -> None:
    if LOCKING in question:
        target.admin.execute("GRANT UPDATE ON hr.person TO mallory")
    with target.free(), refused("DP001", "dp_ aggregate", "discreet.query()"):
        mallory.execute(question)


@pytest.mark.parametrize(
    "where",
    [
        "salary > 1050", "dept LIKE 'dept _' AND NOT smoker", "id IN (1, 2, 3)", "name ~ '7$'", "id BETWEEN 5 AND 50",
        "coalesce(nullif(salary, 0), 1) % 2 = 0", "(dept, smoker) = ('dept 1', true)", "dept = ANY ('{dept 1,dept 2}')",
        "date_trunc('month', now()) IS NOT NULL", "to_char(current_date, 'YYYY') > '2000'", "id < 1000000",
        "CASE WHEN smoker THEN salary ELSE 0 END > 0", "hashtext(name) % 2 = 0",
    ],
)  # fmt: skip
def test_filter_on_the_own_row_is_answered(target: Target, mallory: Connection, where: str) -> None:
    with target.costs(PRICE):
        mallory.execute(f"SELECT discreet.dp_count(*) FROM hr.person WHERE {where}")


def test_filter_by_an_unprotected_table_is_refused(target: Target, mallory: Connection) -> None:
    """It may be a copy: nobody knows what a table that is not protected was made from."""
    mallory.execute("CREATE TABLE extra.own AS SELECT 1050 AS salary")
    with target.free(), refused("DP001", "depends on other rows", "discreet.query()"):
        mallory.execute("SELECT discreet.dp_count(*) FROM hr.person WHERE salary > (SELECT max(salary) FROM extra.own)")
