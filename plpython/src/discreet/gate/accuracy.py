"""How exact an answer was: of each of its noisy columns, in one line, from numbers already released."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.gate.exactness import UNLIMITED, about
from discreet.gate.plan import Plan
from discreet.gate.propagation import TYPES


@dataclass(frozen=True)
class Accuracy:
    """The 95 % half-widths of one column over the rows of an answer: their median, also as a share of the numbers.

    `numbers`: how many there are. `relative` is not known of expressions, whose value is put together later, nor of
    dates, nor where all numbers are 0.
    """

    column: str
    kind: str
    numbers: int
    half_width: Fraction
    relative: Fraction | None

    def told(self) -> dict[str, object]:
        return {
            "column": self.column,
            "kind": self.kind,
            "numbers": self.numbers,
            "half_width": about(self.half_width),
            "relative": None if self.relative is None else about(self.relative),
        }


def accuracy(plan: Plan, rows: Sequence[Sequence[object]]) -> list[Accuracy]:
    """Of every noisy column whose half-width is known; it is post-processing of what was released."""
    keys, found = len(plan.grouping.keys), []
    for column, part in plan.columns:
        if part.exact or part.unknown is not None:
            continue
        at = keys + len(plan.aggregates) + plan.errors.index(part.error)
        known = [row for row in rows if row[at] not in (None, UNLIMITED)]
        if not known:
            continue
        widths = [str(row[at]) for row in known]
        kind, relative = "expression", None
        if len(part.weights) == 1 and part.weights[0][1] == 1 and not part.slack:
            ((number, _),) = part.weights
            aggregate = plan.aggregates[number]
            kind = "sum" if aggregate.kind == "sum_of_parts" else aggregate.kind
            if aggregate.result_type in TYPES:
                relative = share([str(row[keys + number]) for row in known], widths)
        found.append(Accuracy(column, kind, len(known), median(widths), relative))
    return found


def median(numbers: Sequence[str]) -> Fraction:
    """The upper median; most rows share their number with others."""
    left = len(numbers) // 2
    for number, times in sorted((Fraction(text), times) for text, times in Counter(numbers).items()):
        left -= times
        if left < 0:
            return number
    raise ValueError("no numbers")


def share(numbers: Sequence[str], widths: Sequence[str]) -> Fraction | None:
    """The median half-width as a share of its number, of those that are not 0."""
    values = [abs(float(number)) for number in numbers]
    shares = {place: float(widths[place]) / value for place, value in enumerate(values) if value}
    if not shares:
        return None
    place = sorted(shares, key=shares.__getitem__)[len(shares) // 2]
    return Fraction(widths[place]) / abs(Fraction(numbers[place]))
