"""Every function that users may call ends, or is ended by a cancel, whatever it is given; and its memory has a bound.

A new function needs an entry here: calls with the largest arguments that it takes, or why its arguments have no size.
"""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path

import psycopg
import pytest
from tests.databases import Connection, Database, MakeRole

GROUPS = ["discreet_analyst", "discreet_curator", "discreet_auditor", "discreet_trusted"]
# milliseconds after which a call is cancelled, and seconds after which a backend that goes on is taken for stuck
LONGEST, STUCK = 700, 90
# bytes that a backend has had at any moment: shared buffers, libraries and all
MOST_MEMORY = 2 * 2**30
GATE_WORKERS = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'discreet gate' AND datname = current_database()"
# bounds of extension/python_limits.c
MOST_BYTES, MOST_ELEMENTS = 4 * 2**20, 100_000

CALLABLE = """
    SELECT p.proname, p.oid::regprocedure::text, l.lanname = 'discreet_python' AS python,
           p.prorettype = 'record'::regtype AND p.proretset AND p.proallargtypes IS NULL AS unnamed,
           ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY a(t, n) ORDER BY n)
    FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
    WHERE p.pronamespace = 'discreet'::regnamespace
      AND (has_function_privilege(%(anybody)s, p.oid, 'EXECUTE')
           OR EXISTS (SELECT FROM unnest(%(groups)s::text[]) g WHERE has_function_privilege(g, p.oid, 'EXECUTE')))
    ORDER BY 2
"""

TABLES = """
    CREATE TABLE public.big AS
    SELECT n AS id, n % 30000 AS v, n % 7 AS g, (n % 5000)::text AS t, n * 7919 % 100003 / 7.0::float8 AS x,
           n % 11 AS w, n % 13 AS y, n % 17 AS z, n % 3 AS s
    FROM generate_series(1, 200000) n;
    ALTER TABLE public.big ADD PRIMARY KEY (id);
    CREATE TABLE public.cell AS
    SELECT 'a' || a AS a, 'b' || b AS b, 1 + a * b % 50 AS n FROM generate_series(1, 400) a, generate_series(1, 400) b;
    CREATE TABLE public.published AS
    SELECT coalesce('a' || a, 'Total') AS a, coalesce('b' || b, 'Total') AS b,
           CASE WHEN a IS NULL OR b IS NULL OR a % 2 = 1 THEN count(*) END AS n
    FROM generate_series(1, 150) a, generate_series(1, 150) b GROUP BY CUBE (a, b);
    CREATE TABLE public.wide AS SELECT 'w' || n AS w, 1 AS n FROM generate_series(1, 20000) n;
    CREATE TABLE public.ruled (a int, b int);
    ANALYZE;
    SELECT discreet.create_dataset('people', 1000, 1e-3), discreet.protect('public.big', 'id', 'people');
    SELECT discreet.describe_column('public.big', 'x', 0, 20000), discreet.describe_column('public.big', 'v', 0, 30000);
    SELECT discreet.create_dataset('default', 1000);
"""

# an expression that is long, one that is deep, and one of many columns
QUESTIONS = {
    "long": "SELECT count(*) FROM public.big WHERE v IN (" + ", ".join(map(str, range(1000))) + ")",
    "deep": "SELECT count(*) FROM public.big WHERE " + "NOT " * 4900 + "v = 1",
    "summed": "SELECT sum(" + "v + " * 4900 + "v) FROM public.big",
    "wide": "SELECT " + ", ".join(f"sum(v + {n})" for n in range(1200)) + " FROM public.big",
    "grouped": "SELECT v, t, count(*), max(x) FROM public.big GROUP BY CUBE (v, t)",
    "joined": "SELECT count(*) FROM " + ", ".join(f"public.big b{n}" for n in range(90)),
}
NO_SIZE = "numbers and names of fixed size"
NATIVE = "an expression of PostgreSQL's own functions, which it writes into the query"
OF_ONE_OBJECT = "names one object; what it reads of it PostgreSQL reads"
CONSTANT = "takes nothing"
TRIGGER = "a trigger function, of one row"
LABEL = "SELECT discreet.{}(repeat('x', 100000000))"
ROWS = "SELECT discreet.{} FROM public.big"


