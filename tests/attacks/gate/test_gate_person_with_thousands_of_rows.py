"""A person with thousands of rows, who would count for thousands."""

from tests.attacks.gate.asking import assert_not_multiplied, number, protect
from tests.attacks.target import Target
from tests.databases import Connection


def test_everybody_with_many_rows_counts_once(gated: Target, blind: Connection) -> None:
    assert_not_multiplied(gated, blind, "hr.visit v")


def test_one_person_with_thousands_of_rows_counts_once(gated: Target, blind: Connection) -> None:
    """At epsilon 0.4 noise is beyond 50 with probability below 1e-8."""
    protect(gated, "trip", "id int, cost int", "SELECT 7, 100 FROM generate_series(1, 5000)", cost=(0, 100))
    assert gated.value("SELECT sum(cost) FROM extra.trip") == 500_000
    assert number(blind, "SELECT count(*) FROM extra.trip", "0.4") <= 51
    assert number(blind, "SELECT sum(cost) FROM extra.trip", "0.4") <= 5100
