"""A value becomes one of the type that the caller wrote while the function still acts for its owner."""

import pytest
from tests.attacks.gate.asking import COUNT
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import notices, refused

SPY = """
    CREATE FUNCTION extra.tell(what text) RETURNS boolean LANGUAGE plpgsql AS
    $$BEGIN RAISE NOTICE '% runs as %', what, current_user; RETURN true; END$$;
    CREATE DOMAIN extra.d AS bigint CHECK (extra.tell('domain'));
    CREATE TYPE extra.c AS (n extra.d);
    CREATE TYPE extra.r AS RANGE (subtype = bigint);
"""


def test_a_domain_runs_code_of_the_caller_in_a_naive_definer_function(gated: Target, blind: Connection) -> None:
    gated.admin.execute(
        "CREATE FUNCTION extra.naive() RETURNS SETOF record LANGUAGE plpython3u SECURITY DEFINER AS $$return [(5,)]$$"
    )
    blind.execute(SPY)
    heard = notices(blind)
    blind.execute("SELECT * FROM extra.naive() AS t(n extra.d)")
    assert "domain runs as postgres" in str(heard)


@pytest.mark.parametrize("column", ["extra.d", "extra.d[]", "extra.c", "extra.r"])
def test_columns_that_the_caller_names_run_no_code(gated: Target, blind: Connection, column: str) -> None:
    blind.execute(SPY)
    heard = notices(blind)
    with gated.free(), refused("DP001", "no columns of type", "built-in"):
        blind.execute(f"SELECT * FROM discreet.query('{COUNT}', 0.1) AS t(n {column})")
    assert [message for _, message, _ in heard if "runs as" in str(message)] == []
