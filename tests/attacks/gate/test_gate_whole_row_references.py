"""Whole-row references: all columns of a person at once, hidden ones too."""

import pytest
from tests.attacks.gate.asking import NAIVE_GATE, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

WHOLE = [
    "SELECT count(p) FROM hr.person p",
    "SELECT count(DISTINCT p) FROM hr.person p",
    "SELECT count(*) FROM hr.person p WHERE p::text LIKE '%name 7,%'",
    "SELECT count(*) FROM hr.person p WHERE p IS NOT NULL",
    "SELECT count(*) FROM hr.person p WHERE p = ROW(7, 'name 7', 'dept 2', 1007, false)",
    "SELECT count(*) FROM hr.person p WHERE ROW(p.*) IS NOT NULL",
    "SELECT count(p.*) FROM hr.person p",
    "SELECT max(length(p::text)) FROM hr.person p",
    "SELECT p, count(*) FROM hr.person p GROUP BY p",
    "SELECT count(*) FROM hr.person p WHERE (p).salary > 1",
    "SELECT count(*) FROM hr.person p WHERE to_jsonb(p)->>'salary' = '1007'",
    "SELECT count(*) FROM (SELECT p FROM hr.person p) s WHERE s.p IS NULL",
    "SELECT person FROM hr.person",
]


def test_a_naive_design_finds_a_person_by_the_whole_row(target: Target) -> None:
    target.admin.execute(NAIVE_GATE)
    asked = "SELECT 1e9 * count(*) FROM hr.person p WHERE p::text LIKE '(7,%'"
    assert target.connect("blind").execute("SELECT extra.noisy(%s) > 5e8", [asked]).fetchall() == [(True,)]


@pytest.mark.parametrize("question", WHOLE)
def test_whole_rows_are_refused(gated: Target, blind: Connection, question: str) -> None:
    with gated.free():
        assert how_it_ends(blind, question) == "DP001"


def test_a_star_brings_no_hidden_column(gated: Target, blind: Connection) -> None:
    gated.admin.execute("SELECT discreet.describe_column('hr.person', 'name', visibility => 'hidden')")
    try:
        for question in ("(SELECT * FROM hr.person) s", "(SELECT p.* FROM hr.person p) s", "hr.person s"):
            assert how_it_ends(blind, f"SELECT count(*) FROM {question} WHERE s.name = 'name 7'") == "DP001"
    finally:
        gated.admin.execute("SELECT discreet.describe_column('hr.person', 'name', visibility => 'sensitive')")
