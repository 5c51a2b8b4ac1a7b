"""Rows whose unit is NULL belong to nobody: thousands of them would have no limit."""

import pytest
from tests.attacks.gate.asking import number, protect
from tests.attacks.target import Target
from tests.databases import Connection


@pytest.mark.parametrize(
    "asked",
    [
        "SELECT count(*) FROM extra.note",
        "SELECT count(*) FROM (SELECT x FROM extra.note) n",
        "SELECT count(*) FROM extra.note a JOIN extra.note b ON a.id = b.id",
        "SELECT count(*) FROM (SELECT x FROM extra.note UNION ALL SELECT x FROM extra.note) n",
        "SELECT sum(x) FROM extra.note",
        "SELECT count(DISTINCT id) FROM extra.note",
        "SELECT count(x) FROM hr.person p LEFT JOIN extra.note n ON p.id = n.id",
    ],
)
def test_rows_without_a_person_take_no_part(gated: Target, blind: Connection, asked: str) -> None:
    """At epsilon 0.9 noise is beyond 20 with probability below 1e-7."""
    protect(gated, "note", "id int, x int", "SELECT NULL, 1 FROM generate_series(1, 5000)", x=(0, 1))
    assert gated.value("SELECT count(*) FROM extra.note") == 5000
    assert number(blind, asked, "0.9") <= 20
