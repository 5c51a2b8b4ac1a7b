"""A question that is answered from a random part of the people: what it costs, and how far the part may mislead."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

from discreet.core.errors import InvalidParameterError
from discreet.dp.exact import WORKING, Numeric, decimal_of, exact

LEAST_RATE = Fraction(1, 1000)
# exp and ln of the decimal module are correct to the last of fifty digits; this covers the roundings around them
_MARGIN = Decimal("1e-45")
# the same for doubles
_ROUNDED = 1 + 1e-9


@dataclass(frozen=True)
class PoissonSample:
    """Each person takes part with probability `rate`, independently of all others and of the data.

    Precondition: who takes part is secret, and drawn anew for every charge; neighbours differ by one person more or
    less, with all of the person's rows.
    Guarantee: what is (epsilon, delta)-private on the sample is (ln(1 + rate (e**epsilon - 1)), rate delta)-private.
    One sample for all numbers of a charge: epsilon is that of all of them together.
    Source: Balle, Barthe and Gaboardi 2018, Theorem 8.
    """

    rate: Fraction

    @classmethod
    def of(cls, rate: Numeric) -> PoissonSample:
        wanted = exact(rate, "sample")
        if not LEAST_RATE <= wanted < 1:
            raise InvalidParameterError(
                f"sample is {rate}, which is no part of the people", "Give a number from 0.001 to below 1, such as 0.1."
            )
        return cls(wanted)

    def epsilon(self, epsilon: Fraction) -> Fraction:
        """What an epsilon on the sample costs, rounded up, and never more than itself."""
        if epsilon == 0:
            return epsilon
        with localcontext(WORKING):
            grown = 1 + decimal_of(self.rate) * (decimal_of(epsilon).exp() - 1)
            return min(epsilon, Fraction(grown.ln() + _MARGIN))

    def delta(self, delta: Fraction) -> Fraction:
        return self.rate * delta

    def scaled(self, number: int) -> int:
        """What a number of the sample says of all people, off by at most a half."""
        return round(number / self.rate)

    def half_width(self, number: int, most: Fraction, noise: Fraction, missed: Fraction) -> Fraction:
        """How far a scaled number of not negative parts may be off by the sample, with probability 1 - `missed`.

        `number`: as it was released, off by at most `noise` otherwise; `most`: what one person adds to it.

        Let T = Σ x be the truth, 0 ≤ x ≤ most, and b = 1 with probability q. The parts (b / q - 1) x have mean 0, lie
        within c = most · max(1, (1 - q) / q), and the sum of their variances is (1 - q) / q Σ x² ≤ a T with
        a = most (1 - q) / q. By Bernstein's inequality their sum is beyond t = √(2 a T L) + 2 c L / 3 with probability
        at most 2 e**-L. And since T ≤ number + noise + t, √T ≤ √(a L / 2) + √(a L / 2 + number + noise + 2 c L / 3).
        """
        q, top = float(self.rate), float(most)
        length = math.log(2 / float(missed))
        a, c = top * (1 - q) / q, top * max(1.0, (1 - q) / q)
        known = max(number, 0) + float(noise) + 2 * c * length / 3
        root = math.sqrt(a * length / 2) + math.sqrt(a * length / 2 + known)
        return Fraction((math.sqrt(2 * a * length) * root + 2 * c * length / 3) * _ROUNDED)
