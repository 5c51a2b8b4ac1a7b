"""Tools ask for no rows to learn the columns of a table; derived tables list columns that nothing uses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dev.cluster import Cluster
from tests.database.gate.staging import Staging, refusal, staged
from tests.databases import MakeRole
from tests.messages import notices

SHOWN = ["customer_id", "country_id", "balance", "segment", "phone"]


@pytest.fixture
def staging(cluster: Cluster, template: str, make_role: MakeRole) -> Iterator[Staging]:
    with staged(cluster, template, make_role) as database:
        yield database


PROBES = [
    "SELECT * FROM shop.customer LIMIT 0",
    "SELECT * FROM shop.customer WHERE 0 = 1",
    "SELECT * FROM shop.customer AS q01 WHERE (0 = 1)",
    "SELECT * FROM shop.customer WHERE false",
    "SELECT * FROM shop.customer WHERE NULL",
    "SELECT * FROM shop.customer WHERE balance > 3 AND 1 = 0",
    "SELECT * FROM (SELECT * FROM shop.customer) AS q WHERE (0 = 1)",
    "SELECT q.* FROM (SELECT * FROM (SELECT * FROM shop.customer) p) AS q LIMIT 0",
    "WITH q AS (SELECT * FROM shop.customer) SELECT * FROM q LIMIT 0",
    "TABLE shop.customer LIMIT 0",
    "SELECT * FROM shop.customer ORDER BY name FETCH FIRST 0 ROWS ONLY",
    "SELECT * FROM ONLY shop.customer LIMIT 2 - 2",
    "SELECT c.* FROM shop.customer c JOIN shop.orders o USING (customer_id) LIMIT 0",
    "SELECT DISTINCT * FROM shop.customer LIMIT 0",
]


def test_probes_describe_the_table_without_hidden_columns(staging: Staging) -> None:
    for probe in PROBES:
        assert staging.columns(probe) == SHOWN, probe


def test_probes_of_single_columns_and_expressions(staging: Staging) -> None:
    assert staging.columns("SELECT balance * 2 AS twice, segment FROM shop.customer WHERE 1 = 2") == [
        "twice",
        "segment",
    ]
    types = [
        column.type_code for column in staging.ana.execute("SELECT * FROM shop.customer LIMIT 0").description or ()
    ]
    assert types == [23, 23, 1700, 25, 25]


def test_parts_without_rows_are_not_asked(staging: Staging) -> None:
    with staging.free():
        assert staging.ana.execute("SELECT count(*) FROM (SELECT * FROM shop.customer LIMIT 0) q").fetchall() == [(0,)]
        assert staging.ana.execute("SELECT * FROM (SELECT * FROM shop.customer WHERE 1 = 0) q").fetchall() == []


def test_a_probe_can_be_prepared_and_declared_and_kept(staging: Staging) -> None:
    with staging.free():
        staging.ana.execute("PREPARE look AS SELECT * FROM shop.customer LIMIT 0")
        assert staging.ana.execute("EXECUTE look").fetchall() == []
        staging.ana.execute("CREATE TABLE mine.like_it AS SELECT * FROM shop.customer LIMIT 0")
    names = "SELECT attname FROM pg_attribute WHERE attrelid = 'mine.like_it'::regclass AND attnum > 0 ORDER BY attnum"
    assert [name for (name,) in staging.admin.execute(names).fetchall()] == SHOWN


def test_inserting_what_has_no_rows_keeps_all_columns(staging: Staging) -> None:
    staging.ana.execute("CREATE TABLE mine.whole (a int, b text, c int, d numeric, e text, f text)")
    with staging.free():
        staging.ana.execute("INSERT INTO mine.whole SELECT * FROM shop.customer WHERE false")


@pytest.mark.parametrize("rows", ["SELECT * FROM shop.customer LIMIT 1", "SELECT * FROM shop.customer WHERE 1 = 1"])
def test_rows_themselves_are_refused(staging: Staging, rows: str) -> None:
    with staging.free():
        assert refusal(staging.ana, rows) in ("DP001", "DP002")


PREVIEWS = [
    "SELECT * FROM shop.customer LIMIT 100",
    "SELECT * FROM shop.customer ORDER BY balance DESC OFFSET 0 FETCH NEXT 10 ROWS ONLY",
    "SELECT q.* FROM (SELECT * FROM shop.customer) q LIMIT 5",
    "WITH q AS (SELECT * FROM shop.customer) SELECT * FROM q LIMIT 1",
]


@pytest.mark.parametrize("preview", PREVIEWS)
def test_rows_under_a_limit_come_as_columns_where_the_session_wants_it(staging: Staging, preview: str) -> None:
    with staging.free():
        assert refusal(staging.ana, preview) in ("DP001", "DP002")
        staging.ana.execute("SET discreet.empty_previews = on")
        told = notices(staging.ana)
        assert staging.columns(preview) == SHOWN
        assert "rows of people are not shown" in str(told[-1])
        assert staging.ana.execute(preview.encode()).fetchall() == []


def test_only_rows_of_people_are_left_out_of_previews(staging: Staging) -> None:
    staging.ana.execute("SET discreet.empty_previews = on")
    with staging.free():
        assert refusal(staging.ana, "SELECT * FROM shop.customer") in ("DP001", "DP002")
        assert len(staging.ana.execute("SELECT DISTINCT segment FROM shop.customer LIMIT 5").fetchall()) == 2
        assert len(staging.ana.execute("SELECT * FROM shop.region LIMIT 2").fetchall()) == 2
    grouped = "SELECT * FROM (SELECT segment, count(*) FROM shop.customer GROUP BY 1) q LIMIT 5"
    assert len(staging.ana.execute(grouped.encode()).fetchall()) == 2
    assert len(staging.ana.execute("SELECT segment, count(*) FROM shop.customer GROUP BY 1 LIMIT 1").fetchall()) == 1
    assert staging.ana.execute("SELECT count(*) FROM shop.customer LIMIT 1").fetchall()


UNUSED = [
    "SELECT count(*) FROM (SELECT * FROM shop.customer) q",
    "WITH q AS (SELECT * FROM shop.customer) SELECT count(*) FROM q",
    "SELECT count(*) FROM (SELECT *, balance * 2 AS twice FROM shop.customer) q WHERE twice > 0",
    "SELECT count(*) FROM (SELECT name AS n, segment FROM (SELECT * FROM shop.customer) p) q",
    "SELECT count(*) FROM (SELECT * FROM shop.orders) o JOIN (SELECT * FROM shop.customer) c USING (customer_id)",
    "SELECT count(*) FROM (SELECT * FROM shop.customer) AS q(a, b, c)",
]
USED = [
    "SELECT count(*) FROM (SELECT * FROM shop.customer) q WHERE name = 'x'",
    "SELECT name, count(*) FROM (SELECT * FROM shop.customer) q GROUP BY name",
    "WITH q AS (SELECT * FROM shop.customer) SELECT count(DISTINCT name) FROM q",
    "SELECT count(*) FROM (SELECT name AS n FROM shop.customer) q WHERE n LIKE 'A%'",
    "SELECT count(*) FROM (SELECT * FROM shop.customer) AS q(a, b, c) WHERE b = 'x'",
    "SELECT count(*) FROM (SELECT upper(name) AS u, segment FROM shop.customer) q",
    "SELECT count(q) FROM (SELECT * FROM shop.customer) q",
    "SELECT count(*) FROM (SELECT DISTINCT customer_id, name FROM shop.customer) q",
    "SELECT count(*) FROM (SELECT DISTINCT ON (customer_id) * FROM shop.customer ORDER BY customer_id, name) q",
    "SELECT count(*) FROM shop.customer WHERE name IN (SELECT name FROM shop.customer)",
    "SELECT count(*) FROM (SELECT customer_id, name FROM shop.customer UNION SELECT 1, 'x' FROM shop.orders) q",
    "SELECT count(*) FROM (TABLE shop.customer) a JOIN (TABLE shop.customer) b USING (customer_id, name)",
    "SELECT count(*) FROM (SELECT * FROM shop.customer) a NATURAL JOIN (SELECT * FROM shop.customer) b",
]


def test_derived_tables_carry_hidden_columns_that_nothing_uses(staging: Staging) -> None:
    for question in UNUSED:
        assert len(staging.ana.execute(question.encode()).fetchall()) == 1, question


def test_hidden_columns_are_hidden_behind_derived_tables(staging: Staging) -> None:
    with staging.free():
        for question in USED:
            assert refusal(staging.ana, question) in ("DP001", "DP002", "42703", "42704"), question
