"""GRANT discreet_trusted … WITH INHERIT FALSE, SET FALSE (PostgreSQL 16): a member that may not act as the group."""

import pytest
from tests.attacks.mls.levels import Levels
from tests.versions import since

pytestmark = since(16)


@pytest.mark.parametrize(
    ("options", "trusted"),
    [("INHERIT FALSE, SET FALSE", False), ("INHERIT TRUE, SET FALSE", True), ("INHERIT FALSE, SET TRUE", True)],
)
def test_a_session_is_trusted_that_may_act_as_the_group(levels: Levels, options: str, trusted: bool) -> None:
    levels.admin.execute(f"GRANT discreet_trusted TO mls_high WITH {options}")
    try:
        assert levels.at("high").execute("SELECT pg_has_role('discreet_trusted', 'MEMBER')").fetchall() == [(True,)]
        assert levels.at("high").execute("SELECT discreet._is_trusted()").fetchall() == [(trusted,)]
    finally:
        levels.admin.execute("REVOKE discreet_trusted FROM mls_high")
