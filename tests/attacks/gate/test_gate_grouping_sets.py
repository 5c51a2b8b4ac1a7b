"""The same number again and again as a grouping set, for noises at the price of one."""

import pytest
from tests.attacks.gate.asking import ask, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection


@pytest.mark.parametrize(
    ("grouping", "sets"),
    [
        ("GROUPING SETS ((), (), (), ())", 4),
        ("GROUPING SETS (smoker, (), smoker)", 3),
        ("ROLLUP (smoker, smoker)", 3),
        ("CUBE (smoker)", 2),
    ],
)
def test_every_grouping_set_is_paid(gated: Target, blind: Connection, grouping: str, sets: int) -> None:
    with gated.costs(f"0.00{sets}"):
        ask(blind, f"SELECT count(*) FROM hr.person GROUP BY {grouping}")


def test_very_many_grouping_sets_are_refused(gated: Target, blind: Connection) -> None:
    with gated.free():
        assert how_it_ends(blind, f"SELECT count(*) FROM hr.person GROUP BY GROUPING SETS ({'(), ' * 40}())") == "DP001"


def test_the_same_number_twice_in_one_row_has_one_noise(gated: Target, blind: Connection) -> None:
    (row,) = ask(blind, "SELECT count(*) AS a, count(*) AS b FROM hr.person")
    assert row["a"] == row["b"]
