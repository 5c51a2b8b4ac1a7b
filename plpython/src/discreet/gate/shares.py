"""How a question divides its price: to the least sum of squared errors, relative to scales that are known without data.

The error of a column is measured against how far its number can be from what is known before the question: a count of
N people lies between 0 and N, a sum within N times the largest value of its bounds, an average within half of the
width of its bounds, a variance within a quarter of its square. So with noise of scale s_i / e_i, where one person
changes measurement i by s_i, the squared relative errors of all columns add up to 2 sum_i c_i / (e_i N)². N is the same
for all, and does not matter. The numbers c_i (`WORTHS`) are those of averages that lie anywhere within their bounds
with equal chance, and of values whose variance is a third of the largest that there is around their average.

Closed form. Under pure accounting, sum c_i / e_i² is least, for a given sum of the e_i, where e_i is proportional to
the cube root of c_i (Lagrange); it is then (sum of the cube roots)³. Under zcdp, noise has the variance
s_i² / (2 rho_i), so that rho_i is proportional to the square root of c_i.

Joint noise (dp/joint.py) of d numbers with price e has the variance of Laplace noise of scale b s_i / e, where
b² = (d + 1) (d + 2) / 6: it stands for one measurement with c = b² sum c_i. A number may stand in it k times, and be
released as the mean of its k noisy copies: its variance is the k-th part, and d counts the copies. The least sum
decides which measurements have joint noise, and how many copies the favoured ones have, among sets of measurements
whose c are next to each other.

`discreet.favour` names columns or aggregates whose squared errors count FAVOURED times. Of the divisions, one is taken
in which each of their numbers has less noise than in the usual one; if there is none, they count STRONGER times more.

Privacy: text, catalog and settings decide, and no row. All shares add up to the whole price, so the question costs what
it would cost in any division (sequential composition).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from operator import itemgetter

from pglast import ast

from discreet.dp.joint import MOST_NUMBERS
from discreet.gate.aggregates import Aggregate
from discreet.gate.measurements import Measurement, Quantity, Subject
from discreet.gate.parse import nodes
from discreet.gate.plan import Plan
from discreet.gate.propagation import Dependence

# squared errors of what discreet.favour names count so many times
FAVOURED = 27
# less noise than usually is at most so much of it
NOTICED = 0.97
STRONGER = (1, 8, 64)
# c of measurements of an aggregate: of numbers of values, centred sums, their squares, and products
WORTHS: Mapping[str, Mapping[Quantity, Fraction]] = {
    "avg": {Quantity.VALUES: Fraction(1, 3), Quantity.CENTRED: Fraction(1)},
    "spread": {Quantity.VALUES: Fraction(1, 6), Quantity.CENTRED: Fraction(4, 3), Quantity.SQUARES: Fraction(1)},
    "pair": {
        Quantity.VALUES: Fraction(1, 6), Quantity.CENTRED: Fraction(1, 3), Quantity.SQUARES: Fraction(1, 3),
        Quantity.PRODUCTS: Fraction(1),
    },
}  # fmt: skip
LEAST_WORTH = Fraction(1, 100)
MOST_COPIES = 4
# of so many measurements all that are next to each other are looked at
FEW = 20
DIGITS = 10**6
# PEOPLE, where groups are unknown, decides which of them are shown
ROWS, PEOPLE = Measurement(Quantity.ROWS, Subject()), Measurement(Quantity.PEOPLE, Subject())


def worths(plan: Plan) -> tuple[tuple[Measurement, Fraction, Fraction], ...]:
    """c of every measurement that shares the price of the question, times N²; and how many times the usual it is."""
    favoured = favoured_aggregates(plan)
    usual: dict[Measurement, Fraction] = {}
    found: dict[Measurement, Fraction] = {}
    for number, aggregate in enumerate(plan.aggregates):
        for asked in aggregate.measurements:
            measurement, counts = measured_as(plan, asked), max(worth(aggregate, asked), LEAST_WORTH)
            usual[measurement] = usual.get(measurement, Fraction(0)) + counts
            times = FAVOURED if number in favoured else 1
            found[measurement] = found.get(measurement, Fraction(0)) + times * counts
    shared = [measurement for measurement in plan.measurements if measurement.own is None]
    one = Fraction(1)
    return tuple((m, found.get(m, one), found.get(m, one) / usual.get(m, one)) for m in shared)


def measured_as(plan: Plan, measurement: Measurement) -> Measurement:
    """The number of rows is that of people where that is measured in its place."""
    alias = measurement not in plan.measurements and measurement == ROWS and PEOPLE in plan.measurements
    return PEOPLE if alias else measurement


def worth(aggregate: Aggregate, measurement: Measurement) -> Fraction:
    if aggregate.kind == "sum_of_parts":
        return worth_of_part(aggregate, measurement)
    kind = "spread" if aggregate.kind.startswith(("variance", "stddev")) else aggregate.kind
    if any(one.quantity is Quantity.PRODUCTS for one in aggregate.measurements):
        kind = "pair"
    return WORTHS.get(kind, {}).get(measurement.quantity, Fraction(1))


def worth_of_part(aggregate: Aggregate, measurement: Measurement) -> Fraction:
    """A sum is half of the centred sum, plus half of lower + upper for each value."""
    grid = aggregate.grid
    assert grid is not None
    part = grid.width if measurement.quantity is Quantity.CENTRED else abs(grid.lower + grid.upper)
    return Fraction(part, 2 * max(grid.reach, 1)) ** 2


# -- what is favoured


def favoured_aggregates(plan: Plan) -> frozenset[int]:
    """Of each name the aggregates that the columns of this name are made of, or else those of this kind."""
    found: set[int] = set()
    for name in plan.favour:
        columns = {
            number for place, (column, part) in enumerate(plan.columns) if column == name
            for number in made_of(plan, place, part)
        }  # fmt: skip
        kinds = {number for number, one in enumerate(plan.aggregates) if kind_of(one) == name}
        found |= columns or kinds
    return frozenset(found)


def kind_of(aggregate: Aggregate) -> str:
    """The name of the function; parts of a sum are one."""
    return "sum" if aggregate.kind == "sum_of_parts" else aggregate.kind


def made_of(plan: Plan, place: int, part: Dependence) -> set[int]:
    """The aggregates that a column depends on; those of a quotient stand in its expression."""
    if part.weights or len(plan.levels) > 1:
        return {number for number, _ in part.weights}
    read = (node for node in nodes(plan.levels[0].select.targetList[place].val) if isinstance(node, ast.ColumnRef))
    names = {getattr(node.fields[-1], "sval", None) for node in read}
    return {number for number in range(len(plan.aggregates)) if f"a{number}" in names}


# -- the least sum


@dataclass(frozen=True)
class Number:
    """A measurement to be divided for. `alone`: what its squared error is with noise of its own, times the square of
    the price; `together`: with joint noise, times b² / copies besides, None where it has none. `favoured`: so many
    times the squared error counts more than usually.
    """

    measurement: Measurement
    alone: float
    together: float | None = None
    favoured: float = 1

    @property
    def usually(self) -> Number:
        together = None if self.together is None else self.together / self.favoured
        return Number(self.measurement, self.alone / self.favoured, together)

    def counting(self, times: float) -> Number:
        """So many times more, if it is favoured."""
        times = times if self.favoured > 1 else 1
        together = None if self.together is None else self.together * times
        return Number(self.measurement, self.alone * times, together, self.favoured)


@dataclass(frozen=True)
class Division:
    """Shares of the price, which add up to 1, and the measurements that have joint noise, with their copies."""

    shares: tuple[tuple[Measurement, Fraction], ...]
    joint: tuple[tuple[Measurement, int], ...] = ()


def without_joint_noise(numbers: Sequence[Number], power: int) -> Division:
    """Each measurement has noise of its own: shares in proportion to the root of its squared error."""
    return Division(shares_of([(number.measurement, number.alone ** (1 / power)) for number in numbers]))


@lru_cache(maxsize=256)
def divided_among(numbers: tuple[Number, ...], may_copy: bool) -> Division:
    """The division of a pure price."""
    ways = best_first(numbers, may_copy)
    liked = [one for one in numbers if one.favoured > 1]
    if not liked or len(liked) == len(numbers):
        return next(ways)
    usual = squares(numbers, divided_among(tuple(one.usually for one in numbers), may_copy))

    def helps(division: Division) -> bool:
        now = squares(numbers, division)
        return all(now[one.measurement] < usual[one.measurement] * NOTICED**2 for one in liked)

    first = next(ways)
    for times in STRONGER:
        ways = best_first(tuple(one.counting(times) for one in numbers), may_copy)
        found = next(filter(helps, ways), None)
        if found is not None:
            return found
    return first


def best_first(numbers: Sequence[Number], may_copy: bool) -> Iterator[Division]:
    """All divisions that are looked at, by their sums."""
    every = root_sum(numbers)
    ways: list[tuple[float, Way | None]] = [(every * (1 - 1e-9), None)]
    ways += [(every - root_sum(way.window) + way.root, way) for way in windows(numbers, may_copy)]
    for _, way in sorted(ways, key=itemgetter(0)):
        yield without_joint_noise(numbers, 3) if way is None else with_joint_noise(numbers, way)


@dataclass(frozen=True)
class Way:
    """Joint noise of a window of measurements, with so many copies of favoured ones; and the cube root of their squared
    errors together.
    """

    window: tuple[Number, ...]
    copies: int
    root: float


def with_joint_noise(numbers: Sequence[Number], way: Way) -> Division:
    held = {one.measurement: way.copies if one.favoured > 1 else 1 for one in way.window}
    each = way.root / len(held)
    weights = [(one.measurement, each if one.measurement in held else one.alone ** (1 / 3)) for one in numbers]
    joint = tuple((one.measurement, held[one.measurement]) for one in numbers if one.measurement in held)
    return Division(shares_of(weights), joint)


def squares(numbers: Sequence[Number], division: Division) -> dict[Measurement, float]:
    """The squared error of each number at a price of 1."""
    shares, joint = dict(division.shares), dict(division.joint)
    d, part = sum(joint.values()), float(sum(shares[member] for member in joint))
    return {
        one.measurement: (one.together or 0) * (d + 1) * (d + 2) / 6 / joint[one.measurement] / part**2
        if one.measurement in joint
        else one.alone / float(shares[one.measurement]) ** 2
        for one in numbers
    }


def root_sum(numbers: Sequence[Number]) -> float:
    return math.fsum(number.alone ** (1 / 3) for number in numbers)


def windows(numbers: Sequence[Number], may_copy: bool) -> Iterator[Way]:
    """Measurements that may have joint noise, next to each other by their errors.

    Of many measurements those with the largest or the least errors are left out, not both.
    """
    able = sorted((one for one in numbers if one.together is not None), key=lambda one: one.alone)
    every = len(able)
    ends = [(0, last) for last in range(2, every + 1)] + [(first, every) for first in range(1, every - 1)]
    if every <= FEW:
        ends = [(first, last) for first in range(every) for last in range(first + 2, every + 1)]
    for first, last in ends:
        window = able[first:last]
        liked = sum(one.favoured > 1 for one in window)
        for k in range(1, MOST_COPIES + 1 if may_copy and 0 < liked < len(window) else 2):
            d = len(window) + (k - 1) * liked
            if d <= MOST_NUMBERS:
                squared = math.fsum((one.together or 0) / (k if one.favoured > 1 else 1) for one in window)
                yield Way(tuple(window), k, ((d + 1) * (d + 2) / 6 * squared) ** (1 / 3))


def shares_of(weights: Sequence[tuple[Measurement, float]]) -> tuple[tuple[Measurement, Fraction], ...]:
    """Shares in proportion to weights, which add up to 1 exactly; even where weights are."""
    largest = max(weight for _, weight in weights)
    if all(weight > largest * (1 - 1e-9) for _, weight in weights):
        return tuple((measurement, Fraction(1, len(weights))) for measurement, _ in weights)
    total = math.fsum(weight for _, weight in weights)
    parts = [max(math.floor(weight / total * DIGITS), 1) for _, weight in weights]
    parts[parts.index(max(parts))] += DIGITS - sum(parts)
    return tuple((measurement, Fraction(part, DIGITS)) for (measurement, _), part in zip(weights, parts, strict=True))
