"""Which cells are unsafe by themselves, and what must stay uncertain about them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.core.errors import InvalidParameterError
from discreet.release.cubes import Need


@dataclass(frozen=True)
class Contributions:
    """Who stands behind a cell: how many, and how much of it comes from the largest of them."""

    contributors: int
    largest: Fraction | int
    second: Fraction | int
    top: Fraction | int


@dataclass(frozen=True)
class Rules:
    """The primary rules.

    threshold: fewer contributors than this are unsafe, none is not. In a table of counts the value itself is meant;
    the interval that can be told about an unsafe cell must then be at least as wide as the threshold.
    dominance (n, percent): the n largest contributors have more than this share.
    p_percent: the second largest contributor can tell the largest closer than to p percent.
    protection: for the threshold in tables of sums, to how many percent such a cell must stay uncertain.
    """

    threshold: Fraction
    dominance: tuple[int, Fraction] | None = None
    p_percent: Fraction | None = None
    protection: Fraction = Fraction(10)

    def __post_init__(self) -> None:
        if self.threshold < 1:
            raise InvalidParameterError(
                f"threshold is {float(self.threshold):g}, below which nothing is",
                "Give the least number of contributors that a published cell has, such as 3 or 10.",
            )
        if self.dominance is not None and not (self.dominance[0] >= 1 and 0 < self.dominance[1] < 100):
            raise InvalidParameterError(
                "dominance needs a number of contributors and a percentage below 100",
                "Give for instance dominance_n => 2, dominance_percent => 85.",
            )
        for name, percent in (("p_percent", self.p_percent), ("protection", self.protection)):
            if percent is not None and not 0 < percent <= 100:
                raise InvalidParameterError(f"{name} is {float(percent):g}, which is no percentage", "Give 1 to 100.")

    def count(self, value: int, unit: int = 1) -> Need | None:
        """Of a cell in a table of counts; a person is `unit` in the numbers of the table."""
        if not 0 < value < self.threshold * unit:
            return None
        return Need(0, 0, width=ceiling(self.threshold * unit))

    def magnitude(self, value: int, behind: Contributions) -> tuple[Need, list[str]] | None:
        """Of a cell in a table of sums: what it needs, and the rules that it breaks."""
        broken: dict[str, Fraction] = {}
        if 0 < behind.contributors < self.threshold:
            broken["threshold"] = self.protection * value / 100
        if self.dominance is not None and behind.top * 100 > self.dominance[1] * value:
            broken["dominance"] = 100 * behind.top / self.dominance[1] - value
        if self.p_percent is not None:
            short = self.p_percent * behind.largest / 100 - (value - behind.largest - behind.second)
            if short > 0:
                broken["p_percent"] = short
        if not broken or value == 0:
            return None
        margin = max(ceiling(max(broken.values())), 1)
        return Need(margin, margin), list(broken)


def ceiling(number: Fraction) -> int:
    return -(-number.numerator // number.denominator)
