"""A WITH query that is read twice, for two noises at the price of one."""

import pytest
from tests.attacks.gate.asking import FRESH, how_it_ends
from tests.attacks.target import PRICE, Target
from tests.databases import Connection


@pytest.mark.parametrize("how", ["", "MATERIALIZED", "NOT MATERIALIZED"])
def test_a_with_query_around_the_gate_is_one_answer(gated: Target, blind: Connection, how: str) -> None:
    with gated.costs(PRICE):
        rows = blind.execute(f"WITH a(q) AS {how} ({FRESH}) SELECT x.q, y.q FROM a x, a y").fetchall()
    assert [x == y for x, y in rows] == [True]


def test_inside_a_question_an_answer_is_read_once(gated: Target, blind: Connection) -> None:
    twice = "WITH a AS (SELECT count(*) AS n FROM hr.person) SELECT x.n, y.n FROM a x, a y"
    with gated.free():
        assert how_it_ends(blind, twice) == "DP001"
