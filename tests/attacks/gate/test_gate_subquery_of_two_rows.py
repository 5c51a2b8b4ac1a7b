"""A subquery of which one row has two results: that it fails would tell of this row."""

import pytest
from tests.attacks.gate.asking import COUNT, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

# dept 2 is listed twice, and would fail as soon as somebody is in it
LISTED = """
    CREATE TABLE extra.listed (dept text); INSERT INTO extra.listed VALUES ('dept 1'), ('dept 2'), ('dept 2');
    SELECT discreet.protect('extra.listed', NULL, policy => 'public');
"""
TWO = [
    "(SELECT DISTINCT 1 FROM extra.listed l WHERE l.dept = person.dept) = 1",
    "(SELECT 1 FROM extra.listed l WHERE l.dept = person.dept HAVING true) = 1",
    "(SELECT 1 FROM extra.listed l WHERE l.dept = person.dept) = 1",
    "(SELECT DISTINCT l.dept FROM extra.listed l) = person.dept",
    "(SELECT v.day FROM hr.visit v WHERE v.person = person.id GROUP BY v.day) > '2024-06-01'",
]


def test_it_fails_on_a_row(target: Target) -> None:
    target.admin.execute(LISTED)
    with pytest.raises(Exception, match="more than one row"):
        target.value(f"{COUNT} WHERE {TWO[2]}")


@pytest.mark.parametrize("where", TWO)
def test_it_has_one_row_or_is_refused(gated: Target, blind: Connection, where: str) -> None:
    gated.admin.execute(LISTED)
    assert how_it_ends(blind, f"{COUNT} WHERE {where}") in ("answer", "DP001")
