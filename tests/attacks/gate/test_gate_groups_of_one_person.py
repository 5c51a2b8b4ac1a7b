"""Groups in a subquery about one person: they are as many rows as the person wants, whoever is joined to them."""

import pytest
from tests.attacks.gate.asking import assert_not_multiplied
from tests.attacks.target import Target
from tests.databases import Connection

SOURCES = [
    "hr.person p, LATERAL (SELECT v.day, count(*) AS n FROM hr.visit v WHERE v.person = p.id GROUP BY v.day) l",
    "hr.person p LEFT JOIN LATERAL (SELECT v.day FROM hr.visit v WHERE v.person = p.id GROUP BY v.day) l ON true",
    "hr.person p, LATERAL (SELECT v.person, v.day FROM hr.visit v WHERE v.person = p.id GROUP BY 1, 2) l",
    "hr.person p, LATERAL (SELECT DISTINCT v.person, v.day FROM hr.visit v WHERE v.person = p.id) l",
]


@pytest.mark.parametrize("source", SOURCES)
def test_a_person_has_no_more_rows_for_them(gated: Target, blind: Connection, source: str) -> None:
    assert_not_multiplied(gated, blind, source)
