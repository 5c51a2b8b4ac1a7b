"""What the rows of one group come to before noise: sums on the grid, or a histogram."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.core.errors import InvalidParameterError
from discreet.dp.exact import Numeric, exact
from discreet.dp.grid import Grid


@dataclass(frozen=True)
class Totals:
    """Number, sum and sum of squares of the grid integers of the rows that are not NULL."""

    count: int
    total: int = 0
    squares: int = 0
    grid: Grid | None = None

    def __post_init__(self) -> None:
        if self.count < 0 or self.squares < 0:
            raise InvalidParameterError("totals of a group cannot be negative")


@dataclass(frozen=True)
class Histogram:
    """Numbers of values in bins of equal width from *lower* to *upper*; the outermost hold those outside."""

    counts: tuple[int, ...]
    lower: Fraction
    upper: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", tuple(self.counts))
        object.__setattr__(self, "lower", exact(self.lower, "lower bound"))
        object.__setattr__(self, "upper", exact(self.upper, "upper bound"))
        if not self.counts or min(self.counts) < 0:
            raise InvalidParameterError("a histogram has at least one bin and no negative counts")
        if self.lower > self.upper:
            raise InvalidParameterError("lower bound is above upper bound", "Give the smaller bound first.")

    @classmethod
    def of(cls, counts: tuple[int, ...], lower: Numeric, upper: Numeric) -> Histogram:
        """The histogram with bounds as SQL writes them."""
        return cls(counts, exact(lower, "lower bound"), exact(upper, "upper bound"))

    @property
    def bin_width(self) -> Fraction:
        """The width of every bin."""
        return (self.upper - self.lower) / len(self.counts)
