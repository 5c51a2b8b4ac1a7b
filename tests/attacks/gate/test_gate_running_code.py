"""Code of the attacker inside a question would run as the owner of the extension, who may read everything."""

import pytest
from tests.attacks.gate.asking import COUNT, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import notices

SPY = """
    CREATE FUNCTION extra.tell(what text) RETURNS boolean LANGUAGE plpgsql AS
    $$BEGIN RAISE NOTICE '% runs as %', what, current_user; RETURN true; END$$
"""
# what is made, and the question that would run it
WAYS = {
    "domain": (
        "CREATE DOMAIN pg_temp.d AS int CHECK (extra.tell('domain'))",
        "SELECT count(*)::d FROM hr.person",
    ),
    "operator with ANY": (
        "CREATE FUNCTION extra.f(bigint, bigint) RETURNS boolean LANGUAGE sql AS $$SELECT extra.tell('operator')$$;"
        "CREATE OPERATOR extra.@@ (leftarg = bigint, rightarg = bigint, function = extra.f)",
        "SELECT count(*) OPERATOR(extra.@@) ANY (ARRAY[1::bigint]) FROM hr.person",
    ),
    "cast": (
        "CREATE TYPE extra.e AS ENUM ('a'); CREATE TABLE extra.own (e extra.e); INSERT INTO extra.own VALUES ('a');"
        "CREATE FUNCTION extra.t(extra.e) RETURNS text LANGUAGE sql AS $$SELECT extra.tell('cast')::text$$;"
        "CREATE CAST (extra.e AS text) WITH FUNCTION extra.t(extra.e)",
        "SELECT count(*) FROM hr.person, extra.own WHERE own.e = 'a'",
    ),
    "index predicate": (
        "CREATE FUNCTION extra.i(int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS"
        " $$BEGIN RETURN extra.tell('predicate'); END$$;"
        "CREATE TABLE extra.own (k int); CREATE INDEX ON extra.own (k) WHERE extra.i(1)",
        "SELECT count(*) FROM hr.person, extra.own WHERE own.k = 1",
    ),
    "view in the place of a table": (
        "CREATE TABLE extra.own (k int); BEGIN; DROP TABLE extra.own;"
        "CREATE VIEW extra.own AS SELECT 1 AS k WHERE extra.tell('view')",
        "SELECT count(*) FROM hr.person, extra.own WHERE own.k = 1",
    ),
    "function": (
        "CREATE FUNCTION extra.g(int) RETURNS boolean LANGUAGE sql AS $$SELECT extra.tell('function')$$",
        "SELECT count(*) FROM hr.person WHERE extra.g(salary)",
    ),
    "function of a known name": (
        "CREATE FUNCTION extra.abs(int) RETURNS int LANGUAGE sql AS $$SELECT extra.tell('abs')::int$$",
        "SELECT count(*) FROM hr.person WHERE abs(salary) > 0",
    ),
    "operator of a known name": (
        "CREATE FUNCTION extra.eq(text, text) RETURNS boolean LANGUAGE sql AS $$SELECT extra.tell('equals')$$;"
        "CREATE OPERATOR extra.= (leftarg = text, rightarg = text, function = extra.eq)",
        "SELECT count(*), round(count(*), 1), count(*) / 2 FROM hr.person WHERE dept = 'dept 1' AND name LIKE 'n%'",
    ),
    "aggregate of a known name": (
        "CREATE FUNCTION extra.s(int, int) RETURNS int LANGUAGE sql AS $$SELECT extra.tell('sum')::int$$;"
        "CREATE AGGREGATE extra.sum(int) (sfunc = extra.s, stype = int)",
        "SELECT sum(salary), sum(n) FROM (SELECT salary, 1 AS n FROM hr.person) s",
    ),
}  # fmt: skip


def test_code_inside_a_definer_function_runs_as_its_owner(target: Target) -> None:
    """The naive design that runs the text it is given."""
    target.admin.execute(f"{SPY}; CREATE FUNCTION naive.run(q text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS"
                         " $$BEGIN EXECUTE q; END$$")  # fmt: skip
    attacker = target.connect("blind")
    heard = notices(attacker)
    attacker.execute("SELECT naive.run('SELECT extra.tell(''text'')')")
    target.admin.execute("DROP FUNCTION naive.run")
    assert heard[0][1] == "text runs as postgres"


@pytest.mark.parametrize("way", WAYS)
def test_code_of_the_attacker_never_runs(gated: Target, blind: Connection, way: str) -> None:
    made, question = WAYS[way]
    blind.execute(SPY)
    blind.execute(made)
    heard = notices(blind)
    blind.execute("SET search_path = extra, pg_catalog, public")
    how_it_ends(blind, question)
    assert [message for _, message, _ in heard if "runs as" in str(message)] == []


@pytest.mark.parametrize(
    "call",
    [
        "query_to_xml('SELECT * FROM hr.person', true, true, '')", "table_to_xml('hr.person', true, true, '')",
        "set_config('discreet.epsilon', '100', false)", "nextval('s')", "pg_notify('a', 'b')", "pg_advisory_lock(1)",
        "lo_create(0)", "pg_sleep(1)", "pg_read_file('postgresql.conf')", "dblink('', 'SELECT 1')", "currval('s')",
        "pg_terminate_backend(1)", "current_setting('data_directory')", "setseed(0.5)", "random()", "txid_current()",
        "has_table_privilege('hr.person', 'SELECT')", "pg_relation_size('hr.person')", "discreet.query_json('x')",
        "ts_stat('SELECT 1')", "cursor_to_xml('c', 1, true, true, '')", "database_to_xml(true, true, '')",
    ],
)  # fmt: skip
def test_functions_that_do_or_read_something_are_refused(blind: Connection, call: str) -> None:
    for question in (f"SELECT count(*), {call} FROM hr.person", f"{COUNT} WHERE {call} IS NULL"):
        assert how_it_ends(blind, question) == "DP001"
