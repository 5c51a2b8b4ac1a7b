"""Self-join elimination (PostgreSQL 18): the planner takes a join away that a dp_ call would be refused for."""

import pytest
from tests.attacks.target import PEOPLE, PRICE, Target
from tests.databases import Connection
from tests.messages import refused
from tests.versions import since

pytestmark = since(18)

# joins, and how many people are left when each is counted once
JOINS = {
    "hr.person a JOIN hr.person b USING (id)": PEOPLE,
    "hr.person a JOIN hr.person b ON a.id = b.id AND b.smoker": PEOPLE // 4,
    "(SELECT * FROM hr.person) a, hr.person b WHERE a.id = b.id": PEOPLE,
    "hr.person a JOIN hr.person b USING (id) JOIN hr.person c USING (id)": PEOPLE,
    "hr.person a, hr.person b WHERE a.id = b.id AND a.salary < b.salary": 0,
}


def test_the_planner_takes_the_join_away(mallory: Connection) -> None:
    plan = str(mallory.execute(f"EXPLAIN (COSTS off) SELECT count(*) FROM {next(iter(JOINS))}").fetchall())
    assert plan.count("Scan on person") == 1


@pytest.mark.parametrize(("tables", "left"), JOINS.items())
def test_without_the_join_everybody_counts_once_and_it_is_paid(
    target: Target, mallory: Connection, tables: str, left: int
) -> None:
    with target.costs(PRICE):
        answer = mallory.execute(f"SELECT discreet.dp_count(*) FROM {tables}").fetchone()
    assert answer is not None
    # noise of scale 10: further away than 150 with probability below 1e-6
    assert abs(answer[0] - left) <= 150


@pytest.mark.parametrize("tables", JOINS)
def test_with_the_join_it_is_refused(target: Target, mallory: Connection, tables: str) -> None:
    mallory.execute("SET enable_self_join_elimination = off")
    with target.free(), refused("DP001", "a join", "discreet.query()"):
        mallory.execute(f"SELECT discreet.dp_count(*) FROM {tables}")


# equal in what is unique for nobody, or for a part of the rows only
STAYING = [
    "hr.person a JOIN hr.person b ON a.dept = b.dept",
    "hr.visit a JOIN hr.visit b ON a.person = b.person",
    "hr.person a JOIN hr.person b ON a.id = b.id + 0",
    "hr.person a LEFT JOIN hr.person b ON a.id = b.id AND a.salary <> b.salary, generate_series(1, 9)",
]


@pytest.mark.parametrize("tables", STAYING)
def test_a_join_that_stays_is_refused(target: Target, mallory: Connection, tables: str) -> None:
    with target.free(), refused("DP001", "", "discreet.query()"):
        mallory.execute(f"SELECT discreet.dp_count(*) FROM {tables}")


def test_a_key_that_holds_for_a_part_of_the_rows_takes_no_join_away(target: Target, mallory: Connection) -> None:
    target.admin.execute(
        "CREATE TABLE extra.own (id int PRIMARY KEY, room int, here boolean);"
        "CREATE UNIQUE INDEX ON extra.own (room) WHERE here; INSERT INTO extra.own SELECT n, 1, false"
        " FROM generate_series(1, 100) n; GRANT SELECT ON extra.own TO mallory;"
        "SELECT discreet.protect('extra.own', 'id', dataset => 'people')"
    )
    with target.free(), refused("DP001", "a join", "discreet.query()"):
        mallory.execute("SELECT discreet.dp_count(*) FROM extra.own a JOIN extra.own b USING (room)")
