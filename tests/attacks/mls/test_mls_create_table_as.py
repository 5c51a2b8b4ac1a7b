"""High data in a table without labels, which low sessions read."""

import pytest
from tests.attacks.mls.levels import Levels, refusal
from tests.databases import Connection
from tests.messages import notices

COPIES = ["CREATE TABLE copied AS SELECT * FROM employee", "SELECT * INTO copied FROM employee"]


@pytest.mark.parametrize("copy", COPIES)
def test_a_cleared_role_creates_no_tables_by_default(high: Connection, copy: str) -> None:
    assert refusal(high, copy) == ("42501", "permission denied for schema public")


def test_whoever_clears_a_role_that_may_is_warned(levels: Levels) -> None:
    heard = notices(levels.admin)
    levels.admin.execute("GRANT CREATE ON SCHEMA public TO mls_high")
    levels.admin.execute("SELECT discreet.mls_clear('mls_high', 'S')")
    levels.admin.execute("REVOKE CREATE ON SCHEMA public FROM mls_high")
    assert [(severity, "mls_high" in str(message)) for severity, message, _ in heard] == [("WARNING", True)]


def test_a_temporary_copy_ends_with_its_session(levels: Levels, high: Connection, low: Connection) -> None:
    high.execute("CREATE TEMP TABLE copied AS SELECT * FROM employee")
    (schema,) = high.execute("SELECT pg_my_temp_schema()::regnamespace::text").fetchall()
    assert refusal(low, f"SELECT * FROM {schema[0]}.copied")[0] in ("42501", "42P01", "0A000")
    assert refusal(high, "SET discreet.level = 'U'")[0] == "42501"
