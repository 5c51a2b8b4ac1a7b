"""Noise of a number that is made of several noisy numbers: how far it is off, with a stated probability."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

from discreet.core.syntax import Array
from discreet.dp.additive import USUAL_PROBABILITY, DiscreteGaussian, DiscreteLaplace, checked_probability
from discreet.dp.exact import sqrt_above
from discreet.dp.joint import STEPS, JointPart

Draw = DiscreteLaplace | DiscreteGaussian | JointPart

# of the integral: points, how many of their distances make a period, in standard deviations, and room for its error
POINTS, PERIOD, INTEGRAL_MARGIN = 2**14, 60, 0.999


@dataclass(frozen=True)
class CombinedNoise:
    """A sum of independent draws, each times a factor: of each kind so many; and no more than `away` besides.

    Half-widths follow from the characteristic function of the sum, the product of those of its parts, by Gil-Pelaez's
    formula: P(|X| > w) = 1 - 2/pi times the integral of sin(w t) phi(t) / t over t > 0. It is taken at the middle of
    equal steps, which is off by no more than P(|X| > 2 pi / step - w), at sixty standard deviations. Noise is taken for
    continuous there: a Laplace number is a discrete one plus independent symmetric noise of less than one, which makes
    large sums likelier and not less likely.
    """

    parts: tuple[tuple[Draw, float, int], ...]
    away: Fraction = Fraction(0)

    @property
    def spread(self) -> Fraction:
        """The scale of noise of one draw with the same variance."""
        squares = (Fraction(factor) ** 2 * times * draw.spread**2 for draw, factor, times in self.parts)
        return sqrt_above(Fraction(float(sum(squares, Fraction(0)))))

    def half_width(self, probability: Fraction = USUAL_PROBABILITY) -> int:
        """An integer w with P(|noise| <= w) >= *probability*."""
        return math.ceil(Fraction(_quantile(self.parts, float(checked_probability(probability)))) + self.away)


def _phi(draw: Draw, t: Array) -> Array:
    """The characteristic function of a draw, at a vector of points."""
    import numpy as np

    if isinstance(draw, JointPart):
        d = draw.joint.numbers
        t = t * (draw.width * draw.joint.scale / STEPS)
        return np.sin(d * np.arctan(t)) / (d * t * (1 + t**2) ** (d / 2))
    return 1 / (1 + (t * float(draw.spread)) ** 2)


@lru_cache(maxsize=256)
def _quantile(parts: tuple[tuple[Draw, float, int], ...], probability: float) -> float:
    import numpy as np

    deviation = math.sqrt(math.fsum(factor**2 * times * float(draw.spread) ** 2 for draw, factor, times in parts))
    if all(isinstance(draw, DiscreteGaussian) for draw, _, _ in parts):
        return deviation * NormalDist().inv_cdf((1 + probability) / 2)
    # in units of the deviation, which numbers of any size have
    step = 2 * math.pi / PERIOD
    t = (np.arange(POINTS) + 0.5) * step
    phi = np.ones(POINTS)
    for draw, factor, times in parts:
        phi = phi * _phi(draw, t * (abs(factor) / deviation)) ** times
    weights, missed = phi / t * (2 / math.pi * step), (1 - probability) * INTEGRAL_MARGIN
    low, high = 0.0, PERIOD / 3
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if 1 - float(np.dot(weights, np.sin(middle * t))) > missed else (low, middle)
    return high * deviation