def asked(call: str) -> list[str]:
    return [call.format(f"$${question}$$") for question in QUESTIONS.values()]


DOMAIN = "(SELECT array_agg(n::text) FROM generate_series(1, 65536) n)"
TREE = (
    "(SELECT jsonb_build_object('All', jsonb_object_agg('g' || g, l)) FROM"
    " (SELECT n % 50 AS g, jsonb_agg(n::text) AS l FROM generate_series(0, 4999) n GROUP BY 1) t)"
)

# why there is nothing to make large, or calls; those of the gate are an analyst's
ENTRIES: dict[str, str | list[str]] = {
    # arithmetic
    "compose_sequential": [
        "SELECT discreet.compose_sequential(array_fill(0.1::numeric, ARRAY[100000]))",
        "SELECT discreet.compose_sequential(array_fill(('0.' || repeat('7', 16000))::numeric, ARRAY[400]))",
        "SELECT discreet.compose_sequential((SELECT array_agg(1 + (10.0 ^ -(n % 300))::numeric / 7)"
        " FROM generate_series(1, 20000) n))",
    ],
    "compose_parallel": ["SELECT discreet.compose_parallel(array_fill(0.1::numeric, ARRAY[100000]))"],
    "group_epsilon": ["SELECT discreet.group_epsilon(('0.' || repeat('7', 16000))::numeric, 2147483647)"],
    "gaussian_rho": ["SELECT discreet.gaussian_rho(('0.' || repeat('7', 16000))::numeric, 1e-30)"],
    "zcdp_epsilon": ["SELECT discreet.zcdp_epsilon(('9999.' || repeat('7', 16000))::numeric, 1e-30)"],
    "laplace_scale": ["SELECT discreet.laplace_scale(repeat('7', 400)::numeric, ('0.' || repeat('7', 9000))::numeric)"],
    "sensitivity": [
        "SELECT discreet.sensitivity('variance', ('0.' || repeat('7', 16000))::numeric, repeat('7', 400)::numeric,"
        " 9223372036854775807)"
    ],
    "_zcdp_epsilon_spent": ["SELECT discreet._zcdp_epsilon_spent(('0.' || repeat('7', 16000))::numeric, 1e-30)"],
    # randomised responses
    "rr": [f"SELECT discreet.rr('1', {DOMAIN}, 1)",
           "SELECT count(discreet.rr('a', ARRAY['a', n::text], 1)) FROM generate_series(1, 3000000) n"],
    "rr_bits": [f"SELECT discreet.rr_bits('1', {DOMAIN}, 1)"],
    "cms_encode": ["SELECT discreet.cms_encode(repeat('x', 100000000), 1, 4096, 32768)"],
    "rr_estimate": [ROWS.format("rr_estimate(v > 7, 1)")],
    "rr_stderr": [ROWS.format("rr_stderr(v > 7, 1)")],
    "rr_frequencies": [f"SELECT discreet.rr_frequencies((n % 65536 + 1)::text, {DOMAIN}, 1)"
                       " FROM generate_series(1, 100000) n"],
    "rr_bits_frequencies": [
        f"SELECT discreet.rr_bits_frequencies(b, d, 1) FROM (SELECT discreet.rr_bits('1', {DOMAIN}, 1) AS b,"
        f" {DOMAIN} AS d FROM generate_series(1, 300)) t"
    ],
    "cms_estimate": [
        f"SELECT discreet.cms_estimate(discreet.cms_encode(n::text, 1, 4096, 32768), {DOMAIN}, 1)"
        " FROM generate_series(1, 100000) n"
    ],
    "rr_epsilon": NO_SIZE,
    "mechanism_epsilon": [
        "SELECT discreet.mechanism_epsilon(array_fill(0.00002::float8, ARRAY[2, 50000]))",
        "SELECT discreet.mechanism_epsilon((SELECT array_agg(ARRAY[p, 1 - p])"
        " FROM (SELECT random() / 1e200 AS p FROM generate_series(1, 50000)) t))",
    ],
    "rr_column": OF_ONE_OBJECT,
    "_respond": TRIGGER,
    # asking
    "query": asked("SELECT * FROM discreet.query({}) AS t(n bigint)"),
    "query_json": [*asked("SELECT discreet.query_json({})"),
                   "SELECT discreet.query_json('SELECT count(*) FROM public.big WHERE t = $1', 1,"
                   " array_fill(repeat('x', 30), ARRAY[100000]))"],
    "ask": asked("SELECT discreet.ask({})"),
    "explain": asked("SELECT discreet.explain({})"),
    "lint": asked("SELECT discreet.lint({})"),
    "_answer_columns": asked("SELECT discreet._answer_columns({})"),
    "create_view": asked("SELECT discreet.create_view('pg_temp.v', {})"),
    "suggest_bounds": [
        "SELECT discreet.suggest_bounds('public.big', 'x', 1)",
        "SELECT * FROM discreet.suggest_bounds('public.big', 1)",
    ],
    "suggest_rows": ["SELECT discreet.suggest_rows('public.big', 'id', 'people', 1)"],
    "explain_text": asked("SELECT discreet.explain_text({})"),
    "_last_answer": CONSTANT,
    "synthesis_report": ["SELECT discreet.synthesis_report((SELECT jsonb_object_agg(n, repeat('x', 100))"
                         " FROM generate_series(1, 300000) n))"],
    "synthesize": ["SELECT discreet.synthesize('public.big', 'big_copy', 1, rows => 20000000)"],
    "_parameter": NATIVE,
    "_clock": NO_SIZE,
    "_as_of": CONSTANT,
    "round_time": NO_SIZE,
    "bucket": NATIVE,
    **{
        f"dp_{name}": [ROWS.format(f"dp_{name}({arguments}, 0.5)"), ROWS.format(f"dp_{name}({arguments})")]
        for name, arguments in {
            "count": "v", "count_distinct": "v", "sum": "v, 0, 30000", "avg": "v, 0, 30000", "variance": "v, 0, 30000",
            "stddev": "v, 0, 30000", "median": "v, 0, 30000", "quantile": "v, 0.3, 0, 30000",
        }.items()
    },
    # declarations of curators
    "create_dataset": ["SELECT discreet.create_dataset(repeat('x', 4000000), ('0.' || repeat('7', 16000))::numeric)"],
    "protect": OF_ONE_OBJECT,
    "alter_protection": OF_ONE_OBJECT,
    "_unit_text": OF_ONE_OBJECT,
    # sealed columns
    "create_key": ["SELECT discreet.create_key('k', convert_to(repeat('x', 100000000), 'UTF8'))"],
    "open_key": ["SELECT discreet.open_key('k', convert_to(repeat('x', 100000000), 'UTF8'))"],
    "close_key": OF_ONE_OBJECT,
    "rotate_key": ["SELECT discreet.rotate_key('k', convert_to(repeat('x', 100000000), 'UTF8'), '\\x00')"],
    "grant_key": OF_ONE_OBJECT,
    "revoke_key": OF_ONE_OBJECT,
    "seal_column": OF_ONE_OBJECT,
    "unseal_column": OF_ONE_OBJECT,
    "renew_column_key": OF_ONE_OBJECT,
    "reseal_column": OF_ONE_OBJECT,
    "_asks": ["SELECT discreet._asks('public.big'::regclass, repeat(' ', 100000000), repeat('x', 100000000))"],
    "_seal": "seals one value, under a key that is open",
    "_unseal": "unseals one value, under a key that is open",
    "_seal_search": "seals one value, under a key that is open",
    "_seal_search_many": "seals the values of one array, under a key that is open",
    "_is_unsealed": NO_SIZE,
    "_sealed_row": CONSTANT,
    "_sealed_version": NO_SIZE,
    "_sealed_insert": TRIGGER,
    "describe_column": ["SELECT discreet.describe_column('public.big', 't', categories =>"
                        " (SELECT array_agg(n::text) FROM generate_series(1, 100000) n))"],
    "unprotect": OF_ONE_OBJECT,
    "grant_budget": OF_ONE_OBJECT,
    "revoke_budget": OF_ONE_OBJECT,
    "reserve_budget": OF_ONE_OBJECT,
    "release_budget": OF_ONE_OBJECT,
    "exempt_view": OF_ONE_OBJECT,
    "set_personal_budget": OF_ONE_OBJECT,
    "personal_status": OF_ONE_OBJECT,
    "audit_known": OF_ONE_OBJECT,
    "audit_reset": OF_ONE_OBJECT,
    "audit_state": OF_ONE_OBJECT,
    "report": CONSTANT,
    "version": CONSTANT,
    "check_installation": CONSTANT,
    "selftest": CONSTANT,
    "verify_log": CONSTANT,
    "_sees_all": CONSTANT,
    "_direct_readers": OF_ONE_OBJECT,
    "_relation_family": OF_ONE_OBJECT,
    "_sealed_twin": OF_ONE_OBJECT,
    "_ciphertext_of": OF_ONE_OBJECT,
    "_closed_key": OF_ONE_OBJECT,
    "propose": OF_ONE_OBJECT,
    "adopt": OF_ONE_OBJECT,
    "_askable_tables": CONSTANT,
    "_askable_columns": CONSTANT,
    "_catalog": CONSTANT,
    "_period_begin": NO_SIZE,
    "_period_name": NO_SIZE,
    "_periods_of": ["SELECT discreet._periods_of(jsonb_build_object('periods',"
                    " (SELECT jsonb_agg('2026-01-01'::date + n) FROM generate_series(1, 1000000) n)))"],
    "_refuse_other_period": TRIGGER,
    "add_rule": ["SELECT discreet.add_rule('public.ruled', 'r', repeat('NEW.a > 0 AND ', 700) || 'NEW.a > 0')",
                 "SELECT discreet.add_rule('public.ruled', 'r', repeat('NOT ', 2400) || 'NEW.a > 0')"],
    "add_limit": ["SELECT discreet.add_limit('public.ruled', 'l', repeat('a > 0 AND ', 900) || 'a > 0', 5)"],
    "drop_rule": OF_ONE_OBJECT,
    "_refuse_row": TRIGGER,
    "_keep_limit": TRIGGER,
    # multilevel tables
    "mls_define": ["SELECT discreet.mls_define((SELECT array_agg('l' || n) FROM generate_series(1, 16) n),"
                   " (SELECT array_agg('c' || n) FROM generate_series(1, 47) n))",
                   "SELECT discreet.mls_define(ARRAY['U'], '{}',"
                   " (SELECT jsonb_agg('g' || n) FROM generate_series(1, 300000) n))",
                   "SELECT discreet.mls_define(ARRAY['U'], '{}', (repeat('[', 5000) || repeat(']', 5000))::jsonb)"],
    "mls_clear": OF_ONE_OBJECT,
    "mls_table": OF_ONE_OBJECT,
    "mls_rule": OF_ONE_OBJECT,
    "mls_relabel": OF_ONE_OBJECT,
    "mls_reference": OF_ONE_OBJECT,
    "mls_drop": OF_ONE_OBJECT,
    "mls_plain": OF_ONE_OBJECT,
    "mls_declassify": OF_ONE_OBJECT,
    "mls_purge": OF_ONE_OBJECT,
    "mls_uplevel": OF_ONE_OBJECT,
    "mls_report": OF_ONE_OBJECT,
    "mls_history": OF_ONE_OBJECT,
    "mls_keep_history": OF_ONE_OBJECT,
    "mls_import": ["SELECT discreet.mls_import(repeat('l1&', 33000000) || 'l1', 'accumulo')",
                   "SELECT discreet.mls_import(repeat('l1&', 1360) || 'l1', 'accumulo') FROM generate_series(1, 2000)",
                   "SELECT discreet.mls_import(repeat('(', 4096), 'accumulo') FROM generate_series(1, 2000)"],
    "mls_export": ["SELECT discreet.mls_export(repeat('x', 100000000), 'oracle')"],
    "mls_upsert": OF_ONE_OBJECT,
    "_multilevel_description": OF_ONE_OBJECT,
    "_is_single": OF_ONE_OBJECT,
    "_is_version": OF_ONE_OBJECT,
    "_is_trusted": CONSTANT,
    "_session_label": CONSTANT,
    "_random_id": CONSTANT,
    "_visible": NO_SIZE,
    "_written_label": "compares texts",
    "_label": ["SELECT count(discreet._label(n % 4 << 14)) FROM generate_series(0, 3000000::bigint) n"],
    "_label_bits": [LABEL.format("_label_bits"),
                    "SELECT discreet._label_bits('l1:c1' || repeat(',c1', 100000000))"],
    "_sees": [LABEL.format("_sees")],
    # the run step
    "_text": ["SELECT discreet._text(repeat('x', 100000000))"],
    "_cut": ["SELECT discreet._cut(repeat('x', 100000000), 2147483647)"],
    "_on_grid": ["SELECT discreet._on_grid(repeat('7', 130000)::numeric, 0, -100, 100)"],
    "_padded": ["SELECT discreet._padded(repeat('x', 10000000)::character(10000000), 2147483647)"],
    "_floating": NO_SIZE,
    "_seconds": NO_SIZE,
    "_date": NO_SIZE,
    "_double": ["SELECT discreet._double(repeat('7', 130000)::numeric)"],
    "_real": ["SELECT discreet._real(repeat('7', 130000)::numeric)"],
    "_keep_trigger": OF_ONE_OBJECT,
    "_forget_trigger": OF_ONE_OBJECT,
    "_clamped": ["SELECT discreet._clamped(9223372036854775807, 0, 100)"],
    "_joined": ["SELECT discreet._joined(t, t) FROM public.big"],
    "_bin": ["SELECT discreet._bin(repeat('7', 130000)::numeric, 0, 1, 2147483647)"],
    "_log_bin": ["SELECT discreet._log_bin(repeat('7', 130000)::numeric, -2147483647, 2147483647, 2147483647)"],
    "_synthesis_code": ["SELECT count(discreet._synthesis_code(t, (SELECT array_agg(n::text) FROM"
                        " generate_series(1, 100000) n))) FROM public.big"],
    "_synthesis_count": ["SELECT discreet._synthesis_count(ARRAY[1, 4000000, 1, 0], v) FROM public.big"],
    "_people": ["SELECT discreet._people(id, 1::bigint, 1, 1, 1::bigint, '', v) FROM public.big"],
    "_people_alone": ["SELECT discreet._people_alone(id, 1::bigint, 1, 1, 1::bigint, '', v) FROM public.big"],
    "_personal_count": ["SELECT discreet._personal_count(id, true) FROM public.big"],
    "_personal_paid": ["SELECT discreet._personal_paid(repeat('x', 100000000))"],
    "_person": ["SELECT discreet._person(repeat('x', 100000000), 0::oid, '0'::xid, '(0,0)'::tid, 1)"],
    "_query_set": ["SELECT length(discreet._query_set(gen_random_uuid())::text) FROM generate_series(1, 3000000)"],
    # microdata
    "top_code": NATIVE,
    "bottom_code": NATIVE,
    "mask": ["SELECT length(discreet.mask(repeat('x', 100000), 1, 1, repeat('y', 100)))"],
    "add_noise": ["SELECT discreet.add_noise(repeat('7', 300)::numeric, 1)"],
    "pseudonym": ["SELECT discreet.pseudonym(repeat('x', 100000000), 'secret')"],
    "record_key": ["SELECT discreet.record_key(repeat('x', 100000000), 'secret')"],
    "cell_key": [ROWS.format("cell_key(id)")],
    "random_round": NO_SIZE,
    "perturb": ["SELECT discreet.perturb(1, 4294967295, jsonb_build_object('rows', jsonb_build_array("
                "(SELECT jsonb_agg(jsonb_build_array(0, 0)) FROM generate_series(1, 100000)))))"],
    "_low_bits": NO_SIZE,
    "_not_a_base": NO_SIZE,
    "ptable": ["SELECT discreet.ptable(30, 100, 100)"],
    "microaggregate": ["SELECT discreet.microaggregate('public.big', '{x,v}', 3, 'public.r')"],
    "swap": ["SELECT discreet.swap('public.big', '{v}', '{g}', '{t}', 'public.r')"],
    "suppress": ["SELECT discreet.suppress('public.cell', '{a,b}', 'n', 3, 'public.r', counts => true)",
                 "SELECT discreet.suppress('public.wide', '{w}', 'n', 3, 'public.r', counts => true)"],
    "audit_cells": ["SELECT discreet.audit_cells('public.published', '{a,b}', 'n')"],
    "controlled_round": ["SELECT discreet.controlled_round('public.cell', '{a,b}', 'n', 5, 'public.r', 'secret',"
                         " seconds => 1)"],
    "create_secret": OF_ONE_OBJECT,
    "rotate_secret": OF_ONE_OBJECT,
    "drop_secret": OF_ONE_OBJECT,
    "grant_secret": OF_ONE_OBJECT,
    "revoke_secret": OF_ONE_OBJECT,
    # measuring and publishing
    "k_anonymity": [f"SELECT discreet.k_anonymity('public.big', '{{v,t,g}}', '{nulls}', 'id')"
                    for nulls in ("own", "wildcard", "conservative")],
    "l_diversity": ["SELECT discreet.l_diversity('public.big', '{v}', 't')",
                    "SELECT discreet.l_diversity('public.big', '{v,g}', '{t,x}'::text[], 'entropy', unit => 'id')"],
    "t_closeness": ["SELECT discreet.t_closeness('public.big', '{v}', '{x,t}'::text[], 'ordered')",
                    f"SELECT discreet.t_closeness('public.big', '{{v}}', 't', 'hierarchical', {TREE})"],
    "measure": ["SELECT discreet.measure('public.big', '{v,g}', '{t,x,id}')"],
    "disclosure_risk": ["SELECT discreet.disclosure_risk('public.big', '{v,g,t,x,w,y,z,s}', 10000000, 'id')",
                        "SELECT discreet.disclosure_risk('public.big', '{v,g,t,x,w,y,z,s}', nulls => 'wildcard')"],
    "best_ranges": ["SELECT discreet.best_ranges('public.big', 'v', 20)",
                    "SELECT discreet.best_ranges('public.big', 'v', 600)"],
    "anonymize": ["SELECT discreet.anonymize('public.big', 'public.r',"
                  " '{\"v\": {}, \"t\": {}, \"x\": {}, \"w\": {}}', 5)",
                  "SELECT discreet.anonymize('public.big', 'public.r', '{\"v\": {}, \"t\": {}, \"x\": {}}', 5,"
                  " method => 'mondrian')"],
    "create_release_view": ["SELECT discreet.create_release_view('public.r', 'public.big', '{v,t}', 5)"],
    "forget_release": OF_ONE_OBJECT,
    "release_report": OF_ONE_OBJECT,
    "_remember_release": "what a release tells of itself, of bounded size",
    "_earlier_releases": OF_ONE_OBJECT,
}  # fmt: skip
ASKED = (
    "query",
    "query_json",
    "ask",
    "explain",
    "lint",
    "_answer_columns",
    "create_view",
    "suggest_bounds",
    "explain_text",
    "synthesize",
)
# beyond what they take, though their arguments are small: too many values, cells, steps
REFUSED = [
    "SELECT discreet.best_ranges('public.big', 'v', 29000)",
    "SELECT discreet.suppress('public.big', '{id}', NULL, 3, 'public.r')",
    "SELECT discreet.suppress('public.big', '{v,t}', NULL, 3, 'public.r')",
    "SELECT discreet.suppress('public.wide', '{w}', 'n', 3, 'public.r', counts => true)",
    "SELECT discreet.mechanism_epsilon(array_fill(0.0002::float8, ARRAY[5000, 5000]))",
    "SELECT discreet.compose_sequential(array_fill(0.1::numeric, ARRAY[5000000]))",
]


