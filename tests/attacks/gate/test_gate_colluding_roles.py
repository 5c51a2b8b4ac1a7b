"""Several roles put their budgets together."""

from tests.attacks.gate.asking import COUNT, FRESH, ask, how_it_ends
from tests.attacks.target import Target, ask_until_refused
from tests.databases import Connection


def test_colluding_roles_have_one_cap(gated: Target, blind: Connection) -> None:
    gated.admin.execute(
        "SELECT discreet.grant_budget('people', 'eve', 0.7), discreet.grant_budget('people', 'blind', 0.7)"
    )
    assert ask_until_refused(blind, FRESH) == 7
    assert ask_until_refused(gated.connect("eve"), FRESH) == 3


def test_one_question_of_two_roles_has_one_noise(gated: Target, blind: Connection) -> None:
    first = ask(blind, COUNT)
    with gated.free():
        assert ask(gated.connect("eve"), COUNT) == first


def test_a_stored_answer_is_for_those_who_may_ask(gated: Target, blind: Connection) -> None:
    ask(blind, COUNT)
    gated.admin.execute("SELECT discreet.revoke_budget('people', 'eve')")
    with gated.free():
        assert how_it_ends(gated.connect("eve"), COUNT) == "DP004"
