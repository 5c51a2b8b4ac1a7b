"""A new role, for a fresh budget."""

from collections.abc import Iterator

import pytest
from tests.attacks.gate.asking import COUNT, FRESH, how_it_ends
from tests.attacks.target import Target, ask_until_refused
from tests.databases import Connection


@pytest.fixture
def newcomer(gated: Target) -> Iterator[Connection]:
    gated.admin.execute("DROP ROLE IF EXISTS newcomer; CREATE ROLE newcomer LOGIN IN ROLE discreet_analyst")
    yield gated.connect("newcomer", new=True)
    gated.give_back()
    gated.admin.execute("DELETE FROM discreet._budget WHERE role = 'newcomer'::regrole; DROP ROLE newcomer")


def test_a_new_role_has_no_budget(gated: Target, newcomer: Connection) -> None:
    with gated.free():
        assert how_it_ends(newcomer, COUNT) == "DP004"


def test_the_cap_of_the_people_holds_for_all_roles(gated: Target, blind: Connection, newcomer: Connection) -> None:
    assert ask_until_refused(blind, FRESH) == 10
    gated.admin.execute("SELECT discreet.grant_budget('people', 'newcomer', 1)")
    assert ask_until_refused(newcomer, FRESH) == 0
