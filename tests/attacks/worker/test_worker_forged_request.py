"""Requests that do not come from the session's C code: no SQL of an analyst or reader reaches a worker or its steps."""

from __future__ import annotations

import psycopg
import pytest
from tests.database.worker.asking import Town, ask
from tests.databases import Connection

FORGED = {
    "a step": "SELECT discreet._worker_step(1, 'S', 0, '\\x00'::bytea)",
    "totals of one's own": "SELECT discreet._release('count', ARRAY['1', '2'])",
    "a request to the ledger": "SELECT discreet._ledger('store', '{}'::jsonb)",
    "an operation of the ledger": "SELECT discreet._ledger_store('{}'::jsonb)",
    "a charge": "SELECT discreet._ledger_charge_question('{}'::jsonb)",
    "the role of the ledger": "SET ROLE discreet_ledger",
    "the session of the ledger": "SET SESSION AUTHORIZATION discreet_ledger",
    "an entry of the gate": "CREATE FUNCTION pg_temp.f() RETURNS text LANGUAGE discreet_worker AS 'selftest'",
    "Python": "CREATE FUNCTION pg_temp.f() RETURNS text LANGUAGE discreet_python AS 'return 1'",
    "a block of Python": "DO LANGUAGE discreet_python 'pass'",
    "a block of the gate": "DO LANGUAGE discreet_worker 'selftest'",
    "the handler": "CREATE FUNCTION pg_temp.f() RETURNS language_handler LANGUAGE c AS 'discreet',"
    " 'discreet_worker_call_handler'",
    "a language": "CREATE LANGUAGE mine HANDLER discreet._worker_call_handler",
    "a call of the handler": "SELECT discreet._worker_call_handler()",
    "a statement of the run step": "SELECT * FROM discreet._run_audited(10, 'SELECT 1')",
    "an end of the workers": "SELECT pg_terminate_backend(pid) FROM unnest(ARRAY{}) AS pid",
    "a cancel of the workers": "SELECT pg_cancel_backend(pid) FROM unnest(ARRAY{}) AS pid",
    "more time": "SET discreet.step_timeout = '30s'",
    "more workers": "SET discreet.workers = 64",
}
NO_RIGHT = {"42501", "0A000", "55P02", "42883"}


@pytest.mark.parametrize("way", ["query()", "an aggregate"])
@pytest.mark.parametrize("forged", FORGED)
def test_a_forged_request_is_refused(town: Town, admin: Connection, way: str, forged: str) -> None:
    session = town.asker(way)
    ask(session, way)
    before = town.charged()
    # an analyst does not see what kind of process another one is
    workers = admin.execute("SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'discreet%'").fetchall()
    statement = FORGED[forged].replace("ARRAY{}", f"ARRAY{[pid for (pid,) in workers]}")
    with pytest.raises(psycopg.Error) as refused:
        session.execute(statement.encode())
    assert refused.value.sqlstate in NO_RIGHT
    ask(session, way)
    assert town.charged() == before + 1


def test_the_statements_are_refused_for_their_sender_and_not_for_their_words(town: Town, admin: Connection) -> None:
    """What a superuser may: the attacks above would reach the workers with more rights."""
    assert len(admin.execute("SELECT discreet._ledger('ping', '{}'::jsonb)").fetchall()) == 1
    admin.execute("SET ROLE discreet_ledger; RESET ROLE")
    admin.execute("CREATE FUNCTION pg_temp.f(text, text[]) RETURNS text LANGUAGE discreet_worker AS 'release'")
