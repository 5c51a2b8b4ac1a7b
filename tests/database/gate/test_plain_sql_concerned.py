"""Sessions that had nothing to do with discreet, until something changed: the next statement knows."""

from __future__ import annotations

import psycopg
import pytest
from tests.database.mls.subjects import Subjects
from tests.databases import Connection, Database, MakeRole

COUNT = "SELECT count(*) FROM person"
PEOPLE = """
    CREATE TABLE person (id int PRIMARY KEY, salary int NOT NULL);
    INSERT INTO person SELECT n, 7 * n FROM generate_series(1, 500) n;
"""
PROTECT = "SELECT discreet.protect('person', 'id', epsilon => 10)"


def grant_budget(admin: Connection, role: str) -> None:
    admin.execute("SELECT discreet.grant_budget('public.person', %s::regrole, 10)", [role])


def charges(admin: Connection) -> int:
    ((number,),) = admin.execute("SELECT count(*) FROM discreet.charges").fetchall()
    return int(str(number))


@pytest.fixture
def person(admin: Connection) -> Connection:
    """The superuser, beside a protected table."""
    admin.execute(PEOPLE.encode())
    admin.execute(PROTECT)
    return admin


@pytest.fixture
def unconcerned(database: Database, person: Connection, make_role: MakeRole) -> Connection:
    """A session of a role without a budget, at work already."""
    session = database.connect(make_role("nobody"))
    session.execute("SELECT 1")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        session.execute(COUNT)
    return session


def test_a_budget_that_is_granted_meanwhile(person: Connection, unconcerned: Connection) -> None:
    grant_budget(person, unconcerned.info.user)
    assert unconcerned.execute(COUNT).rowcount == 1
    assert charges(person) == 1


def test_a_budget_that_is_granted_to_a_group_which_is_joined_meanwhile(
    person: Connection, unconcerned: Connection, make_role: MakeRole
) -> None:
    team = make_role("team", options="NOLOGIN")
    grant_budget(person, team)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        unconcerned.execute(COUNT)
    person.execute(f"GRANT {team} TO {unconcerned.info.user}")
    assert unconcerned.execute(COUNT).rowcount == 1
    assert charges(person) == 1


def test_a_view_of_the_owner_is_guarded_once_the_reader_is_an_analyst(
    person: Connection, unconcerned: Connection
) -> None:
    """Before, it is PostgreSQL's own matter; prepared before, it is guarded when it is run."""
    person.execute("CREATE VIEW lister AS SELECT salary FROM person; GRANT SELECT ON lister TO PUBLIC")
    unconcerned.execute("PREPARE listed AS SELECT * FROM lister")
    assert len(unconcerned.execute("EXECUTE listed").fetchall()) == 500
    grant_budget(person, unconcerned.info.user)
    for statement in ("EXECUTE listed", "SELECT * FROM lister"):
        with pytest.raises(psycopg.Error) as error:
            unconcerned.execute(statement.encode())
        assert error.value.sqlstate in ("42501", "DP001")


def test_a_superuser_who_becomes_an_analyst_and_back(
    database: Database, person: Connection, make_role: MakeRole
) -> None:
    """Of a session that changes its users, each statement is judged for those it has then."""
    analyst = make_role("analyst")
    grant_budget(person, analyst)
    session = database.connect()
    for become, back in (
        (f"SET ROLE {analyst}", "RESET ROLE"),
        (f"SET SESSION AUTHORIZATION {analyst}", "RESET SESSION AUTHORIZATION"),
    ):
        before = charges(person)
        assert session.execute(COUNT).fetchall() == [(500,)]
        session.execute(become.encode())
        try:
            asked = session.execute(COUNT).rowcount
        except psycopg.errors.InsufficientPrivilege:
            asked = 0  # only a session user holds a budget
        session.execute(back.encode())
        assert session.execute(COUNT).fetchall() == [(500,)]
        assert charges(person) - before == asked
    assert charges(person) == 1


def test_a_superuser_who_is_none_any_more(database: Database, person: Connection, make_role: MakeRole) -> None:
    former = make_role("former", "discreet_analyst", options="LOGIN SUPERUSER")
    grant_budget(person, former)
    session = database.connect(former)
    assert session.execute(COUNT).fetchall() == [(500,)]
    person.execute(f"ALTER ROLE {former} NOSUPERUSER")
    assert session.execute(COUNT).rowcount == 1
    assert charges(person) == 1


def test_an_extension_that_is_created_meanwhile(empty_database: Database, make_role: MakeRole) -> None:
    admin = empty_database.connect()
    admin.execute(PEOPLE.encode())
    session = empty_database.connect(make_role("early"))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        session.execute(COUNT)
    admin.execute("CREATE EXTENSION discreet CASCADE")
    admin.execute(PROTECT)
    grant_budget(admin, session.info.user)
    assert session.execute(COUNT).rowcount == 1
    assert charges(admin) == 1
    admin.execute("DROP EXTENSION discreet CASCADE")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        session.execute(COUNT)


def test_a_multilevel_table_that_is_made_meanwhile(database: Database, admin: Connection, make_role: MakeRole) -> None:
    """Its rows are read at the label of the session, and locks on them are refused."""
    session = database.connect(make_role("early"))
    assert session.execute("SELECT 1").fetchall() == [(1,)]
    admin.execute("SELECT discreet.mls_define(ARRAY['U', 'S'])")
    subjects = Subjects(database, admin, make_role)
    subjects.make_table("CREATE TABLE ship (name text PRIMARY KEY, cargo text)", "ship", ["name"])
    admin.execute(f"SELECT discreet.mls_clear('{session.info.user}', 'U')")
    subjects.grant("ship", session.info.user)
    subjects.trusted("S").execute(
        "INSERT INTO ship (name, name_label, cargo, cargo_label)"
        " VALUES ('Ada', 'U', 'arms', 'S'), ('Eve', 'S', 'ore', 'S')"
    )
    assert session.execute("SELECT name, cargo FROM ship").fetchall() == [("Ada", None)]
    with pytest.raises(psycopg.errors.FeatureNotSupported):
        session.execute("SELECT name FROM ship FOR UPDATE")
    session.execute("UPDATE ship SET cargo = 'tea'")
    assert session.execute("SELECT cargo FROM ship").fetchall() == [("tea",)]
