"""A prepared statement, a function or a cached plan that is run in a loop."""

import pytest
from tests.attacks.target import ASK, PRICE, Target, ask_until_refused
from tests.databases import Connection


@pytest.mark.parametrize("mode", ["auto", "force_generic_plan", "force_custom_plan"])
def test_every_execution_of_a_prepared_statement_is_paid(target: Target, mallory: Connection, mode: str) -> None:
    mallory.execute(f"SET plan_cache_mode = {mode}")
    with target.free():
        mallory.execute(f"PREPARE question(int) AS {ASK} WHERE id > $1")
    assert ask_until_refused(mallory, "EXECUTE question(0)") == 10


def test_every_run_of_a_loop_is_paid(target: Target, mallory: Connection) -> None:
    with target.costs(7 * PRICE):
        mallory.execute(f"DO $$ BEGIN FOR n IN 1..7 LOOP PERFORM * FROM ({ASK}) answer; END LOOP; END $$")


@pytest.mark.parametrize("volatility", ["IMMUTABLE", "STABLE", "VOLATILE"])
@pytest.mark.parametrize("language", ["sql", "plpgsql"])
def test_every_call_of_a_function_is_paid(target: Target, mallory: Connection, language: str, volatility: str) -> None:
    """Labelled IMMUTABLE it is called when the statement is planned: still one charge for one answer."""
    body = ASK if language == "sql" else f"BEGIN RETURN ({ASK}); END"
    mallory.execute(f"CREATE FUNCTION extra.f(n int) RETURNS bigint LANGUAGE {language} {volatility} AS $${body}$$")
    answers = mallory.execute("SELECT extra.f(g) FROM generate_series(1, 4) g").fetchall()
    assert len(set(answers)) <= target.charges()
    assert target.charges() == 4
    mallory.execute("SELECT extra.f(1)")
    assert target.charges() == 5


def test_explain_asks_nothing_and_explain_analyze_pays(target: Target, mallory: Connection) -> None:
    with target.free():
        mallory.execute(f"EXPLAIN (VERBOSE) {ASK}")
    with target.costs(PRICE):
        mallory.execute(f"EXPLAIN (ANALYZE) {ASK}")
    for options in ("ANALYZE", "ANALYZE, TIMING OFF", "ANALYZE, BUFFERS"):
        with target.costs(3 * PRICE):
            mallory.execute(f"EXPLAIN ({options}) SELECT ({ASK} WHERE id > n - n) FROM generate_series(1, 3) n")
        target.reset()
