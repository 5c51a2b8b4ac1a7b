"""The mechanisms: integer noise, thresholded release of unknown keys, private choice.

Each is calibrated by ``for_price`` (or its constructor), which refuses unless both the formula in the docstring
and OpenDP's own privacy map say that the price is kept.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import ClassVar, Self, TypeVar

from discreet.core.errors import InvalidParameterError
from discreet.dp.exact import WORKING, Numeric, ceil_log2, decimal_of, exact, float_above, sqrt_above
from discreet.dp.noise import IntegerNoise, integer_noise, noisy_choice
from discreet.dp.price import Accounting, Price, parse_delta

Key = TypeVar("Key", bound=Hashable)

USUAL_PROBABILITY = Fraction(95, 100)

# OpenDP draws into 64-bit integers and saturates there. At this scale a draw reaches 2**63 with probability
# below exp(-2**12), less than 10**-1700: that is the only event in which the noise is not the exact one.
_LARGEST_SCALE_LOG2 = 50

# exp and ln of the decimal module are correct to the last of fifty digits; this covers what they feed on.
_MARGIN = Decimal(1) + Decimal("1e-30")

# Losses are cut here so that they fit 64 bits; cutting keeps any sensitivity.
_LARGEST_LOSS = 2**62


def _probability(value: Fraction) -> Fraction:
    if not 0 < value < 1:
        raise InvalidParameterError("a probability lies between 0 and 1")
    return value


@dataclass(frozen=True)
class _AdditiveNoise:
    """What discrete Laplace and discrete Gaussian share.

    A value is rounded to a multiple of 2**shift and 2**shift times integer noise of *scale* is added. The shift is
    0 unless the noise would not fit 64 bits; then the lattice is still 2**49 times finer than the noise. On the
    lattice, values that differ by d differ by at most d / 2**shift + 1, hence a vector of values of which *cells*
    differ has sensitivity at most sensitivity / 2**shift + cells, in L1 and in L2.

    The value may be an integer of any size: noise that does not depend on the value is drawn around zero and added.
    """

    scale: Fraction
    shift: int = 0

    accounting: ClassVar[Accounting]

    def __post_init__(self) -> None:
        scale = exact(self.scale, "noise scale")
        if not 0 < scale <= 2**_LARGEST_SCALE_LOG2 * 2:
            raise InvalidParameterError("noise scale is out of range", "Choose a larger epsilon.")
        if self.shift < 0:
            raise InvalidParameterError("noise lattice is finer than the integers")
        # Upwards to a double, which OpenDP then takes for the exact rational it is.
        object.__setattr__(self, "scale", Fraction(float_above(scale)))

    @classmethod
    def _needed_scale(cls, sensitivity: Fraction, price: Price) -> Fraction:
        raise NotImplementedError

    @property
    def _source(self) -> IntegerNoise:
        return integer_noise(self.accounting, float(self.scale))

    @classmethod
    def for_price(cls, sensitivity: Numeric, price: Price, cells: int = 2) -> Self:
        """The least noise that keeps *price* when one person changes the vector of values by *sensitivity*.

        Sensitivity is measured in L1 for Laplace and in L2 for Gaussian noise; *cells* is the number of values one
        person can change (one group, or two when a row may move between groups).
        """
        exact_sensitivity = exact(sensitivity, "sensitivity")
        if exact_sensitivity <= 0:
            raise InvalidParameterError("sensitivity must be positive")
        if price.accounting is not cls.accounting:
            raise InvalidParameterError(f"{cls.__name__} is paid under {cls.accounting} accounting")
        if cells < 1:
            raise InvalidParameterError("one person changes at least one cell")
        return _calibrated(cls, exact_sensitivity, price, cells)

    def lattice_sensitivity(self, sensitivity: Numeric, cells: int = 2) -> Fraction:
        """The sensitivity in steps of the lattice."""
        exact_sensitivity = exact(sensitivity, "sensitivity")
        return exact_sensitivity if self.shift == 0 else exact_sensitivity / 2**self.shift + cells

    def release(self, value: int) -> int:
        """The value with noise."""
        return self.release_many([value])[0]

    def release_many(self, values: Sequence[int]) -> list[int]:
        """The values, each with noise of its own. The guarantee is for the whole vector."""
        half = (1 << self.shift) >> 1
        noise = self._source.draw(len(values))
        return [(((value + half) >> self.shift) + draw) << self.shift for value, draw in zip(values, noise, strict=True)]

    def _lattice_half_width(self, probability: Fraction) -> int:
        raise NotImplementedError

    def half_width(self, probability: Fraction = USUAL_PROBABILITY) -> int:
        """The smallest integer w with P(\\|noise\\| <= w) >= *probability* (with the rounding to the lattice, if any)."""
        return (self._lattice_half_width(_probability(probability)) << self.shift) + ((1 << self.shift) >> 1)

    def tail(self, least: int) -> Decimal:
        """An upper bound of P(noise >= least), for noise in steps of the lattice and least >= 1."""
        raise NotImplementedError


_Additive = TypeVar("_Additive", bound=_AdditiveNoise)


@lru_cache(maxsize=1024)
def _calibrated(cls: type[_Additive], sensitivity: Fraction, price: Price, cells: int) -> _Additive:
    shift = max(0, ceil_log2(cls._needed_scale(sensitivity, price)) - _LARGEST_SCALE_LOG2)
    lattice = cls(Fraction(1), shift).lattice_sensitivity(sensitivity, cells)
    scale = cls._needed_scale(lattice, price)
    for attempt in range(8):
        # OpenDP rounds its map up; a few parts in 2**52 of more noise bring it below the price.
        mechanism = cls(scale * (1 + Fraction(attempt, 2**50)), shift)
        if mechanism._source.loss(lattice) <= price.amount:
            return mechanism
    raise InvalidParameterError("no noise could be calibrated to this price", "Choose another epsilon.")


@dataclass(frozen=True)
class DiscreteLaplace(_AdditiveNoise):
    """Discrete Laplace noise: P(noise = x) = (e**(1/scale) - 1) / (e**(1/scale) + 1) * e**(-\\|x\\| / scale).

    Precondition: the vector of values is made of integers, and one person changes its L1 norm by no more than the
    sensitivity. Guarantee: pure differential privacy with epsilon = sensitivity / scale (``epsilon_at``).
    Source: Ghosh, Roughgarden and Sundararajan 2012; sampler: Canonne, Kamath and Steinke 2020, Algorithm 2.
    """

    accounting: ClassVar[Accounting] = Accounting.PURE

    @classmethod
    def _needed_scale(cls, sensitivity: Fraction, price: Price) -> Fraction:
        return sensitivity / price.amount

    def epsilon_at(self, sensitivity: Numeric, cells: int = 2) -> Fraction:
        """The epsilon for this L1 sensitivity."""
        return self.lattice_sensitivity(sensitivity, cells) / self.scale

    def _lattice_half_width(self, probability: Fraction) -> int:
        # P(|X| > w) = 2 p**(w+1) / (1 + p) with p = e**(-1/scale).
        p = WORKING.exp(decimal_of(-1 / self.scale))
        target = decimal_of((1 - probability) / 2) * (1 + p)
        beyond = -decimal_of(self.scale) * WORKING.ln(target)
        return max(0, math.ceil(beyond) - 1)

    def tail(self, least: int) -> Decimal:
        """An upper bound of P(noise >= least) = p**least / (1 + p), p = e**(-1/scale)."""
        p = WORKING.exp(decimal_of(-1 / self.scale))
        return WORKING.exp(decimal_of(-least / self.scale)) / (1 + p) * _MARGIN


@dataclass(frozen=True)
class DiscreteGaussian(_AdditiveNoise):
    """Discrete Gaussian noise: P(noise = x) proportional to e**(-x**2 / (2 scale**2)) on the integers.

    Precondition: the vector of values is made of integers, and one person changes its L2 norm by no more than the
    sensitivity. Guarantee: zero-concentrated differential privacy with rho = (sensitivity / scale)**2 / 2
    (``rho_at``). Source: Canonne, Kamath and Steinke 2020, Theorem 4; sampler: Algorithm 3 there.
    """

    accounting: ClassVar[Accounting] = Accounting.ZCDP

    @classmethod
    def _needed_scale(cls, sensitivity: Fraction, price: Price) -> Fraction:
        return sqrt_above(sensitivity**2 / (2 * price.amount))

    def rho_at(self, sensitivity: Numeric, cells: int = 2) -> Fraction:
        """The rho for this L2 sensitivity."""
        return (self.lattice_sensitivity(sensitivity, cells) / self.scale) ** 2 / 2

    def _lattice_half_width(self, probability: Fraction) -> int:
        scale = float(self.scale)
        if scale > 1000:
            # Here the discrete and the continuous Gaussian agree to far more digits than anybody reads.
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

        Canonne, Kamath and Steinke 2020, Proposition 25, and Mills' ratio: P(N(0,1) >= z) <= e**(-z**2/2) * min(1/2,
        1 / (z sqrt(2 pi))); 2.5 stands for sqrt(2 pi) = 2.5066...
        """
        z = decimal_of((least - 1) / self.scale)
        mills = Decimal(1) / 2 if z <= 1 else 1 / (z * Decimal("2.5"))
        return WORKING.exp(-z * z / 2) * mills * _MARGIN


