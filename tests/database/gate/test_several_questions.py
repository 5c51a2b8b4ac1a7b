"""A statement with several questions: all are checked before the first is charged; a refused one costs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import psycopg
import pytest
from tests.database.gate.conftest import Asker
from tests.messages import refused

GOOD = "SELECT count(*) FROM hr.employee"
TRACKER = "SELECT count(*) FROM hr.employee WHERE id = 3"
UNKNOWN = "SELECT array_length(array_agg(salary), 1)::bigint FROM hr.employee"
SHAPES = {
    "scalar subqueries": "SELECT ({good}), ({bad})",
    "UNION ALL": "{good} UNION ALL {bad}",
    "EXCEPT": "{good} EXCEPT {bad}",
    "WITH": "WITH a AS MATERIALIZED ({good}), b AS MATERIALIZED ({bad}) SELECT * FROM a, b",
    "join": "SELECT * FROM ({good}) a(n) JOIN ({bad}) b(n) USING (n)",
    "lateral": "SELECT * FROM ({good}) a(n), LATERAL ({bad}) b(m)",
    "EXISTS": "SELECT 1 WHERE EXISTS ({good}) AND EXISTS ({bad})",
    "ORDER BY": "SELECT ({good}) ORDER BY ({bad})",
    "never reached": "SELECT CASE WHEN ({good}) > -1000000 THEN 1 ELSE ({bad}) END",
    "recursive": "WITH RECURSIVE r(n) AS ({good} UNION ALL SELECT n + ({bad}) FROM r WHERE n < 0) SELECT * FROM r",
    "VALUES": "VALUES (({good})), (({bad}))",
    "INSERT": "INSERT INTO work.taken {good} UNION ALL {bad}",
    "CREATE TABLE AS": "CREATE TABLE work.made AS SELECT ({good}) AS a, ({bad}) AS b",
    "COPY": "COPY (SELECT ({good}), ({bad})) TO STDOUT",
    "DO": "DO $$BEGIN PERFORM ({good}), ({bad}); END$$",
    "cursor": "DECLARE c CURSOR FOR SELECT ({good}), ({bad})",
    "held cursor": "DECLARE c CURSOR WITH HOLD FOR SELECT ({good}), ({bad})",
    "query()": "SELECT (SELECT * FROM discreet.query($q${good}$q$) AS t(n bigint)),"
    " (SELECT * FROM discreet.query($q${bad}$q$) AS t(n bigint))",
    "query_json()": "SELECT discreet.query_json($q${good}$q$), discreet.query_json($q${bad}$q$)",
    "ask()": "SELECT discreet.ask($q${good}$q$, NULL, 'a'), discreet.ask($q${bad}$q$, NULL, 'b')",
    "own view": "SELECT ({good}), (SELECT n FROM work.bad)",
}
# calls by hand, each where another list of a plan node holds it
A = "(discreet.ask($q${good}$q$, NULL, 'a') IS NOT NULL)"
B = "(discreet.ask($q${bad}$q$, NULL, 'b') IS NOT NULL)"
SHAPES_BY_HAND = {
    "VALUES": f"VALUES ({A}), ({B})",
    "LEFT JOIN": f"SELECT FROM generate_series(1, 2) a LEFT JOIN generate_series(1, 2) b ON {A} AND {B}",
    "hashed join": f"SELECT FROM generate_series(1, 2) a LEFT JOIN generate_series(1, 2) b ON a = b AND {A} AND {B}",
    "FULL JOIN": f"SELECT FROM generate_series(1, 2) a FULL JOIN generate_series(1, 2) b ON a = b AND {A} AND {B}",
    "LIMIT": f"SELECT FROM generate_series(1, 2) LIMIT {A}::int OFFSET {B}::int",
    "window": f"SELECT sum(1) OVER (ROWS BETWEEN {A}::int PRECEDING AND {B}::int FOLLOWING) FROM generate_series(1, 2)",
    "TABLESAMPLE": f"SELECT FROM work.taken TABLESAMPLE system ({A}::int) REPEATABLE ({B}::int)",
    "XMLTABLE": f"SELECT FROM XMLTABLE(({A}::text) PASSING ('<a/>'::xml) COLUMNS b text PATH 'b' DEFAULT {B}::text)",
    "RETURNING": f"INSERT INTO work.taken VALUES (1) RETURNING {A}, {B}",
    "ON CONFLICT": f"INSERT INTO work.once VALUES (1) ON CONFLICT (n) DO UPDATE SET n = {A}::int WHERE {B}",
    "MERGE": f"MERGE INTO work.once o USING (VALUES (1)) v(n) ON o.n = v.n"
    f" WHEN MATCHED AND {A} THEN UPDATE SET n = {B}::int",
    "function in FROM": f"SELECT FROM generate_series(1, {A}::int, 1 + {B}::int)",
    "GROUP BY": f"SELECT count(*) FROM generate_series(1, 2) GROUP BY {A}, {B}",
    "FILTER": f"SELECT count(*) FILTER (WHERE {A}) FROM generate_series(1, 2) HAVING {B}",
}


@pytest.fixture
def worker(asker: Asker) -> Iterator[Asker]:
    """An analyst with a schema of her own."""
    asker.admin.execute(f"CREATE SCHEMA work AUTHORIZATION {asker.role}")
    asker.plain("CREATE TABLE work.taken (n bigint)")
    asker.plain("CREATE TABLE work.once (n bigint PRIMARY KEY); INSERT INTO work.once VALUES (1)")
    yield asker
    asker.connection.execute("ROLLBACK; DEALLOCATE ALL")
    asker.admin.execute("DROP SCHEMA work CASCADE")


def code_of(asker: Asker, statement: str) -> str | None:
    try:
        if statement.startswith("COPY"):
            with asker.connection.cursor().copy(statement) as copy:
                list(copy)
        else:
            asker.plain(statement)
    except psycopg.Error as error:
        return error.sqlstate
    return None


@pytest.mark.parametrize(("bad", "code"), [(TRACKER, "DP002"), (UNKNOWN, "DP001")])
@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_is_paid_when_one_is_refused(worker: Asker, shape: str, bad: str, code: str) -> None:
    if shape == "own view":
        worker.plain(f"CREATE VIEW work.bad AS SELECT * FROM discreet.query($q${bad}$q$) AS t(n bigint)")
    worker.connection.execute("BEGIN")
    assert code_of(worker, SHAPES[shape].format(good=GOOD, bad=bad)) == code
    assert worker.charges() == []
    assert worker.truth("SELECT code FROM discreet._refusal") == [(code,)]


@pytest.mark.parametrize("shape", SHAPES_BY_HAND)
def test_nothing_is_paid_wherever_a_call_stands(worker: Asker, shape: str) -> None:
    worker.connection.execute("BEGIN")
    assert code_of(worker, SHAPES_BY_HAND[shape].format(good=GOOD, bad=TRACKER)) == "DP002"
    assert worker.charges() == []


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "own view"])
def test_all_are_paid_when_none_is_refused(worker: Asker, shape: str) -> None:
    worker.connection.execute("BEGIN")
    statement = SHAPES[shape].format(good=GOOD, bad=f"{GOOD} WHERE dept = 'Sales'")
    assert code_of(worker, statement) is None
    if "cursor" in shape:
        worker.plain("FETCH c")
    # the last of these is never run
    assert len(worker.charges()) == (1 if shape in ("never reached", "recursive") else 2)


@pytest.mark.parametrize("generic", ["force_generic_plan", "force_custom_plan"])
def test_parameters_are_known_when_a_prepared_statement_starts(worker: Asker, generic: str) -> None:
    worker.plain(f"SET plan_cache_mode = {generic}")
    worker.plain(f"PREPARE p(text, numeric) AS SELECT ({GOOD} WHERE dept = $1), ({GOOD} WHERE salary > $2)")
    assert code_of(worker, "EXECUTE p('Sales', 30)") is None
    assert len(worker.charges()) == 2
    worker.reset()
    worker.plain(f"PREPARE q(text, int) AS SELECT ({GOOD} WHERE dept = $1), ({GOOD} WHERE id = $2)")
    assert code_of(worker, "EXECUTE q('Sales', 3)") == "DP002"
    assert worker.charges() == []
    worker.plain("RESET plan_cache_mode")


def test_a_variable_of_plpgsql_is_known_when_its_statement_starts(worker: Asker) -> None:
    block = "DO $$DECLARE who int := 3; BEGIN PERFORM ({} WHERE salary > who), ({} WHERE {} = who); END$$"
    assert code_of(worker, block.format(GOOD, GOOD, "id")) == "DP002"
    assert worker.charges() == []
    assert code_of(worker, block.format(GOOD, GOOD, "salary")) is None
    assert len(worker.charges()) == 2


def test_what_is_not_known_at_the_start_is_checked_when_it_is_run(worker: Asker) -> None:
    statement = "SELECT q, discreet.query_json(q) FROM (VALUES ('{}'), ('{}')) v(q)"
    assert code_of(worker, statement.format(GOOD, TRACKER)) == "DP002"


@pytest.mark.parametrize("dataset_is_short", [True, False])
def test_nothing_is_paid_when_the_sum_is_more_than_is_left(worker: Asker, dataset_is_short: bool) -> None:
    worker.admin.execute(
        "UPDATE discreet._budget SET amount_spent = amount_limit - 0.15 WHERE dataset = 'staff' AND (role = 0) = %s",
        [dataset_is_short],
    )
    with refused("DP003", "is exhausted", "budget_status"):
        worker.plain(f"SELECT ({GOOD}), ({GOOD} WHERE dept = 'Sales')")
    assert worker.charges() == []
    # the same one twice is paid once
    worker.plain(f"SELECT ({GOOD}), ({GOOD})")
    assert worker.charges() == [(Decimal("0.1"), 0)]


@pytest.mark.parametrize("lifetime", ["0", "59 s"])
def test_the_same_one_twice_counts_twice_where_answers_expire_at_once(worker: Asker, lifetime: str) -> None:
    change = "UPDATE discreet._dataset SET answer_lifetime = %s WHERE dataset = 'staff'"
    worker.admin.execute(change, [lifetime])
    try:
        worker.admin.execute("UPDATE discreet._budget SET amount_spent = amount_limit - 0.15 WHERE dataset = 'staff'")
        with refused("DP003", "is exhausted", "budget_status"):
            worker.plain(f"SELECT ({GOOD}), ({GOOD})")
        assert worker.charges() == []
    finally:
        worker.admin.execute(change, ["1 day"])


def test_what_is_in_the_store_does_not_count(worker: Asker) -> None:
    worker.plain(GOOD)
    worker.admin.execute("UPDATE discreet._budget SET amount_spent = amount_limit - 0.1 WHERE dataset = 'staff'")
    worker.plain(f"SELECT ({GOOD}), ({GOOD} WHERE dept = 'Sales')")
    assert len(worker.charges()) == 2


def test_explain_neither_checks_nor_charges(worker: Asker) -> None:
    assert "query" in str(worker.plain(f"EXPLAIN SELECT ({GOOD}), ({TRACKER})"))
    assert worker.charges() == []
