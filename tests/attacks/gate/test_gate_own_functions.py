"""A function of the attacker inside a question would run as the owner of the extension, who may read everything."""

import pytest
from tests.attacks.gate.asking import NAIVE_GATE, SPY, how_it_ends, what_runs
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import notices

# what is made, and the question that would run it
WAYS = {
    "function": (
        "CREATE FUNCTION extra.g(int) RETURNS boolean LANGUAGE sql AS $$SELECT extra.tell('function')$$",
        "SELECT count(*) FROM hr.person WHERE extra.g(salary)",
    ),
    "function around the answer": (
        "CREATE FUNCTION extra.h(bigint) RETURNS boolean LANGUAGE sql AS $$SELECT extra.tell('function')$$",
        "SELECT h(count(*)), extra.h(count(*)) FROM hr.person",
    ),
    "function of a known name": (
        "CREATE FUNCTION extra.abs(int) RETURNS int LANGUAGE sql AS $$SELECT extra.tell('abs')::int$$",
        "SELECT count(*) FROM hr.person WHERE abs(salary) > 0",
    ),
    "aggregate of a known name": (
        "CREATE FUNCTION extra.s(int, int) RETURNS int LANGUAGE sql AS $$SELECT extra.tell('sum')::int$$;"
        "CREATE AGGREGATE extra.sum(int) (sfunc = extra.s, stype = int)",
        "SELECT sum(salary), sum(n) FROM (SELECT salary, 1 AS n FROM hr.person) s",
    ),
    "function in the place of a column": (
        "CREATE FUNCTION extra.wage(record) RETURNS boolean LANGUAGE plpgsql AS"
        " $$BEGIN RETURN extra.tell('column'); END$$",
        "SELECT t.wage, t.n FROM (SELECT count(*) AS n FROM hr.person) t",
    ),
}  # fmt: skip


def test_a_naive_design_runs_them_as_its_owner(target: Target) -> None:
    target.admin.execute(f"{SPY}; {NAIVE_GATE}")
    attacker = target.connect("blind")
    heard = notices(attacker)
    attacker.execute("SELECT extra.noisy('SELECT extra.tell(''text'')::int')")
    assert heard[0][1] == "text runs as postgres"


@pytest.mark.parametrize("name", ["row_to_json", "to_jsonb", "pg_typeof", "pg_column_size"])
def test_no_function_is_called_as_if_it_were_a_column(blind: Connection, name: str) -> None:
    """t.f means f(t) in PostgreSQL, where t has no column f."""
    assert how_it_ends(blind, f"SELECT t.{name} FROM (SELECT count(*) AS n FROM hr.person) t") == "DP001"


@pytest.mark.parametrize("way", WAYS)
def test_functions_of_the_attacker_never_run(blind: Connection, way: str) -> None:
    assert what_runs(blind, *WAYS[way]) == []
