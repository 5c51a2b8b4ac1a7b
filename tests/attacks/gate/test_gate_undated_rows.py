"""Rows that lie in no month: NULL, infinite, or in a year that nobody reaches."""

import psycopg
import pytest
from tests.attacks.gate.periods import Shop


def test_they_have_a_budget_of_their_own_that_runs_dry(shop: Shop) -> None:
    shop.admin.execute("INSERT INTO shop.visit SELECT 90000 + n, n, 1, NULL FROM generate_series(1, 100) n")
    assert abs(shop.ask("SELECT count(*) FROM shop.visit WHERE at IS NULL", 20) - 100) < 8
    assert shop.spent() == {"-infinity": 20}
    for where in ("at IS NULL", "true", "at IS NULL OR at > '2026-03-01'", "coalesce(at, '2026-01-01') < '2026-01-02'"):
        with pytest.raises(psycopg.Error, match="exhausted in undated"):
            shop.ask(f"SELECT count(*) FROM shop.visit WHERE {where}", 1)


@pytest.mark.parametrize("time", ["infinity", "-infinity", "0044-03-15 BC", "20000-01-01"])
def test_no_other_period_reads_them(shop: Shop, time: str) -> None:
    question = "SELECT count(*) FROM shop.visit WHERE {}"
    shop.admin.execute("DELETE FROM shop.visit")
    shop.admin.execute(f"INSERT INTO shop.visit SELECT n, n, 1, '{time}' FROM generate_series(1, 500) n")
    for where in ("at >= '2026-01-01'", "at < '2026-02-01'", "at <> '2026-01-05'", "NOT at < '2026-02-01'"):
        # noise of scale 10 (a person has 10 rows) is beyond 300 with probability 1e-13
        assert abs(shop.ask(question.format(where), 1)) < 300
    assert "-infinity" not in shop.spent()
