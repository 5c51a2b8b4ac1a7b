"""Attempts to reach the ledger: its connection, its functions, its role, its settings, its tables."""

import psycopg
import pytest
from tests.attacks.target import ASK, PRICE, Target
from tests.databases import Connection

DENIED = [
    # functions of the ledger
    "SELECT discreet._ledger('ping', '{}')",
    "SELECT discreet._ledger_ping('{}')",
    "SELECT discreet._ledger_charge_aggregates('{}')",
    "SELECT discreet._charge('people', 'eve', 0.1, 0.1, 0, '', '{}')",
    "SELECT discreet._refuse('eve', 'DP001', '', '', '')",
    "SELECT discreet._release('dp_count', ARRAY['100', 'pure', 'unbounded', 'false', '1'])",
    "SELECT discreet._roles_of('mallory')",
    "SELECT * FROM discreet.verify_log()",
    # its role and its settings
    "SET ROLE discreet_ledger",
    "SET SESSION AUTHORIZATION discreet_ledger",
    "GRANT discreet_ledger TO mallory",
    "ALTER ROLE discreet_ledger LOGIN",
    "SET discreet.ledger = 'host=/tmp'",
    "SELECT set_config('discreet.ledger', 'host=/tmp', false)",
    "SHOW discreet.ledger",
    "SELECT current_setting('discreet.ledger')",
    "ALTER ROLE mallory SET discreet.ledger = 'host=/tmp'",
    "ALTER SYSTEM SET discreet.ledger = 'host=/tmp'",
    # its tables
    "SELECT * FROM discreet._charge",
    "SELECT * FROM discreet._budget",
    "SELECT * FROM discreet._refusal",
    "UPDATE discreet._budget SET amount_spent = 0",
    "UPDATE discreet.budget_status SET epsilon_spent = 0",
    "DELETE FROM discreet._charge",
    "DELETE FROM discreet.charges",
    "INSERT INTO discreet._charge DEFAULT VALUES",
    "TRUNCATE discreet._charge",
    "LOCK discreet._budget IN ACCESS EXCLUSIVE MODE",
    "LOCK discreet.budget_status IN ACCESS EXCLUSIVE MODE",
    "LOCK discreet.charges IN ROW EXCLUSIVE MODE",
    "SELECT * FROM discreet.charges FOR UPDATE",
    "COPY discreet._charge TO STDOUT",
    "CREATE TRIGGER refund AFTER INSERT ON discreet._charge EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "ALTER TABLE discreet._budget DISABLE TRIGGER ALL",
    "CREATE RULE refund AS ON INSERT TO discreet._charge DO INSTEAD NOTHING",
    # its code
    "CREATE FUNCTION extra.f(name, jsonb) RETURNS jsonb LANGUAGE c AS '$libdir/discreet', 'discreet_ledger'",
    "CREATE FUNCTION extra.f() RETURNS int LANGUAGE discreet_python AS 'return 1'",
    "CREATE FUNCTION extra.f() RETURNS int LANGUAGE plpython3u AS 'return 1'",
    "CREATE OR REPLACE FUNCTION discreet._release(kind text, totals text[]) RETURNS text LANGUAGE sql AS 'SELECT 1'",
    "CREATE FUNCTION discreet.dp_free() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE AGGREGATE extra.free(*) (SFUNC = pg_catalog.int8inc, STYPE = bigint, INITCOND = 0,"
    " FINALFUNC = discreet._count_final)",
    "CREATE AGGREGATE extra.free(int, int, int) (SFUNC = discreet._sum_transition, STYPE = internal)",
    "ALTER EXTENSION discreet UPDATE",
    "DROP EXTENSION discreet",
    "LOAD 'discreet_other'",
    "SET session_replication_role = replica",
    "SET session_preload_libraries = ''",
]


@pytest.mark.parametrize("statement", DENIED, ids=[statement[:60] for statement in DENIED])
def test_attempt_is_denied(target: Target, mallory: Connection, statement: str) -> None:
    if not statement.startswith("ALTER SYSTEM"):
        mallory.execute("BEGIN")
    with target.free(), pytest.raises(psycopg.Error) as caught:
        mallory.execute(statement)
    # insufficient privilege; a view that cannot be written; an aggregate only for superusers; a setting of the server
    assert caught.value.sqlstate in ("42501", "55000", "42P13", "55P02"), caught.value


def test_ledger_role_cannot_log_in(target: Target) -> None:
    with pytest.raises(psycopg.OperationalError, match="not permitted to log in"):
        target.connect("discreet_ledger", new=True)


def test_ledger_connection_is_the_ledger_role_and_waits_for_the_disk(target: Target) -> None:
    pinged = target.value("SELECT discreet._ledger('ping', '{\"n\": 1}')")
    assert pinged == {
        "role": "discreet_ledger", "synchronous_commit": "on", "read_only": False, "echo": {"n": 1},
    }  # fmt: skip


