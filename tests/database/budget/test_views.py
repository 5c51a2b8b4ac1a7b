"""budget_status, charges and refusals show each role what is theirs to see."""

from __future__ import annotations

import psycopg
import pytest
from tests.databases import Connection, Database, MakeRole
from tests.messages import notices, refused

CHARGE = """
    INSERT INTO discreet._charge (dataset, id, at, role, epsilon, amount, delta, question, details, hash)
    VALUES ('people', %s, now(), %s, 0.1, 0.1, 0, %s, '{}', '')
"""
REFUSAL = "INSERT INTO discreet._refusal (role, code, message, question) VALUES (%s, 'DP001', 'no', %s)"
BUDGETS = "SELECT role FROM discreet.budget_status ORDER BY role NULLS FIRST"


@pytest.fixture
def alice(admin: Connection, person: str, make_role: MakeRole) -> str:
    role = make_role("alice")
    admin.execute("SELECT discreet.grant_budget('people', %s, 1)", [role])
    return role


@pytest.fixture
def bob(admin: Connection, person: str, make_role: MakeRole) -> str:
    role = make_role("bob")
    admin.execute("SELECT discreet.grant_budget('people', %s, 1)", [role])
    return role


@pytest.fixture
def asked(admin: Connection, alice: str, bob: str) -> None:
    """Both have asked, and both were refused once."""
    for number, role in enumerate((alice, bob), start=1):
        admin.execute(CHARGE, [number, role, f"question of {role}"])
        admin.execute(REFUSAL, [role, f"attempt of {role}"])


def test_an_analyst_sees_the_own_budget_and_the_cap(database: Database, alice: str, bob: str) -> None:
    assert database.connect(alice).execute(BUDGETS).fetchall() == [(None,), (alice,)]


def test_an_analyst_without_a_budget_sees_none(database: Database, alice: str, make_role: MakeRole) -> None:
    newcomer = database.connect(make_role("newcomer", "discreet_analyst"))
    assert newcomer.execute(BUDGETS).fetchall() == []


def test_a_budget_in_one_dataset_shows_nothing_of_another(admin: Connection, database: Database, alice: str) -> None:
    admin.execute("SELECT discreet.create_dataset('others', 1)")
    assert database.connect(alice).execute("SELECT DISTINCT dataset FROM discreet.budget_status").fetchall() == [
        ("people",)
    ]


def test_a_member_sees_the_budget_of_the_group(
    admin: Connection, person: str, database: Database, make_role: MakeRole
) -> None:
    group = make_role("hr_analysts", options="NOLOGIN")
    admin.execute("SELECT discreet.grant_budget('people', %s, 1)", [group])
    member = make_role("alice", group)
    assert database.connect(member).execute(BUDGETS).fetchall() == [(None,), (group,)]


def test_who_leaves_the_group_sees_its_budget_no_more(
    admin: Connection, person: str, database: Database, make_role: MakeRole
) -> None:
    group = make_role("hr_analysts", options="NOLOGIN")
    admin.execute("SELECT discreet.grant_budget('people', %s, 1)", [group])
    member = make_role("alice", group, "discreet_analyst")
    admin.execute(f"REVOKE {group} FROM {member}")
    assert database.connect(member).execute(BUDGETS).fetchall() == []


@pytest.mark.parametrize("group", ["discreet_curator", "discreet_auditor"])
def test_curators_and_auditors_see_every_budget(
    database: Database, alice: str, bob: str, make_role: MakeRole, group: str
) -> None:
    watcher = database.connect(make_role("watcher", group))
    assert watcher.execute(BUDGETS).fetchall() == [(None,), (alice,), (bob,)]


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("view", ["charges", "refusals"])
def test_an_analyst_sees_the_own_rows(database: Database, alice: str, view: str) -> None:
    shown = database.connect(alice).execute(f"SELECT role FROM discreet.{view}").fetchall()
    assert shown == [(alice,)]


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("view", ["charges", "refusals"])
@pytest.mark.parametrize("group", ["discreet_curator", "discreet_auditor"])
def test_curators_and_auditors_see_all_rows(
    database: Database, alice: str, bob: str, make_role: MakeRole, view: str, group: str
) -> None:
    watcher = database.connect(make_role("watcher", group))
    assert watcher.execute(f"SELECT role FROM discreet.{view} ORDER BY 1").fetchall() == [(alice,), (bob,)]


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("view", ["charges", "refusals", "budget_status"])
def test_who_is_no_analyst_sees_nothing(database: Database, make_role: MakeRole, view: str) -> None:
    with refused("42501", "permission denied for", None):
        database.connect(make_role("stranger")).execute(f"SELECT * FROM discreet.{view}")


@pytest.mark.usefixtures("asked")
def test_taking_the_role_of_the_group_shows_no_rows_of_others(database: Database, alice: str) -> None:
    connection = database.connect(alice)
    connection.execute("SET ROLE discreet_analyst")
    assert connection.execute("SELECT role FROM discreet.charges").fetchall() == [(alice,)]


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("view", ["charges", "refusals"])
def test_a_cheap_function_in_the_filter_does_not_see_rows_of_others(
    database: Database, alice: str, bob: str, view: str
) -> None:
    """The planner would run a function that costs next to nothing before the view's own condition."""
    connection = database.connect(alice)
    connection.execute(
        """
        CREATE FUNCTION pg_temp.tell(question text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS
            $$ BEGIN RAISE NOTICE '%', question; RETURN true; END $$
        """
    )
    heard = notices(connection)
    connection.execute(f"SELECT * FROM discreet.{view} WHERE pg_temp.tell(question)")
    assert len(heard) == 1
    assert not [text for _, text, _ in heard if bob in str(text)]


def test_what_is_protected_is_no_secret_to_analysts(database: Database, alice: str, carol: Connection) -> None:
    carol.execute("SELECT discreet.describe_column('hr.person', 'salary', 0, 1)")
    connection = database.connect(alice)
    assert connection.execute("SELECT dataset FROM discreet.datasets").fetchall() == [("people",)]
    assert connection.execute("SELECT unit, direct_readers FROM discreet.protected_tables").fetchall() == [("id", [])]
    assert connection.execute("SELECT column_name FROM discreet.protected_columns").fetchall() == [("salary",)]


@pytest.mark.parametrize(
    ("rho", "delta", "message"),
    [
        ("NaN", "1", "rho must be finite"),
        ("-1", "1e-6", "rho must not be negative"),
        ("1", "NaN", "delta must be finite"),
        ("1", "-1", "delta"),
    ],
)
def test_rho_and_delta_that_are_none_are_refused(
    database: Database, alice: str, rho: str, delta: str, message: str
) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=message):
        database.connect(alice).execute("SELECT discreet._zcdp_epsilon_spent(%s, %s)", [rho, delta])


def test_a_label_is_refused_where_there_are_no_levels(database: Database, alice: str) -> None:
    with refused("22023", "label -1 has no level", None):
        database.connect(alice).execute("SELECT discreet._label(-1)")
