"""Integer noise on integers: discrete Laplace for pure, discrete Gaussian for zero-concentrated privacy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import ClassVar, Self

from discreet.core.errors import InvalidParameterError
from discreet.dp.exact import WORKING, Numeric, ceil_log2, decimal_of, exact, float_above, sqrt_above
from discreet.dp.noise import integer_noise
from discreet.dp.price import Accounting, Price

USUAL_PROBABILITY = Fraction(95, 100)

# OpenDP draws into 64-bit integers and saturates there. At this scale a draw reaches 2**63 with probability
# below exp(-2**12), less than 10**-1700: that is the only event in which the noise is not the exact one.
_LARGEST_SCALE_LOG2 = 50

# The decimal module's exp is correct to the last of fifty digits; this covers the few roundings around it.
_MARGIN = Decimal("1.00000000000000000001")


def needed_scale(sensitivity: Fraction, price: Price) -> Fraction:
    """The scale of the noise that *price* buys, before any rounding up."""
    if price.accounting is Accounting.PURE:
        return sensitivity / price.amount
    return sqrt_above(sensitivity**2 / (2 * price.amount))


def checked_probability(value: Fraction) -> Fraction:
    """A probability strictly between 0 and 1."""
    if not 0 < value < 1:
        raise InvalidParameterError("a probability lies between 0 and 1")
    return value


def _on_lattice(sensitivity: Fraction, shift: int, cells: int) -> Fraction:
    return sensitivity if shift == 0 else sensitivity / 2**shift + cells


@lru_cache(maxsize=64)
def _calibrated(sensitivity: Fraction, price: Price, cells: int) -> tuple[Fraction, int]:
    """Scale and shift that keep the price by OpenDP's own privacy map."""
    shift = max(0, ceil_log2(needed_scale(sensitivity, price)) - _LARGEST_SCALE_LOG2)
    lattice = _on_lattice(sensitivity, shift, cells)
    wanted = needed_scale(lattice, price)
    for attempt in range(8):
        # OpenDP rounds its map up; a few parts in 2**52 of more noise bring it below the price.
        scale = float_above(wanted * (1 + Fraction(attempt, 2**50)))
        if integer_noise(price.accounting, scale).loss(lattice) <= price.amount:
            return Fraction(scale), shift
    raise InvalidParameterError("no noise could be calibrated to this price", "Choose another epsilon.")


@dataclass(frozen=True)
class AdditiveNoise:
    """What discrete Laplace and discrete Gaussian share.

    A value is rounded to a multiple of 2**shift, and 2**shift times integer noise of *scale* is added. The
    shift is 0 unless the noise would not fit 64 bits; then the lattice is still 2**49 times finer than the
    noise. On the lattice, values that differ by d differ by at most d / 2**shift + 1, hence a vector of
    values of which *cells* differ has sensitivity at most sensitivity / 2**shift + cells, in L1 and in L2.

    The value may be an integer of any size: noise that does not depend on it is drawn around zero and
    added.
    """

    scale: Fraction
    shift: int = 0

    accounting: ClassVar[Accounting]

    def __post_init__(self) -> None:
        scale = exact(self.scale, "noise scale")
        if not 0 < scale <= 2 ** (_LARGEST_SCALE_LOG2 + 1):
            raise InvalidParameterError("noise scale is out of range", "Choose a larger epsilon.")
        if self.shift < 0:
            raise InvalidParameterError("a noise lattice is not finer than the integers")
        # Upwards to a double, which OpenDP then takes for the exact rational it is.
        object.__setattr__(self, "scale", Fraction(float_above(scale)))

    @classmethod
    def for_price(cls, sensitivity: Numeric, price: Price, cells: int = 2) -> Self:
        """The least noise that keeps *price* when one person changes the vector of values by *sensitivity*.

        Sensitivity is measured in L1 for Laplace and in L2 for Gaussian noise; *cells* is the number of
        values one person can change (one group, or two when a row may move between groups).
        """
        width = exact(sensitivity, "sensitivity")
        if width <= 0:
            raise InvalidParameterError("sensitivity must be positive")
        if price.accounting is not cls.accounting:
            raise InvalidParameterError(f"{cls.__name__} is paid under {cls.accounting} accounting")
        if cells < 1:
            raise InvalidParameterError("one person changes at least one cell")
        return cls(*_calibrated(width, price, cells))

    def lattice_sensitivity(self, sensitivity: Numeric, cells: int = 2) -> Fraction:
        """The sensitivity in steps of the lattice."""
        return _on_lattice(exact(sensitivity, "sensitivity"), self.shift, cells)

    @property
    def spread(self) -> Fraction:
        """The scale of the noise in the units of the value."""
        return self.scale * (1 << self.shift)

    def release(self, value: int) -> int:
        """The value with noise."""
        return self.release_many([value])[0]

    def release_many(self, values: Sequence[int]) -> list[int]:
        """The values, each with noise of its own. The guarantee is for the whole vector."""
        return self.added(values, self.draw(len(values)))

    def draw(self, how_many: int) -> list[int]:
        """So many independent draws, in steps of the lattice. They do not depend on the values."""
        return integer_noise(self.accounting, float(self.scale)).draw(how_many)

    def added(self, values: Sequence[int], noise: Sequence[int]) -> list[int]:
        """The values with these draws, of which each is used once."""
        half = (1 << self.shift) >> 1
        pairs = zip(values, noise, strict=True)
        return [(((value + half) >> self.shift) + drawn) << self.shift for value, drawn in pairs]

    def half_width(self, probability: Fraction = USUAL_PROBABILITY) -> int:
        """The smallest integer w with P(|noise| <= w) >= *probability*; half a step more on a lattice."""
        width = self._lattice_half_width(checked_probability(probability))
        return (width << self.shift) + ((1 << self.shift) >> 1)

    def _lattice_half_width(self, probability: Fraction) -> int:
        raise NotImplementedError

    def tail(self, least: int) -> Decimal:
        """An upper bound of P(noise >= least), for least >= 1 in steps of the lattice."""
        raise NotImplementedError


