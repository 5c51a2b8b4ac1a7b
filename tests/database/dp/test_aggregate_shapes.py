"""The shapes of SQL that the aggregates are used in. At epsilon 100 a count is exact but for probability 2 e**-100."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.database.dp.aggregating import BOUNDED, call
from tests.databases import Connection, Row

ALL = ["dp_count", "dp_count_distinct", *BOUNDED]


def rows(connection: Connection, question: str, *parameters: object) -> list[Row]:
    return connection.execute(question, parameters or None).fetchall()


def test_count_of_rows(dora: Connection) -> None:
    dora.execute("SET discreet.epsilon = 100")
    assert rows(dora, "SELECT discreet.dp_count(*) FROM data.t") == [(1001,)]


def test_group_by(dora: Connection) -> None:
    counted = rows(dora, "SELECT g, discreet.dp_count(id, 100) FROM data.t GROUP BY g ORDER BY g")
    assert counted == [(f"group {n}", 143) for n in range(7)]


@pytest.mark.parametrize("strategy", ["enable_hashagg", "enable_sort"])
def test_group_by_hash_and_by_sort(dora: Connection, strategy: str) -> None:
    dora.execute(f"SET {strategy} = off")
    columns = ", ".join(call(aggregate, "i4", "0", "100") for aggregate in ALL)
    answers = rows(dora, f"SELECT g, {columns} FROM data.t GROUP BY g ORDER BY g")
    native = rows(dora, "SELECT g, count(i4), count(DISTINCT i4), sum(i4), avg(i4) FROM data.t GROUP BY g ORDER BY g")
    for (group, count, different, total, average, *_), expected in zip(answers, native, strict=True):
        assert (group, count, different) == expected[:3]
        assert abs(total - expected[3]) <= 30  # P < e**-30 for values up to 100
        assert abs(average - expected[4]) <= 1  # 2 n noise / (100 / 50): P < e**-100


def test_filter(dora: Connection) -> None:
    assert rows(dora, "SELECT discreet.dp_count(id, 100) FILTER (WHERE g = 'group 1') FROM data.t") == [(143,)]


def test_having_and_order_by_see_the_number_that_is_shown(dora: Connection) -> None:
    """Noise is drawn once per number: what HAVING compares and ORDER BY sorts is what is shown."""
    dora.execute("SET discreet.epsilon = 0.01")
    seen = 0
    for _ in range(20):
        shown = [
            count
            for _, count in rows(
                dora,
                "SELECT g, discreet.dp_count(*) FROM data.t GROUP BY g HAVING discreet.dp_count(*) > 143"
                " ORDER BY discreet.dp_count(*) DESC",
            )
        ]
        assert all(count > 143 for count in shown)
        assert shown == sorted(shown, reverse=True)
        seen += len(shown)
    assert seen  # each of seven groups is beyond 143 about every other time: P(never) < 2**-100


def test_distinct(dora: Connection) -> None:
    answers = rows(
        dora,
        "SELECT discreet.dp_count(DISTINCT i4), discreet.dp_count(DISTINCT i4, 100),"
        " discreet.dp_sum(DISTINCT i4, 0, 100, 100), discreet.dp_median(DISTINCT i4, 0, 100, 100) FROM data.t",
    )
    ((_, count, total, median),) = answers
    assert count == 101
    # P(|noise| > 30) for a sum of values up to 100: e**-30
    assert abs(total - 5050) <= 30
    assert median == 50


def test_order_by_inside_an_aggregate_changes_nothing(dora: Connection) -> None:
    assert rows(dora, "SELECT discreet.dp_count(id, 100 ORDER BY i4 DESC) FROM data.t") == [(1001,)]
    assert rows(dora, "SELECT discreet.dp_median(i4, 0, 100, 100 ORDER BY id) FROM data.t") == [(50,)]


EMPTY = ["data.nothing", "data.t WHERE false", "data.t WHERE id < 0", "data.t WHERE i4 IS NULL AND id % 13 <> 0"]


@pytest.mark.parametrize("tables", EMPTY)
def test_empty_input_is_a_noisy_zero_or_the_middle(dp_admin: Connection, dora: Connection, tables: str) -> None:
    dp_admin.execute("CREATE TABLE IF NOT EXISTS data.nothing (LIKE data.t); GRANT SELECT ON data.nothing TO PUBLIC")
    columns = ", ".join(call(aggregate, "i4", "10", "90") for aggregate in ALL)
    ((count, different, total, average, variance, deviation, median, quartile),) = rows(
        dora, f"SELECT {columns} FROM {tables}"
    )
    assert (count, different) == (0, 0)
    assert abs(total) <= 30  # P < e**-33
    assert abs(average - 50) <= 20  # the centred sum has scale 80/50, over 2 n with n = 1
    assert 0 <= variance <= 1600
    assert 0 <= deviation <= 40
    assert 10 <= median <= 90
    assert 10 <= quartile <= 90


def test_all_rows_null_is_the_same_as_no_rows(dora: Connection) -> None:
    ((count, different, average),) = rows(
        dora,
        "SELECT discreet.dp_count(i4, 100), discreet.dp_count_distinct(i4, 100), discreet.dp_avg(i4, 10, 90, 100)"
        " FROM data.t WHERE i4 IS NULL",
    )
    assert (count, different) == (0, 0)
    assert abs(average - 50) <= 20


def test_group_without_rows_is_no_group(dora: Connection) -> None:
    assert rows(dora, "SELECT g, discreet.dp_count(*) FROM data.t WHERE id < 0 GROUP BY g") == []


@pytest.mark.parametrize("aggregate", ALL)
def test_small_epsilon_stays_in_range(dora: Connection, aggregate: str) -> None:
    """Counts are whole and never negative, averages inside the bounds, deviations real, whatever the noise."""
    for answer in rows(dora, f"SELECT {call(aggregate, 'i4', '10', '90', '0.001')} FROM data.t GROUP BY id % 300"):
        value = answer[0]
        assert value is not None
        if aggregate.startswith("dp_count"):
            assert isinstance(value, int)
            assert value >= 0
        elif aggregate in ("dp_avg", "dp_median", "dp_quantile"):
            assert 10 <= value <= 90
        elif aggregate != "dp_sum":
            assert value >= 0
        # the largest variance of values between 10 and 90 is that of two at the ends
        assert aggregate != "dp_variance" or value <= Decimal(3200)


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
def test_prepared_statement_with_parameters(dora: Connection, mode: str) -> None:
    dora.execute(f"SET plan_cache_mode = {mode}")
    dora.execute(
        "PREPARE question(int, int, numeric, float8, int) AS SELECT discreet.dp_count(i4, $3),"
        " discreet.dp_sum(i4, $1, $2, $3), discreet.dp_quantile(i4, $4, $1, $2, $3) FROM data.t WHERE id > $5"
    )
    for lower, upper, fraction, expected in ((0, 100, 0.5, 50), (0, 20, 0.5, 20), (40, 60, 0.1, 40), (0, 100, 1, 100)):
        ((count, total, quantile),) = rows(dora, f"EXECUTE question({lower}, {upper}, 100, {fraction}, 0)")
        assert count == 924
        (exact,) = rows(dora, f"SELECT sum(least(greatest(i4, {lower}), {upper})) FROM data.t WHERE i4 IS NOT NULL")
        assert abs(total - exact[0]) <= 0.3 * upper
        assert quantile == expected


def test_parameters_of_the_protocol(dora: Connection) -> None:
    question = "SELECT discreet.dp_count(i4, %s::numeric), discreet.dp_median(i4, %s, %s, 100) FROM data.t WHERE g = %s"
    assert rows(dora, question, Decimal(100), 0, 100, "group 3")[0][0] == 132


def test_bounds_that_are_constant_expressions(dora: Connection) -> None:
    ((median,),) = rows(
        dora, "SELECT discreet.dp_median(d, date '1999-01-01', date '1999-01-01' + 10 * 100, 100) FROM data.t"
    )
    assert str(median).startswith("2000-0")


def test_view(dp_admin: Connection, dora: Connection) -> None:
    dp_admin.execute(
        "CREATE OR REPLACE VIEW data.counted AS SELECT g, discreet.dp_count(id, 100) AS c FROM data.t GROUP BY g;"
        'CREATE OR REPLACE VIEW data."Some rows" AS SELECT i4 AS "Value" FROM data.t WHERE id <= 500;'
        'GRANT SELECT ON data.counted, data."Some rows" TO PUBLIC'
    )
    assert rows(dora, "SELECT * FROM data.counted WHERE g = 'group 2'") == [("group 2", 143)]
    assert rows(dora, 'SELECT discreet.dp_count("Value", 100) FROM data."Some rows"') == [(462,)]


@pytest.mark.parametrize(
    ("language", "body"),
    [
        ("sql", "SELECT discreet.dp_count(id, e) FROM data.t WHERE g = name"),
        ("plpgsql", "BEGIN RETURN (SELECT discreet.dp_count(id, e) FROM data.t WHERE g = name); END"),
        ("plpgsql", "DECLARE c bigint; BEGIN EXECUTE 'SELECT discreet.dp_count(id, $1) FROM data.t WHERE g = $2'"
         " INTO c USING e, name; RETURN c; END"),
        ("plpgsql", "DECLARE r record; c bigint := 0; BEGIN FOR r IN SELECT discreet.dp_count(id, e) AS n FROM data.t"
         " WHERE g = name LOOP c := c + r.n; END LOOP; RETURN c; END"),
    ],
    ids=["sql", "plpgsql", "dynamic", "loop"],
)  # fmt: skip
def test_function(dora: Connection, language: str, body: str) -> None:
    dora.execute(f"CREATE FUNCTION pg_temp.f(name text, e numeric) RETURNS bigint LANGUAGE {language} AS $${body}$$")
    try:
        assert rows(dora, "SELECT pg_temp.f('group 3', 100)") == [(143,)]
        assert rows(dora, "SELECT pg_temp.f('group ' || n, 100) FROM generate_series(0, 3) n") == [(143,)] * 4
    finally:
        dora.execute("DROP FUNCTION pg_temp.f")


def test_cursor(dora: Connection) -> None:
    dora.execute("BEGIN")
    dora.execute("DECLARE c CURSOR FOR SELECT g, discreet.dp_count(id, 100) FROM data.t GROUP BY g ORDER BY g")
    assert rows(dora, "FETCH 1 FROM c") == [("group 0", 143)]
    assert rows(dora, "FETCH 2 FROM c") == [("group 1", 143), ("group 2", 143)]
    dora.execute("COMMIT")


def test_quoted_names(dp_admin: Connection, dora: Connection) -> None:
    schema, table, dataset = '"Odd ""schema"""', '"Odd ""schema"""."T é, x"', "odd \"é\", 'x'"
    dp_admin.execute(
        f'CREATE SCHEMA {schema}; CREATE TABLE {table} ("a b" int PRIMARY KEY, "SELECT" int);'
        f"INSERT INTO {table} SELECT n, n FROM generate_series(1, 50) n;"
        f"GRANT USAGE ON SCHEMA {schema} TO PUBLIC; GRANT SELECT ON {table} TO PUBLIC"
    )
    dp_admin.execute("SELECT discreet.create_dataset(%s, 1000)", [dataset])
    dp_admin.execute("SELECT discreet.grant_budget(%s, 'dora', 1000)", [dataset])
    dp_admin.execute("SELECT discreet.protect(%s, 'a b', dataset => %s)", [table, dataset])
    question = f'SELECT discreet.dp_count("SELECT", 100) AS "näme" FROM {table} /* ü "" \' \\ */'
    assert rows(dora, question) == [(50,)]
    assert rows(dora, "SELECT question FROM discreet.charges WHERE dataset = %s", dataset) == [(question,)]


