"""Answers are about those who have paid, whatever the shape of the question and the type of the unit."""

from __future__ import annotations

import pytest
from tests.databases import MakeRole
from tests.messages import refused
from tests.village import Village

UNITS = {
    "smallint": ("n::smallint", "7"),
    "int": ("n", "7"),
    "bigint": ("n - 9223372036854775808 + 1000000000", None),
    "numeric": ("CASE WHEN n % 2 = 0 THEN n ELSE n + 0.00 END", "7"),
    "text": ("'person ' || repeat('x', n) || n", None),
    "varchar(30)": ("'Ünï ' || n", "Ünï 7"),
    "char(12)": ("'p' || n", "p7"),
    "uuid": ("('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid", "00000000-0000-0000-0000-000000000007"),
    "date": ("date '2000-01-01' + n", "2000-01-08"),
}


@pytest.mark.parametrize("type_name", UNITS)
def test_people_of_every_type(rich_village: Village, type_name: str) -> None:
    value, seventh = UNITS[type_name]
    rich_village.protect("someone", f"id {type_name}, n int", f"SELECT {value}, n FROM generate_series(1, 200) n")
    if seventh is not None:
        rich_village.admin.execute("SELECT discreet.set_personal_budget('someone', %s, 0)", [seventh])
    missing = 0 if seventh is None else 1
    assert rich_village.exact("SELECT count(*) FROM someone WHERE n <= 150") == [{"count": 150 - missing}]
    assert sorted(rich_village.left("someone").values()) == [0] * missing + [60] * (150 - missing) + [100] * 50


def test_equal_units_are_one_person_however_they_are_written(rich_village: Village) -> None:
    rich_village.protect("someone", "id numeric", "VALUES (1), (1.0), (1.00), (2)", max_rows=5)
    rich_village.ask("SELECT count(*) FROM someone", 10)
    assert rich_village.left("someone") == {"1": 70, "2": 90}


def test_all_kinds_of_aggregates(rich_village: Village) -> None:
    rich_village.protect("someone", "id int PRIMARY KEY, n int", "SELECT n, n % 100 FROM generate_series(1, 1000) n")
    rich_village.admin.execute("SELECT discreet.describe_column('someone', 'n', 0, 100)")
    (row,) = rich_village.ask(
        "SELECT count(*), sum(n), avg(n), stddev(n), percentile_cont(0.5) WITHIN GROUP (ORDER BY n) AS median,"
        " count(DISTINCT n) AS different, count(*) FILTER (WHERE n < 10) AS few FROM someone",
        100,
    )
    assert row == {
        "count": pytest.approx(1000, abs=5),
        "sum": pytest.approx(49500, abs=500),
        "avg": pytest.approx(49.5, abs=1),
        "stddev": pytest.approx(28.9, abs=2),
        "median": pytest.approx(50, abs=3),
        "different": pytest.approx(100, abs=5),
        "few": pytest.approx(100, abs=5),
    }


def test_subqueries_views_and_expressions_that_filter_and_map(rich_village: Village) -> None:
    rich_village.admin.execute("CREATE VIEW grown AS SELECT name, age + 1 AS older, blood FROM person WHERE age > 15")
    rich_village.admin.execute("GRANT SELECT ON grown TO PUBLIC")
    assert rich_village.exact("SELECT count(*) FROM grown WHERE older > 25") == [{"count": 1}]
    assert rich_village.left() == {"ann": 100, "bob": 60, "cid": 100}
    sql = "WITH y AS (SELECT age * 2 AS twice FROM person) SELECT count(*) FROM (SELECT * FROM y) z WHERE twice < 50"
    assert rich_village.exact(sql) == [{"count": 2}]
    assert rich_village.left() == {"ann": 60, "bob": 60, "cid": 60}


def test_empty_groups_and_tables_have_noisy_zeros(rich_village: Village) -> None:
    sql = "SELECT blood, count(*) FROM person WHERE age > 50 GROUP BY blood ORDER BY blood"
    assert rich_village.exact(sql) == [{"blood": b, "count": 0} for b in ("0", "A", "B", None)]
    rich_village.admin.execute("TRUNCATE person")
    assert rich_village.exact("SELECT count(*) FROM person") == [{"count": 0}]


