"""A view, a rule or a policy that lends a reader's rights, for an analyst whose budget was taken away."""

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


RULE = """
    CREATE TABLE extra.inbox (a int);
    CREATE RULE shown AS ON INSERT TO extra.inbox DO ALSO SELECT name FROM hr.person WHERE id = NEW.a;
    GRANT INSERT ON extra.inbox TO PUBLIC;
"""
POLICY = """
    CREATE ROLE lender;
    GRANT USAGE ON SCHEMA hr TO lender;
    GRANT USAGE, CREATE ON SCHEMA extra TO lender;
    GRANT SELECT ON hr.person TO lender;
    CREATE TABLE extra.probe (id int);
    INSERT INTO extra.probe SELECT generate_series(1, 100);
    ALTER TABLE extra.probe ENABLE ROW LEVEL SECURITY;
    CREATE POLICY rich ON extra.probe
        USING (EXISTS (SELECT FROM hr.person p WHERE p.id = probe.id AND p.salary > 1050));
    GRANT SELECT ON extra.probe TO lender;
    CREATE VIEW extra.probed AS SELECT * FROM extra.probe;
    ALTER VIEW extra.probed OWNER TO lender;
    GRANT SELECT ON extra.probed TO PUBLIC;
"""


def test_nor_does_it_open_a_rule(gated: Target, blind: Connection) -> None:
    gated.admin.execute(RULE)
    assert gated.connect("eve").execute("INSERT INTO extra.inbox VALUES (7)").rowcount == 1
    for budget in (True, False):
        if not budget:
            gated.admin.execute("SELECT discreet.revoke_budget('people', 'blind')")
        with gated.free(), refused("42501", "permission denied for table person", ""):
            blind.execute("INSERT INTO extra.inbox VALUES (7)")


def test_nor_a_policy_behind_a_view(gated: Target, blind: Connection) -> None:
    gated.admin.execute(POLICY)
    try:
        for budget in (True, False):
            if not budget:
                gated.admin.execute("SELECT discreet.revoke_budget('people', 'blind')")
            with gated.free(), refused("42501", "permission denied for table person", ""):
                blind.execute("SELECT count(*) FROM extra.probed")
    finally:
        gated.admin.execute("DROP OWNED BY lender CASCADE; DROP ROLE lender")
