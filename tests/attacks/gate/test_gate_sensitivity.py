"""Joins, unions and rows in their thousands, so that one person counts for more than was paid for."""

import pytest
from tests.attacks.gate.asking import ask
from tests.attacks.target import PEOPLE, Target
from tests.databases import Connection

# of curators: a key that is unique, one that is not, and one whose children repeat it
PUBLIC = """
    CREATE TABLE extra.keyed (k int PRIMARY KEY, t text);
    INSERT INTO extra.keyed SELECT n, 'x' FROM generate_series(1, 300) n;
    CREATE TABLE extra.parent (k int PRIMARY KEY); CREATE TABLE extra.child () INHERITS (extra.parent);
    INSERT INTO extra.child SELECT 1000 + n % 100 FROM generate_series(1, 20000) n;
    GRANT SELECT ON extra.keyed, extra.parent TO PUBLIC;
"""
# noise at epsilon 0.9 for one row per person is beyond 20 with probability below 1e-7
MOST = PEOPLE + 20
MULTIPLIED = [
    "hr.person p JOIN extra.keyed z ON z.k = z.k",
    "hr.person p JOIN extra.keyed z ON true",
    "hr.person p, extra.keyed z",
    "hr.person p JOIN extra.keyed z ON p.salary <> z.k",
    "hr.person p LEFT JOIN extra.keyed z ON p.salary = z.k OR z.t = 'x'",
    "hr.person p JOIN extra.parent z ON p.salary = z.k",
    "(SELECT salary FROM hr.person UNION ALL SELECT salary FROM hr.person UNION ALL SELECT salary FROM hr.person) u",
    "hr.visit v",
    "hr.visit v JOIN hr.visit w ON v.person = w.person",
    "hr.person p JOIN hr.visit v ON p.id = v.person JOIN hr.visit w ON v.person = w.person",
    "hr.person p JOIN hr.visit v ON p.id = v.person CROSS JOIN extra.keyed z",
    "(SELECT p.salary FROM hr.person p, extra.keyed z) s",
]


@pytest.mark.parametrize("source", MULTIPLIED)
def test_rows_are_multiplied_but_not_the_person(gated: Target, blind: Connection, source: str) -> None:
    gated.admin.execute(PUBLIC)
    multiplied = gated.value(f"SELECT count(*) FROM {source}")
    assert isinstance(multiplied, int)
    assert multiplied > 1.5 * MOST
    ((count,),) = (row.values() for row in ask(blind, f"SELECT count(*) FROM {source}", "0.9"))
    assert int(str(count)) <= MOST


def test_a_column_that_is_the_unit_in_part_of_a_union_links_nobody_else(gated: Target, blind: Connection) -> None:
    """Every person's salary as a key would bring the visits of person 1000 to a hundredth of all people."""
    union = "(SELECT id AS x FROM hr.person UNION ALL SELECT salary AS x FROM hr.person) u"
    told = blind.execute(
        "SELECT discreet.explain(%s)->'refused'->>'code'",
        [f"SELECT count(*) FROM {union} JOIN hr.visit v ON u.x = v.person"],
    ).fetchall()
    assert told == [("DP002",)]


def test_a_sum_is_clamped_after_the_arithmetic(gated: Target, blind: Connection) -> None:
    """Bounds of the product, not of the column: 2000 times 1000."""
    told = blind.execute("SELECT discreet.explain('SELECT sum(salary * 1000) FROM hr.person', 1)").fetchall()
    ((plain,),) = blind.execute("SELECT discreet.explain('SELECT sum(salary) FROM hr.person', 1)").fetchall()
    ((scaled,),) = told
    ratio = float(scaled["outputs"][0]["error_95"]) / float(plain["outputs"][0]["error_95"])  # type: ignore[index,call-overload]
    assert 999 < ratio < 1001