def additive_noise(sensitivity: Numeric, price: Price, cells: int = 2) -> DiscreteLaplace | DiscreteGaussian:
    """The additive noise that the price's accounting calls for."""
    if price.accounting is Accounting.PURE:
        return DiscreteLaplace.for_price(sensitivity, price, cells)
    return DiscreteGaussian.for_price(sensitivity, price, cells)


@dataclass(frozen=True)
class ThresholdedRelease:
    """Keys with their noisy number of people, only where that number reaches a threshold.

    Distribution: to the number of people of each key that is present, discrete Laplace or Gaussian noise is added;
    keys whose noisy number is at least ``threshold`` are released, with that number, in an order that depends on
    nothing else.

    Precondition: a person counts at most once for a key and touches at most *keys* keys (under bounded neighbours,
    where a change is a removal plus an addition, twice the number of keys of one person). A key without people is
    not present.

    Guarantee: (epsilon, delta)-privacy, or delta-approximate rho-zCDP. A key that exists only because of one person
    has exactly one; it shows with probability at most P(noise >= threshold - 1), and there are at most *keys* such
    keys, so the threshold is the smallest with keys * P(noise >= threshold - 1) <= delta. Given that none of them
    shows, the rest is the additive mechanism with L1 sensitivity *keys* and L2 sensitivity sqrt(keys).
    Source: Korolova et al. 2009; Bun, Nissim and Stemmer 2016, Theorem 3.5; Rogers 2023 (arXiv 2309.09170).
    """

    price: Price
    delta: Fraction
    keys: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", parse_delta(self.delta))
        if self.delta == 0:
            raise InvalidParameterError(
                "unknown keys cannot be released with delta 0", "Declare the categories, or give the dataset a delta."
            )
        if not 1 <= self.keys <= 10**6:
            raise InvalidParameterError("a person touches between one and a million keys")
        if self._noise.shift:
            raise InvalidParameterError("noise scale is out of range", "Choose a larger epsilon.")

    @property
    def _noise(self) -> DiscreteLaplace | DiscreteGaussian:
        pure = self.price.accounting is Accounting.PURE
        sensitivity = Fraction(self.keys) if pure else sqrt_above(Fraction(self.keys))
        return additive_noise(sensitivity, self.price, self.keys)

    @property
    def threshold(self) -> int:
        """The smallest number of people that is shown."""
        return 1 + _first_rare(self._noise, decimal_of(self.delta / self.keys))

    def release(self, people: Mapping[Key, int]) -> dict[Key, int]:
        """The keys that reach the threshold, with their noisy numbers."""
        present = {key: number for key, number in people.items() if number > 0}
        noisy = self._noise.release_many(list(present.values()))
        threshold = self.threshold
        shown = {key: number for key, number in zip(present, noisy, strict=True) if number >= threshold}
        return dict(sorted(shown.items(), key=lambda item: repr(item[0])))

    def half_width(self, probability: Fraction = USUAL_PROBABILITY) -> int:
        """The smallest integer w with P(\\|noise\\| <= w) >= *probability*."""
        return self._noise.half_width(probability)


