"""Functions that the view of a multilevel table names, called by hand, and columns that were not granted.

Views call functions with the rights of their readers, so everybody may call them. None of them reads a table.
"""

from __future__ import annotations

import pytest
from tests.attacks.mls.levels import Levels, refusal
from tests.databases import Connection

IS_VERSION = "discreet._is_version(_label, ARRAY['salary', 'perf'], {})"
VERSIONS = f"SELECT * FROM employee_mls WHERE _source IS NOT NULL AND {IS_VERSION}"


@pytest.mark.parametrize("label", ["NULL", "0", str(2**63 - 1)])
def test_the_hidden_table_beneath_the_view(levels: Levels, low: Connection, label: str) -> None:
    """Its owner may read it at any label; nobody else at any."""
    assert len(levels.admin.execute(VERSIONS.format(2**61 - 1)).fetchall()) == 2
    assert refusal(low, VERSIONS.format(label))[0] == "42501"
    assert refusal(levels.at("trusted"), VERSIONS.format(label))[0] == "42501"


def test_a_view_over_a_table_of_the_attackers_own(levels: Levels, low: Connection) -> None:
    """The condition makes the scan of versions of hidden tables alone."""
    levels.admin.execute("GRANT CREATE ON SCHEMA public TO mls_low")
    try:
        low.execute("CREATE TABLE own AS SELECT 1::bigint AS _label, '{-2}'::bigint[] AS _source, 5 AS salary")
        own = "SELECT * FROM own WHERE _source IS NOT NULL AND discreet._is_version(_label, ARRAY['salary'], NULL)"
        assert refusal(low, own)[0] == "0A000"
    finally:
        low.execute("DROP TABLE IF EXISTS own")
        levels.admin.execute("REVOKE CREATE ON SCHEMA public FROM mls_low")


def test_columns_that_were_not_granted(levels: Levels) -> None:
    """Who may read key and row_id alone reads no cell, of whatever label."""
    levels.admin.execute("CREATE ROLE mls_stranger LOGIN; SELECT discreet.mls_clear('mls_stranger', 'S:NATO')")
    levels.admin.execute("GRANT SELECT (name, row_id) ON employee TO mls_stranger")
    try:
        stranger = levels.at("stranger")
        assert len(stranger.execute("SELECT name, row_id FROM employee").fetchall()) == 2
        for probe in (
            "SELECT salary FROM employee", "SELECT name FROM employee WHERE salary > 0", "SELECT e FROM employee e",
            "SELECT name FROM employee ORDER BY perf LIMIT 1", VERSIONS.format("NULL"),
        ):  # fmt: skip
            assert refusal(stranger, probe)[0] == "42501", probe
    finally:
        stranger.close()
        levels.admin.execute("DROP OWNED BY mls_stranger; SELECT discreet.mls_clear('mls_stranger', NULL)")
        levels.admin.execute("DROP ROLE mls_stranger")


@pytest.mark.parametrize(
    "condition",
    [
        "discreet._is_version(row_id, ARRAY['perf', 'salary'], NULL)",
        "discreet._is_version(row_id, ARRAY['salary', 'perf'], NULL)",
        "discreet._is_version(row_id, ARRAY['salary'], NULL)",
        "discreet._is_version(row_id, ARRAY['ctid', 'xmin'], NULL)",
        "discreet._is_version(row_id, ARRAY['_source', '_source'], NULL)",
        "discreet._is_version(0, ARRAY['a'], 98307)",
        "name = 'Smith' AND discreet._is_version(row_id, ARRAY['perf', 'salary'], NULL)",
    ],
)
def test_a_call_beside_that_of_the_view(levels: Levels, condition: str) -> None:
    """The view's own call makes the scan; that of a reader would show cells in one another's places."""
    levels.at("nato").execute("UPDATE employee SET perf = 'Great' WHERE name = 'Smith'")
    nato = levels.at("nato")
    assert len(nato.execute("SELECT * FROM employee").fetchall()) > 2
    assert refusal(nato, f"SELECT * FROM employee WHERE {condition}")[0] == "0A000"
    assert refusal(nato, f"SELECT e::text, tc FROM employee e WHERE {condition}")[0] == "0A000"
