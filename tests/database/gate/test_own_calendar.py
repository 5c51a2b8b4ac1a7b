"""An analyst's own calendar, LEFT JOIN an answer: days that are not shown are NULL, and 0 only if the query says so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dev.cluster import Cluster
from tests.database.gate.staging import Staging, staged
from tests.databases import MakeRole

BUSY = "2024-01-15"
ANSWER = "SELECT ordered, count(*) AS n FROM shop.orders GROUP BY ordered"
FEWER = "groups with fewer than about"


@pytest.fixture
def staging(cluster: Cluster, template: str, make_role: MakeRole) -> Iterator[Staging]:
    """Every customer orders on one busy day; on each other day so few do that it stays below the threshold."""
    with staged(cluster, template, make_role) as database:
        database.admin.execute(
            "INSERT INTO shop.orders SELECT 100000 + customer_id, customer_id, 'open', %s, 'low' FROM shop.customer",
            [BUSY],
        )
        database.ana.execute(
            "CREATE TABLE mine.day AS SELECT date '2024-01-01' + n AS day FROM generate_series(0, 30) AS n;"
            "SET discreet.epsilon = 20"
        )
        yield database


def asked(staging: Staging, value: str) -> tuple[dict[str, int | None], list[str]]:
    """The number of each day, and the caveats of the answer."""
    rows = staging.ana.execute(
        f"SELECT d.day::text, {value} FROM mine.day AS d LEFT JOIN ({ANSWER}) AS a ON a.ordered = d.day".encode()
    ).fetchall()
    ((caveats,),) = staging.ana.execute("SELECT caveats FROM discreet.last_answer").fetchall()
    return dict(rows), list(caveats)


def test_days_below_the_threshold_are_null(staging: Staging) -> None:
    ((busiest,),) = staging.admin.execute(
        "SELECT max(n) FROM (SELECT count(DISTINCT customer_id) AS n FROM shop.orders WHERE ordered <> %s"
        " GROUP BY ordered) AS t",
        [BUSY],
    ).fetchall()
    assert 0 < busiest < 10
    days, caveats = asked(staging, "a.n")
    assert days.pop(BUSY)
    assert len(days) == 30
    assert set(days.values()) == {None}
    assert any(FEWER in caveat for caveat in caveats)


def test_a_coalesce_that_is_asked_for_makes_them_0_and_the_caveat_stands(staging: Staging) -> None:
    days, caveats = asked(staging, "coalesce(a.n, 0)")
    assert days.pop(BUSY)
    assert set(days.values()) == {0}
    assert any(FEWER in caveat for caveat in caveats)
