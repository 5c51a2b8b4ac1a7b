"""UNION ALL lets one person appear once per branch."""

import pytest
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import refused

UNIONS = [
    "SELECT * FROM hr.person UNION ALL SELECT * FROM hr.person",
    "SELECT * FROM hr.person WHERE smoker UNION ALL SELECT * FROM hr.person WHERE NOT smoker",
    "SELECT * FROM hr.person UNION ALL (SELECT * FROM hr.person ORDER BY id)",
    "SELECT id FROM hr.person UNION ALL SELECT person FROM hr.visit",
    "SELECT * FROM hr.person UNION SELECT * FROM hr.person",
    "SELECT id FROM hr.person INTERSECT SELECT person FROM hr.visit",
    "SELECT id FROM hr.person EXCEPT ALL SELECT person FROM hr.visit",
    "SELECT id FROM hr.person UNION ALL SELECT n FROM (SELECT id AS n FROM hr.person OFFSET 0) again",
]


def test_native_count_counts_one_person_twice(mallory: Connection) -> None:
    counted = mallory.execute(f"SELECT count(*) FROM ({UNIONS[0]}) twice WHERE id = 1").fetchone()
    assert counted == (2,)


@pytest.mark.parametrize("union", UNIONS)
def test_union_is_refused_and_costs_nothing(target: Target, mallory: Connection, union: str) -> None:
    with target.free(), refused("DP001", "dp_ aggregates", "discreet.query()"):
        mallory.execute(f"SELECT discreet.dp_count(*) FROM ({union}) twice")


def test_union_with_an_unprotected_table_is_refused(target: Target, mallory: Connection) -> None:
    """Which may hold a copy of the people."""
    mallory.execute("CREATE TABLE extra.copy AS SELECT id FROM hr.person")
    with target.free(), refused("DP001", "one protected table at a time, and no other rows", "discreet.query()"):
        mallory.execute(
            "SELECT discreet.dp_count(*) FROM (SELECT id FROM extra.copy UNION ALL SELECT id FROM hr.person) twice"
        )
