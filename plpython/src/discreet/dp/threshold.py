"""Release of keys that are not declared: only those that many people share."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

from discreet.core.errors import InvalidParameterError
from discreet.dp.additive import USUAL_PROBABILITY, DiscreteGaussian, DiscreteLaplace, additive_noise
from discreet.dp.exact import decimal_below, sqrt_above
from discreet.dp.price import Accounting, Price, parse_delta

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class ThresholdedRelease:
    """Keys with their noisy number of people, only where that number reaches a threshold.

    Distribution: to the number of people of each key that is present, discrete Laplace or Gaussian noise is
    added; keys whose noisy number is at least ``threshold`` are released with it, in an order that depends
    on nothing else.

    Precondition: a person counts at most once for a key and touches at most *keys* keys (under bounded
    neighbours, where a change is a removal plus an addition, twice the number of keys of one person). A key
    without people is not present.

    Guarantee: (epsilon, delta)-privacy, or delta-approximate rho-zCDP. A key that exists only because of
    one person has exactly one; it shows with probability at most P(noise >= threshold - 1), and there are
    at most *keys* such keys, so the threshold is the smallest with keys * P(noise >= threshold - 1) <=
    delta. Given that none of them shows, the rest is additive noise on a vector with L1 sensitivity *keys*
    and L2 sensitivity sqrt(keys).
    Source: Korolova et al. 2009; Bun, Nissim and Stemmer 2016; Rogers 2023 (arXiv 2309.09170).
    """

    price: Price
    delta: Fraction
    keys: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", parse_delta(self.delta))
        if self.delta == 0:
            raise InvalidParameterError(
                "unknown keys cannot be released with delta 0",
                "Declare the categories, or give the dataset a delta.",
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
        return 1 + _first_rare(self._noise, decimal_below(self.delta / self.keys))

    def release(self, people: Mapping[Key, int]) -> dict[Key, int]:
        """The keys that reach the threshold, with their noisy numbers."""
        present = {key: number for key, number in people.items() if number > 0}
        noisy = self._noise.release_many(list(present.values()))
        threshold = self.threshold
        shown = {key: number for key, number in zip(present, noisy, strict=True) if number >= threshold}
        return dict(sorted(shown.items(), key=lambda item: repr(item[0])))

    def half_width(self, probability: Fraction = USUAL_PROBABILITY) -> int:
        """The smallest integer w with P(|noise| <= w) >= *probability*."""
        return self._noise.half_width(probability)


@lru_cache(maxsize=64)
def _first_rare(noise: DiscreteLaplace | DiscreteGaussian, chance: Decimal) -> int:
    """The smallest t >= 1 with noise.tail(t) <= chance; tail falls in t."""
    high = 1
    while noise.tail(high) > chance:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if noise.tail(middle) <= chance else (middle, high)
    return high
