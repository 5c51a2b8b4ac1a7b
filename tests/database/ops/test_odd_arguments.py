"""The functions in C that users may call survive whatever they are given: NULLs, other types, edges of types."""

from __future__ import annotations

from contextlib import suppress

import psycopg
from tests.databases import Connection, Database, MakeRole

GROUPS = "discreet_analyst", "discreet_curator", "discreet_auditor", "discreet_trusted"
IN_C = """
    SELECT p.proname, p.prokind = 'a', p.proargtypes::regtype[]::text[]
    FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
    WHERE p.pronamespace = 'discreet'::regnamespace AND l.lanname IN ('c', 'internal')
      AND has_function_privilege(p.oid, 'EXECUTE')
    ORDER BY p.oid::regprocedure::text
"""
# what is given for an argument while another is odd, and what is odd
ODD = {
    "bigint": ["1", "0", "-1", "9223372036854775807", "-9223372036854775808"],
    "integer": ["1", "0", "-1", "64", "2147483647", "-2147483648"],
    "numeric": ["1.5", "'NaN'", "'-Infinity'", "1e1000", "1e-1000"],
    "double precision": ["1", "-0.0", "'NaN'", "'-Infinity'", "1e308", "5e-324"],
    "boolean": ["true"],
    "text": ["'a'", "''", "'R'", "repeat('x', 1000000)"],
    "name": ["'a'"],
    "character": ["'a'", "''"],
    '"char"': ["'+'", "''", "'a'"],
    "text[]": ["ARRAY['a', 'b']", "'{}'", "ARRAY[NULL, 'a']", "'{{a,b},{c,d}}'", "'[-5:-4]={a,b}'"],
    "integer[]": ["ARRAY[1, 5, 1, 0]", "'{}'", "ARRAY[NULL, 1]", "'{{1,2},{3,4}}'", "array_fill(1, ARRAY[300000])"],
    "bigint[]": ["ARRAY[1, 2]", "'{}'", "ARRAY[NULL, 1]", "'{{1,2},{3,4}}'", "'[-5:-4]={1,2}'"],
    "bytea": ["'\\x00'", "''", "decode(repeat('ff', 32), 'hex')", "decode(repeat('00', 100000), 'hex')"],
    "bit varying": ["B'1'", "B''", "repeat('1', 70000)"],
    "uuid": ["'00000000-0000-0000-0000-000000000000'"],
    "oid": ["'pg_class'::regclass", "0", "4294967295"],
    "xid": ["'0'", "'4294967295'"],
    "tid": ["'(0,0)'", "'(4294967295,65535)'"],
    "interval": ["'1 day'", "'0'", "'-1 month'", "'178000000 years'"],
    "timestamp with time zone": ["'2024-01-01'", "'infinity'", "'-infinity'", "'4713-01-01 BC'", "'294276-12-31'"],
    "jsonb": ["'{}'", "'[]'", "'null'"],
}  # fmt: skip
OF_ANY_TYPE = [
    "1", "'a'::text", "NULL::text", "1.5::numeric", "'NaN'::float8", "ROW(1, 'x')", "'{}'::jsonb", "now()",
    "point(1, 2)", "int4range(1, 5)", "B'101'", "'\\x00'::bytea", "'1 day'::interval", "repeat('x', 200000)",
    "'infinity'::date",
]  # fmt: skip
# polymorphic, by how PostgreSQL writes them
ANY = {
    '"any"': OF_ANY_TYPE,
    "anyelement": OF_ANY_TYPE,
    "anycompatible": ["1", "'NaN'::float8", "NULL::numeric"],
    "anyarray": ["ARRAY[1, 2]", "'{}'::int[]", "ARRAY[NULL, 'a']", "ARRAY[[1, 2], [3, 4]]"],
}


def odd_calls(name: str, aggregate: bool, types: list[str]) -> list[str]:
    """Each argument odd in turn, the others as they should be; and all of them NULL."""
    values = [ANY.get(each) or [f"{value}::{each}" for value in ODD[each]] for each in types]
    nulls = ["NULL::text" if each in ANY and each != "anyarray" else f"NULL::{each}" for each in types]
    nulls = ["NULL::text[]" if each == "NULL::anyarray" else each for each in nulls]
    given = [[each[0] for each in values], nulls]
    for place, each in enumerate(values):
        given += [[*given[0][:place], value, *given[0][place + 1 :]] for value in [*each, nulls[place]]]
    calls = [f"discreet.{name}({', '.join(each)})" for each in given]
    forms = ["SELECT {} FROM generate_series(1, 3) g"]
    if aggregate:
        forms += ["SELECT {} OVER (ORDER BY g) FROM generate_series(1, 3) g", "SELECT {} FROM generate_series(1, 0) g"]
    return [form.format(call) for call in calls for form in forms]


def test_the_server_survives_odd_arguments(database: Database, admin: Connection, make_role: MakeRole) -> None:
    """A crash would end the sessions of everybody. All groups together may call what any of them may."""
    admin.execute("SELECT discreet.mls_define(ARRAY['l1', 'l2'], ARRAY['c1'])")
    asker = database.connect(make_role("odd", *GROUPS))
    asker.execute("SET statement_timeout = '5s'")
    backend = asker.info.backend_pid
    functions = asker.execute(IN_C).fetchall()
    outcomes: set[str | None] = set()
    for name, aggregate, types in functions:
        for call in odd_calls(name, aggregate, types):
            asker.execute("BEGIN")
            try:
                asker.execute(call)
                outcomes.add("")
            except psycopg.Error as error:
                assert not asker.closed, call
                outcomes.add(error.sqlstate)
            with suppress(psycopg.errors.QueryCanceled):
                asker.execute("ROLLBACK")
    assert len(functions) > 60
    assert {"", "XX000", "22023"} <= outcomes
    assert asker.execute("SELECT pg_backend_pid()").fetchall() == [(backend,)]
