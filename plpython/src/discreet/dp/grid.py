"""The integer grid on which bounded numbers are summed exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from discreet.core.errors import InvalidParameterError
from discreet.dp.exact import Numeric, ceil_log2, exact

BITS = 40


@dataclass(frozen=True)
class Grid:
    """Integers from *lower* to *upper*, each standing for itself times 2**exponent.

    Fitted to bounds by exponent = ceil(log2(max(|lower|, |upper|))) - bits (0 when both bounds are 0),
    lower = ceil(lower / 2**exponent), upper = floor(upper / 2**exponent), and lower = upper where no point
    lies between.

    With 40 bits a grid integer is at most 2**40, its square at most 2**80, and the sum of 10**12 < 2**40
    squares at most 2**120: no 128-bit sum overflows.

    A value is off its grid point by at most half a step (less than one next to a bound that is not on the
    grid). At epsilon <= 1 the noise of a sum has a scale of at least 2**39 - 1 steps, so even if all values
    are off by a whole step to the same side the error stays below 1 % of it up to 5 * 10**9 rows; where
    roundings fall to both sides, up to 10**12 rows and far beyond. Whole numbers below bounds of up to
    2**40 are on the grid and have no error at all. The noise of an average scales with upper - lower:
    bounds that are narrow against their distance from zero lose log2 of that ratio in bits.
    """

    exponent: int
    lower: int
    upper: int

    def __post_init__(self) -> None:
        if self.lower > self.upper:
            raise InvalidParameterError("lower bound is above upper bound", "Give the smaller bound first.")

    @classmethod
    def fit(cls, lower: Numeric, upper: Numeric, bits: int = BITS) -> Grid:
        """The finest grid of so many bits for values between the bounds."""
        low, high = exact(lower, "lower bound"), exact(upper, "upper bound")
        if low > high:
            raise InvalidParameterError("lower bound is above upper bound", "Give the smaller bound first.")
        largest = max(abs(low), abs(high))
        exponent = ceil_log2(largest) - bits if largest else 0
        step = Fraction(2) ** exponent
        last = math.floor(high / step)
        return cls(exponent, min(math.ceil(low / step), last), last)

    @cached_property
    def step(self) -> Fraction:
        """The distance between two points."""
        return Fraction(2) ** self.exponent

    @property
    def width(self) -> int:
        """upper - lower, in steps."""
        return self.upper - self.lower

    @property
    def reach(self) -> int:
        """The larger of |lower| and |upper|, in steps."""
        return max(abs(self.lower), abs(self.upper))

    def place(self, value: Numeric) -> int:
        """The grid integer of a value: rounded to the nearest point, then clamped."""
        rounded = math.floor(exact(value, "value") / self.step + Fraction(1, 2))
        return min(max(rounded, self.lower), self.upper)
