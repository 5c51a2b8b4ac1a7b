"""Code planted in an index expression is run by somebody else's ANALYZE: then that one would pay for its questions."""

import pytest
from tests.attacks.gate.asking import FRESH
from tests.attacks.target import Target
from tests.databases import Connection

PLANT = f"""
    CREATE TABLE extra.trap (n int);
    CREATE TABLE extra.loot (answer jsonb);
    CREATE FUNCTION extra.steal() RETURNS void LANGUAGE plpgsql VOLATILE AS
    $$ BEGIN INSERT INTO extra.loot {FRESH}; EXCEPTION WHEN OTHERS THEN NULL; END $$;
    CREATE FUNCTION extra.bait(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN n; END $$;
    CREATE INDEX ON extra.trap (extra.bait(n));
    INSERT INTO extra.trap SELECT n FROM generate_series(1, 5) n;
    CREATE OR REPLACE FUNCTION extra.bait(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
    $$ BEGIN PERFORM extra.steal(); RETURN n; END $$;
"""


def test_planted_code_runs_as_whoever_maintains(target: Target) -> None:
    target.connect("blind").execute(PLANT.replace(FRESH, "SELECT to_jsonb(session_user)"))
    target.admin.execute("ANALYZE extra.trap")
    assert target.value("SELECT DISTINCT answer FROM extra.loot") == "postgres"


@pytest.mark.parametrize("maintenance", ["ANALYZE extra.trap", "REINDEX TABLE extra.trap"])
def test_maintenance_asks_nothing_on_behalf_of_others(gated: Target, blind: Connection, maintenance: str) -> None:
    """Whoever maintains holds a budget, whoever planted it holds none."""
    gated.admin.execute("SELECT discreet.grant_budget('people', current_user::regrole, 1)")
    gated.admin.execute("SELECT discreet.revoke_budget('people', 'blind')")
    blind.execute(PLANT)
    with gated.free():
        gated.admin.execute(maintenance)
    assert gated.value("SELECT count(*) FROM extra.loot") == 0


@pytest.mark.parametrize("budget", [True, False])
def test_maintenance_opens_no_view_to_planted_code(gated: Target, blind: Connection, budget: bool) -> None:
    """It runs as who planted it, in the session of a superuser, who reads the view as ever."""
    gated.admin.execute("CREATE VIEW extra.lent AS SELECT name FROM hr.person; GRANT SELECT ON extra.lent TO PUBLIC")
    if not budget:
        gated.admin.execute("SELECT discreet.revoke_budget('people', 'blind')")
    read = "SELECT to_jsonb(name) FROM extra.lent"
    assert len(gated.admin.execute(read).fetchall()) > 0
    planted = PLANT.replace(FRESH, read).replace("NULL; END", "INSERT INTO extra.loot VALUES (to_jsonb(SQLERRM)); END")
    blind.execute(planted)
    with gated.free():
        gated.admin.execute("ANALYZE extra.trap")
    assert gated.value("SELECT DISTINCT answer FROM extra.loot") == "permission denied for table person"
