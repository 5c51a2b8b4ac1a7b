"""Trust is to write down, not to read up: whether a purge is refused tells nothing of rows above."""

from tests.attacks.mls.levels import Levels, outcome, refusal

PURGE = "SELECT discreet.mls_purge('employee', 'look')"


def test_a_trusted_session_below_the_top_is_refused_whatever_there_is(levels: Levels) -> None:
    levels.admin.execute("DELETE FROM employee_mls")
    trusted = levels.at("trusted")
    trusted.execute("SET discreet.level = 'C'")
    empty = outcome(trusted, PURGE)
    assert empty[0] == "42501"
    levels.at("high").execute("INSERT INTO employee (name, salary) VALUES ('above', 1)")
    assert outcome(trusted, PURGE) == empty


def test_who_may_not_delete_does_not_purge(levels: Levels) -> None:
    levels.admin.execute("REVOKE DELETE ON employee FROM mls_trusted")
    try:
        assert refusal(levels.at("trusted"), PURGE)[0] == "42501"
    finally:
        levels.admin.execute("GRANT DELETE ON employee TO mls_trusted")
    assert levels.at("trusted").execute(PURGE).fetchall() == [(0,)]
