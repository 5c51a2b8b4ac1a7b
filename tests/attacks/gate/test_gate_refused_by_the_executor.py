"""What the owner of a table may not do, in whose name a question runs: refused before the charge, and not after it."""

import pytest
from tests.attacks.gate.asking import ask
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import refused

OWNED = """
    CREATE TABLE extra.own (id int PRIMARY KEY, x int NOT NULL);
    INSERT INTO extra.own SELECT n, n % 10 FROM generate_series(1, 200) n;
    ALTER TABLE extra.own OWNER TO mallory;
    SELECT discreet.protect('extra.own', 'id', dataset => 'people');
    SELECT discreet.describe_column('extra.own', 'x', 0, 10)
"""
WITHOUT = "the owner of the tables, in whose name the question would run, may not run it"


@pytest.mark.parametrize(
    "function", ['pg_catalog.jsonb_build_array(VARIADIC "any")', "discreet._clamped(anyelement, int, int)"]
)
def test_a_function_that_the_owner_may_not_execute(gated: Target, blind: Connection, function: str) -> None:
    gated.admin.execute(f"SET client_min_messages = warning; {OWNED}; RESET client_min_messages")
    question = "SELECT sum(x) FROM extra.own"
    with gated.costs("0.001"):
        ask(blind, question)
    gated.admin.execute(f"REVOKE EXECUTE ON FUNCTION {function} FROM PUBLIC")
    try:
        with gated.free(), refused("DP001", WITHOUT, "A DBA finds the reason in the server's log"):
            ask(blind, question, fresh=True)
    finally:
        gated.admin.execute(f"GRANT EXECUTE ON FUNCTION {function} TO PUBLIC")


def test_a_table_that_the_owner_may_not_read(gated: Target, blind: Connection) -> None:
    gated.admin.execute(f"SET client_min_messages = warning; {OWNED}; RESET client_min_messages")
    gated.admin.execute("REVOKE SELECT ON extra.own FROM mallory")
    with gated.free(), refused("DP001", "mallory, in whose name the question would run, cannot read all of", "GRANT"):
        ask(blind, "SELECT count(*) FROM extra.own")
