"""Types of the attacker, whose checks and casts are code of the attacker."""

import pytest
from tests.attacks.gate.asking import what_runs
from tests.databases import Connection

WAYS = {
    "domain": (
        "CREATE DOMAIN pg_temp.d AS int CHECK (extra.tell('domain'))",
        "SELECT count(*)::d FROM hr.person",
    ),
    "domain of a known name": (
        "CREATE DOMAIN extra.int8 AS pg_catalog.int8 CHECK (extra.tell('domain'))",
        "SELECT count(*)::int8, count(*)::extra.int8 FROM hr.person WHERE salary::int8 > 1",
    ),
    "cast": (
        "CREATE TYPE extra.e AS ENUM ('a'); CREATE TABLE extra.own (e extra.e); INSERT INTO extra.own VALUES ('a');"
        "CREATE FUNCTION extra.t(extra.e) RETURNS text LANGUAGE sql AS $$SELECT extra.tell('cast')::text$$;"
        "CREATE CAST (extra.e AS text) WITH FUNCTION extra.t(extra.e)",
        "SELECT count(*) FROM hr.person, extra.own WHERE own.e = 'a'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_types_of_the_attacker_run_no_code(blind: Connection, way: str) -> None:
    assert what_runs(blind, *WAYS[way]) == []


@pytest.mark.parametrize("name", ["text", "jsonb", "oid", "name", "numeric", "bool"])
def test_a_domain_of_the_name_of_a_parameters_type_runs_no_code(blind: Connection, name: str) -> None:
    """The gate's own statements have parameters, and the first of them run before the search_path is pinned."""
    made = f"CREATE DOMAIN extra.{name} AS pg_catalog.{name} CHECK (extra.tell('{name}'))"
    assert what_runs(blind, made, "SELECT smoker::text, count(*) FROM hr.person GROUP BY 1") == []
