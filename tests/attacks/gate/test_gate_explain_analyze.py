"""EXPLAIN (ANALYZE) around a question: buffers that were read, and temporary files, depend on the rows."""

import pytest
from tests.attacks.gate.asking import FEW, NAIVE_GATE, ask
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import refused
from tests.versions import since


def test_it_tells_of_a_naive_design(target: Target) -> None:
    target.admin.execute(NAIVE_GATE)
    told = target.connect("blind").execute(
        "EXPLAIN (ANALYZE, BUFFERS) SELECT extra.noisy('SELECT count(*) FROM hr.person')"
    )
    assert "Buffers" in str(told.fetchall())


SERIALIZED = pytest.param("ANALYZE, SERIALIZE, MEMORY", marks=since(17))


@pytest.mark.parametrize("options", ["ANALYZE", "ANALYZE, FORMAT JSON, TIMING OFF", "ANALYZE, BUFFERS", SERIALIZED])
def test_explain_analyze_of_a_question_is_refused(gated: Target, blind: Connection, options: str) -> None:
    """Buffers that were read, and temporary files that were written, depend on the rows."""
    spent = gated.admin.execute("SELECT sum(epsilon_spent) FROM discreet.budget_status").fetchall()
    with refused("DP001", "EXPLAIN ANALYZE", ""):
        blind.execute(f"EXPLAIN ({options}) SELECT discreet.query_json('{FEW}', 0.001, fresh => true)")
    assert gated.admin.execute("SELECT sum(epsilon_spent) FROM discreet.budget_status").fetchall() == spent
    blind.execute(f"EXPLAIN SELECT discreet.query_json('{FEW}', 0.001)")


EXPLAINED = f"EXPLAIN (ANALYZE, BUFFERS) SELECT discreet.query_json('{FEW}', 0.001, fresh => true)"


@pytest.mark.parametrize(
    "statement", [EXPLAINED, f"DO $do$ BEGIN EXECUTE $x${EXPLAINED}$x$; END $do$"], ids=["alone", "within a function"]
)
def test_explain_analyze_is_refused_as_the_first_statement_of_a_session(gated: Target, statement: str) -> None:
    """The library is loaded by the call, too late to see the EXPLAIN around it."""
    with gated.connect("blind", new=True) as fresh:
        with refused("DP001", "EXPLAIN ANALYZE", ""):
            fresh.execute(statement)
        with refused("DP001", "EXPLAIN ANALYZE", ""):
            fresh.execute(statement)
        ask(fresh, FEW)


def test_a_function_of_the_asker_hides_no_explain(gated: Target, blind: Connection) -> None:
    blind.execute(
        f"CREATE OR REPLACE FUNCTION pg_temp.told() RETURNS SETOF text LANGUAGE plpgsql AS "
        f"$f$ BEGIN RETURN QUERY EXECUTE $x${EXPLAINED}$x$; END $f$"
    )
    with refused("DP001", "EXPLAIN ANALYZE", ""):
        blind.execute("SELECT * FROM pg_temp.told()")


def test_who_may_not_read_a_table_sees_no_plan_of_it(blind: Connection) -> None:
    with refused("DP001", "EXPLAIN ANALYZE", ""):
        blind.execute("EXPLAIN (ANALYZE, BUFFERS) SELECT count(*) FROM hr.person")
    assert "Seq Scan" not in str(blind.execute("EXPLAIN SELECT count(*) FROM hr.person").fetchall())
