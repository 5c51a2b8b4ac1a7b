"""A cheap function in WHERE is evaluated before the conditions of a view, and tells what the view leaves out."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
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
HALVES = "SELECT name, salary FROM hr.person WHERE id = 3 UNION ALL SELECT name, salary FROM hr.person WHERE id = 7"
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


def test_a_view_that_postgresql_takes_apart_is_not_exempted(office: Office, nora: psycopg.Connection[Any]) -> None:
    """A UNION ALL as a whole view is flattened, barrier or not; within FROM it is not."""
    office.admin.execute(f"CREATE VIEW hr.staff AS {HALVES}")
    try:
        office.admin.execute("GRANT SELECT ON hr.staff TO nora")
        nora.execute(LEAK.replace("CREATE", "CREATE OR REPLACE", 1))
        with pytest.raises(psycopg.Error, match="no barrier"):
            office.admin.execute("SELECT discreet.exempt_view('hr.staff')")
        office.admin.execute(f"CREATE OR REPLACE VIEW hr.staff AS SELECT * FROM ({HALVES}) AS half")
        office.admin.execute("SELECT discreet.exempt_view('hr.staff')")
        heard = notices(nora)
        assert len(nora.execute(READ).fetchall()) == 2
        assert leaked(heard) == {"leak canary 3", "leak canary 7"}

        office.admin.execute(f"CREATE OR REPLACE VIEW hr.staff WITH (security_barrier) AS {HALVES}")
        ((status,),) = office.truth("SELECT status FROM discreet.check_installation() WHERE item = 'exempt views'")
        assert status == "problem"
    finally:
        office.admin.execute("SELECT discreet.exempt_view('hr.staff', false); DROP VIEW hr.staff")
