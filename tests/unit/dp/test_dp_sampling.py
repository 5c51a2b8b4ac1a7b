"""What an answer from a part of the people costs, and how far the part may mislead."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.errors import InvalidParameterError
from discreet.dp.sampling import PoissonSample

RATES = [Fraction(1, 1000), Fraction(1, 10), Fraction(1, 2), Fraction(99, 100)]


@pytest.mark.parametrize("rate", RATES)
def test_the_price_is_that_of_the_theorem_rounded_up(rate: Fraction) -> None:
    sample = PoissonSample.of(rate)
    for epsilon in (Fraction(1, 10**9), Fraction(1, 100), Fraction(1), Fraction(10), Fraction(100)):
        found = sample.epsilon(epsilon)
        exact = math.log1p(float(rate) * math.expm1(float(epsilon)))
        assert exact * (1 - 1e-12) <= float(found) <= exact * (1 + 1e-12)
        assert found <= epsilon
    assert sample.epsilon(Fraction(0)) == 0
    assert sample.delta(Fraction(1, 10**6)) == rate / 10**6


def test_the_price_of_parts_together_covers_a_sample_for_each() -> None:
    """ln(1 + q (e^x - 1)) is convex and 0 at 0: what several samples would cost is no more than what one costs."""
    sample = PoissonSample.of(Fraction(1, 10))
    for one, two in ((Fraction(1, 2), Fraction(1, 3)), (Fraction(3), Fraction(1, 100))):
        assert sample.epsilon(one) + sample.epsilon(two) <= sample.epsilon(one + two)


@pytest.mark.parametrize("rate", [0, 1, 2, -1, Fraction(1, 10_000)])
def test_what_is_no_part_is_refused(rate: int | Fraction) -> None:
    with pytest.raises(InvalidParameterError):
        PoissonSample.of(rate)


@pytest.mark.parametrize("most", [1, 5])
@pytest.mark.parametrize("rate", RATES[1:3])
def test_a_sample_misleads_by_more_than_the_half_width_no_more_often_than_it_says(rate: Fraction, most: int) -> None:
    """4,000 samples: more than 4,000 p + 6 √(4,000 p) of them miss with a probability below 1e-8 (Bernstein)."""
    random = np.random.default_rng(1)
    sample, missed, tries = PoissonSample.of(rate), Fraction(5, 100), 4000
    for people in (3, 100, 5000):
        parts = random.integers(0, most + 1, people)
        taken = random.random((tries, people)) < float(rate)
        estimates = [sample.scaled(int(number)) for number in (taken * parts).sum(axis=1)]
        off = [
            abs(number - int(parts.sum())) > sample.half_width(number, Fraction(most), Fraction(1), missed) + 1
            for number in estimates
        ]
        assert sum(off) <= tries * float(missed) + 6 * math.sqrt(tries * float(missed))
