"""Interval arithmetic: between which bounds an expression lies when its parts lie between theirs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

# Numbers of more digits than this are of no use in statistics, and near it native types could overflow, or underflow.
LARGEST = Fraction(10) ** 60


@dataclass(frozen=True)
class Interval:
    """A closed interval of real numbers."""

    lower: Fraction
    upper: Fraction

    @classmethod
    def of(cls, *ends: Fraction | int) -> Interval:
        return cls(Fraction(min(ends)), Fraction(max(ends)))

    @property
    def reach(self) -> Fraction:
        return max(abs(self.lower), abs(self.upper))

    @property
    def usable(self) -> bool:
        return self.reach == 0 or 1 / LARGEST <= self.reach <= LARGEST

    def __contains__(self, number: Fraction | int) -> bool:
        return self.lower <= number <= self.upper

    def __neg__(self) -> Interval:
        return Interval(-self.upper, -self.lower)

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.lower + other.lower, self.upper + other.upper)

    def __sub__(self, other: Interval) -> Interval:
        return self + -other

    def __mul__(self, other: Interval) -> Interval:
        ends = [mine * theirs for mine in (self.lower, self.upper) for theirs in (other.lower, other.upper)]
        return Interval.of(*ends)

    def divided_by(self, other: Interval, whole: bool) -> Interval | None:
        """Of the quotient, with no value where the divisor is 0; whole numbers divide towards 0.

        Without bounds (None) when the divisor comes as near to 0 as it likes.
        """
        if 0 not in other:
            quotient = self * Interval.of(1 / other.lower, 1 / other.upper)
            return quotient | Interval.of(0) if whole else quotient
        return Interval.of(-self.reach, self.reach) if whole else None

    def __or__(self, other: Interval) -> Interval:
        """The smallest interval that holds both."""
        return Interval(min(self.lower, other.lower), max(self.upper, other.upper))

    def within(self, other: Interval) -> Interval:
        """This interval, its ends moved into another one."""
        ends = (min(max(end, other.lower), other.upper) for end in (self.lower, self.upper))
        return Interval(*ends)

    def absolute(self) -> Interval:
        least = Fraction(0) if 0 in self else min(abs(self.lower), abs(self.upper))
        return Interval(least, self.reach)

    def widened(self, by: Fraction | int) -> Interval:
        return Interval(self.lower - by, self.upper + by)