def test_partitioned_table(dp_admin: Connection, dora: Connection) -> None:
    dp_admin.execute(
        "CREATE TABLE data.parts (id int, part int) PARTITION BY LIST (part);"
        "CREATE TABLE data.part1 PARTITION OF data.parts FOR VALUES IN (1);"
        "CREATE TABLE data.part2 PARTITION OF data.parts FOR VALUES IN (2);"
        "INSERT INTO data.parts SELECT n, n % 2 + 1 FROM generate_series(1, 100) n;"
        "GRANT SELECT ON data.parts TO PUBLIC"
    )
    assert rows(dora, "SELECT discreet.dp_count(id, 100) FROM data.parts") == [(100,)]
    assert rows(dora, "SELECT discreet.dp_count(id, 100) FROM data.parts WHERE part = 2") == [(50,)]
    counted = rows(dora, "SELECT part, discreet.dp_count(id, 100) FROM data.parts GROUP BY part ORDER BY 1")
    assert counted == [(1, 50), (2, 50)]
    dp_admin.execute("DROP TABLE data.parts")


def test_answers_go_into_tables_and_copies(dora: Connection) -> None:
    dora.execute("CREATE TEMP TABLE answer AS SELECT g, discreet.dp_count(id, 100) AS c FROM data.t GROUP BY g")
    dora.execute("INSERT INTO answer SELECT 'all', discreet.dp_count(id, 100) FROM data.t")
    assert rows(dora, "SELECT sum(c) FROM answer") == [(2002,)]
    with dora.cursor().copy("COPY (SELECT discreet.dp_count(id, 100) FROM data.t) TO STDOUT") as copy:
        assert b"".join(copy) == b"1001\n"


def test_aggregates_beside_native_ones(dora: Connection) -> None:
    assert rows(dora, "SELECT count(*), discreet.dp_count(id, 100), max(id) FROM data.t") == [(1001, 1001, 1001)]


def test_arithmetic_on_answers(dora: Connection) -> None:
    assert rows(
        dora, "SELECT discreet.dp_count(id, 100) * 2 + coalesce(discreet.dp_count(i4, 100), 0), 'x' FROM data.t"
    ) == [(2926, "x")]


def test_answers_without_a_table(dora: Connection) -> None:
    assert rows(dora, "SELECT discreet.dp_count(7, 100)") == [(1,)]
    assert rows(dora, "SELECT discreet.dp_count(v, 100) FROM (VALUES (1), (2), (NULL)) s(v)") == [(2,)]
    assert rows(dora, "SELECT discreet.dp_count(n, 100) FROM generate_series(1, 9) n") == [(9,)]
