"""UNION ALL that multiplies the rows of a person, or that mixes up who is who."""

from tests.attacks.gate.asking import assert_not_multiplied, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

THRICE = " UNION ALL ".join(["SELECT salary FROM hr.person"] * 3)


def test_a_union_multiplies_rows_but_not_the_person(gated: Target, blind: Connection) -> None:
    assert_not_multiplied(gated, blind, f"({THRICE}) u")


def test_a_column_that_is_the_unit_in_part_of_a_union_links_nobody_else(gated: Target, blind: Connection) -> None:
    """Every person's salary as a key would bring the visits of person 1000 to a hundredth of all people."""
    union = "(SELECT id AS x FROM hr.person UNION ALL SELECT salary AS x FROM hr.person) u"
    with gated.free():
        assert how_it_ends(blind, f"SELECT count(*) FROM {union} JOIN hr.visit v ON u.x = v.person") == "DP002"