def test_quoted_names_and_partitions(rich_village: Village) -> None:
    rich_village.admin.execute(
        """
        CREATE TABLE "Odd ""table" ("The Unit" int, x int) PARTITION BY LIST (x);
        CREATE TABLE odd_1 PARTITION OF "Odd ""table" FOR VALUES IN (1);
        CREATE TABLE odd_2 PARTITION OF "Odd ""table" FOR VALUES IN (2);
        INSERT INTO "Odd ""table" SELECT n, 1 + n % 2 FROM generate_series(1, 100) n;
        SELECT discreet.protect('"Odd ""table"', 'The Unit', 'people', policy => 'personal', unit_epsilon => 50,
                                max_rows => 1);
        """
    )
    assert rich_village.exact('SELECT count(*) FROM "Odd ""table" WHERE x = 1') == [{"count": 50}]
    assert rich_village.exact('SELECT count(*) FROM "Odd ""table"') == [{"count": 50}]


def test_tables_of_one_dataset_share_the_budgets_of_their_people(rich_village: Village) -> None:
    rich_village.admin.execute(
        """
        CREATE TABLE visit (who text, day int);
        INSERT INTO visit VALUES ('ann', 1), ('ann', 2), ('dan', 3);
        SELECT discreet.protect('visit', 'who', 'people', policy => 'personal', unit_epsilon => 100, max_rows => 2);
        """
    )
    rich_village.ask("SELECT count(*) FROM person", 10)
    rich_village.ask("SELECT count(*) FROM visit", 10)
    assert rich_village.left() == {"ann": 70, "bob": 90, "cid": 90, "dan": 90}


def test_tables_of_a_curator_are_read_in_the_curators_name(rich_village: Village, make_role: MakeRole) -> None:
    owner = make_role("carol", "discreet_curator")
    rich_village.admin.execute(f"ALTER TABLE person OWNER TO {owner}")
    assert rich_village.exact("SELECT count(*) FROM person") == [{"count": 3}]


def test_people_in_parallel_workers(rich_village: Village) -> None:
    rich_village.protect(
        "someone", "id int PRIMARY KEY, n int", "SELECT n, n % 10 FROM generate_series(1, 20000) n", unit_epsilon=100
    )
    rich_village.admin.execute("ANALYZE someone; SELECT discreet.describe_column('someone', 'n', 0, 10)")
    rich_village.nora.execute(
        "SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0"
    )
    for expected in (2000, 2000, 0):
        assert rich_village.exact("SELECT count(*) FROM someone WHERE n = 3") == [{"count": expected}]
    assert sorted(rich_village.left("someone").values()) == [20] * 2000 + [100] * 18000


def test_parallel_workers_that_meet_people_for_the_first_time(rich_village: Village) -> None:
    rich_village.protect(
        "someone", "id text, n int", "SELECT 'p' || n % 5000, n FROM generate_series(1, 20000) n", max_rows=4
    )
    rich_village.admin.execute("ANALYZE someone")
    rich_village.nora.execute(
        "SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0"
    )
    assert rich_village.ask("SELECT count(*) FROM someone", 25) == [{"count": 20000}]
    assert set(rich_village.left("someone").values()) == {0}


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT count(*) FROM person p JOIN person q USING (name)", "a second table beside one of policy 'personal'"),
        ("SELECT count(*) FROM person, ward", "a second table beside one of policy 'personal'"),
        ("SELECT count(*) FROM ward LEFT JOIN person ON person.blood = ward.ward", "a second table"),
        ("SELECT count(*) FROM (SELECT * FROM person UNION ALL SELECT * FROM person) p", "a second table"),
        ("SELECT age, count(*) FROM person GROUP BY age", "groups that are not known beforehand"),
        ("SELECT count(*) FROM person WHERE age > (SELECT avg(age) FROM person)", ""),
        ("SELECT count(*) FROM person WHERE name IN (SELECT name FROM person)", ""),
        ("SELECT count(*) FROM (SELECT DISTINCT blood FROM person) b", "DISTINCT below the aggregation"),
        ("SELECT count(*) FROM (SELECT age FROM person LIMIT 1) b", "LIMIT below the aggregation"),
        ("SELECT count(*) FROM (SELECT row_number() OVER () AS n FROM person) b", ""),
    ],
)
def test_what_depends_on_other_rows_is_refused_with_the_reason(village: Village, sql: str, reason: str) -> None:
    village.admin.execute("CREATE TABLE ward (ward text); SELECT discreet.protect('ward', NULL, policy => 'public')")
    with refused("DP001", reason, ""):
        village.ask(sql)
    assert village.left() == {}


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_other_isolation_levels_are_refused(village: Village, level: str) -> None:
    with village.nora.transaction(), refused("DP001", level, "READ COMMITTED"):
        village.nora.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
        village.ask("SELECT count(*) FROM person")
    assert village.left() == {}


def test_dp_aggregates_are_sent_to_the_gate(village: Village) -> None:
    with refused("DP001", "is protected by policy 'personal'", "discreet.query()"):
        village.admin.execute("SELECT discreet.dp_count(*) FROM person")
