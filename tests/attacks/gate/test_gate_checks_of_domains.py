"""The CHECK of a domain is code of its owner, and runs wherever a value becomes one of the domain."""

import pytest
from tests.attacks.gate.asking import COUNT, ask
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import notices, refused

SPY = """
    CREATE FUNCTION extra.tell(what pg_catalog.text) RETURNS boolean LANGUAGE plpgsql AS
    $$BEGIN RAISE NOTICE '% runs as %', what, current_user; RETURN true; END$$;
    CREATE DOMAIN extra.d AS bigint CHECK (extra.tell('domain'));
    CREATE TYPE extra.c AS (n extra.d);
    CREATE TYPE extra.r AS RANGE (subtype = bigint)
"""


def ran(heard: list[tuple[str, str | None, str | None]]) -> list[str]:
    return [str(message) for _, message, _ in heard if "runs as" in str(message)]


def test_a_naive_definer_function_runs_the_check_as_its_owner(target: Target) -> None:
    attacker = target.connect("blind")
    attacker.execute(SPY)
    target.admin.execute(
        "CREATE FUNCTION naive.run() RETURNS SETOF record LANGUAGE plpython3u SECURITY DEFINER AS 'return [(1,)]'"
    )
    heard = notices(attacker)
    attacker.execute("SELECT * FROM naive.run() AS t(n extra.d)")
    target.admin.execute("DROP FUNCTION naive.run")
    assert ran(heard) == ["domain runs as postgres"]


@pytest.mark.parametrize("column", ["extra.d", "extra.d[]", "extra.c", "extra.r"])
def test_types_that_the_caller_names_run_no_code(gated: Target, blind: Connection, column: str) -> None:
    blind.execute(SPY)
    heard = notices(blind)
    with gated.free(), refused("DP001", "of type", "built-in"):
        blind.execute(f"SELECT * FROM discreet.query('{COUNT}', 0.1) AS t(n {column})")
    assert ran(heard) == []


@pytest.mark.parametrize("name", ["text", "jsonb", "name", "numeric"])
def test_domains_in_front_of_the_types_that_the_gate_uses_run_no_code(blind: Connection, name: str) -> None:
    blind.execute(SPY)
    blind.execute(f"CREATE DOMAIN extra.{name} AS pg_catalog.{name} CHECK (extra.tell('{name}'))")
    blind.execute("SET search_path = extra, pg_catalog, public")
    heard = notices(blind)
    assert len(ask(blind, COUNT)) == 1
    assert ran(heard) == []
