"""Code of the attacker in the question: functions, operators, casts, domains; and bounds that are not constant."""

import psycopg
import pytest
from tests.attacks.target import ASK, PRICE, Target
from tests.databases import Connection
from tests.messages import refused

DEFINITIONS = """
    CREATE TABLE extra.seen (name text, salary int);
    CREATE FUNCTION extra.look(name text, salary int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
    $$ BEGIN RAISE NOTICE '% earns %', name, salary; RETURN true; END $$;
    CREATE FUNCTION extra.many(n int) RETURNS int LANGUAGE sql STABLE AS $$ SELECT max(salary) FROM hr.person $$;
    CREATE FUNCTION extra.eq(int, int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN true; END $$;
    CREATE OPERATOR extra.= (LEFTARG = int, RIGHTARG = int, FUNCTION = extra.eq);
    CREATE FUNCTION extra.valid(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN true; END $$;
    CREATE DOMAIN extra.checked AS int CHECK (extra.valid(VALUE));
    CREATE TYPE extra.pair AS (a int, b int);
    CREATE FUNCTION extra.to_pair(int) RETURNS extra.pair LANGUAGE plpgsql IMMUTABLE AS
    $$ BEGIN RETURN ROW($1, $1)::extra.pair; END $$;
    CREATE CAST (int AS extra.pair) WITH FUNCTION extra.to_pair(int);
    CREATE FUNCTION extra.add(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN $1 + $2; END $$;
    CREATE AGGREGATE extra.total(int) (SFUNC = extra.add, STYPE = int, INITCOND = 0);
"""
QUESTIONS = [
    f"{ASK} WHERE extra.look(name, salary)",
    f"{ASK} WHERE id OPERATOR(extra.=) 1",
    f"{ASK} WHERE id::extra.checked > 0",
    f"{ASK} WHERE (id::extra.pair) IS NOT NULL",
    f"{ASK} WHERE id = ANY (ARRAY[extra.add(id, 0)])",
    "SELECT discreet.dp_sum(extra.add(salary, 1), 0, 10) FROM hr.person",
    "SELECT discreet.dp_sum(salary, 0, 10) FILTER (WHERE extra.look(name, salary)) FROM hr.person",
    "SELECT discreet.dp_count(DISTINCT extra.add(salary, 1)) FROM hr.person",
    "SELECT discreet.dp_count(*) FROM hr.person GROUP BY extra.add(salary, 1)",
    "SELECT discreet.dp_sum(x, 0, 10) FROM (SELECT extra.add(salary, 1) AS x FROM hr.person OFFSET 0) p",
    "SELECT extra.add(dp_count::int, 1) FROM (SELECT discreet.dp_count(*) FROM hr.person) answer",
    f"SELECT extra.total(dp_count::int) FROM ({ASK}) answer",
]
ARGUMENTS = [
    "dp_sum(salary, 0, extra.many(1))",
    "dp_median(salary, extra.many(1), 99999)",
    "dp_quantile(salary, extra.many(1) / 10000.0, 0, 99)",
    "dp_count(id, extra.many(1) / 10000.0)",
    "dp_sum(salary, 0, 10::extra.checked::int)",
]


def test_own_function_sees_the_rows_of_a_native_question(target: Target, mallory: Connection) -> None:
    mallory.execute(DEFINITIONS)
    heard: list[str | None] = []
    session = target.connect(new=True)
    session.add_notice_handler(lambda diagnostic: heard.append(diagnostic.message_primary))
    session.execute("SELECT count(*) FROM hr.person WHERE extra.look(name, salary) AND id = 7")
    assert "name 7 earns 1007" in heard


@pytest.mark.parametrize("question", QUESTIONS)
def test_own_code_is_refused_and_costs_nothing(target: Target, mallory: Connection, question: str) -> None:
    mallory.execute(DEFINITIONS)
    with target.free(), refused("DP001", "cannot bound one person's influence through", "discreet.query()"):
        mallory.execute(question)


@pytest.mark.parametrize("aggregate", ARGUMENTS)
def test_own_code_gives_no_bounds_and_no_price(target: Target, mallory: Connection, aggregate: str) -> None:
    mallory.execute(DEFINITIONS)
    with target.free(), pytest.raises(psycopg.Error) as caught:
        mallory.execute(f"SELECT discreet.{aggregate} FROM hr.person")
    assert caught.value.sqlstate in ("DP001", "22023")


def test_operator_found_first_in_the_search_path_is_refused(target: Target, mallory: Connection) -> None:
    mallory.execute(DEFINITIONS)
    mallory.execute("SET search_path = extra, pg_catalog")
    with target.free(), refused("DP001", "cannot bound one person's influence through", "discreet.query()"):
        mallory.execute(f"{ASK} WHERE id = 1")


def test_temporary_table_of_the_same_name_is_another_table(target: Target, mallory: Connection) -> None:
    mallory.execute("CREATE TEMP TABLE person AS SELECT * FROM hr.person LIMIT 1; SET search_path = pg_temp, hr")
    with target.costs(0), target.costs(PRICE, "default"):
        mallory.execute("SELECT discreet.dp_count(*) FROM person")


def test_own_aggregate_of_the_same_name_is_not_ours(target: Target, mallory: Connection) -> None:
    """It gives a true count to somebody who may read the table, and says nothing about the budget."""
    mallory.execute("CREATE AGGREGATE extra.dp_count(*) (SFUNC = pg_catalog.int8inc, STYPE = bigint, INITCOND = 0);")
    with target.free():
        assert mallory.execute("SELECT extra.dp_count(*) FROM hr.person").fetchone() == (1000,)


@pytest.mark.parametrize(
    "aggregate",
    [
        "discreet.dp_sum(salary, 0, salary)",
        "discreet.dp_sum(salary, id, 5000)",
        "discreet.dp_avg(salary, 0, (SELECT max(salary) FROM hr.person))",
        "discreet.dp_median(salary, 0, (random() * 10)::int)",
        "discreet.dp_quantile(salary, id / 1000.0, 0, 10)",
        "discreet.dp_sum(salary, 0, max(salary)) OVER ()",
    ],
)
def test_bound_that_depends_on_rows_is_refused(target: Target, mallory: Connection, aggregate: str) -> None:
    with target.free(), pytest.raises(psycopg.Error):
        mallory.execute(f"SELECT {aggregate} FROM hr.person")


PARALLEL = """
    SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
    SET max_parallel_workers_per_gather = 2; SET parallel_leader_participation = on;
"""


@pytest.mark.parametrize("aggregate", ["dp_sum", "dp_variance", "dp_median"])
def test_bounds_that_differ_between_workers_are_refused(lonely_target: Target, aggregate: str) -> None:
    """A function labelled STABLE gives each worker another bound: states of other sizes must not be joined."""
    mallory = lonely_target.connect(new=True)
    mallory.execute("CREATE TABLE extra.own AS SELECT n % 4000 AS x FROM generate_series(1, 200000) n")
    mallory.execute("ANALYZE extra.own")
    mallory.execute(PARALLEL)
    mallory.execute(
        "CREATE FUNCTION extra.bound() RETURNS int LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$ BEGIN"
        f" RETURN CASE pg_backend_pid() WHEN {mallory.info.backend_pid} THEN 10 ELSE 4000 END; END $$"
    )
    with lonely_target.free(), refused("DP001", "cannot bound one person's influence through", "discreet.query()"):
        mallory.execute(f"SELECT discreet.{aggregate}(x, 0, extra.bound()) FROM extra.own")
