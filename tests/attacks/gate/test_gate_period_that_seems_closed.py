"""Conditions that seem to close the month that is dry, and let its rows through."""

import psycopg
import pytest
from tests.attacks.gate.periods import Shop

OPEN = [
    "at >= '2026-02-01' OR pages >= 0",
    "NOT (at < '2026-02-01' AND pages > 3)",
    "at IS DISTINCT FROM '2026-02-05'",
    "at + interval '1 month' >= '2026-02-01'",
    "at AT TIME ZONE 'Asia/Tokyo' >= '2026-02-01'",
    "date_trunc('year', at) >= '2026-01-01'",
    "extract(month FROM at) >= 1",
    "(at >= '2026-02-01') IS NOT NULL",
    "at >= '2026-02-01' OR at IS NOT NULL",
    "greatest(at, '2026-02-01') >= '2026-02-01'",
    "CASE WHEN pages > 3 THEN at >= '2026-02-01' ELSE true END",
]


@pytest.mark.parametrize("where", OPEN)
def test_a_condition_that_lets_a_dry_month_through_is_refused(shop: Shop, where: str) -> None:
    shop.run_dry()
    with pytest.raises(psycopg.Error, match="exhausted in 2026-01-01"):
        shop.ask(f"SELECT count(*) FROM shop.visit WHERE {where}", 1)


def test_what_is_computed_from_all_rows_of_a_person_pays_for_all(shop: Shop) -> None:
    shop.run_dry()
    for rows in (
        "SELECT at, lag(pages) OVER (PARTITION BY who ORDER BY at) AS p FROM shop.visit",
        "SELECT who, max(at) AS at FROM shop.visit GROUP BY who",
        "SELECT DISTINCT ON (who) at FROM shop.visit ORDER BY who, at DESC",
    ):
        with pytest.raises(psycopg.Error, match="exhausted in 2026-01-01"):
            shop.ask(f"SELECT count(*) FROM ({rows}) v WHERE at >= '2026-02-01' AND at < '2026-03-01'", 1)


def test_a_closed_month_is_not_read(shop: Shop) -> None:
    shop.run_dry()
    question = "SELECT count(*) FROM shop.visit WHERE at >= '2026-02-01' AND at < '2026-03-01'"
    assert abs(shop.ask(question, 10) - 28 * 12) < 15
    shop.admin.execute("DELETE FROM shop.visit WHERE at < '2026-02-01'")
    assert abs(shop.ask(question, 10) - 28 * 12) < 15
