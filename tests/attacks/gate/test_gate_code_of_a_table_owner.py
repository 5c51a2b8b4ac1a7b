"""Functions in indexes, constraints and partition keys of a table run when a question about it is planned."""

import pytest
from tests.attacks.gate.asking import how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import notices

AS_OWNER, AS_ANOTHER = 1, 2
# the asker hears nothing of it; locks stay with the session
SPY = f"""
    CREATE FUNCTION extra.tell() RETURNS boolean LANGUAGE plpgsql AS
    $$BEGIN
        RAISE NOTICE 'runs as %, superuser: %', current_user, current_setting('is_superuser');
        PERFORM pg_advisory_lock_shared(
            CASE WHEN current_user = 'mallory' AND current_setting('is_superuser') = 'off'
                 THEN {AS_OWNER} ELSE {AS_ANOTHER} END);
        RETURN true;
    END$$;
    CREATE FUNCTION extra.spy(int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$BEGIN RETURN extra.tell(); END$$;
    CREATE TABLE extra.own (id int PRIMARY KEY, x int NOT NULL);
"""
WAYS = {
    "index": "CREATE INDEX ON extra.own (x) WHERE extra.spy(1)",
    "constraint": "ALTER TABLE extra.own ADD CHECK (extra.spy(1))",
    "index of a part": (
        "CREATE TABLE extra.part () INHERITS (extra.own); CREATE INDEX ON extra.part (x) WHERE extra.spy(1)"
    ),
}
QUESTION = "SELECT count(*) FROM extra.own WHERE x > 3"
PROTECTED = "SELECT discreet.protect('extra.own', 'id', dataset => 'people', max_rows => 1)"


@pytest.mark.parametrize("way", WAYS)
def test_code_of_the_owner_runs_as_the_owner(gated: Target, blind: Connection, way: str) -> None:
    mallory = gated.connect("mallory")
    mallory.execute(SPY)
    mallory.execute(WAYS[way])
    gated.admin.execute(PROTECTED)
    naive = notices(gated.admin)
    gated.admin.execute(f"SET constraint_exclusion = on; {QUESTION}; RESET constraint_exclusion")
    gated.admin.execute("SELECT pg_advisory_unlock_all()")
    assert "superuser: on" in str(naive), "the attack does not work against a reader who trusts the table"
    blind.execute("SET constraint_exclusion = on")
    heard = notices(blind)
    assert how_it_ends(blind, QUESTION) == "answer"
    assert "runs as" not in str(heard)
    ran = blind.execute(
        "SELECT objid::int FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() ORDER BY 1"
    ).fetchall()
    assert ran == [(AS_OWNER,)] or (ran == [] and way == "index of a part")


def test_two_owners_of_one_question_are_refused(gated: Target, blind: Connection) -> None:
    gated.connect("mallory").execute(SPY)
    gated.admin.execute(f"{PROTECTED}; ALTER TABLE hr.visit OWNER TO eve")
    try:
        with gated.free():
            question = "SELECT count(*) FROM extra.own o JOIN hr.visit v ON o.id = v.person"
            assert how_it_ends(blind, question) == "DP001"
    finally:
        gated.admin.execute("ALTER TABLE hr.visit OWNER TO CURRENT_USER")
