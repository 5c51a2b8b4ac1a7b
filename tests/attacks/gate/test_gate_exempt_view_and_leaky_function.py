"""A cheap function in WHERE is evaluated before the conditions of a view, and tells what the view leaves out."""

from __future__ import annotations

from typing import Any

import psycopg
from tests.messages import notices
from tests.office import Office

VIEW = """
    CREATE VIEW hr.staff AS SELECT name, salary FROM hr.person WHERE dept = 'dept 3' AND id < 8;
    GRANT SELECT ON hr.staff TO nora;
"""
LEAK = """
    CREATE FUNCTION nora.leak(text, numeric) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS
    $$BEGIN RAISE NOTICE 'leak %', $1; RETURN true; END$$
"""
READ = "SELECT name FROM hr.staff WHERE nora.leak(name, salary)"


def leaked(heard: list[tuple[str, str | None, str | None]]) -> set[str]:
    return {str(message) for _, message, _ in heard if str(message).startswith("leak ")}


def test_an_exempt_view_shows_its_own_rows_only(office: Office, nora: psycopg.Connection[Any]) -> None:
    office.admin.execute(VIEW)
    try:
        nora.execute(LEAK)
        office.admin.execute("SELECT discreet.exempt_view('hr.staff')")
        office.admin.execute("ALTER VIEW hr.staff SET (security_barrier = false)")
        naive = notices(nora)
        nora.execute(READ)
        assert len(leaked(naive)) > 2, "the attack does not work against a view that is no barrier"
        ((status, finding),) = office.truth(
            "SELECT status, finding FROM discreet.check_installation() WHERE item = 'exempt views'"
        )
        assert status == "problem"
        assert "security_barrier" in finding

        office.admin.execute("SELECT discreet.exempt_view('hr.staff', false), discreet.exempt_view('hr.staff')")
        heard = notices(nora)
        assert len(nora.execute(READ).fetchall()) == 2
        assert leaked(heard) == {"leak canary 3", "leak canary 7"}
    finally:
        office.admin.execute("SELECT discreet.exempt_view('hr.staff', false); DROP VIEW hr.staff")