@lru_cache(maxsize=256)
def _first_rare(noise: _AdditiveNoise, chance: Decimal) -> int:
    """The smallest t >= 1 with noise.tail(t) <= chance; tail falls in t."""
    high = 1
    while noise.tail(high) > chance:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if noise.tail(middle) <= chance else (middle, high)
    return high


@dataclass(frozen=True)
class ExponentialChoice:
    """Private choice among candidates by integer losses, the smaller the better.

    Distribution: under ``zcdp`` the exponential mechanism, P(i) proportional to e**(-loss_i / scale); under ``pure``
    permute-and-flip with the same scale, which is never worse. Precondition: the candidates are public and one
    person changes no loss by more than *sensitivity*. Guarantee: with scale = 2 * sensitivity / epsilon, pure
    epsilon; by bounded range, rho = epsilon**2 / 8 for the exponential mechanism, so scale = sensitivity /
    sqrt(2 rho). Source: McSherry and Talwar 2007; McKenna and Sheldon 2020; Cesar and Rogers 2021, Lemma 3.2.
    """

    sensitivity: int
    price: Price

    def __post_init__(self) -> None:
        if not 1 <= self.sensitivity <= 2**40:
            raise InvalidParameterError("sensitivity of a choice lies between 1 and 2**40")
        _choice_scale(self.sensitivity, self.price)

    @property
    def scale(self) -> Fraction:
        """The scale of the weights e**(-loss / scale)."""
        return Fraction(_choice_scale(self.sensitivity, self.price))

    def release(self, losses: Sequence[int]) -> int:
        """The index of a candidate with a loss near the least."""
        if not losses:
            raise InvalidParameterError("there is nothing to choose from")
        source = noisy_choice(self.price.accounting, float(self.scale))
        return source.draw([min(loss, _LARGEST_LOSS) for loss in losses])

    def half_width(self, candidates: int, probability: Fraction = USUAL_PROBABILITY) -> int:
        """With at least this probability the chosen loss is above the least by no more than this.

        McSherry and Talwar 2007, Theorem 8 in the form P(excess >= scale * (ln m + t)) <= e**-t.
        """
        ways = decimal_of(Fraction(candidates) / (1 - _probability(probability)))
        return math.ceil(decimal_of(self.scale) * WORKING.ln(ways))


@lru_cache(maxsize=1024)
def _choice_scale(sensitivity: int, price: Price) -> float:
    pure = price.accounting is Accounting.PURE
    needed = 2 * sensitivity / price.amount if pure else sqrt_above(sensitivity**2 / (2 * price.amount))
    for attempt in range(8):
        scale = float_above(needed * (1 + Fraction(attempt, 2**50)))
        if noisy_choice(price.accounting, scale).loss(sensitivity) <= price.amount:
            return scale
    raise InvalidParameterError("no choice could be calibrated to this price", "Choose another epsilon.")
