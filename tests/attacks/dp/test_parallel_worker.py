"""A dp_ aggregate below Gather: a worker has no ledger, and each would draw noise of its own."""

import psycopg
import pytest
from tests.attacks.target import ASK, PRICE, Target
from tests.databases import Connection
from tests.versions import FORCE_WORKERS

EAGER = """
    SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
    SET max_parallel_workers_per_gather = 2; SET enable_parallel_append = on;
"""
BY_DEPT = "SELECT dept, discreet.dp_count(*) AS c FROM hr.person GROUP BY dept"


def plan_of(connection: Connection, question: str) -> str:
    return "\n".join(str(line) for (line,) in connection.execute(f"EXPLAIN (COSTS OFF) {question}").fetchall())


def aggregate_below_gather(plan: str) -> bool:
    """Whether a whole aggregate, not a partial one, stands below a Gather."""
    lines = plan.splitlines()
    at = next((n for n, line in enumerate(lines) if "Gather" in line), len(lines))
    return any("Aggregate" in line and "Partial" not in line for line in lines[at:])


@pytest.mark.parametrize("question", [ASK, BY_DEPT], ids=["plain", "grouped"])
def test_forced_gather_above_the_aggregate_is_paid_once(target: Target, mallory: Connection, question: str) -> None:
    mallory.execute(FORCE_WORKERS)
    assert aggregate_below_gather(plan_of(mallory, question))
    with target.costs(PRICE):
        rows = mallory.execute(question).fetchall()
    assert len(rows) in (1, 5)
    assert target.charges() == 1


def test_aggregates_below_parallel_append_are_drawn_once_each(target: Target, mallory: Connection) -> None:
    """Two groupings, which workers could compute side by side."""
    mallory.execute(EAGER)
    mallory.execute(f"SET enable_hashagg = off; SET enable_sort = on; {FORCE_WORKERS}")
    question = f"SELECT * FROM ({BY_DEPT} UNION ALL {BY_DEPT}) both_of_them"
    assert "Gather" in plan_of(mallory, question)
    with target.costs(2 * PRICE):
        rows = mallory.execute(question).fetchall()
    assert len(rows) == 10


def test_subquery_of_a_parallel_scan_is_paid_for_every_answer(target: Target, mallory: Connection) -> None:
    mallory.execute(EAGER)
    question = "SELECT n, (SELECT discreet.dp_count(*) FROM hr.person WHERE id > n - n) FROM generate_series(1, 4) n"
    with target.costs(4 * PRICE):
        assert len(mallory.execute(question).fetchall()) == 4


def test_filter_by_an_answer_is_the_same_for_all_workers(target: Target, mallory: Connection) -> None:
    mallory.execute(EAGER)
    mallory.execute("CREATE TABLE extra.own AS SELECT n FROM generate_series(1, 5000) n; ANALYZE extra.own")
    question = f"SELECT max(n), count(*) FROM extra.own WHERE n <= ({ASK})"
    with target.costs(PRICE):
        row = mallory.execute(question).fetchone()
    assert row is not None
    assert row[0] == row[1]


@pytest.mark.parametrize("question", [ASK, BY_DEPT, "SELECT discreet.dp_median(salary, 0, 3000) FROM hr.person"])
def test_partial_aggregates_of_workers_are_one_answer(target: Target, mallory: Connection, question: str) -> None:
    mallory.execute(EAGER)
    # rows are dear to hand over, so workers aggregate them first, whatever the planner knows of the table
    mallory.execute("SET parallel_tuple_cost = 0.01")
    plan = plan_of(mallory, question)
    assert "Partial" in plan
    assert "Finalize" in plan
    with target.costs(PRICE):
        mallory.execute(question)


def test_function_that_claims_to_be_parallel_safe_gets_no_answer_in_a_worker(target: Target) -> None:
    """Labelled as safe, the function is run by workers. In one it fails; no answer comes unpaid."""
    mallory = target.connect(new=True)
    mallory.execute("CREATE TABLE extra.own AS SELECT n FROM generate_series(1, 20000) n; ANALYZE extra.own")
    mallory.execute(
        "CREATE FUNCTION extra.ask(n int) RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE COST 100000 AS"
        f" $$ BEGIN RETURN ({ASK}); END $$"
    )
    mallory.execute(EAGER + "SET parallel_leader_participation = off")
    question = "SELECT extra.ask(n) FROM extra.own WHERE n % 5000 = 0"
    assert "Workers Planned" in plan_of(mallory, question)
    with target.free(), pytest.raises(psycopg.Error) as caught:
        mallory.execute(question)
    assert caught.value.sqlstate == "55000"


def test_serial_plan_of_the_same_statement_still_uses_no_worker_for_noise(target: Target, mallory: Connection) -> None:
    """A prepared statement whose plan was made parallel, run again and again: each run is one charge."""
    mallory.execute(f"{FORCE_WORKERS}; SET plan_cache_mode = force_generic_plan")
    mallory.execute(f"PREPARE question AS {ASK}")
    with target.costs(6 * PRICE):
        answers = [mallory.execute("EXECUTE question").fetchone() for _ in range(6)]
    assert None not in answers
