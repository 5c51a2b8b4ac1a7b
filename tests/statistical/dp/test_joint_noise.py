"""Joint noise comes from the distribution that its docstring states, and shows no more than its price.

Each test has a false-alarm probability of at most 1e-8 for each of its cases, below 1e-6 for the whole file.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from tests.statistical.dp.dp_evidence import (
    Sample,
    distribution_distance,
    drawn_side_by_side,
    measured_epsilon,
    proportion_bounds,
)

from discreet.dp.joint import LARGEST_WORD, STEPS, JointNoise, filled, geometric, happens
from discreet.dp.noise import wholes_below
from discreet.dp.price import Price

FALSE_ALARM = 1e-8
DRAWS = 24_000
MUTANT_DRAWS = 10_000


def within(hits: int, draws: int, chance: float) -> bool:
    lower, upper = proportion_bounds(np.array([hits]), draws, FALSE_ALARM)
    return bool(lower[0] <= chance <= upper[0])


@pytest.mark.parametrize("limit", [2, 3, 5, 2**32 + 1, 2**53 + 1, 2**61 - 1, LARGEST_WORD - 1, 2**80 - 1])
def test_whole_numbers_are_uniform_below_their_limit(limit: int) -> None:
    """Each is compared with thirds of the limit, beside numbers with other limits."""
    mixed = filled(2 * DRAWS, limit)
    mixed[::2] = 1
    found = wholes_below(mixed)
    assert not found[::2].any()
    drawn = [int(number) for number in found[1::2]]
    assert 0 <= min(drawn) <= max(drawn) < limit
    for part in (1, 2):
        below = -(-limit * part // 3)
        assert within(sum(number < below for number in drawn), DRAWS, below / limit)


def test_vectors_beyond_64_bits_are_drawn_like_smaller_ones() -> None:
    """Widths and scale times 2**50: of the same shape, up to rounding."""
    small, large = ((np.array(JointNoise((1 << more + 10, 3 << more + 10), STEPS).draw(DRAWS)) >> more).astype(float)
                    for more in (0, 50))  # fmt: skip
    for place in range(2):
        both = np.sort(np.concatenate([small[:, place], large[:, place]]))
        parts = [np.searchsorted(np.sort(one[:, place]), both, side="right") / DRAWS for one in (small, large)]
        assert np.abs(parts[0] - parts[1]).max() <= 2 * distribution_distance(DRAWS, FALSE_ALARM)


@pytest.mark.parametrize(("numerator", "denominator"), [(0, 1), (1, 1), (1, 3), (7, 8), (2**70 - 1, 2**71)])
def test_what_happens_has_the_stated_probability(numerator: int, denominator: int) -> None:
    hits = int(happens(filled(DRAWS, numerator), denominator).sum())
    assert within(hits, DRAWS, math.exp(-numerator / denominator))


@pytest.mark.parametrize("scale", [1, 3, 1000])
def test_geometric_numbers_have_the_stated_distribution(scale: int) -> None:
    found = np.bincount(geometric(scale, DRAWS))
    chances = -np.expm1(-1 / scale) * np.exp(-np.arange(len(found)) / scale)
    distance = np.abs(np.cumsum(found) / DRAWS - np.cumsum(chances)).max()
    assert distance <= distribution_distance(DRAWS, FALSE_ALARM)


def steps_to(vector: tuple[int, ...], widths: tuple[int, ...]) -> int:
    return max(-(-abs(number) * STEPS // width) for number, width in zip(vector, widths, strict=True))


def chances_of(widths: tuple[int, ...], scale: int) -> dict[tuple[int, ...], float]:
    """Of every vector that is at all likely, from the definition."""
    ends = [math.ceil(24 * width * scale / STEPS) for width in widths]
    vectors = itertools.product(*(range(-end, end + 1) for end in ends))
    weights = {vector: math.exp(-steps_to(vector, widths) / scale) for vector in vectors}
    total = math.fsum(weights.values())
    return {vector: weight / total for vector, weight in weights.items()}


@pytest.mark.parametrize(
    ("widths", "scale"), [((1, 1), STEPS), ((1, 3), STEPS // 2), ((2, 1, 1), STEPS // 2), ((7,), 2 * STEPS)]
)
def test_every_vector_has_the_stated_probability(widths: tuple[int, ...], scale: int) -> None:
    chances = chances_of(widths, scale)
    sample = JointNoise(widths, scale).draw(DRAWS)
    found = dict.fromkeys(chances, 0)
    for vector in sample:
        if vector in found:
            found[vector] += 1
    vectors = list(chances)
    lower, upper = proportion_bounds(np.array([found[one] for one in vectors]), DRAWS, FALSE_ALARM / 2)
    expected = np.array([chances[one] for one in vectors])
    assert ((lower <= expected) & (expected <= upper)).all()
    ranked = sorted(vectors, key=lambda one: (steps_to(one, widths), one))
    behind = np.cumsum([found[one] / DRAWS - chances[one] for one in ranked])
    assert np.abs(behind).max() <= distribution_distance(DRAWS, FALSE_ALARM / 2)


def test_noise_of_a_wrong_scale_is_noticed() -> None:
    chances = chances_of((1, 1), STEPS)
    sample = JointNoise((1, 1), STEPS * 4 // 5).draw(DRAWS)
    assert not within(sum(vector == (0, 0) for vector in sample), DRAWS, chances[0, 0])


def told(widths: tuple[int, ...], scale: int, moved: tuple[int, ...], draws: int) -> Sample:
    """By what a vector is likelier without the person than with: the most that anybody can learn of it."""
    vectors = (
        tuple(by + noise for by, noise in zip(moved, vector, strict=True))
        for vector in JointNoise(widths, scale).draw(draws)
    )
    away = ((vector, tuple(a - w for a, w in zip(vector, widths, strict=True))) for vector in vectors)
    return np.array([float(steps_to(there, widths) - steps_to(here, widths)) for here, there in away])


@pytest.mark.parametrize("widths", [(1, 1, 1), (1, 50), (10**9,) * 4])
def test_noise_shows_no_more_than_its_price(widths: tuple[int, ...]) -> None:
    noise = JointNoise.for_price(widths, Fraction(1), 1, Price.of(1))
    assert noise is not None
    still, moved = (0,) * len(widths), widths

    def shown(scale: int, draws: int) -> float:
        sides = [(widths, scale, by, draws) for by in (still, moved)]
        return measured_epsilon(*drawn_side_by_side(told, *sides), FALSE_ALARM)

    assert shown(noise.scale, DRAWS) <= 1
    # half the noise is caught
    assert shown(noise.scale // 2, MUTANT_DRAWS) > 1


@pytest.mark.parametrize("widths", [(1, 1), (1, 10**6, 30), (3,) * 8])
def test_stated_errors_hold_at_least_95_times_in_100(widths: tuple[int, ...]) -> None:
    noise = JointNoise.for_price(widths, Fraction(1), 1, Price.of("0.5"))
    assert noise is not None
    sample = np.array(noise.draw(DRAWS // 2), dtype=float)
    for place in range(len(widths)):
        width = noise.of_number(place).half_width()
        inside = np.array([np.count_nonzero(np.abs(sample[:, place]) <= part * width) for part in (1, 0.9)])
        _, upper = proportion_bounds(inside, len(sample), FALSE_ALARM)
        assert upper[0] >= 0.95
        assert upper[1] < 0.955
