"""A tracker whose key comes in by a join with a table that names people."""

import pytest
from tests.attacks.gate.asking import how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

JOINS = [
    "hr.person p JOIN extra.keys k ON p.id = k.id",
    "hr.person p, extra.keys k WHERE p.id = k.id",
    "hr.person p LEFT JOIN extra.keys k ON p.id <> k.id",
    "hr.person p JOIN extra.keys k USING (id)",
    "hr.visit v JOIN extra.keys k ON v.person = k.id",
    "hr.person p JOIN hr.visit v ON p.id = v.person AND v.person = 7",
]


@pytest.mark.parametrize("join", JOINS)
def test_a_join_brings_no_key_in(gated: Target, blind: Connection, join: str) -> None:
    gated.admin.execute("CREATE TABLE extra.keys (id int PRIMARY KEY); INSERT INTO extra.keys VALUES (7)")
    gated.admin.execute("GRANT SELECT ON extra.keys TO PUBLIC")
    with gated.free():
        assert how_it_ends(blind, f"SELECT count(*) FROM {join}") == "DP002"
