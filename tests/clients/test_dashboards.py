"""Grafana and Metabase: what they ask, and how they find tables; by the macros and drivers that they document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from dev.cluster import Cluster
from tests import store
from tests.databases import program
from tests.office import Office
from tests.tools_table import told

SQL = Path(__file__).with_name("dashboards.sql").read_text(encoding="utf-8")


def questions(tool: str) -> list[str]:
    """Those between the comment that begins with the tool and the next one."""
    part = SQL.split(f"-- {tool}: ")[1].split("\n-- ")[0]
    return [line for line in part.splitlines()[1:] if line]


# Grafana's query builder; Metabase asks for the privileges of all tables at once
GRAFANA_TABLES = """
    SELECT CASE WHEN quote_ident(table_schema) IN (
        SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
        FROM generate_series(array_lower(string_to_array(current_setting('search_path'), ','), 1),
                             array_upper(string_to_array(current_setting('search_path'), ','), 1)) AS i,
             string_to_array(current_setting('search_path'), ',') s)
    THEN quote_ident(table_name) ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table"
    FROM information_schema.tables
    WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog', '_timescaledb_cache')"""
METABASE_TABLES = """
    WITH table_privileges AS (
        SELECT NULL AS role, t.schemaname AS schema, t.objectname AS table,
               pg_catalog.has_any_column_privilege(
                   current_user,
                   format('"%s"."%s"', replace(t.schemaname, '"', '""'), replace(t.objectname, '"', '""')),
                   'update') AS update,
               pg_catalog.has_any_column_privilege(
                   current_user,
                   format('"%s"."%s"', replace(t.schemaname, '"', '""'), replace(t.objectname, '"', '""')),
                   'select') AS select
        FROM (SELECT schemaname, tablename AS objectname FROM pg_catalog.pg_tables
              UNION SELECT schemaname, viewname AS objectname FROM pg_catalog.pg_views) AS t
        WHERE t.schemaname !~ '^pg_' AND t.schemaname <> 'information_schema'
          AND pg_catalog.has_schema_privilege(current_user, t.schemaname, 'usage'))
    SELECT t.schema || '.' || t.table FROM table_privileges t WHERE t.select AND NOT t.update"""

CORPUS = {
    "Grafana": (GRAFANA_TABLES, questions("Grafana")),
    "Metabase": (METABASE_TABLES, questions("Metabase")),
}
# what Explore, and the table of a question, show first
PREVIEWS = {
    "Grafana": ["SELECT bought AS \"time\", amount FROM store.purchase WHERE bought > '2026-01-15T00:00:00Z' LIMIT 50"],
    "Metabase": [
        'SELECT "store"."customer"."id" AS "id", "store"."customer"."city" FROM "store"."customer" LIMIT 2000',
        'SELECT SUBSTRING("store"."customer"."city", 1, 1234) AS "s" FROM "store"."customer" LIMIT 10000',
    ],
}
REFUSED = {"Grafana": "format *Table* of rows", "Metabase": "rows of a table, fingerprints of columns"}
FRICTION = {
    "Grafana": "`$__timeFilter` of a moving range asks anew: `discreet.round_time`",
    "Metabase": "a sync reads rows for fingerprints: `discreet.empty_previews`",
}


@pytest.fixture(scope="module")
def store_database(cluster: Cluster, template: str) -> Iterator[Office]:
    with store.opened(cluster, template) as opened:
        yield opened


@pytest.fixture
def shop(store_database: Office) -> Office:
    store_database.reset()
    return store_database


@pytest.fixture
def tess(shop: Office) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(shop.dsn, autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize("tool", CORPUS)
def test_dashboards_of_grafana_and_metabase_are_answered_and_free_when_opened_again(
    shop: Office, tess: psycopg.Connection[Any], tool: str
) -> None:
    listing, questions = CORPUS[tool]
    tess.execute(listing.encode()).fetchall()
    looking = shop.questions()
    answers = [tess.execute(question.encode(), prepare=False).fetchall() for question in questions]
    assert all(answer or "LIMIT 0" in question for answer, question in zip(answers, questions, strict=True))
    first = shop.questions() - looking
    assert len(questions) > first > 5
    assert [tess.execute(question.encode(), prepare=True).fetchall() for question in questions] == answers
    again = shop.questions() - looking - first
    assert (looking, again) == (0, 0)
    assert shop.truth("SELECT count(*) FROM discreet._refusal") == [(0,)]
    for rows in PREVIEWS[tool]:
        with pytest.raises(psycopg.Error) as refused:
            tess.execute(rows.encode())
        assert str(refused.value.sqlstate).startswith("DP"), rows
    tess.execute("SET discreet.empty_previews = on")
    assert all(tess.execute(rows.encode()).fetchall() == [] for rows in PREVIEWS[tool])
    assert shop.questions() == first
    what = f"{len(questions)} statements of its documented macros, not the program"
    told(tool, what, looking, first, again, REFUSED[tool], FRICTION[tool])


@pytest.mark.parametrize("listing", [GRAFANA_TABLES, METABASE_TABLES])
def test_their_listings_show_the_tables_of_the_store(shop: Office, tess: psycopg.Connection[Any], listing: str) -> None:
    found = {name for (name,) in tess.execute(listing.encode()).fetchall()}
    assert found >= {"store.customer", "store.purchase", "store.category"}
    assert not [name for name in found if name.startswith("discreet._")]
    assert shop.questions() == 0


def test_psql_looks_around_and_asks(shop: Office) -> None:
    for what in ("d store.*", "d+ store.customer", "dt store.*", "dp store.*", "di store.*", "dT+ store.*"):
        shown = shop.psql(f"\\{what}").stdout
        assert "customer" in shown or "segment" in shown
    assert "_charge" not in shop.psql(r"\dt *.*").stdout
    looking = shop.questions()
    asked = (
        "SELECT city, count(*) FROM store.customer GROUP BY city \\g\n"
        "SELECT city, segment, count(*) FROM store.customer GROUP BY 1, 2 \\crosstabview\n"
        "\\copy (SELECT paid_by, avg(amount) FROM store.purchase GROUP BY 1) to stdout csv\n"
    )
    shop.psql(asked)
    first = shop.questions() - looking
    shop.psql(asked)
    again = shop.questions() - looking - first
    assert (looking, first, again) == (0, 3, 0)
    refused = shop.psql("SELECT * FROM store.customer LIMIT 5;")
    assert "DP002" in refused.stderr
    told("psql", "backslash commands, `\\crosstabview`, `\\copy`", looking, first, again, "`SELECT *`")


def test_pg_dump_of_the_schema_and_of_own_tables(shop: Office, tess: psycopg.Connection[Any]) -> None:
    """An analyst dumps what is her own, and no row of others: pg_dump wants SELECT on what it locks."""
    tess.execute("CREATE TABLE tess.kept AS SELECT city, count(*) AS n FROM store.customer GROUP BY city")
    own = program("pg_dump", "--schema=tess", shop.dsn)
    assert "COPY tess.kept (city, n)" in own
    first = shop.questions()
    refused = shop.run("pg_dump", "--schema=store", "--data-only", shop.dsn)
    assert "permission denied for table" in refused.stderr
    assert "canary" not in refused.stdout
    assert (first, shop.questions()) == (1, 1)
    told("pg_dump", "own tables and views", 0, 0, 0, "tables that may not be read")
