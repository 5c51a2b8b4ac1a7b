"""System columns, which tell one row from all others."""

import pytest
from tests.attacks.gate.asking import NAIVE_GATE, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection


def test_a_naive_design_finds_a_row_by_its_place(target: Target) -> None:
    target.admin.execute(NAIVE_GATE)
    asked = "SELECT 1e9 * count(*) FROM hr.person WHERE ctid = '(0,7)'"
    assert target.connect("blind").execute("SELECT extra.noisy(%s) > 5e8", [asked]).fetchall() == [(True,)]


@pytest.mark.parametrize("column", ["ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"])
def test_system_columns_are_refused(gated: Target, blind: Connection, column: str) -> None:
    with gated.free():
        for question in (
            f"SELECT count(*) FROM hr.person WHERE {column}::text = '1'",
            f"SELECT {column}, count(*) FROM hr.person GROUP BY 1",
            f"SELECT count(DISTINCT p.{column}) FROM hr.person p",
            f"SELECT count(*) FROM (SELECT {column} AS c FROM hr.person) s",
        ):
            assert how_it_ends(blind, question) == "DP001"