def test_ledger_role_may_do_nothing_but_ledger_functions(target: Target) -> None:
    allowed = target.admin.execute(
        "SELECT proname FROM pg_proc WHERE pronamespace = 'discreet'::regnamespace"
        " AND has_function_privilege('discreet_ledger', oid, 'EXECUTE') AND NOT proname LIKE '\\_ledger\\_%'"
        " AND NOT has_function_privilege('public', oid, 'EXECUTE')"  # pure functions of the run step
    ).fetchall()
    readable = target.admin.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'discreet'::regnamespace AND relkind IN ('r', 'v')"
        " AND has_table_privilege('discreet_ledger', oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')"
    ).fetchall()
    assert (allowed, readable) == ([], [])


@pytest.mark.parametrize("name", ["discreet ledger", "discreet", "ledger", "discreet_ledger", "unnamed"])
def test_dblink_knows_no_connection_of_the_ledger(target: Target, name: str) -> None:
    """A named dblink connection is there for every role of the session: whoever holds one has lost it."""
    target.admin.execute("CREATE EXTENSION IF NOT EXISTS dblink SCHEMA public")
    mallory = target.connect()
    mallory.execute(ASK)
    assert mallory.execute("SELECT public.dblink_get_connections()").fetchone() == (None,)
    for statement in (
        f"SELECT public.dblink_exec('{name}', 'BEGIN')",
        f"SELECT * FROM public.dblink('{name}', 'SELECT 1') t(n int)",
        f"SELECT public.dblink_send_query('{name}', 'SELECT 1')",
    ):
        with pytest.raises(psycopg.Error):
            mallory.execute(statement)
    with pytest.raises(psycopg.Error):
        mallory.execute(
            "SELECT public.dblink_connect(%s, %s)", ["own", f"{target.database.dsn()} user=discreet_ledger"]
        )
    with target.costs(PRICE):
        mallory.execute(ASK)


def test_naive_dblink_ledger_is_hijacked(target: Target) -> None:
    """A definer function that keeps a named dblink connection gives its owner's rights to everybody."""
    target.admin.execute("CREATE EXTENSION IF NOT EXISTS dblink SCHEMA public")
    target.admin.execute(
        "CREATE FUNCTION extra.connect() RETURNS text LANGUAGE sql SECURITY DEFINER AS"
        f" $$SELECT public.dblink_connect('ledger', '{target.database.dsn()}')$$"
    )
    target.admin.execute("GRANT EXECUTE ON FUNCTION extra.connect() TO mallory")
    mallory = target.connect(new=True)
    mallory.execute("SELECT extra.connect()")
    assert mallory.execute("SELECT * FROM public.dblink('ledger', 'SELECT current_user') t(u text)").fetchone() == (
        "postgres",
    )


@pytest.mark.parametrize("signal", ["pg_cancel_backend", "pg_terminate_backend"])
def test_no_analyst_can_interrupt_a_ledger(target: Target, mallory: Connection, signal: str) -> None:
    mallory.execute(ASK)
    ledgers = mallory.execute(
        "SELECT pid, query FROM pg_stat_activity WHERE application_name = 'discreet ledger'"
    ).fetchall()
    assert ledgers
    for pid, query in ledgers:
        assert query == "<insufficient privilege>"
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            mallory.execute(f"SELECT {signal}(%s)", [pid])


def test_objects_that_shadow_the_ledger_are_not_used(target: Target, mallory: Connection) -> None:
    for statement in (
        "CREATE TEMP TABLE _charge (LIKE discreet.charges)",
        "CREATE TEMP TABLE _budget (dataset text)",
        "CREATE FUNCTION pg_temp._ledger_charge_aggregates(jsonb) RETURNS jsonb LANGUAGE sql AS $$SELECT jsonb '{}'$$",
        "CREATE FUNCTION extra._release(text, text[]) RETURNS text LANGUAGE sql AS $$SELECT '0'$$",
        "CREATE FUNCTION extra.sha256(bytea) RETURNS bytea LANGUAGE sql AS $$SELECT bytea ''$$",
        "SET search_path = pg_temp, extra, discreet, pg_catalog",
    ):
        mallory.execute(statement)
    with target.costs(PRICE):
        (answer,) = mallory.execute(ASK).fetchone() or (None,)
    assert answer != 0


def test_settings_of_the_session_do_not_reach_the_ledger(target: Target, mallory: Connection) -> None:
    for setting in (
        "synchronous_commit = off", "lock_timeout = 1", "search_path = ''", "default_transaction_read_only = on",
        "DateStyle = 'German'", "TimeZone = 'Asia/Tokyo'", "extra_float_digits = -15", "row_security = off",
        "check_function_bodies = off", "client_min_messages = error",
        "bytea_output = escape", "IntervalStyle = iso_8601", "statement_timeout = 60000", "work_mem = 64",
    ):  # fmt: skip
        mallory.execute(f"SET {setting}")
    with target.costs(PRICE):
        mallory.execute(ASK)
    target.check()


def test_own_charges_and_refusals_are_all_that_is_seen(target: Target, mallory: Connection) -> None:
    eve = target.connect("eve")
    eve.execute(ASK)
    mallory.execute(ASK)
    assert mallory.execute("SELECT DISTINCT role FROM discreet.charges").fetchall() == [("mallory",)]
    assert mallory.execute("SELECT * FROM discreet.refusals").fetchall() == []
