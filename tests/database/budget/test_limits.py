"""discreet.grant_budget and revoke_budget: who may spend how much of a dataset."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.databases import Connection, Database, MakeRole
from tests.messages import notices, refused

STATUS = (
    "SELECT role, epsilon_limit, epsilon_spent, epsilon_left, delta_limit, delta_spent"
    " FROM discreet.budget_status WHERE dataset = 'people' ORDER BY role NULLS FIRST"
)
SPEND = "UPDATE discreet._budget SET amount_spent = 0.3, delta_spent = 1e-7 WHERE role = %s::regrole"

pytestmark = pytest.mark.usefixtures("person")


def test_a_granted_budget_is_shown_beside_the_cap(carol: Connection, make_role: MakeRole) -> None:
    alice = make_role("alice")
    carol.execute("SELECT discreet.grant_budget('people', %s, 1, 1e-7)", [alice])
    zero = Decimal(0)
    assert carol.execute(STATUS).fetchall() == [
        (None, Decimal(2), zero, Decimal(2), Decimal("0.000001"), zero),
        (alice, Decimal(1), zero, Decimal(1), Decimal("0.0000001"), zero),
    ]


def test_a_budget_makes_its_holder_an_analyst(carol: Connection, database: Database, make_role: MakeRole) -> None:
    alice = make_role("alice")
    carol.execute("SELECT discreet.grant_budget('people', %s, 1)", [alice])
    assert len(database.connect(alice).execute(STATUS).fetchall()) == 2


def test_granting_again_says_nothing_of_memberships(carol: Connection, make_role: MakeRole) -> None:
    alice = make_role("alice")
    heard = notices(carol)
    for epsilon in (1, Decimal("0.5")):
        carol.execute("SELECT discreet.grant_budget('people', %s, %s)", [alice, epsilon])
    assert heard == []


@pytest.mark.parametrize("name", ["Zoë O'Brien", 'quo"ted', "select", "123", "人"])
def test_a_role_of_any_name_gets_a_budget(carol: Connection, make_role: MakeRole, name: str) -> None:
    role = make_role(name)
    carol.execute("SELECT discreet.grant_budget('people', quote_ident(%s)::regrole, 1)", [role])
    assert carol.execute(STATUS).fetchall()[1][0] == role
    carol.execute("SELECT discreet.revoke_budget('people', quote_ident(%s)::regrole)", [role])


def test_all_analysts_together_can_have_a_budget(carol: Connection, database: Database, make_role: MakeRole) -> None:
    carol.execute("SELECT discreet.grant_budget('people', 'discreet_analyst', 1)")
    anybody = database.connect(make_role("anybody", "discreet_analyst"))
    assert [row[0] for row in anybody.execute(STATUS).fetchall()] == [None, "discreet_analyst"]


@pytest.mark.parametrize(
    ("arguments", "sqlstate", "message", "hint"),
    [
        ("'nobody', '{role}', 1", "42704", 'there is no dataset "nobody"', "There are: people."),
        ("NULL, '{role}', 1", "22023", "dataset must not be NULL", "Give a value for dataset."),
        ("'people', NULL, 1", "22023", "role must not be NULL", "Give a value for role."),
        ("'people', '{role}', NULL", "22023", "epsilon must not be NULL", "Give a value for epsilon."),
        ("'people', '{role}', 1, NULL", "22023", "delta must not be NULL", "Give a value for delta."),
        ("'people', '{role}', -1", "22023", "epsilon is -1, which is not a budget", "0.1 to 10"),
        ("'people', '{role}', 0", "22023", "epsilon is 0, which is not a budget", "0.1 to 10"),
        ("'people', '{role}', 'NaN'", "22023", "epsilon is NaN, which is not a budget", "0.1 to 10"),
        (
            "'people', '{role}', 'Infinity'",
            "22023",
            "epsilon is Infinity, which is not a budget",
            "0.1 to 10",
        ),
        ("'people', '{role}', 1, 'NaN'", "22023", "delta is NaN, which is not a probability", "1e-6"),
        ("'people', '{role}', 3", "22023", 'is more than dataset "people" has: epsilon 2', "give less"),
        ("'people', '{role}', 1, 0.1", "22023", 'is more than dataset "people" has: epsilon 2', "give less"),
        ("'people', '-'::regrole, 1", "42704", "there is no role -", "Make it first, with CREATE ROLE."),
        ("'people', 4000000000::oid::regrole, 1", "42704", "there is no role 4000000000", "Make it first"),
    ],
)
def test_a_budget_without_sense_is_refused(
    carol: Connection, make_role: MakeRole, arguments: str, sqlstate: str, message: str, hint: str
) -> None:
    with refused(sqlstate, message, hint):
        carol.execute(f"SELECT discreet.grant_budget({arguments.format(role=make_role('alice'))})")
    assert len(carol.execute(STATUS).fetchall()) == 1


def test_a_revoked_budget_is_not_shown(carol: Connection, database: Database, make_role: MakeRole) -> None:
    alice = make_role("alice")
    carol.execute("SELECT discreet.grant_budget('people', %s, 1)", [alice])
    carol.execute("SELECT discreet.revoke_budget('people', %s)", [alice])
    assert [row[0] for row in carol.execute(STATUS).fetchall()] == [None]
    assert database.connect(alice).execute(STATUS).fetchall() == []


def test_revoking_and_granting_forgives_nothing(admin: Connection, make_role: MakeRole) -> None:
    alice = make_role("alice")
    admin.execute("SELECT discreet.grant_budget('people', %s, 1, 1e-6)", [alice])
    admin.execute(SPEND, [alice])
    admin.execute("SELECT discreet.revoke_budget('people', %s)", [alice])
    admin.execute("SELECT discreet.grant_budget('people', %s, 0.5, 1e-6)", [alice])
    assert admin.execute(STATUS).fetchall()[1][:4] == (alice, Decimal("0.5"), Decimal("0.3"), Decimal("0.2"))


def test_a_limit_below_what_was_spent_leaves_nothing(admin: Connection, make_role: MakeRole) -> None:
    alice = make_role("alice")
    admin.execute("SELECT discreet.grant_budget('people', %s, 1)", [alice])
    admin.execute(SPEND, [alice])
    admin.execute("SELECT discreet.grant_budget('people', %s, 0.1)", [alice])
    assert admin.execute(STATUS).fetchall()[1][:4] == (alice, Decimal("0.1"), Decimal("0.3"), Decimal(0))


@pytest.mark.parametrize("arguments", ["NULL, 'postgres'", "'people', NULL"])
def test_revoking_nothing_is_refused(carol: Connection, arguments: str) -> None:
    with refused("22023", "must not be NULL", "Give a value for"):
        carol.execute(f"SELECT discreet.revoke_budget({arguments})")


def test_a_budget_that_is_not_held_is_not_revoked(carol: Connection, make_role: MakeRole) -> None:
    alice = make_role("alice")
    for _ in range(2):
        with refused("42704", f'{alice} holds no budget in dataset "people"', "View discreet.budget_status shows who"):
            carol.execute("SELECT discreet.revoke_budget('people', %s)", [alice])
        carol.execute("SELECT discreet.grant_budget('people', %s, 1)", [alice])
        carol.execute("SELECT discreet.revoke_budget('people', %s)", [alice])


def test_the_cap_of_the_dataset_is_no_roles_budget_to_revoke(carol: Connection) -> None:
    with refused("42704", '- holds no budget in dataset "people"', "View discreet.budget_status shows who"):
        carol.execute("SELECT discreet.revoke_budget('people', '-'::regrole)")
    assert len(carol.execute(STATUS).fetchall()) == 1


def test_a_rolled_back_grant_leaves_neither_budget_nor_membership(
    database: Database, curator: str, make_role: MakeRole
) -> None:
    alice = make_role("alice")
    connection = database.connect(curator, autocommit=False)
    connection.execute("SAVEPOINT here")
    connection.execute("SELECT discreet.grant_budget('people', %s, 1)", [alice])
    connection.execute("ROLLBACK TO here")
    connection.commit()
    assert len(connection.execute(STATUS).fetchall()) == 1
    member = connection.execute("SELECT pg_has_role(%s, 'discreet_analyst', 'MEMBER')", [alice])
    assert member.fetchall() == [(False,)]


def test_a_rolled_back_revoke_leaves_the_budget(database: Database, curator: str, make_role: MakeRole) -> None:
    alice = make_role("alice")
    connection = database.connect(curator, autocommit=False)
    connection.execute("SELECT discreet.grant_budget('people', %s, 1)", [alice])
    connection.commit()
    connection.execute("SELECT discreet.revoke_budget('people', %s)", [alice])
    connection.rollback()
    assert [row[0] for row in connection.execute(STATUS).fetchall()] == [None, alice]


def test_the_budget_of_a_dropped_role_is_not_shown(admin: Connection, make_role: MakeRole) -> None:
    alice = make_role("alice")
    admin.execute("SELECT discreet.grant_budget('people', %s, 1)", [alice])
    admin.execute(f"DROP ROLE {alice}")
    assert [row[0] for row in admin.execute(STATUS).fetchall()] == [None]


def test_a_renamed_role_keeps_its_budget(admin: Connection, make_role: MakeRole) -> None:
    alice = make_role("alice")
    admin.execute("SELECT discreet.grant_budget('people', %s, 1)", [alice])
    admin.execute(f"ALTER ROLE {alice} RENAME TO {alice}_smith")
    assert [row[0] for row in admin.execute(STATUS).fetchall()] == [None, f"{alice}_smith"]
    admin.execute(f"ALTER ROLE {alice}_smith RENAME TO {alice}")