@pytest.fixture
def functions(admin: Connection, make_role: MakeRole) -> list[tuple[str, str, bool, bool, list[str]]]:
    return admin.execute(CALLABLE, {"anybody": make_role("anybody"), "groups": GROUPS}).fetchall()


@contextmanager
def watched(connection: Connection) -> Iterator[None]:
    """Ends a backend that does not react to its timeout, so that the test fails and does not hang."""
    watch = threading.Timer(STUCK, os.kill, [connection.info.backend_pid, signal.SIGKILL])
    watch.start()
    try:
        yield
    finally:
        watch.cancel()


def state_of(connection: Connection, sql: str) -> str:
    """The SQLSTATE that a statement ends with; nothing of it is kept."""
    with watched(connection):
        connection.execute("BEGIN")
        try:
            connection.execute(sql)
        except psycopg.OperationalError as error:
            if connection.closed:
                pytest.fail(f"the backend did not react to its timeout within {STUCK} seconds: {sql}")
            return str(error.sqlstate)
        except psycopg.Error as error:
            return str(error.sqlstate)
        finally:
            if not connection.closed:
                with suppress(psycopg.errors.QueryCanceled):  # a timeout that came with the end of the statement
                    connection.execute("ROLLBACK")
                connection.execute("ROLLBACK")
    return ""


