"""Another role's budget, by SET ROLE or by a function that runs as that role."""

import psycopg
import pytest
from tests.attacks.gate.asking import FRESH
from tests.attacks.target import Target, ask_until_refused
from tests.databases import Connection


def test_set_role_does_not_change_who_pays(gated: Target, blind: Connection) -> None:
    gated.admin.execute("GRANT eve TO blind; SELECT discreet.grant_budget('people', 'blind', 0.1)")
    try:
        blind.execute("SET ROLE eve")
        assert ask_until_refused(blind, FRESH) == 1
    finally:
        gated.admin.execute("REVOKE eve FROM blind")
    assert gated.value("SELECT DISTINCT role FROM discreet._charge") == "blind"


def test_set_session_authorization_is_refused(blind: Connection) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        blind.execute("SET SESSION AUTHORIZATION eve")


def test_a_definer_function_of_a_rich_role_is_paid_by_who_calls(gated: Target, blind: Connection) -> None:
    gated.admin.execute("SELECT discreet.revoke_budget('people', 'blind')")
    gated.connect("eve").execute(
        f"CREATE FUNCTION extra.rich() RETURNS jsonb LANGUAGE sql SECURITY DEFINER AS $$ {FRESH} $$"
    )
    with gated.free(), pytest.raises(psycopg.Error) as caught:
        blind.execute("SELECT extra.rich()")
    assert caught.value.sqlstate == "DP004"
