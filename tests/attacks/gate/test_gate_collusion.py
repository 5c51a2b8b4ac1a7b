"""Several roles, other roles, definer functions and views: one cap for the people, and who asks pays."""

from decimal import Decimal

import psycopg
import pytest
from tests.attacks.gate.asking import COUNT, FRESH, ask, how_it_ends
from tests.attacks.target import Target, ask_until_refused
from tests.databases import Connection


def test_colluding_roles_have_one_cap(gated: Target, blind: Connection) -> None:
    gated.admin.execute(
        "SELECT discreet.grant_budget('people', 'eve', 0.7), discreet.grant_budget('people', 'blind', 0.7)"
    )
    assert ask_until_refused(blind, FRESH) == 7
    assert ask_until_refused(gated.connect("eve"), FRESH) == 3


def test_a_stored_answer_is_for_those_who_may_ask(gated: Target, blind: Connection) -> None:
    first = ask(blind, COUNT)
    eve = gated.connect("eve")
    with gated.free():
        assert ask(eve, COUNT) == first
        gated.admin.execute("SELECT discreet.revoke_budget('people', 'eve')")
        assert how_it_ends(eve, COUNT) == "DP004"


def test_set_role_does_not_change_who_pays(gated: Target, blind: Connection) -> None:
    gated.admin.execute("GRANT eve TO blind; SELECT discreet.grant_budget('people', 'blind', 0.1)")
    try:
        blind.execute("SET ROLE eve")
        blind.execute(FRESH)
        with pytest.raises(psycopg.Error) as caught:
            blind.execute(FRESH)
        assert caught.value.sqlstate == "DP003"
    finally:
        gated.admin.execute("REVOKE eve FROM blind")
    assert gated.value("SELECT DISTINCT role FROM discreet._charge") == "blind"


def test_a_definer_function_of_a_rich_role_is_paid_by_who_calls(gated: Target, blind: Connection) -> None:
    gated.admin.execute("SELECT discreet.revoke_budget('people', 'blind')")
    gated.connect("eve").execute(
        f"CREATE FUNCTION extra.rich() RETURNS jsonb LANGUAGE sql SECURITY DEFINER AS $$ {FRESH} $$"
    )
    with gated.free(), pytest.raises(psycopg.Error) as caught:
        blind.execute("SELECT extra.rich()")
    assert caught.value.sqlstate == "DP004"


def test_a_view_over_the_gate_is_paid_by_who_reads(gated: Target, blind: Connection) -> None:
    gated.connect("eve").execute(f"CREATE VIEW extra.seen AS {FRESH}; GRANT SELECT ON extra.seen TO PUBLIC")
    with gated.costs("0.1"):
        blind.execute("SELECT * FROM extra.seen")
    assert gated.value("SELECT role FROM discreet._charge") == "blind"
    assert Decimal(str(gated.spent())) == Decimal("0.1")
