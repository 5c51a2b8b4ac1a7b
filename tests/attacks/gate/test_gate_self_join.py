"""Joins that multiply the rows of a person: with itself, with other tables, with keys that are none."""

import pytest
from tests.attacks.gate.asking import assert_not_multiplied, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

# of curators: a key that is unique, one that is not, and one whose children repeat it
PUBLIC = """
    CREATE TABLE extra.keyed (k int PRIMARY KEY, t text);
    INSERT INTO extra.keyed SELECT n, 'x' FROM generate_series(1, 300) n;
    CREATE TABLE extra.parent (k int PRIMARY KEY); CREATE TABLE extra.child () INHERITS (extra.parent);
    INSERT INTO extra.child SELECT 1000 + n % 100 FROM generate_series(1, 20000) n;
    GRANT SELECT ON extra.keyed, extra.parent TO PUBLIC;
"""
MULTIPLIED = [
    "hr.person p JOIN extra.keyed z ON z.k = z.k",
    "hr.person p JOIN extra.keyed z ON true",
    "hr.person p, extra.keyed z",
    "hr.person p JOIN extra.keyed z ON p.salary <> z.k",
    "hr.person p LEFT JOIN extra.keyed z ON p.salary = z.k OR z.t = 'x'",
    "hr.person p JOIN extra.parent z ON p.salary = z.k",
    "hr.visit v JOIN hr.visit w ON v.person = w.person",
    "hr.person p JOIN hr.visit v ON p.id = v.person JOIN hr.visit w ON v.person = w.person",
    "hr.person p JOIN hr.visit v ON p.id = v.person CROSS JOIN extra.keyed z",
    "(SELECT p.salary FROM hr.person p, extra.keyed z) s",
]


@pytest.mark.parametrize("source", MULTIPLIED)
def test_joins_multiply_rows_but_not_the_person(gated: Target, blind: Connection, source: str) -> None:
    gated.admin.execute(PUBLIC)
    assert_not_multiplied(gated, blind, source)


@pytest.mark.parametrize(
    "join", ["a CROSS JOIN hr.person b", "a, hr.person b", "a JOIN hr.person b ON a.dept = b.dept"]
)
def test_people_are_not_joined_with_other_people(gated: Target, blind: Connection, join: str) -> None:
    with gated.free():
        assert how_it_ends(blind, f"SELECT count(*) FROM hr.person {join}") == "DP001"
