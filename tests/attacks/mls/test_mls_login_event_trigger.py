"""Login event triggers (PostgreSQL 17): a function that its low owner replaces runs when a trusted user connects."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.attacks.mls.levels import Levels, refusal
from tests.versions import since

pytestmark = since(17)

ACT = """discreet.mls_declassify('employee', '{"name": "Smith"}', ARRAY['perf'], 'U', 'was asked to')"""
LABELS = "INSERT INTO employee (name, name_label, perf, perf_label) VALUES ('Leak', 'U', 'Fair', 'U')"
DOWN = "SET discreet.level = 'U'; INSERT INTO employee (name, perf) VALUES ('Leak', 'Fair')"
SETUP = """
    CREATE SCHEMA low AUTHORIZATION mls_low;
    GRANT USAGE ON SCHEMA low TO PUBLIC;
    CREATE TABLE low.came (who text);
    GRANT INSERT, SELECT ON low.came TO PUBLIC;
    CREATE FUNCTION low.greet() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN NULL; END$$;
    ALTER FUNCTION low.greet() OWNER TO mls_low;
    CREATE EVENT TRIGGER greet ON login EXECUTE FUNCTION low.greet();
"""
GREET = """
    CREATE OR REPLACE FUNCTION low.greet() RETURNS event_trigger LANGUAGE plpgsql {security} AS $$
    BEGIN
        INSERT INTO low.came VALUES (session_user);
        IF session_user = 'mls_trusted' THEN
            BEGIN {does}; EXCEPTION WHEN OTHERS THEN NULL; END;
        END IF;
    END $$
"""


@pytest.fixture(autouse=True)
def greeted(levels: Levels) -> Iterator[None]:
    levels.admin.execute(SETUP)
    yield
    levels.admin.execute("DROP EVENT TRIGGER greet; DROP SCHEMA low CASCADE")


@pytest.mark.parametrize("security", ["", "SECURITY DEFINER"])
@pytest.mark.parametrize("does", [f"PERFORM {ACT}", LABELS, DOWN], ids=["declassify", "labels", "level"])
def test_it_has_no_trust_in_the_session_of_a_trusted_user(levels: Levels, security: str, does: str) -> None:
    levels.at("low").execute(GREET.format(security=security, does=does))
    trusted = levels.at("trusted")
    assert ("mls_trusted",) in trusted.execute("SELECT who FROM low.came").fetchall()
    seen = levels.at("low").execute("SELECT name, perf FROM employee ORDER BY 1").fetchall()
    assert seen == [("Smith", None)]


def test_the_trusted_user_can_work_after_it(levels: Levels) -> None:
    levels.at("low").execute(GREET.format(security="", does=f"PERFORM {ACT}"))
    trusted = levels.at("trusted")
    trusted.execute("SET discreet.level = 'S'")
    trusted.execute(f"SELECT {ACT}")
    assert levels.at("low").execute("SELECT name, perf FROM employee").fetchall() == [("Smith", "Fair")]


def test_workers_of_discreet_have_no_login(statistics: Levels) -> None:
    """Neither the ledger nor the worker that runs a question greets anybody, or can be stopped by it."""
    statistics.at("low").execute(GREET.format(security="", does="NULL"))
    with statistics.database.connect("mls_asks_high") as asks:
        asks.execute("SELECT discreet.query_json('SELECT count(*) FROM employee', 1)")
    came = statistics.admin.execute("SELECT who FROM low.came").fetchall()
    assert came == [("mls_asks_high",)]


def test_it_cannot_be_made_by_others_than_superusers(levels: Levels) -> None:
    create = "CREATE EVENT TRIGGER mine ON login EXECUTE FUNCTION low.greet()"
    assert refusal(levels.at("low"), create)[0] == "42501"
