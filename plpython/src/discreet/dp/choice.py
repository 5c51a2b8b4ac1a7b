"""Private choice of one candidate out of many, by integer losses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import localcontext
from fractions import Fraction
from functools import lru_cache

from discreet.core.errors import InvalidParameterError
from discreet.dp.additive import USUAL_PROBABILITY, checked_probability, needed_scale
from discreet.dp.exact import WORKING, decimal_of, float_above
from discreet.dp.noise import noisy_choice
from discreet.dp.price import Accounting, Price

# Losses are cut here so that they fit 64 bits; cutting keeps any sensitivity.
_LARGEST_LOSS = 2**62


@dataclass(frozen=True)
class ExponentialChoice:
    """Private choice among candidates by integer losses, the smaller the better.

    Distribution: under ``zcdp`` the exponential mechanism, P(i) proportional to e**(-loss_i / scale); under
    ``pure`` permute-and-flip with the same scale, which is never worse.
    Precondition: the candidates are public, and one person changes no loss by more than *sensitivity*.
    Guarantee: with scale = 2 sensitivity / epsilon, pure epsilon; by its bounded range the exponential
    mechanism has rho = epsilon**2 / 8, that is scale = sensitivity / sqrt(2 rho).
    Source: McSherry and Talwar 2007; McKenna and Sheldon 2020; Cesar and Rogers 2021.
    """

    sensitivity: int
    price: Price

    def __post_init__(self) -> None:
        if not 1 <= self.sensitivity <= 2**40:
            raise InvalidParameterError("sensitivity of a choice lies between 1 and 2**40")
        _calibrated(self.sensitivity, self.price)

    @property
    def scale(self) -> Fraction:
        """The scale of the weights e**(-loss / scale)."""
        return Fraction(_calibrated(self.sensitivity, self.price))

    def release(self, losses: Sequence[int]) -> int:
        """The index of a candidate with a loss near the least."""
        return self.release_many([losses])[0]

    def release_many(self, groups: Sequence[Sequence[int]]) -> list[int]:
        """A choice for every group; the price covers all of them together.

        Precondition: a person's largest change of a loss, added up over groups, stays within *sensitivity*.
        """
        if not all(groups):
            raise InvalidParameterError("there is nothing to choose from")
        source = noisy_choice(self.price.accounting, _calibrated(self.sensitivity, self.price))
        return [source.draw([min(loss, _LARGEST_LOSS) for loss in losses]) for losses in groups]

    def half_width(self, candidates: int, probability: Fraction = USUAL_PROBABILITY) -> int:
        """With at least this probability the chosen loss is above the least by no more than this.

        P(excess >= scale * (ln candidates + t)) <= e**-t (Dwork and Roth 2014, Theorem 3.11).
        """
        ways = decimal_of(Fraction(candidates) / (1 - checked_probability(probability)))
        with localcontext(WORKING):
            return math.ceil(decimal_of(self.scale) * ways.ln())


@lru_cache(maxsize=64)
def _calibrated(sensitivity: int, price: Price) -> float:
    """A scale that keeps the price by OpenDP's own privacy map."""
    # 2 sensitivity / epsilon; with epsilon = sqrt(8 rho) that is sensitivity / sqrt(2 rho).
    wanted = needed_scale(Fraction(sensitivity), price) * (2 if price.accounting is Accounting.PURE else 1)
    for attempt in range(8):
        scale = float_above(wanted * (1 + Fraction(attempt, 2**50)))
        if noisy_choice(price.accounting, scale).loss(sensitivity) <= price.amount:
            return scale
    raise InvalidParameterError("no choice could be calibrated to this price", "Choose another epsilon.")
