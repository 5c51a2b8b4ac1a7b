"""min and max are found near where the values end, at a price that is usual."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import comb

import pytest
from tests.database.gate.conftest import Asker

from discreet.dp.price import Price
from discreet.dp.quantile import QuantileChoice
from discreet.gate.measurements import BINS

ROWS, DRAWS = 10_000, 20
FIRST, STEP = 300_000, 10
LAST = FIRST + STEP * (ROWS - 1)
BIN = 1_000_000 / BINS


def most_misses(chance: float) -> int:
    """So many of the draws miss, or fewer, but for a probability of 1e-7, if each misses with this chance."""
    left = 1.0
    for misses in range(DRAWS + 1):
        left -= comb(DRAWS, misses) * chance**misses * (1 - chance) ** (DRAWS - misses)
        if left < 1e-7:
            return misses
    return DRAWS


def drawn(asker: Asker, call: str) -> list[float]:
    """Of epsilon 1 each."""
    return [asker.json(f"SELECT {call} AS it FROM hr.spread", 1, fresh=True)[0]["it"] for _ in range(DRAWS)]


@pytest.fixture
def spread(asker: Asker) -> Iterator[Asker]:
    """hr.spread: 10,000 people with a number each, from 300,000 on by tens, between bounds of 0 and a million."""
    asker.admin.execute(
        "CREATE TABLE hr.spread (id int PRIMARY KEY, x numeric);"
        f"INSERT INTO hr.spread SELECT n, {FIRST} + {STEP} * n FROM generate_series(0, {ROWS - 1}) n;"
        "SELECT discreet.protect('hr.spread', 'id', dataset => 'staff');"
        "SELECT discreet.describe_column('hr.spread', 'x', 0, 1000000)"
    )
    yield asker
    asker.admin.execute("SELECT discreet.unprotect('hr.spread'); DROP TABLE hr.spread")


@pytest.mark.parametrize(
    "call",
    [
        "min(x)", "max(x)", "percentile_cont(1) WITHIN GROUP (ORDER BY x)",
        "percentile_disc(1) WITHIN GROUP (ORDER BY x DESC)", "dp_quantile(x, 1, 0, 1000000)",
    ],
)  # fmt: skip
def test_an_extreme_is_near_where_the_values_end(spread: Asker, call: str) -> None:
    """With 95 % an answer is not beyond the end, and fewer than 2 k values are beyond it, give or take a bin."""
    reach = 2 * QuantileChoice.of(Fraction(0), Price.of(1)).least_rank(BINS) * STEP + BIN
    lowest = call.startswith("min") or "DESC" in call
    low, high = (FIRST - BIN, FIRST + reach) if lowest else (LAST - reach, LAST + BIN)
    assert sum(not low <= answer <= high for answer in drawn(spread, call)) <= most_misses(0.05)


def test_an_extreme_that_many_share_is_found(spread: Asker) -> None:
    spread.admin.execute("UPDATE hr.spread SET x = 400000 WHERE x > 390000")
    assert sum(abs(answer - 400_000) > BIN for answer in drawn(spread, "max(x)")) <= most_misses(0.05)


def test_of_hardly_any_values_an_extreme_is_still_answered(spread: Asker) -> None:
    spread.admin.execute("DELETE FROM hr.spread WHERE id > 2")
    assert 0 <= spread.number("SELECT max(x) FROM hr.spread", 1) <= 1_000_000
    spread.admin.execute("DELETE FROM hr.spread")
    assert 0 <= spread.number("SELECT min(x) FROM hr.spread", 1) <= 1_000_000


def test_explaining_names_them(spread: Asker) -> None:
    told = spread.explain("SELECT min(x), max(x), percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM hr.spread")
    assert [(output["column"], output["mechanism"]) for output in told["outputs"]] == [
        (name, "exponential choice") for name in ("min", "max", "percentile_cont")
    ]


def test_quantiles_of_very_many_groups_are_refused_before_they_are_paid(asker: Asker) -> None:
    """Each of 8 · (3 + 1) · 7 · 5 groups chooses among 4096 bins, for a median three times, for max() twice."""
    asked = (
        "SELECT dept, gender, position, bucket(salary, 50000) AS b, max(salary)"
        ", percentile_cont(0.5) WITHIN GROUP (ORDER BY salary) FROM hr.employee GROUP BY 1, 2, 3, 4"
    )
    told = asker.explain(asked)
    assert "quantiles of 1120 groups" in told["refused"]["message"]
    assert "refused" not in asker.explain(asked.replace(", percentile_cont(0.5) WITHIN GROUP (ORDER BY salary)", ""))
