"""Another role's clearance, by SET ROLE or by a function that runs as that role."""

import pytest
from tests.attacks.mls.levels import Levels, refusal
from tests.databases import Connection

SMITH = [("Smith", None, "U")]
READ = "SELECT name, salary, tc FROM employee"


def test_the_subject_is_the_session_user(levels: Levels, low: Connection) -> None:
    levels.admin.execute("GRANT mls_high TO mls_low")
    low.execute("SET ROLE mls_high")
    assert low.execute(READ).fetchall() == SMITH
    low.execute("INSERT INTO employee (name) VALUES ('Grey')")
    assert low.execute("SELECT name_label FROM employee WHERE name = 'Grey'").fetchall() == [("U",)]
    levels.admin.execute("REVOKE mls_high FROM mls_low")


def test_a_high_session_that_takes_a_low_role_still_writes_high(
    levels: Levels, high: Connection, low: Connection
) -> None:
    levels.admin.execute("GRANT mls_low TO mls_high")
    high.execute("SET ROLE mls_low; INSERT INTO employee (name) VALUES ('Grey')")
    assert low.execute(READ).fetchall() == SMITH
    levels.admin.execute("REVOKE mls_low FROM mls_high")


def test_set_session_authorization_is_refused(low: Connection) -> None:
    assert refusal(low, "SET SESSION AUTHORIZATION mls_high")[0] == "42501"


@pytest.mark.parametrize("language", ["sql", "plpgsql"])
def test_a_definer_function_of_a_high_role_reads_low(levels: Levels, low: Connection, language: str) -> None:
    body = "BEGIN RETURN QUERY SELECT name FROM employee; END" if language == "plpgsql" else "SELECT name FROM employee"
    levels.admin.execute(
        f"""
        GRANT CREATE ON SCHEMA public TO mls_high;
        SET SESSION AUTHORIZATION mls_high;
        CREATE FUNCTION names() RETURNS SETOF text LANGUAGE {language} SECURITY DEFINER AS $$ {body} $$;
        CREATE VIEW all_names AS SELECT name FROM employee;
        GRANT SELECT ON all_names TO mls_low;
        RESET SESSION AUTHORIZATION;
        """
    )
    assert low.execute("SELECT names()").fetchall() == [("Smith",)]
    assert low.execute("SELECT * FROM all_names").fetchall() == [("Smith",)]
    levels.admin.execute("DROP FUNCTION names(); DROP VIEW all_names; REVOKE CREATE ON SCHEMA public FROM mls_high")


def test_a_role_without_a_clearance_sees_nothing(levels: Levels) -> None:
    levels.admin.execute("CREATE ROLE mls_nobody LOGIN; GRANT SELECT, INSERT ON employee TO mls_nobody")
    nobody = levels.at("nobody")
    assert nobody.execute(READ).fetchall() == []
    assert refusal(nobody, "INSERT INTO employee (name) VALUES ('x')")[0] == "42501"
    nobody.close()
    levels.admin.execute("DROP OWNED BY mls_nobody; DROP ROLE mls_nobody")
    assert levels.admin.execute(READ).fetchall() == [], "a superuser has no clearance either"
