"""Bins among which a quantile is chosen. They are public: made from bounds, never from data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar

from discreet.dp.estimate import bin_value
from discreet.dp.quantile import Side
from discreet.dp.totals import Histogram
from discreet.gate.intervals import Interval
from discreet.gate.printer import listed, one_of_its_equals, operator
from discreet.gate.schema import Family
from discreet.gate.tree import Constant

# below it a double has room for a half
LARGEST_WHOLE = 10**15
EPOCH = date(1970, 1, 1)


@dataclass(frozen=True)
class EqualBins:
    """So many bins of equal width; the outermost hold what lies outside. `whole`: one for each whole number."""

    lower: Fraction
    upper: Fraction
    number: int
    whole: bool = False

    @classmethod
    def fit(cls, interval: Interval, whole: bool, most: int) -> EqualBins:
        """`most` bins; `whole` numbers in a range that is small enough have a bin each, and are the middle of it."""
        first, last = math.ceil(interval.lower), math.floor(interval.upper)
        if whole and 0 <= last - first < most and interval.reach < LARGEST_WHOLE:
            return cls(first - Fraction(1, 2), last + Fraction(1, 2), last - first + 1, whole=True)
        return cls(interval.lower, interval.upper, most if interval.lower < interval.upper else 1)

    def sql(self, value: str) -> str:
        ends = ", ".join(f"({float(end)!r})::pg_catalog.float8" for end in (self.lower, self.upper))
        return f"discreet._bin({value}, {ends}, {self.number})"

    def value(self, chosen: int) -> Decimal:
        """The middle of a bin."""
        return bin_value(Histogram((0,) * self.number, self.lower, self.upper), chosen)

    def end(self, chosen: int, side: Side) -> Fraction:
        """The end of a candidate of dp.quantile.QuantileEnd: of a bin, or the bound beyond all of them."""
        inwards = Fraction(1, 2) if self.whole else Fraction(0)
        width = (self.upper - self.lower) / self.number
        if side is Side.LOWER:
            return self.lower + max(chosen - 1, 0) * width + inwards
        return self.lower + min(chosen + 1, self.number) * width - inwards


@dataclass(frozen=True)
class ValueBins:
    """A bin for each of the values that are known without data; what is none of them has none."""

    values: tuple[Constant, ...]
    family: Family

    @property
    def number(self) -> int:
        return len(self.values)

    def sql(self, value: str) -> str:
        listed_values = (one_of_its_equals(listed(entry), self.family) for entry in self.values)
        whens = (f"WHEN {operator('=', value, entry)} THEN {place}" for place, entry in enumerate(listed_values))
        return f"(CASE {' '.join(whens)} END)"

    def value(self, chosen: int) -> str:
        held = self.values[chosen].value
        return str(held).lower() if isinstance(held, bool) else str(held)


@dataclass(frozen=True)
class LogarithmicBins:
    """Bins for numbers of which nothing is known: the farther from 0, the wider.

    From each power of two to the next there are four, on both sides of 0. What is nearer to 0 than 2^-20 shares the
    bin in the middle with it; the outermost hold everything from 2^60 on. `upper`: a bin stands for its upper end.
    """

    upper: bool

    LOWEST: ClassVar[int] = -20
    OCTAVES: ClassVar[int] = 80
    STEPS: ClassVar[int] = 4

    @property
    def middle(self) -> int:
        return self.OCTAVES * self.STEPS

    @property
    def number(self) -> int:
        return 2 * self.middle + 1

    def sql(self, value: str) -> str:
        return f"discreet._log_bin({value}, {self.LOWEST}, {self.OCTAVES}, {self.STEPS})"

    def value(self, chosen: int) -> Decimal:
        """The end of a bin, outwards to 1, 2 or 5 times a power of ten."""
        place = abs(chosen - self.middle) - 1
        if place < 0:
            return Decimal(0)
        positive = chosen > self.middle
        outer = positive is self.upper
        octave, step = divmod(place, self.STEPS)
        end = Fraction(2) ** (self.LOWEST + octave) * (1 + Fraction(step + outer, self.STEPS))
        size = readable_above(end) if outer else readable_below(end)
        return size if positive else -size


@dataclass(frozen=True)
class CalendarBins:
    """Bins for dates and times of which nothing is known: a month each on average, from 1800 to 2199.

    The outermost hold what lies outside. `seconds`: a time is counted in seconds since 1970, else in days. `upper`: a
    bin stands for the end of the month in which it ends, else for the beginning of that in which it begins.
    """

    upper: bool
    seconds: bool

    FIRST: ClassVar[date] = date(1800, 1, 1)
    END: ClassVar[date] = date(2200, 1, 1)
    number: ClassVar[int] = 4800

    @property
    def unit(self) -> int:
        return 86_400 if self.seconds else 1

    def sql(self, value: str) -> str:
        ends = ((end - EPOCH).days * self.unit for end in (self.FIRST, self.END))
        return f"discreet._bin({value}, {', '.join(f'({end})::pg_catalog.float8' for end in ends)}, {self.number})"

    def value(self, chosen: int) -> Decimal:
        width = Fraction((self.END - self.FIRST).days, self.number)
        if not self.upper:
            begin = self.FIRST + timedelta(math.floor(chosen * width))
            return Decimal((begin.replace(day=1) - EPOCH).days * self.unit)
        last = self.FIRST + timedelta(math.ceil((chosen + 1) * width) - 1)
        following = (last.replace(day=28) + timedelta(4)).replace(day=1)
        return Decimal((following - EPOCH).days * self.unit - 1)


def readable_above(number: Fraction) -> Decimal:
    """The smallest of 1, 2 and 5 times the powers of ten that is not below a number above 0."""
    return min(size for size in readable_near(number) if size >= number)


def readable_below(number: Fraction) -> Decimal:
    """The largest of 1, 2 and 5 times the powers of ten that is not above a number above 0."""
    return max(size for size in readable_near(number) if size <= number)


def readable_near(number: Fraction) -> list[Decimal]:
    power = math.floor(math.log10(number))
    return [Decimal(digit).scaleb(power + shift) for shift in (-1, 0, 1) for digit in (1, 2, 5)]
