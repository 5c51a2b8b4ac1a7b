"""Tools look at the catalog before they ask anything: their queries work for analysts as they do without discreet."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from tests.office import ANALYST, Office

# as drivers ask for their metadata: tables, columns, keys, types, rights, routines
BROWSING = {
    "schemas": "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_toast' ORDER BY 1",
    "tables": """
        SELECT n.nspname, c.relname, d.description,
               CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'v' THEN 'VIEW' ELSE c.relkind::text END
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        LEFT JOIN pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
        WHERE n.nspname LIKE 'hr' AND c.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY 1, 2""",
    "columns": """
        SELECT * FROM (
            SELECT n.nspname, c.relname, a.attname, a.atttypid, a.atttypmod,
                   a.attnotnull OR t.typtype = 'd' AND t.typnotnull AS not_null,
                   row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum) AS position,
                   pg_get_expr(def.adbin, def.adrelid) AS default_value, dsc.description, t.typbasetype, t.typtype
            FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid JOIN pg_attribute a ON a.attrelid = c.oid
            JOIN pg_type t ON a.atttypid = t.oid
            LEFT JOIN pg_attrdef def ON a.attrelid = def.adrelid AND a.attnum = def.adnum
            LEFT JOIN pg_description dsc ON c.oid = dsc.objoid AND a.attnum = dsc.objsubid
            WHERE c.relkind IN ('r', 'p', 'v', 'f', 'm') AND a.attnum > 0 AND NOT a.attisdropped
              AND n.nspname LIKE 'hr') c
        ORDER BY nspname, relname, position""",
    "primary keys": """
        SELECT a.attname, i.indkey, ci.relname FROM pg_class ct JOIN pg_namespace n ON ct.relnamespace = n.oid
        JOIN pg_index i ON ct.oid = i.indrelid JOIN pg_class ci ON ci.oid = i.indexrelid
        JOIN pg_attribute a ON a.attrelid = ct.oid AND a.attnum = ANY (i.indkey::int2[])
        WHERE i.indisprimary AND n.nspname = 'hr' ORDER BY 3""",
    "foreign keys": """
        SELECT con.conname, pkn.nspname, pkc.relname, fkc.relname, generate_series(1, array_upper(con.conkey, 1))
        FROM pg_constraint con JOIN pg_class pkc ON pkc.oid = con.confrelid
        JOIN pg_class fkc ON fkc.oid = con.conrelid
        JOIN pg_namespace pkn ON pkn.oid = pkc.relnamespace WHERE con.contype = 'f' AND pkn.nspname = 'hr'""",
    "indexes": """
        SELECT ct.relname, ci.relname, pg_get_indexdef(i.indexrelid), i.indisunique, am.amname
        FROM pg_class ct JOIN pg_index i ON ct.oid = i.indrelid JOIN pg_class ci ON ci.oid = i.indexrelid
        JOIN pg_am am ON am.oid = ci.relam JOIN pg_namespace n ON n.oid = ct.relnamespace WHERE n.nspname = 'hr'""",
    "rights": """
        SELECT c.relname, c.relacl, has_table_privilege(c.oid, 'SELECT') FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'hr' AND c.relkind = 'r'""",
    "types": "SELECT typinput = 'array_in'::regproc, typtype, typname FROM pg_type WHERE typname = 'mood'",
    "enums": "SELECT enumlabel FROM pg_enum e JOIN pg_type t ON t.oid = e.enumtypid WHERE typname = 'mood' ORDER BY 1",
    "routines": """
        SELECT p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), obj_description(p.oid)
        FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname = 'discreet' AND p.proname = 'query'""",
    "view definitions": "SELECT viewname, definition FROM pg_views WHERE schemaname = 'discreet'",
    "information schema: tables": "SELECT table_schema, table_name, table_type FROM information_schema.tables",
    "information schema: columns": "SELECT table_name, column_name, data_type FROM information_schema.columns",
    "information schema: routines": "SELECT routine_schema, routine_name FROM information_schema.routines",
    "information schema: schemata": "SELECT schema_name FROM information_schema.schemata",
    "information schema: enabled roles": "SELECT role_name FROM information_schema.enabled_roles",
    "settings": "SELECT name, setting FROM pg_settings WHERE name IN ('server_version', 'discreet.epsilon')",
    "sessions": "SELECT pid, usename FROM pg_stat_activity WHERE usename = current_user",
    "sizes": "SELECT schemaname, tablename, hasindexes FROM pg_tables WHERE schemaname = 'hr'",
    "type of an expression": "SELECT pg_typeof(x.id)::text FROM (SELECT NULL::int AS id) x",
    "the tables that are protected": "SELECT relation::text, dataset, unit FROM discreet.protected_tables",
    "what is left": "SELECT dataset, epsilon_left FROM discreet.budget_status",
}  # fmt: skip
WHERE_IT_IS = (
    "SELECT current_database(), current_schema(), current_user, session_user, version()",
    "SHOW search_path",
    "SHOW transaction_isolation",
    "SELECT 'hr.person'::regclass, to_regclass('hr.person'), 'hr.person'::regclass::oid::regclass",
    "SELECT col_description('hr.person'::regclass, 1), format_type(atttypid, atttypmod) FROM pg_attribute"
    " WHERE attrelid = 'hr.person'::regclass AND attnum = 6",
    "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'hr.visit'::regclass",
    "SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = 'hr.person'::regclass",
)


@pytest.mark.parametrize("query", [*BROWSING.values(), *WHERE_IT_IS], ids=[*BROWSING, *WHERE_IT_IS])
def test_the_catalog_answers_and_nothing_is_asked(office: Office, nora: psycopg.Connection[Any], query: str) -> None:
    rows = nora.execute(query, binary=False).fetchall()
    assert rows
    assert nora.execute(query, prepare=True).fetchall()
    assert office.spent() == 0
    assert office.truth("SELECT count(*) FROM discreet._refusal") == [(0,)]


@pytest.mark.parametrize("name", ["tables", "columns", "primary keys", "foreign keys", "indexes", "enums"])
def test_analysts_see_the_same_catalog_as_superusers(office: Office, nora: psycopg.Connection[Any], name: str) -> None:
    assert nora.execute(BROWSING[name]).fetchall() == office.truth(BROWSING[name])


def test_the_information_schema_lists_what_the_analyst_owns_or_may_ask_about(
    office: Office, nora: psycopg.Connection[Any]
) -> None:
    nora.execute(f"CREATE TABLE {ANALYST}.own (a int)")
    listed = nora.execute("SELECT table_schema, table_name FROM information_schema.tables").fetchall()
    assert (ANALYST, "own") in listed
    assert ("hr", "person") in listed


def test_an_empty_select_of_a_tool_that_wants_column_types(office: Office, nora: psycopg.Connection[Any]) -> None:
    """SELECT * … WHERE false is how some tools learn of columns: free of charge."""
    wire = nora.pgconn
    wire.prepare(b"look", b"SELECT * FROM hr.person WHERE false")
    described = wire.describe_prepared(b"look")
    names = [(described.fname(n) or b"").decode() for n in range(described.nfields)]
    columns = "SELECT attname FROM pg_attribute WHERE attrelid = 'hr.person'::regclass AND attnum > 0 ORDER BY attnum"
    assert names == [name for (name,) in office.truth(columns)]
    asked = nora.execute("SELECT * FROM hr.person WHERE false")
    assert [column.name for column in asked.description or ()] == names
    assert asked.fetchall() == []
