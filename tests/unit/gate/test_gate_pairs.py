"""Aggregates of two numbers are put together from six sums as PostgreSQL defines them, whatever the noise is."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from statistics import correlation, linear_regression

import pytest

from discreet.dp.grid import Grid
from discreet.gate.measurements import Measurement, Quantity, Subject
from discreet.gate.pairs import KINDS, put_together

GRIDS = Grid.fit(Fraction(0), Fraction(100), 28), Grid.fit(Fraction(-5), Fraction(5), 28)


def sums(ys: list[float], xs: list[float]) -> tuple[int, ...]:
    """What the native statements add up."""
    centred = [
        [2 * round(Fraction(value) / grid.step) - grid.lower - grid.upper for value in values]
        for grid, values in zip(GRIDS, (ys, xs), strict=True)
    ]
    y, x = centred
    products = sum(a * b for a, b in zip(y, x, strict=True))
    return len(ys), sum(y), sum(x), sum(a * a for a in y), sum(b * b for b in x), products


def some(random: Random, n: int = 50) -> tuple[list[float], list[float]]:
    xs = [random.uniform(-5, 5) for _ in range(n)]
    return [50 + 3 * x + random.uniform(-20, 20) for x in xs], xs


@pytest.mark.parametrize("seed", range(5))
def test_without_noise_they_are_what_statistics_says(seed: int) -> None:
    ys, xs = some(Random(seed))
    parts, n = sums(ys, xs), len(xs)
    mean_y, mean_x = sum(ys) / n, sum(xs) / n
    sxy = sum((y - mean_y) * (x - mean_x) for y, x in zip(ys, xs, strict=True))
    slope, base = linear_regression(xs, ys)
    wanted = {
        "corr": correlation(xs, ys), "covar_pop": sxy / n, "covar_samp": sxy / (n - 1), "regr_avgx": mean_x,
        "regr_avgy": mean_y, "regr_count": n, "regr_intercept": base, "regr_r2": correlation(xs, ys) ** 2,
        "regr_slope": slope, "regr_sxx": sum((x - mean_x) ** 2 for x in xs), "regr_sxy": sxy,
        "regr_syy": sum((y - mean_y) ** 2 for y in ys),
    }  # fmt: skip
    assert wanted.keys() == KINDS.keys()
    for kind, number in wanted.items():
        found = put_together(kind, parts, GRIDS)
        assert found is not None
        assert float(found) == pytest.approx(number, rel=1e-5, abs=1e-5), kind


@pytest.mark.parametrize("kind", KINDS)
def test_no_noise_makes_them_fail(kind: str) -> None:
    random = Random(kind)
    for _ in range(300):
        parts = tuple(random.choice([0, 1, -1, 5, 10**9, -(10**17), 10**20]) for _ in range(6))
        found = put_together(kind, parts, GRIDS)
        assert found is None or found == found  # no NaN
        if kind in ("corr", "regr_r2") and found is not None:
            assert -1 <= found <= 1


def test_one_row_changes_the_sum_of_products_by_no_more_than_its_sensitivity() -> None:
    """And the corners of the bounds by just that much."""
    measured = Measurement(Quantity.PRODUCTS, Subject(None, None, GRIDS[0], other=None, other_grid=GRIDS[1]))
    corners = [sums([y], [x])[-1] for y in (0, 100) for x in (-5, 5)]
    assert max(map(abs, corners)) == measured.sensitivity(1, single=True)
    random = Random(7)
    for _ in range(200):
        ys, xs = some(random, 3)
        products = sums([min(max(y, 0), 100) for y in ys], xs)[-1]
        assert abs(products) <= measured.sensitivity(3, single=False)
