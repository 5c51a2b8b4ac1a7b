"""Another role, another view, another copy, or several analysts together: for a fresh budget."""

from decimal import Decimal

import psycopg
import pytest
from tests.attacks.target import ASK, PRICE, Target, ask_until_refused
from tests.databases import Connection
from tests.messages import refused


def grant(target: Target, role: str, epsilon: str) -> None:
    target.admin.execute("SELECT discreet.grant_budget('people', %s::regrole, %s)", [role, Decimal(epsilon)])


def role_spent(target: Target, role: str) -> object:
    return target.value(
        "SELECT amount_spent FROM discreet._budget WHERE dataset = 'people' AND role = %s::regrole", role
    )


def test_colluding_roles_have_one_cap(target: Target, mallory: Connection) -> None:
    grant(target, "mallory", "0.7")
    grant(target, "eve", "0.7")
    assert ask_until_refused(mallory) == 7
    assert ask_until_refused(target.connect("eve")) == 3
    assert target.spent() == 1


def test_limit_of_a_role_binds_before_the_cap(target: Target, mallory: Connection) -> None:
    grant(target, "mallory", "0.3")
    assert ask_until_refused(mallory) == 3
    assert ask_until_refused(target.connect("eve")) == 7


def test_members_spend_the_budget_of_their_group(target: Target, mallory: Connection) -> None:
    target.admin.execute("DROP ROLE IF EXISTS gang; CREATE ROLE gang; GRANT gang TO mallory, eve")
    try:
        grant(target, "gang", "0.4")
        target.admin.execute("SELECT discreet.revoke_budget('people', 'mallory')")
        assert ask_until_refused(mallory) == 4
        assert ask_until_refused(target.connect("eve")) == 0
        assert role_spent(target, "gang") == Decimal("0.4")
    finally:
        target.admin.execute("DELETE FROM discreet._budget WHERE role = 'gang'::regrole; DROP ROLE gang")


def test_group_and_own_limit_bind_together(target: Target, mallory: Connection) -> None:
    """All or none: the refused question takes nothing from the limit that would have allowed it."""
    target.admin.execute("DROP ROLE IF EXISTS gang; CREATE ROLE gang; GRANT gang TO mallory")
    try:
        grant(target, "gang", "0.5")
        grant(target, "mallory", "0.2")
        assert ask_until_refused(mallory) == 2
        assert (role_spent(target, "gang"), role_spent(target, "mallory")) == (Decimal("0.2"), Decimal("0.2"))
        assert target.spent() == Decimal("0.2")
    finally:
        target.admin.execute("DELETE FROM discreet._budget WHERE role = 'gang'::regrole; DROP ROLE gang")


def test_set_role_does_not_change_who_pays(target: Target, mallory: Connection) -> None:
    target.admin.execute("GRANT eve TO mallory")
    try:
        grant(target, "mallory", "0.2")
        mallory.execute("SET ROLE eve")
        assert ask_until_refused(mallory) == 2
        paid = target.admin.execute("SELECT DISTINCT role FROM discreet._charge").fetchall()
        assert paid == [("mallory",)]
    finally:
        target.admin.execute("REVOKE eve FROM mallory")


def test_set_session_authorization_is_refused(mallory: Connection) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        mallory.execute("SET SESSION AUTHORIZATION eve")


def test_definer_function_of_a_rich_role_is_paid_by_who_calls(target: Target, mallory: Connection) -> None:
    grant(target, "mallory", "0.2")
    target.connect("eve").execute(
        f"CREATE FUNCTION extra.rich() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $${ASK}$$"
    )
    assert ask_until_refused(mallory, "SELECT extra.rich()") == 2


def test_new_view_has_no_fresh_budget(target: Target, mallory: Connection) -> None:
    mallory.execute("CREATE VIEW extra.smokers AS SELECT * FROM hr.person WHERE smoker")
    mallory.execute("CREATE VIEW extra.again AS SELECT * FROM extra.smokers WHERE id > 0")
    with target.costs(2 * PRICE):
        mallory.execute("SELECT discreet.dp_count(*) FROM extra.smokers")
        mallory.execute("SELECT discreet.dp_count(*) FROM extra.again")


def test_new_role_has_no_fresh_budget(target: Target, mallory: Connection) -> None:
    """Whoever makes roles can make askers, but the dataset's own cap holds for all of them."""
    assert ask_until_refused(mallory) == 10
    target.admin.execute("DROP ROLE IF EXISTS fresh; CREATE ROLE fresh LOGIN IN ROLE discreet_analyst")
    target.admin.execute("GRANT SELECT ON hr.person TO fresh; SELECT discreet.grant_budget('people', 'fresh', 1)")
    try:
        assert ask_until_refused(target.connect("fresh", new=True)) == 0
    finally:
        target.give_back()
        target.close()
        target.admin.execute("DELETE FROM discreet._budget WHERE role = 'fresh'::regrole")
        target.admin.execute("DROP OWNED BY fresh; DROP ROLE fresh")


def test_role_without_a_budget_gets_no_answer(target: Target, mallory: Connection) -> None:
    target.admin.execute("SELECT discreet.revoke_budget('people', 'mallory')")
    with target.free(), refused("DP004", "mallory holds no budget in dataset people", "discreet.grant_budget"):
        mallory.execute(ASK)


def test_granting_again_forgives_nothing(target: Target, mallory: Connection) -> None:
    grant(target, "mallory", "0.2")
    assert ask_until_refused(mallory) == 2
    target.admin.execute("SELECT discreet.revoke_budget('people', 'mallory')")
    grant(target, "mallory", "0.2")
    assert ask_until_refused(mallory) == 0


def test_protecting_again_forgives_nothing(target: Target, mallory: Connection) -> None:
    assert ask_until_refused(mallory) == 10
    target.admin.execute(
        "SET client_min_messages = warning; SELECT discreet.unprotect('hr.person');"
        "SELECT discreet.protect('hr.person', 'id', dataset => 'people'); RESET client_min_messages"
    )
    assert ask_until_refused(mallory) == 0
