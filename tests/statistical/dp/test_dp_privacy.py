"""Releases on two neighbouring inputs tell them apart by no more than the price, for every kind.

A test measures a lower bound of epsilon that is true but for a chance of 1e-8, so the whole file raises a
false alarm with less than 1e-6. The inputs are those on which the statistic gives away most, and the same
test, with the same inputs, catches a mechanism that adds half the noise: it has teeth.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from tests.statistical.dp.dp_evidence import Sample, drawn_side_by_side, measured_epsilon

from discreet.dp.composition import zcdp_epsilon
from discreet.dp.grid import Grid
from discreet.dp.price import Accounting, Price
from discreet.dp.release import release_many
from discreet.dp.totals import Histogram, Totals

FALSE_ALARM = 1e-8
# A tenth chooses the events, so 202,500 releases on each input are measured. A quantile is the median's
# mechanism with other losses, and OpenDP chooses one at a time: there the two inputs together come to that
# number.
DRAWS = 225_000
QUANTILE_DRAWS = 112_500
MUTANT_DRAWS = 40_000
GRID = Grid(0, 0, 8)


def totals(*values: int) -> Totals:
    return Totals(len(values), sum(values), sum(value * value for value in values), GRID)


def histogram(*counts: int) -> Histogram:
    return Histogram(counts, Fraction(0), Fraction(len(counts)))


# Without and with one person.
INPUTS: dict[str, tuple[Totals | Histogram, Totals | Histogram]] = {
    "count": (totals(4), totals(4, 4)),
    "count_distinct": (totals(), totals(4)),
    "sum": (totals(), totals(8)),
    "avg": (totals(0), totals(0, 8)),
    "variance": (totals(8), totals(8, 0)),
    "stddev": (totals(8), totals(8, 0)),
    "median": (histogram(0, 0, 0, 0, 0, 1), histogram(0, 1, 0, 0, 0, 1)),
    "quantile": (histogram(0, 0, 0, 0, 1, 2), histogram(1, 0, 0, 0, 1, 2)),
}


def drawn(kind: str, group: Totals | Histogram, price: Price, draws: int) -> Sample:
    fraction = Fraction(1, 4) if kind == "quantile" else None
    return np.array([float(number) for number in release_many(kind, [group] * draws, price, fraction=fraction)])


def measured(kind: str, price: Price, draws: int, delta: float = 0.0) -> float:
    here, there = INPUTS[kind]
    samples = drawn_side_by_side(drawn, (kind, here, price, draws), (kind, there, price, draws))
    return measured_epsilon(*samples, FALSE_ALARM, delta)


@pytest.mark.parametrize("kind", INPUTS)
def test_a_release_shows_no_more_than_its_price(kind: str) -> None:
    assert measured(kind, Price.of(1), QUANTILE_DRAWS if kind == "quantile" else DRAWS) <= 1


@pytest.mark.parametrize("kind", INPUTS)
def test_half_the_noise_is_caught(kind: str) -> None:
    # Twice the price buys half the noise; the claim stays.
    assert measured(kind, Price.of(2), MUTANT_DRAWS) > 1


def test_gaussian_noise_shows_no_more_than_its_price() -> None:
    price, delta = Price.of(1, "zcdp"), Fraction(1, 100)
    claimed = float(zcdp_epsilon(price.amount, delta))
    assert measured("count", price, DRAWS, float(delta)) <= claimed
    # Half the scale is four times the rho.
    mutant = Price(Accounting.ZCDP, 4 * price.amount)
    assert measured("count", mutant, MUTANT_DRAWS, float(delta)) > claimed


def moved(counts: Sequence[int], price: Price, neighbours: str, draws: int) -> Sample:
    """What an observer of two groups learns about who is where: the difference of their numbers."""
    left, right = (
        np.array(release_many("count", [Totals(count)] * draws, price, neighbours), dtype=np.float64)
        for count in counts
    )
    return left - right


def test_a_person_who_moves_between_groups_is_protected_by_the_doubled_noise() -> None:
    price = Price.of(1)

    def shown(neighbours: str, draws: int) -> float:
        inputs = [(counts, price, neighbours, draws) for counts in ((20, 21), (21, 20))]
        return measured_epsilon(*drawn_side_by_side(moved, *inputs), FALSE_ALARM)

    assert shown("bounded", DRAWS) <= 1
    assert shown("unbounded", MUTANT_DRAWS) > 1
