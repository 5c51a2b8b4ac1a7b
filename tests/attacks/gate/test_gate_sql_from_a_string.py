"""query_to_xml and everything else that runs SQL from a string."""

import pytest
from tests.attacks.gate.asking import NAIVE_GATE, assert_refused
from tests.attacks.target import Target
from tests.databases import Connection


def test_a_naive_design_runs_it(target: Target) -> None:
    target.admin.execute(NAIVE_GATE)
    asked = "SELECT length(query_to_xml('SELECT * FROM hr.person', true, true, '')::text)"
    assert target.connect("blind").execute("SELECT extra.noisy(%s) > 50000", [asked]).fetchall() == [(True,)]


@pytest.mark.parametrize(
    "call",
    [
        "query_to_xml('SELECT * FROM hr.person', true, true, '')", "table_to_xml('hr.person', true, true, '')",
        "schema_to_xml('hr', true, true, '')", "database_to_xml(true, true, '')",
        "query_to_xmlschema('x', true, true, '')", "cursor_to_xml('c', 1, true, true, '')", "ts_stat('SELECT 1')",
        "ts_rewrite('a', 'SELECT 1')", "dblink('', 'x')", "discreet.query_json('SELECT 1')",
        "discreet.ask('SELECT 1')", "pg_read_file('postgresql.conf')",
    ],
)  # fmt: skip
def test_it_is_refused(blind: Connection, call: str) -> None:
    assert_refused(blind, call)