@dataclass(frozen=True)
class DiscreteLaplace(AdditiveNoise):
    """Discrete Laplace noise: P(noise = x) = (1 - p) / (1 + p) * p**|x| with p = e**(-1/scale).

    Precondition: the values are integers, and one person changes their vector by no more than the
    sensitivity in L1.
    Guarantee: pure differential privacy with epsilon = sensitivity / scale (``epsilon_at``).
    Source: Ghosh, Roughgarden and Sundararajan 2012; sampler: Algorithm 2 of Canonne, Kamath and Steinke
    2020.
    """

    accounting: ClassVar[Accounting] = Accounting.PURE

    def epsilon_at(self, sensitivity: Numeric, cells: int = 2) -> Fraction:
        """The epsilon for this L1 sensitivity."""
        return self.lattice_sensitivity(sensitivity, cells) / self.scale

    def _lattice_half_width(self, probability: Fraction) -> int:
        # P(|noise| > w) = 2 p**(w+1) / (1 + p).
        with localcontext(WORKING):
            p = decimal_of(-1 / self.scale).exp()
            beyond = -decimal_of(self.scale) * (decimal_of((1 - probability) / 2) * (1 + p)).ln()
            return max(0, math.ceil(beyond) - 1)

    def tail(self, least: int) -> Decimal:
        """An upper bound of P(noise >= least) = p**least / (1 + p)."""
        with localcontext(WORKING):
            p = decimal_of(-1 / self.scale).exp()
            return decimal_of(-least / self.scale).exp() / (1 + p) * _MARGIN


@dataclass(frozen=True)
class DiscreteGaussian(AdditiveNoise):
    """Discrete Gaussian noise: P(noise = x) proportional to e**(-x**2 / (2 scale**2)) on the integers.

    Precondition: the values are integers, and one person changes their vector by no more than the
    sensitivity in L2.
    Guarantee: zero-concentrated differential privacy with rho = (sensitivity / scale)**2 / 2 (``rho_at``).
    Source: Canonne, Kamath and Steinke 2020, Theorem 4; sampler: Algorithm 3 there.
    """

    accounting: ClassVar[Accounting] = Accounting.ZCDP

    def rho_at(self, sensitivity: Numeric, cells: int = 2) -> Fraction:
        """The rho for this L2 sensitivity."""
        return (self.lattice_sensitivity(sensitivity, cells) / self.scale) ** 2 / 2

    def _lattice_half_width(self, probability: Fraction) -> int:
        scale = float(self.scale)
        if scale > 1000:
            # Here the discrete and the continuous Gaussian agree to far more digits than are shown.
            return math.ceil(scale * NormalDist().inv_cdf(float((1 + probability) / 2)) - 0.5)
        weights = [math.exp(-((x / scale) ** 2) / 2) for x in range(math.ceil(40 * scale) + 1)]
        wanted = float(probability) * (2 * math.fsum(weights) - 1)
        reached, width = weights[0], 0
        while reached < wanted and width + 1 < len(weights):
            width += 1
            reached += 2 * weights[width]
        return width

    def tail(self, least: int) -> Decimal:
        """An upper bound of P(noise >= least), by the continuous Gaussian beyond least - 1.

        The weights from *least* on sum to at most the integral from least - 1, and all weights to at least
        the whole integral (Poisson summation). Then, for the normal distribution, P(N >= z) is at most
        e**(-z**2/2) * min(1/2, 1 / (z sqrt(2 pi))); 2.5 stands for sqrt(2 pi) = 2.5066...
        """
        with localcontext(WORKING):
            z = decimal_of((least - 1) / self.scale)
            mills = Decimal(1) / 2 if z <= 1 else 1 / (z * Decimal("2.5"))
            return (-z * z / 2).exp() * mills * _MARGIN


@lru_cache(maxsize=64)
def additive_noise(sensitivity: Numeric, price: Price, cells: int = 2) -> DiscreteLaplace | DiscreteGaussian:
    """The additive noise that the price's accounting calls for."""
    if price.accounting is Accounting.PURE:
        return DiscreteLaplace.for_price(sensitivity, price, cells)
    return DiscreteGaussian.for_price(sensitivity, price, cells)
