"""A giant among the contributors of a cell, beside one who reports nothing, or in digits that the total has not."""

from __future__ import annotations

import pytest
from tests.databases import Connection

FIRMS = """
    CREATE TABLE firm (region text, firm text, turnover numeric);
    INSERT INTO firm SELECT r, r || n, 100 FROM unnest('{S,T,U}'::text[]) r, generate_series(1, 5) n;
    INSERT INTO firm VALUES
"""
GIANTS = {
    "plain": "('N', 'BIG', 1000), ('N', 'a', 5), ('N', 'b', 4), ('N', 'c', 3)",
    "with one who reports nothing": "('N', 'BIG', 1000), ('N', 'a', 5), ('N', 'b', 4), ('N', 'c', 3), ('N', 'd', NULL)",
    "with fractions that add up to a whole": "('N', 'BIG', 0.97), ('N', 'a', 0.01), ('N', 'b', 0.01), ('N', 'c', 0.01)",
}
RULES = {
    "dominance": "dominance_n => 1, dominance_percent => 80",
    "dominance of two": "dominance_n => 2, dominance_percent => 97",
    "p_percent": "p_percent => 10",
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("giant", GIANTS)
def test_the_cell_of_a_giant_is_hidden(admin: Connection, giant: str, rule: str) -> None:
    admin.execute(FIRMS + GIANTS[giant])
    admin.execute(
        "SELECT discreet.suppress('firm', '{region}', 'turnover', 3, 'out', contributor => 'firm', " + RULES[rule] + ")"
    )
    hidden: dict[str, bool] = dict(admin.execute("SELECT region, suppressed FROM out").fetchall())
    assert hidden["N"]