def peak_memory(process: int) -> int:
    """Bytes that a process has had at any moment; 0 of one that has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return 0 if found is None else int(found[1]) * 1024  # a process that is just ending has no memory


def gate_workers(watcher: Connection) -> list[int]:
    """The processes that think about questions, for which sessions have no Python of their own."""
    return [int(str(pid)) for (pid,) in watcher.execute(GATE_WORKERS).fetchall()]


def test_every_function_that_users_may_call_has_an_entry(
    functions: list[tuple[str, str, bool, bool, list[str]]],
) -> None:
    assert {name for name, *_ in functions} == set(ENTRIES)


SMALL = {
    "text": "'x'", "text[]": "ARRAY['x']", "numeric[]": "ARRAY[1.0]", "double precision[]": "ARRAY[1.0]::float8[]",
    "jsonb": "'{}'::jsonb", "numeric": "1.0", "integer": "1", "bigint": "1::bigint", "double precision": "1.0::float8",
    "boolean": "true", "regclass": "'pg_class'::regclass", "regrole": "'discreet_analyst'::regrole",
    "name": "'x'::name", "interval": "'1 day'::interval", "date": "date '2020-01-01'", "bytea": "'x'::bytea",
    "timestamp with time zone": "timestamptz '2020-01-01'",
}  # fmt: skip
TOO_LARGE = {
    "text": f"repeat('x', {MOST_BYTES})",
    "jsonb": f"to_jsonb(repeat('x', {MOST_BYTES}))",
    "text[]": f"array_fill('x'::text, ARRAY[{MOST_ELEMENTS + 1}])",
    "numeric[]": f"array_fill(1::numeric, ARRAY[{MOST_ELEMENTS + 1}])",
    "double precision[]": f"array_fill(1::float8, ARRAY[{MOST_ELEMENTS + 1}])",
}


def test_an_argument_of_python_beyond_the_bound_is_refused(
    admin: Connection, functions: list[tuple[str, str, bool, bool, list[str]]]
) -> None:
    tried = 0
    for name, signature, python, unnamed, types in functions:
        for place, type_name in enumerate(types):
            if not python or type_name not in TOO_LARGE:
                continue
            given = [SMALL[each] for each in types]
            given[place] = TOO_LARGE[type_name]
            call = f"discreet.{name}({', '.join(given)})"
            sql = f"SELECT * FROM {call} AS t(a int)" if unnamed else f"SELECT {call}"
            assert state_of(admin, sql) == "54000", (signature, place)
            tried += 1
    assert tried > 50


# arguments of functions that look at a relation and its columns before they read a name
BESIDE = SMALL | {
    "regclass": "'public.ruled'::regclass", "regclass[]": "ARRAY['public.ruled'::regclass]", "text[]": "ARRAY['a']",
}  # fmt: skip
# read in quadratic time: a name that is all quotes, and a way whose arrows may stand within quotes
LONG_NAMES = ("repeat('\"', 4000000)", "'\"' || repeat('->', 2000000)")


def test_a_long_name_is_read_in_no_time(
    admin: Connection, functions: list[tuple[str, str, bool, bool, list[str]]]
) -> None:
    """No cancel ends what PostgreSQL does with a name."""
    admin.execute("CREATE TABLE public.ruled (a int, b int)")
    tried = 0
    for name, _, _, unnamed, types in functions:
        for place, long_name in product(range(len(types)), LONG_NAMES):
            if types[place] != "text" or not set(types) <= BESIDE.keys():
                continue
            given = [BESIDE[each] for each in types]
            given[place] = long_name
            call = f"discreet.{name}({', '.join(given)})"
            state_of(admin, f"SELECT * FROM {call} AS t(a int)" if unnamed else f"SELECT {call}")
            tried += 1
    assert tried > 100


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory of a process from /proc")
def test_the_largest_arguments_end_or_are_ended(database: Database, admin: Connection, make_role: MakeRole) -> None:
    analyst = make_role("nora", "discreet_analyst")
    admin.execute(TABLES)
    admin.execute(f"SELECT discreet.grant_budget('people', '{analyst}', 1000, 1e-3)")
    admin.execute("SELECT discreet.create_secret('secret')")
    admin.execute("SELECT discreet.mls_define(ARRAY['l1', 'l2'], ARRAY['c1'])")
    admin.execute("SET work_mem = '64MB'")
    as_analyst, watcher = database.connect(analyst), database.connect()
    ended: dict[str, int] = {}
    in_workers: dict[int, int] = {}
    wrong: list[tuple[str, str]] = []
    for connection in (admin, as_analyst):
        connection.execute(f"SET statement_timeout = {LONGEST}")
    for name, calls in ENTRIES.items():
        connection = as_analyst if name in ASKED else admin
        for sql in calls if isinstance(calls, list) else []:
            state = state_of(connection, sql)
            # ended; cancelled; or refused as what it is: by a limit, or since it is no question
            if state not in ("", "57014", "54000", "54001", "22023") and state[:2] not in ("DP", "42"):
                wrong.append((state, sql[:300]))
            ended[state] = ended.get(state, 0) + 1
            in_workers |= {process: peak_memory(process) for process in gate_workers(watcher)}
            if max(peak_memory(connection.info.backend_pid), *in_workers.values(), 0) > MOST_MEMORY:
                pytest.fail(f"more than {MOST_MEMORY} bytes were needed by {sql[:300]}")
    sessions = [peak_memory(connection.info.backend_pid) for connection in (admin, as_analyst)]
    print(ended, sessions, in_workers)
    assert any(in_workers.values())
    assert wrong == []
    assert {"", "57014", "DP001", "54000"} <= set(ended)
    for sql in REFUSED:
        assert state_of(admin, "SET LOCAL statement_timeout = 0; " + sql) == "54000", sql
    assert peak_memory(admin.info.backend_pid) < MOST_MEMORY
    assert admin.execute("SELECT 1").fetchall() == [(1,)]
