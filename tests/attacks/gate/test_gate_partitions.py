"""Partitions: a part asked about by itself, and a part moved in from elsewhere."""

import pytest
from tests.attacks.gate.asking import how_it_ends, number
from tests.attacks.target import Target
from tests.databases import Connection

WHOLE = """
    CREATE TABLE extra.whole (id int, x int) PARTITION BY LIST (x);
    CREATE TABLE extra.part PARTITION OF extra.whole FOR VALUES IN (1) PARTITION BY RANGE (id);
    CREATE TABLE extra.leaf PARTITION OF extra.part FOR VALUES FROM (0) TO (1000);
    CREATE TABLE extra.rest PARTITION OF extra.whole DEFAULT;
    INSERT INTO extra.whole SELECT 7, n % 2 FROM generate_series(1, 5000) n;
    GRANT SELECT ON ALL TABLES IN SCHEMA extra TO PUBLIC;
    SELECT discreet.protect('extra.whole', 'id', dataset => 'people', max_rows => 1)
"""


@pytest.mark.parametrize("part", ["part", "leaf", "rest"])
def test_a_part_is_asked_about_through_the_whole(gated: Target, blind: Connection, part: str) -> None:
    gated.admin.execute(WHOLE)
    with gated.free():
        for question in (f"extra.{part}", f"ONLY extra.{part}", f"hr.person p, extra.{part}"):
            assert how_it_ends(blind, f"SELECT count(*) FROM {question}") == "42704"


def test_a_person_in_all_parts_counts_once(gated: Target, blind: Connection) -> None:
    """At epsilon 0.9 noise is beyond 20 with probability below 1e-7."""
    gated.admin.execute(WHOLE)
    assert number(blind, "SELECT count(*) FROM extra.whole", "0.9") <= 21
