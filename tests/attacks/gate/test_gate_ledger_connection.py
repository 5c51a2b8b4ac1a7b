"""Reaching the ledger's own connection from SQL, to charge nothing, store an answer, or read one."""

import psycopg
import pytest
from tests.attacks.gate.asking import FRESH, assert_refused, ending
from tests.attacks.target import PRICE, Target
from tests.databases import Connection

OPERATIONS = ("describe", "recall", "charge_question", "store", "refused")


@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_analyst_calls_the_ledger(gated: Target, blind: Connection, operation: str) -> None:
    for call in (f"discreet._ledger('{operation}', '{{}}')", f"discreet._ledger_{operation}('{{}}')"):
        with gated.free():
            assert ending(lambda call=call: blind.execute(f"SELECT {call}")) == "42501"  # type: ignore[misc]
            assert_refused(blind, call)


def test_dblink_knows_no_connection_of_the_gate(gated: Target, blind: Connection) -> None:
    """That a named dblink connection is hijacked: tests/attacks/test_ledger_connection_unreachable_from_sql.py."""
    gated.admin.execute("CREATE EXTENSION IF NOT EXISTS dblink SCHEMA public")
    blind.execute(FRESH)
    assert blind.execute("SELECT public.dblink_get_connections()").fetchone() == (None,)


def test_no_analyst_interrupts_the_ledger(gated: Target, blind: Connection) -> None:
    blind.execute(FRESH)
    for pid in gated.ledgers():
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            blind.execute("SELECT pg_cancel_backend(%s)", [pid])


def test_settings_and_names_of_the_session_do_not_reach_the_ledger(gated: Target, blind: Connection) -> None:
    for statement in (
        "CREATE TEMP TABLE _charge (LIKE discreet.charges)",
        "CREATE FUNCTION pg_temp._ledger_charge_question(jsonb) RETURNS jsonb LANGUAGE sql AS $$SELECT jsonb '{}'$$",
        "SET search_path = pg_temp, extra, discreet, pg_catalog",
        "SET synchronous_commit = off",
        "SET lock_timeout = 1",
        "SET default_transaction_read_only = on",
    ):
        blind.execute(statement)
    with gated.costs(PRICE):
        blind.execute(FRESH)
