"""discreet.with_error: plain SQL gets a column of errors beside each noisy one, for tools that know result sets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dev.cluster import Cluster
from tests.database.gate.staging import Staging, refusal, staged
from tests.databases import MakeRole

BY_SEGMENT = "SELECT segment, count(*) AS n, avg(balance) FROM shop.customer GROUP BY segment"


@pytest.fixture
def staging(cluster: Cluster, template: str, make_role: MakeRole) -> Iterator[Staging]:
    with staged(cluster, template, make_role) as database:
        database.ana.execute("SET discreet.with_error = on")
        yield database


@pytest.mark.parametrize(
    ("question", "names"),
    [
        (BY_SEGMENT, ["segment", "n", "n_error", "avg", "avg_error"]),
        ("SELECT count(*) FROM shop.customer", ["count", "count_error"]),
        ("SELECT count(*) AS \"How many\" FROM shop.customer", ["How many", "How many_error"]),
        ("SELECT sum(balance) / count(*) AS mean FROM shop.customer", ["mean", "mean_error"]),
        ("SELECT DISTINCT segment FROM shop.customer", ["segment"]),
        ("SELECT segment FROM shop.customer GROUP BY 1 HAVING count(*) > 5 ORDER BY count(*)", ["segment"]),
    ],
)  # fmt: skip
def test_a_column_of_errors_stands_beside_each_noisy_one(staging: Staging, question: str, names: list[str]) -> None:
    asked = staging.ana.execute(question.encode())
    assert [column.name for column in asked.description or ()] == names
    for row in asked.fetchall():
        for place, name in enumerate(names):
            assert not name.endswith("_error") or row[place] > 0


def test_the_errors_are_those_that_are_told_and_cost_nothing_more(staging: Staging) -> None:
    staging.ana.execute("RESET discreet.with_error")
    plain = staging.ana.execute(BY_SEGMENT).fetchall()
    staging.ana.execute("SET discreet.with_error = on")
    with staging.free():
        rows = staging.ana.execute(BY_SEGMENT).fetchall()
    assert sorted((row[0], row[1], row[3]) for row in rows) == sorted(plain)
    ((columns,),) = staging.ana.execute("SELECT columns FROM discreet.last_answer").fetchall()
    (told,) = [column["error_95"] for column in columns if column["column"] == "n"]
    assert {str(row[2]) for row in rows} == {str(told)}


def test_parameters_cursors_and_tables_have_them(staging: Staging) -> None:
    asked = "SELECT count(*) AS n FROM shop.customer WHERE balance > %s"
    assert [len(staging.ana.execute(asked, (value,), prepare=True).fetchone() or ()) for value in (1, 2, 3)] == [
        2,
        2,
        2,
    ]
    staging.ana.execute(f"CREATE TABLE mine.kept AS {BY_SEGMENT}")
    assert len(staging.ana.execute("SELECT n, n_error, avg_error FROM mine.kept").fetchall()) == 2


def test_what_is_inserted_or_used_within_a_query_keeps_its_columns(staging: Staging) -> None:
    staging.ana.execute("CREATE TABLE mine.counts (segment text, n bigint)")
    staging.ana.execute("INSERT INTO mine.counts SELECT segment, count(*) FROM shop.customer GROUP BY 1")
    assert len(staging.ana.execute("SELECT * FROM mine.counts").fetchall()) == 2
    row = staging.ana.execute("SELECT 1 + (SELECT count(*) FROM shop.customer)").fetchone()
    assert row is not None
    assert len(row) == 1


def test_a_refusal_is_the_same(staging: Staging) -> None:
    with staging.free():
        assert refusal(staging.ana, "SELECT * FROM shop.customer") in ("DP001", "DP002")
        assert refusal(staging.ana, "SELECT sum(country_id) FROM shop.customer") == "DP005"


def test_an_analyst_sees_how_exact_the_own_answers_were(staging: Staging) -> None:
    staging.admin.execute("SELECT discreet.grant_budget('customers', %s, 1)", (staging.other,))
    bob = staging.database.connect(staging.other)
    staging.ana.execute("RESET discreet.with_error")
    staging.ana.execute("SELECT count(*) AS hers FROM shop.customer")
    bob.execute("SELECT count(*) AS his FROM shop.customer WHERE segment = 'home'")
    own = "SELECT column_name, role = session_user FROM discreet.accuracy"
    assert staging.ana.execute(own.encode()).fetchall() == [("hers", True)]
    assert bob.execute(own.encode()).fetchall() == [("his", True)]
    assert len(staging.admin.execute(own.encode()).fetchall()) == 2
