"""Tables of the attacker, with indexes and views that are code of the attacker."""

import pytest
from tests.attacks.gate.asking import what_runs
from tests.databases import Connection
from tests.versions import before

WAYS = {
    "index predicate": (
        "CREATE FUNCTION extra.i(int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS"
        " $$BEGIN RETURN extra.tell('predicate'); END$$;"
        "CREATE TABLE extra.own (k int); CREATE INDEX ON extra.own (k) WHERE extra.i(1)",
        "SELECT count(*) FROM hr.person, extra.own WHERE own.k = 1",
    ),
    "row security": (
        "CREATE TABLE extra.own (k int); ALTER TABLE extra.own ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;"
        "CREATE POLICY p ON extra.own USING (extra.tell('policy')); INSERT INTO extra.own VALUES (1)",
        "SELECT count(*) FROM hr.person, extra.own WHERE own.k = 1",
    ),
    "view in the place of a table": (
        "CREATE TABLE extra.own (k int); BEGIN; DROP TABLE extra.own;"
        "CREATE VIEW extra.own AS SELECT 1 AS k WHERE extra.tell('view')",
        "SELECT count(*) FROM hr.person, extra.own WHERE own.k = 1",
    ),
    "rule": (
        "CREATE TABLE extra.own (k int);"
        "CREATE RULE \"_RETURN\" AS ON SELECT TO extra.own DO INSTEAD SELECT 1 AS k WHERE extra.tell('rule')",
        "SELECT count(*) FROM hr.person, extra.own WHERE own.k = 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", [pytest.param(way, marks=before(16)) if way == "rule" else way for way in WAYS])
def test_tables_of_the_attacker_run_no_code(blind: Connection, way: str) -> None:
    assert what_runs(blind, *WAYS[way]) == []
