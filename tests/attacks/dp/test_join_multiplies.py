"""A join gives one person many rows, so that one person changes a count by more than one."""

import pytest
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import refused

JOINS = [
    "hr.person, generate_series(1, 100)",
    "hr.person a, hr.person b",
    "hr.person a JOIN hr.person b ON a.dept = b.dept",
    "hr.person JOIN hr.visit ON person = id",
    "hr.person LEFT JOIN hr.visit ON person = id",
    "hr.visit RIGHT JOIN hr.person ON person = id",
    "hr.person FULL JOIN generate_series(1, 10) n ON id = n",
    "hr.person NATURAL JOIN (VALUES (1), (1), (1)) copies(id)",
    "hr.person CROSS JOIN LATERAL generate_series(1, salary)",
    "hr.person JOIN LATERAL (SELECT 1 FROM hr.visit WHERE person = id) v ON true",
]
METHODS = ["enable_hashjoin", "enable_mergejoin", "enable_nestloop"]


def test_native_count_over_a_join_counts_one_person_many_times(mallory: Connection) -> None:
    counted = mallory.execute(f"SELECT count(*) FROM {JOINS[0]} WHERE id = 1").fetchone()
    assert counted == (100,)


@pytest.mark.parametrize("tables", JOINS)
def test_join_is_refused_and_costs_nothing(target: Target, mallory: Connection, tables: str) -> None:
    hint = "discreet.query()"
    with target.free(), refused("DP001", "", hint):
        mallory.execute(f"SELECT discreet.dp_count(*) FROM {tables}")
    assert target.refusals() == 1


@pytest.mark.parametrize("method", METHODS)
def test_join_is_refused_by_whatever_method(target: Target, mallory: Connection, method: str) -> None:
    for other in METHODS:
        mallory.execute(f"SET {other} = {'on' if other == method else 'off'}")
    with target.free(), refused("DP001", "", "discreet.query()"):
        mallory.execute("SELECT discreet.dp_count(*) FROM hr.person JOIN (VALUES (1), (1)) c(id) USING (id)")


@pytest.mark.parametrize(
    "question",
    [
        "SELECT discreet.dp_count(*) FROM (SELECT p.* FROM hr.person p, generate_series(1, 9)) twice",
        "WITH twice AS (SELECT p.* FROM hr.person p, generate_series(1, 9)) SELECT discreet.dp_count(*) FROM twice",
        "WITH twice AS MATERIALIZED (SELECT * FROM hr.person) SELECT discreet.dp_count(*) FROM twice a, twice b",
        "SELECT discreet.dp_count(*) FROM (SELECT id FROM hr.person a JOIN hr.person b USING (id) OFFSET 0) twice",
    ],
)
def test_join_in_a_subquery_is_refused(target: Target, mallory: Connection, question: str) -> None:
    with target.free(), refused("DP001", "", "discreet.query()"):
        mallory.execute(question)


def test_join_in_a_view_is_refused(target: Target, mallory: Connection) -> None:
    mallory.execute("CREATE VIEW extra.twice AS SELECT p.* FROM hr.person p, generate_series(1, 9)")
    with target.free(), refused("DP001", "a join", "discreet.query()"):
        mallory.execute("SELECT discreet.dp_count(*) FROM extra.twice")


def test_table_with_many_rows_per_person_is_refused(target: Target, mallory: Connection) -> None:
    with target.free(), refused("DP001", "not unique", "discreet.query()"):
        mallory.execute("SELECT discreet.dp_count(*) FROM hr.visit")


@pytest.mark.parametrize(
    "shape",
    [
        "CREATE TABLE extra.t (id int NOT NULL, x int)",
        "CREATE TABLE extra.t (id int UNIQUE, x int)",
        "CREATE TABLE extra.t (id int NOT NULL, x int, UNIQUE (id, x))",
        "CREATE TABLE extra.t (id int NOT NULL UNIQUE DEFERRABLE, x int)",
        "CREATE TABLE extra.t (id int NOT NULL, x int); CREATE UNIQUE INDEX ON extra.t (id) WHERE x > 0",
        "CREATE TABLE extra.t (id int NOT NULL, x int); CREATE UNIQUE INDEX ON extra.t (abs(id))",
    ],
    ids=["no index", "nullable", "two columns", "deferrable", "partial index", "expression"],
)
def test_unit_that_is_not_always_unique_is_refused(target: Target, mallory: Connection, shape: str) -> None:
    target.admin.execute(f"{shape}; GRANT SELECT ON extra.t TO mallory; SET client_min_messages = warning")
    target.admin.execute("SELECT discreet.protect('extra.t', 'id', dataset => 'people', max_rows => 1)")
    with target.free(), refused("DP001", "not unique and NOT NULL", "discreet.query()"):
        mallory.execute("SELECT discreet.dp_count(*) FROM extra.t")
