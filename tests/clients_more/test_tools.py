"""Analysts' tools find the tables for nothing, pay for what they measure, and nothing when they are opened again."""

from __future__ import annotations

import re

import pytest
from tests.clients_more.conftest import PROGRAMS, PYTHON, played
from tests.office import Office
from tests.tools_table import told


def python(name: str) -> list[str]:
    return [str(PYTHON / "python"), str(PROGRAMS / f"{name}_client.py")]


NODE = ["node", str(PROGRAMS / "node_client.mjs")]
# the command, what it does, and what it is refused, which the programs try in phase "rows"
TOOLS = {
    "R dplyr": (["Rscript", str(PROGRAMS / "dplyr.R")], "`tbl()`, verbs, joins, `compute()`"),
    "Ibis": (python("ibis"), "tables, `mutate()`, joins, views"),
    "Polars": (python("polars"), "frames by SQLAlchemy, psycopg, ConnectorX; `write_database()`"),
    "Django": (python("django"), "aggregates, `TruncMonth` in a time zone, joins, `Exists`"),
    "SQLModel": (python("sqlmodel"), "models, aggregates, joins"),
    "JupySQL": (python("jupysql"), "`%%sql`, snippets, `%sqlcmd`, `%sqlplot`"),
    "DuckDB": (python("duckdb"), "attached; `postgres_query()`, joins with own tables"),
    "ODBC": (python("odbc"), "metadata, parameters, escapes, `UseDeclareFetch`"),
    "knex": ([*NODE, "knex"], "`columnInfo()`, aggregates, joins"),
    "postgres.js": ([*NODE, "postgres.js"], "parameters, lists, cursors, transactions"),
    "Drizzle": ([*NODE, "Drizzle"], "aggregates, joins, subqueries"),
    "Sequelize": ([*NODE, "Sequelize"], "`describeTable()`, aggregates"),
    "JDBC": (
        ["java", "-cp", "/usr/share/java/postgresql.jar", str(PROGRAMS / "Jdbc.java")],
        "metadata, server-side prepared statements, `fetchSize`, `setMaxRows`",
    ),
}

# what an analyst has to know of a tool, beside what is refused
FRICTION = {
    "DuckDB": "a scan of an attached table reads rows: ask by `postgres_query()`",
    "Django": "`inspectdb` needs `discreet.empty_previews`",
}


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_looks_asks_and_asks_again(shop: Office, tool: str) -> None:
    command, what = TOOLS[tool]
    looked = played(shop, command, "look")
    looking = shop.questions()
    if "tables" in looked:
        assert "customer" in str(looked["tables"])
        assert "_charge" not in str(looked["tables"])
    assert shop.truth("SELECT count(*) FROM discreet._refusal") == [(0,)]
    asked = played(shop, command, "ask")
    first = shop.questions() - looking
    assert all(value not in (None, [], "") for value in asked.values()), asked
    answers = played(shop, command, "ask")
    again = shop.questions() - looking - first
    assert (looking, again) == (0, 0)
    assert answers == asked
    refused = played(shop, command, "rows")
    for name, message in refused.items():
        assert re.search("singles out a person|single rows|no column ctid", str(message)), (name, message)
    assert shop.questions() == first
    told(tool, what, looking, first, again, ", ".join(f"`{name}`" for name in refused), FRICTION.get(tool, ""))


def test_previews_are_empty_where_the_role_wants_it(shop: Office) -> None:
    """With discreet.empty_previews, inspectdb writes models of all tables."""
    written = played(shop, python("django"), "rows", SETTINGS="-c discreet.empty_previews=on")
    assert "class Customer(" in str(written["inspectdb"])
    assert "class Purchase(" in str(written["inspectdb"])
    assert "email" not in str(written["inspectdb"])
    assert shop.questions() == 0
