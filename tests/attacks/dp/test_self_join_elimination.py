"""Self-join elimination (PostgreSQL 18): the planner takes a join away, and with it what a dp_ call is refused for."""

import pytest
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import refused
from tests.versions import since

pytestmark = since(18)

JOINS = [
    "hr.person a JOIN hr.person b USING (id)",
    "hr.person a JOIN hr.person b ON a.id = b.id AND b.smoker",
    "(SELECT * FROM hr.person) a, hr.person b WHERE a.id = b.id",
    "hr.person a JOIN hr.person b USING (id) JOIN hr.person c USING (id)",
    "hr.person a, hr.person b WHERE a.id = b.id AND a.salary < b.salary",
]


def test_the_planner_takes_the_join_away(mallory: Connection) -> None:
    plan = mallory.execute(f"EXPLAIN (COSTS off) SELECT count(*) FROM {JOINS[0]}").fetchall()
    assert "Join" not in str(plan)
    assert "Nested Loop" not in str(plan)


@pytest.mark.parametrize("enabled", ["on", "off"])
@pytest.mark.parametrize("tables", JOINS)
def test_the_join_is_refused_whether_or_not_it_is_taken_away(
    target: Target, mallory: Connection, tables: str, enabled: str
) -> None:
    mallory.execute(f"SET enable_self_join_elimination = {enabled}".encode())
    with target.free(), refused("DP001", "", "discreet.query()"):
        mallory.execute(f"SELECT discreet.dp_count(*) FROM {tables}")


@pytest.mark.parametrize("enabled", ["on", "off"])
def test_a_join_that_stays_is_refused(target: Target, mallory: Connection, enabled: str) -> None:
    mallory.execute(f"SET enable_self_join_elimination = {enabled}".encode())
    with target.free(), refused("DP001", "a join", "discreet.query()"):
        mallory.execute("SELECT discreet.dp_count(*) FROM hr.person a JOIN hr.person b ON a.dept = b.dept")
