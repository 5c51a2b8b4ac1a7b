"""The most frequent of known values, chosen privately by how many rows each is short of the most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.dp.choice import ExponentialChoice
from discreet.dp.price import Price


@dataclass(frozen=True)
class ModeChoice:
    """The private choice of the value that most rows have.

    The loss of a value is the largest count minus its own. Precondition: a person has at most `rows` rows in all counts
    together. Adding or removing them moves the largest count and each count by 0 to `rows`, in the same direction, so
    each loss by at most `rows`: that is the sensitivity at which ``ExponentialChoice`` keeps its guarantee.

    Utility: with 95 % the value chosen has at most ``half_width`` rows less than the most frequent one.
    """

    choice: ExponentialChoice

    @classmethod
    def of(cls, price: Price, rows: int) -> ModeChoice:
        return cls(ExponentialChoice(rows, price))

    @property
    def unit(self) -> int:
        """What a row counts in a loss."""
        return 1

    def half_width(self, values: int) -> int:
        return self.choice.half_width(values)

    def losses(self, counts: Sequence[int]) -> list[int]:
        most = max(counts)
        return [most - count for count in counts]

    def release(self, counts: Sequence[int]) -> int:
        """The place of the value chosen."""
        return self.release_many([counts])[0]

    def release_many(self, groups: Sequence[Sequence[int]]) -> list[int]:
        """A choice for every group; the price covers all of them together."""
        return self.choice.release_many([self.losses(counts) for counts in groups])
