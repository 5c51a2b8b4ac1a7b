"""That a group exists tells that a person is in it."""

import pytest
from tests.attacks.gate.asking import ask, how_it_ends, protect
from tests.attacks.target import Target
from tests.databases import Connection

TOWNS = "SELECT n, CASE WHEN n = 7 THEN 'Nowhere' ELSE 'Here' END FROM generate_series(1, 1000) n"
BY_TOWN = "SELECT town, count(*) FROM extra.resident GROUP BY town"


@pytest.fixture
def residents(gated: Target) -> Target:
    protect(gated, "resident", "id int PRIMARY KEY, town text", TOWNS)
    return gated


def test_a_plain_table_tells_the_group_of_one(residents: Target) -> None:
    assert residents.admin.execute(f"{BY_TOWN} ORDER BY count").fetchall() == [("Nowhere", 1), ("Here", 999)]


def test_without_a_delta_no_unknown_group_is_shown(residents: Target, blind: Connection) -> None:
    with residents.free():
        assert how_it_ends(blind, BY_TOWN) == "DP001"


@pytest.mark.usefixtures("delta")
def test_the_group_of_one_person_is_not_shown(residents: Target, blind: Connection) -> None:
    """It is with probability below delta, 1e-8."""
    assert {row["town"] for row in ask(blind, BY_TOWN, "0.9")} == {"Here"}


def test_declared_categories_appear_all_whoever_is_there(residents: Target, blind: Connection) -> None:
    residents.admin.execute(
        "SELECT discreet.describe_column('extra.resident', 'town', categories => '{Here,Nowhere,Elsewhere}')"
    )
    with_him = [row["town"] for row in ask(blind, BY_TOWN)]
    residents.admin.execute("DELETE FROM extra.resident WHERE id = 7")
    without = [row["town"] for row in ask(blind, BY_TOWN, fresh=True)]
    assert with_him == without == ["Elsewhere", "Here", "Nowhere", None]
