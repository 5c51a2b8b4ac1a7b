"""A view that lends a reader's rights, for an analyst whose budget was taken away."""

from __future__ import annotations

from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import refused

LENT = "CREATE VIEW extra.lent AS SELECT * FROM hr.person; GRANT SELECT ON extra.lent TO PUBLIC"
NAMES = "SELECT name FROM extra.lent LIMIT 1"


def test_a_budget_taken_away_opens_no_view(gated: Target, blind: Connection) -> None:
    gated.admin.execute(LENT)
    with refused("DP001", "column name", ""):
        blind.execute(NAMES)
    gated.admin.execute("SELECT discreet.revoke_budget('people', 'blind')")
    for statement in (NAMES, "SELECT count(*) FROM extra.lent"):
        with gated.free(), refused("DP004", "view extra.lent: you hold no budget for the people", "grant_budget"):
            blind.execute(statement)


def test_an_exempt_view_asks_for_no_budget(gated: Target, blind: Connection) -> None:
    gated.admin.execute(LENT + "; SELECT discreet.exempt_view('extra.lent')")
    gated.admin.execute("SELECT discreet.revoke_budget('people', 'blind')")
    assert blind.execute(NAMES).fetchall() == [("name 1",)]
    gated.admin.execute("SELECT discreet.exempt_view('extra.lent', false)")
    with refused("DP004", "you hold no budget", ""):
        blind.execute(NAMES)
