"""What discreet.selftest() knows of the samplers: it passes a true one, and finds others."""

from __future__ import annotations

import random

import pytest

from discreet.dp.noise import integer_noise
from discreet.dp.price import Accounting
from discreet.dp.samplers import ALLOWED, CASES, CUMULATIVE, DRAWS, allowed_distance, distance, distances


def test_the_samplers_of_this_machine_pass() -> None:
    found = list(distances())
    assert len(found) == len(CASES)
    assert max(found) <= ALLOWED


@pytest.mark.parametrize("accounting", list(CUMULATIVE))
def test_cumulative_distributions_go_from_0_to_1_around_their_middle(accounting: Accounting) -> None:
    cumulative = CUMULATIVE[accounting]
    steps = [cumulative(3.0, value) for value in range(-100, 101)]
    assert steps == sorted(steps)
    assert steps[0] < 1e-9
    assert steps[-1] > 1 - 1e-9
    assert cumulative(3.0, -1) + cumulative(3.0, 0) == pytest.approx(1)


@pytest.mark.parametrize("accounting", list(CUMULATIVE))
def test_a_sampler_of_another_scale_is_found(accounting: Accounting) -> None:
    sample = integer_noise(accounting, 4.5).draw(DRAWS)
    assert distance(sample, accounting, 3.0) > allowed_distance(DRAWS, 1e-6)


def test_a_sampler_of_another_shape_is_found() -> None:
    chance = random.Random(1)
    sample = [round(chance.gauss(0, 3 * 2**0.5)) for _ in range(DRAWS)]
    assert distance(sample, Accounting.PURE, 3.0) > allowed_distance(DRAWS, 1e-6)
