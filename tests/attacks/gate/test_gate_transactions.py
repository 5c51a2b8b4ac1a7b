"""The answer is seen, then undone: ROLLBACK, savepoint, exception, cancel, timeout, old snapshots, lost connections."""

import psycopg
import pytest
from tests.attacks.gate.asking import FRESH
from tests.attacks.target import PRICE, Target, Told, ask_until_refused
from tests.databases import Connection

NUMBER = "SELECT (discreet.query_json('SELECT count(*) FROM hr.person', 0.1, fresh => true)->>'count')::bigint"


@pytest.mark.parametrize(
    "undo",
    [
        ["BEGIN", FRESH, "ROLLBACK"],
        ["BEGIN", "SAVEPOINT s", FRESH, "ROLLBACK TO s", "COMMIT"],
        ["BEGIN READ ONLY", FRESH, "ROLLBACK"],
        ["BEGIN", "SELECT discreet.ask('SELECT count(*) FROM hr.person', 0.1)", "FETCH 1 FROM answer", "ROLLBACK"],
        [f"DO $$BEGIN PERFORM ({FRESH}); RAISE EXCEPTION 'undo'; EXCEPTION WHEN others THEN END$$"],
        ["BEGIN", f"DECLARE c CURSOR FOR {FRESH}", "FETCH 1 FROM c", "ABORT"],
    ],
)
def test_an_answer_that_is_undone_stays_paid(gated: Target, blind: Connection, undo: list[str]) -> None:
    with gated.costs(PRICE):
        for statement in undo:
            blind.execute(statement)


def test_a_rolled_back_question_is_remembered(gated: Target, blind: Connection) -> None:
    """The stored answer outlives the transaction: asking again after ROLLBACK draws no second noise."""
    once = FRESH.replace(", fresh => true", "")
    with gated.costs(PRICE):
        blind.execute("BEGIN")
        first = blind.execute(once).fetchall()
        blind.execute("ROLLBACK")
        assert blind.execute(once).fetchall() == first


def test_a_cancelled_answer_stays_paid(gated: Target, blind: Connection) -> None:
    with gated.costs(PRICE):
        told = Told(blind, NUMBER)
        blind.cancel()
        told.join()
    assert told.answer


def test_a_timeout_is_no_discount(gated: Target, blind: Connection) -> None:
    blind.execute("SET statement_timeout = '400ms'")
    with gated.costs(PRICE), pytest.raises(psycopg.errors.QueryCanceled):
        blind.execute(f"SELECT ({FRESH}), pg_sleep(60)")


def test_an_old_snapshot_hides_no_charge(gated: Target, blind: Connection) -> None:
    blind.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    blind.execute("SELECT 1")
    assert ask_until_refused(gated.connect("eve"), FRESH) == 10
    with pytest.raises(psycopg.Error) as caught:
        blind.execute(FRESH)
    assert caught.value.sqlstate == "DP003"


def test_a_killed_backend_has_paid(gated: Target, blind: Connection) -> None:
    session = gated.connect("blind", new=True)
    with gated.costs(PRICE):
        told = Told(session, NUMBER)
        gated.admin.execute("SELECT pg_terminate_backend(%s)", [session.info.backend_pid])
        told.join()
