"""The mechanisms draw from the distributions their docstrings state.

Each test has a false-alarm probability of at most 1e-8 for each of its cases, below 1e-6 for the whole
file.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from tests.statistical.dp.dp_evidence import Sample, distribution_distance, drawn_side_by_side, proportion_bounds

from discreet.dp.additive import DiscreteGaussian, DiscreteLaplace
from discreet.dp.choice import ExponentialChoice
from discreet.dp.grid import Grid
from discreet.dp.price import Price
from discreet.dp.release import error_95, release_many
from discreet.dp.threshold import ThresholdedRelease
from discreet.dp.totals import Totals

FALSE_ALARM = 1e-8
DRAWS = 100_000


def laplace_weights(scale: float, reach: int) -> Sample:
    p = math.exp(-1 / scale)
    return (1 - p) / (1 + p) * np.exp(-np.abs(np.arange(-reach, reach + 1)) / scale)


def gaussian_weights(scale: float, reach: int) -> Sample:
    weights = np.exp(-((np.arange(-reach, reach + 1) / scale) ** 2) / 2)
    return weights / weights.sum()


def fits(sample: list[int], weights: Sample) -> bool:
    """Whether draws of integers around zero can come from these weights, at FALSE_ALARM."""
    reach, draws = len(weights) // 2, len(sample)
    found = np.bincount(np.clip(np.array(sample), -reach, reach) + reach, minlength=len(weights))
    distance = np.abs(np.cumsum(found) / draws - np.cumsum(weights))[:-1].max()
    middle = slice(max(reach - 5, 0), reach + 6)
    lower, upper = proportion_bounds(found[middle], draws, FALSE_ALARM / 2)
    inside = (lower <= weights[middle]) & (weights[middle] <= upper)
    return bool(distance <= distribution_distance(draws, FALSE_ALARM / 2) and inside.all())


@pytest.mark.parametrize("scale", [0.3, 1.0, 7.5, 1000.5])
def test_laplace_noise_has_the_stated_distribution(scale: float) -> None:
    sample = DiscreteLaplace(Fraction(scale)).release_many([0] * DRAWS)
    assert fits(sample, laplace_weights(scale, math.ceil(60 * scale)))


@pytest.mark.parametrize("scale", [0.3, 1.0, 7.5, 1000.5])
def test_gaussian_noise_has_the_stated_distribution(scale: float) -> None:
    sample = DiscreteGaussian(Fraction(scale)).release_many([0] * DRAWS)
    assert fits(sample, gaussian_weights(scale, math.ceil(20 * scale)))


def test_noise_on_a_lattice_has_the_stated_distribution_around_huge_values() -> None:
    value = 3 * 2**100
    sample = DiscreteLaplace(Fraction(5), shift=70).release_many([value] * DRAWS)
    assert fits([(released - value) >> 70 for released in sample], laplace_weights(5.0, 300))


def test_a_price_buys_the_noise_it_should() -> None:
    sample = DiscreteLaplace.for_price(3, Price.of("0.5")).release_many([0] * DRAWS)
    assert fits(sample, laplace_weights(6.0, 400))
    sample = DiscreteGaussian.for_price(3, Price.of("0.5", "zcdp")).release_many([0] * DRAWS)
    assert fits(sample, gaussian_weights(6.0, 200))


def test_noise_of_a_wrong_scale_is_noticed() -> None:
    sample = DiscreteLaplace(Fraction(8)).release_many([0] * DRAWS)
    assert not fits(sample, laplace_weights(10.0, 600))
    sample = DiscreteGaussian(Fraction(8)).release_many([0] * DRAWS)
    assert not fits(sample, gaussian_weights(10.0, 200))


LOSSES = [3, 0, 1, 1, 6]


def _choices(accounting: str) -> Sample:
    choice = ExponentialChoice(1, Price.of(1, accounting))
    return np.array([choice.release(LOSSES) for _ in range(DRAWS // 3)], dtype=np.float64)


def permute_and_flip(losses: list[int], scale: float) -> Sample:
    """Exact, from the definition: candidates in random order, each taken with its own chance."""
    chances = [math.exp(-(loss - min(losses)) / scale) for loss in losses]
    result = np.zeros(len(losses))
    for order in itertools.permutations(range(len(losses))):
        left = 1.0
        for candidate in order:
            result[candidate] += left * chances[candidate]
            left *= 1 - chances[candidate]
    return result / math.factorial(len(losses))


def test_choices_have_the_stated_distributions() -> None:
    pure, zcdp = drawn_side_by_side(_choices, ("pure",), ("zcdp",))
    weights = np.exp(-np.array(LOSSES) / 1.0)
    # At epsilon 1 the scale is 2; at rho 1/2 it is 1.
    for sample, expected in ((pure, permute_and_flip(LOSSES, 2.0)), (zcdp, weights / weights.sum())):
        found = np.bincount(sample.astype(np.int64), minlength=len(LOSSES))
        lower, upper = proportion_bounds(found, len(sample), FALSE_ALARM)
        assert ((lower <= expected) & (expected <= upper)).all()


@pytest.mark.parametrize("accounting", ["pure", "zcdp"])
def test_a_key_of_one_person_shows_with_probability_delta_at_most(accounting: str) -> None:
    mechanism = ThresholdedRelease(Price.of(1, accounting), Fraction(1, 20))
    shown = mechanism.release(dict.fromkeys(range(DRAWS), 1))
    lower, upper = proportion_bounds(np.array([len(shown)]), DRAWS, FALSE_ALARM)
    assert lower[0] <= 0.05
    # One less, and the chance would be above delta: the threshold is not larger than needed.
    if accounting == "pure":
        assert upper[0] * math.e > 0.05
    assert min(shown.values()) == mechanism.threshold


@pytest.mark.parametrize("accounting", ["pure", "zcdp"])
def test_stated_errors_hold_at_least_95_times_in_100(accounting: str) -> None:
    grid, rows = Grid.fit(0, 100), 1000
    value = grid.place(80)
    totals = Totals(rows, rows * value, rows * value**2, grid)
    price = Price.of(1, accounting)
    for kind, truth in (("count", rows), ("sum", 80 * rows), ("avg", 80)):
        stated = error_95(kind, grid, price, rows=rows)
        assert stated is not None
        released = release_many(kind, [totals] * (DRAWS // 5), price)
        inside = sum(abs(number - truth) <= stated for number in released)  # type: ignore[operator]
        upper = proportion_bounds(np.array([inside]), len(released), FALSE_ALARM)[1]
        assert upper[0] >= 0.95
