"""Plans that are kept: made for one subject or label, used by another."""

from tests.attacks.mls.levels import Levels
from tests.databases import Connection

SMITH = [("Smith",)]
BOTH = [("Brown",), ("Smith",)]


def test_a_plan_that_was_kept_by_a_function_reads_at_the_label_of_the_day(levels: Levels) -> None:
    session = levels.at("high")
    session.execute("SET plan_cache_mode = force_generic_plan; SET discreet.level = 'U'")
    session.execute(
        "CREATE FUNCTION pg_temp.names() RETURNS SETOF text LANGUAGE plpgsql AS"
        " 'BEGIN RETURN QUERY SELECT name FROM public.employee ORDER BY 1; END'"
    )
    for _ in range(8):
        assert session.execute("SELECT pg_temp.names()").fetchall() == SMITH
    session.execute("RESET discreet.level")
    assert session.execute("SELECT pg_temp.names()").fetchall() == BOTH


def test_a_plan_does_not_follow_the_session_to_another_subject(levels: Levels) -> None:
    """Only a superuser can become another subject; what was kept for one must not serve the next."""
    admin = levels.database.connect()
    admin.execute("SET plan_cache_mode = force_generic_plan")
    admin.execute("PREPARE names AS SELECT name FROM employee ORDER BY 1")
    for role, rows in (("mls_high", BOTH), ("mls_low", SMITH), ("mls_high", BOTH), ("mls_low", SMITH)):
        admin.execute(f"SET SESSION AUTHORIZATION {role}")
        assert admin.execute("EXECUTE names").fetchall() == rows
        admin.execute("RESET SESSION AUTHORIZATION")
        assert admin.execute("EXECUTE names").fetchall() == []


def test_set_role_between_executions_changes_nothing(levels: Levels, low: Connection) -> None:
    levels.admin.execute("GRANT mls_high TO mls_low")
    low.execute("PREPARE names AS SELECT name FROM employee ORDER BY 1")
    for role in ("mls_high", "mls_low", "NONE"):
        low.execute(f"SET ROLE {role}")
        assert low.execute("EXECUTE names").fetchall() == SMITH
    levels.admin.execute("REVOKE mls_high FROM mls_low")
