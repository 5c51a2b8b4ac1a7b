"""discreet.exempt_view: who may open a view over protected tables, for whom it is open then, and until when."""

from __future__ import annotations

import pytest
from tests.databases import Connection, Database, MakeRole
from tests.messages import refused

VIEWS = "CREATE VIEW hr.names AS SELECT name FROM hr.person; CREATE VIEW hr.over AS SELECT name FROM hr.names"
NAMES = "SELECT name FROM hr.names LIMIT 1"


@pytest.fixture
def alice(database: Database, carol: Connection, person: str, make_role: MakeRole) -> Connection:
    """An analyst with a budget for the people, who was granted a view over them."""
    role = make_role("alice")
    carol.execute("UPDATE hr.person SET name = 'Ann' WHERE id = 1; DELETE FROM hr.person WHERE id > 1")
    carol.execute(f"{VIEWS}; GRANT SELECT ON hr.names, hr.over TO {role}; GRANT USAGE ON SCHEMA hr TO {role}")
    carol.execute(f"SELECT discreet.grant_budget('people', '{role}', 1)")
    return database.connect(role)


def test_a_view_is_guarded_until_it_is_exempt(carol: Connection, alice: Connection) -> None:
    with refused("DP001", "column name", ""):
        alice.execute(NAMES)
    carol.execute("SELECT discreet.exempt_view('hr.names')")
    assert alice.execute(NAMES).fetchall() == [("Ann",)]
    carol.execute("SELECT discreet.exempt_view('hr.names')")
    carol.execute("SELECT discreet.exempt_view('hr.names', exempt => false)")
    with refused("DP001", "column name", ""):
        alice.execute(NAMES)


def test_what_is_over_an_exempt_view_is_decided_by_grant(carol: Connection, alice: Connection) -> None:
    with refused("22023", "hr.over names no protected table", "Exempt the views that name one"):
        carol.execute("SELECT discreet.exempt_view('hr.over')")
    carol.execute("SELECT discreet.exempt_view('hr.names')")
    assert alice.execute("SELECT name FROM hr.over").fetchall() == [("Ann",)]


def test_the_exempt_views_are_shown_with_their_readers(carol: Connection, alice: Connection) -> None:
    assert alice.execute("SELECT * FROM discreet.exempt_views").fetchall() == []
    carol.execute("SELECT discreet.exempt_view('hr.names')")
    assert alice.execute("SELECT * FROM discreet.exempt_views").fetchall() == [("hr.names", [alice.info.user])]


def test_a_dropped_view_is_forgotten(carol: Connection, alice: Connection) -> None:
    carol.execute("SELECT discreet.exempt_view('hr.names')")
    carol.execute("DROP VIEW hr.names CASCADE")
    assert carol.execute("SELECT * FROM discreet.exempt_views").fetchall() == []


def test_a_renamed_view_stays_exempt(carol: Connection, alice: Connection) -> None:
    carol.execute("SELECT discreet.exempt_view('hr.names'); ALTER VIEW hr.names RENAME TO called")
    assert alice.execute("SELECT name FROM hr.called").fetchall() == [("Ann",)]


@pytest.mark.parametrize(
    ("relation", "code", "message"),
    [
        ("hr.person", "42809", "hr.person is a table; only views are exempted"),
        ("hr.kept", "42809", "hr.kept is a materialized view; only views are exempted"),
        ("hr.plain", "22023", "hr.plain names no protected table"),
    ],
)
def test_only_views_of_protected_tables_are_exempted(
    carol: Connection, person: str, relation: str, code: str, message: str
) -> None:
    carol.execute("CREATE MATERIALIZED VIEW hr.kept AS TABLE hr.person; CREATE VIEW hr.plain AS SELECT 1 AS a")
    with refused(code, message, ""):
        carol.execute("SELECT discreet.exempt_view(%s)", [relation])


def test_a_view_that_is_not_exempt_cannot_be_guarded_again(carol: Connection, person: str) -> None:
    carol.execute(VIEWS)
    with refused("42704", "hr.names is not exempt", "discreet.exempt_views"):
        carol.execute("SELECT discreet.exempt_view('hr.names', false)")


def test_only_who_could_unprotect_the_table_exempts_a_view(
    database: Database, carol: Connection, person: str, make_role: MakeRole
) -> None:
    carol.execute(f"{VIEWS}; GRANT SELECT ON hr.person TO PUBLIC; GRANT USAGE ON SCHEMA hr TO PUBLIC")
    other = database.connect(make_role("other", "discreet_curator"))
    with refused("42501", 'does not own dataset "people"', "Who created it"):
        other.execute("SELECT discreet.exempt_view('hr.names')")
    with refused("42501", 'does not own dataset "people"', "Who created it"):
        other.execute("SELECT discreet.exempt_view('hr.names', false)")
    analyst = database.connect(make_role("analyst", "discreet_analyst"))
    with refused("42501", "permission denied for function exempt_view", None):
        analyst.execute("SELECT discreet.exempt_view('hr.names')")
