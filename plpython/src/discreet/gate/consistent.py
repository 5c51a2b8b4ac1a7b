"""Grouping sets of one run estimated together: subtotals add up to totals, and most errors are smaller.

Precondition (`may_be`): every person has at most one row, all groups are known by their values, and a row whose value
of some key is in no group takes part in no set (run.where). Then, before noise, the numbers of a set add up to those of
every set that groups by a part of its keys: each is a margin of one table over all keys, for every measurement that
adds up over rows.

Estimate. Let set s with keys of n_k values have noise of variance v_s in each group, and y_s be its noisy numbers. A
table over keys is the sum of effects: that of T varies with the keys of T alone, and adds up to 0 over each of them
(analysis of variance). Adding y_s up over the keys that are not in T gives an estimate of the margin over T, with
variance v_s prod_(k in s - T) n_k; and summing kills all effects that are not of a part of T. Effects of different T
are orthogonal and the noise in a set has one variance, so the least squares for all tables are those for each effect
alone: the mean of what the sets that contain T say, with weights 1 / (v_s prod_(s - T) n_k). By the theorem of Gauss
and Markov no linear unbiased estimate of any of these numbers has less variance; y_s is one, so none is more than
before. Noise of several measurements need not be independent: each measurement is estimated from its own numbers.

It is post-processing of released numbers, all of one run, so it costs nothing, and asking again gives the same.

Whole numbers. Where every set hangs on one smaller set (ROLLUP, totals beside groups), each group is rounded up or
down so that it adds up to the number above it, from the top down. Else (CUBE) the sums of the finest table from its
first cell to each other are rounded, and all tables are differences of them, which are whole and add up.

Not below 0. A count is moved to the nearest numbers that are not below 0 and add up to the number above, from the top
down, in the first case only: no total is changed by what is below it, hence totals are not biased. All groups that stay
above 0 go down by the same amount, which is added to the stated error. In the second case counts may be below 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

from discreet.core.syntax import Array
from discreet.dp.combined import CombinedNoise, Draw
from discreet.gate.measure import Group, Released, key_order
from discreet.gate.measurements import Measurement, Quantity
from discreet.gate.plan import Plan
from discreet.gate.schema import Family
from discreet.gate.terms import Terms

COUNTS = frozenset([Quantity.PEOPLE, Quantity.ROWS, Quantity.VALUES])
ADDED_UP = COUNTS | {Quantity.TOTAL, Quantity.CENTRED, Quantity.SQUARES, Quantity.PRODUCTS}
# beyond it, what one draw does to every number takes too long to say; and cells of a table that is not in the answer
MOST_KEYS, MOST_CELLS = 6, 100_000
# draws whose part of the deviation is smaller say nothing
LEAST_FACTOR = 1e-7

Keys = frozenset[int]
Sets = Sequence[tuple[int, ...]]
# of each set an array with an axis for each key, of one place where the set does not group by the key
Tables = Mapping[Keys, Array]


def consistent(
    plan: Plan,
    terms: Sequence[Terms],
    known: Sequence[Sequence[Group] | None],
    numbers: Sequence[Released],
    of_one_run: Iterable[Measurement],
) -> tuple[list[Terms], list[Released]]:
    """Terms and numbers of all grouping sets, with measurements of one run estimated together; as they are, where they
    do not add up.
    """
    measurements = [measurement for measurement in of_one_run if measurement.quantity in ADDED_UP]
    shape = Shape.of(plan, known)
    if shape is None or plan.sample is not None:
        return list(terms), list(numbers)
    stated: list[dict[Measurement, CombinedNoise]] = [{} for _ in terms]
    changed: list[Released] = [dict(of_set) for of_set in numbers]
    for measurement in measurements:
        noises = [some.noise(measurement) for some in terms]
        draws = dict(zip(shape.sets, noises, strict=True))
        tables = {
            keys: shape.table(keys, of_set[measurement]) for keys, of_set in zip(shape.sets, numbers, strict=True)
        }
        estimate = Estimate(shape, {keys: float(draw.spread) ** 2 for keys, draw in draws.items()})
        whole, away = shape.rounded(estimate.tables(tables), unit_of(measurement), measurement.quantity in COUNTS)
        for place, keys in enumerate(shape.sets):
            changed[place][measurement] = shape.groups(keys, whole[keys])
            stated[place][measurement] = CombinedNoise(tuple(estimate.parts(keys, draws)), away[keys])
    return [replace(some, stated=tuple(of_set.items())) for some, of_set in zip(terms, stated, strict=True)], changed


def unit_of(measurement: Measurement) -> int:
    """What numbers are multiples of, in steps of the grid: sums of whole numbers are whole."""
    subject, total = measurement.subject, measurement.quantity is Quantity.TOTAL
    whole = total and subject.argument is not None and (subject.whole or subject.argument.family is Family.INT)
    return 2**-subject.grid.exponent if whole and subject.grid is not None and subject.grid.exponent < 0 else 1


def parts_of(keys: Keys) -> Iterator[Keys]:
    """All sets of keys within a set."""
    for size in range(len(keys) + 1):
        yield from map(frozenset, combinations(sorted(keys), size))


class Estimate:
    """Least squares over grouping sets, from the variances of their draws."""

    def __init__(self, shape: Shape, variances: Mapping[Keys, float]) -> None:
        self._shape, self._variances = shape, variances
        self._weights: dict[Keys, dict[Keys, float]] = {}
        for effect in dict.fromkeys(part for keys in shape.sets for part in parts_of(keys & shape.wide)):
            found = {keys: 1 / (variances[keys] * shape.cells(keys - effect)) for keys in shape.sets if effect <= keys}
            total = math.fsum(found.values())
            self._weights[effect] = {keys: weight / total for keys, weight in found.items()}

    def tables(self, drawn: Tables) -> dict[Keys, Array]:
        """The estimates of all sets that are wanted."""
        shape = self._shape
        effects = {}
        for effect, weights in self._weights.items():
            margins = [
                weight * drawn[keys].sum(axis=tuple(sorted(keys - effect)), keepdims=True)
                for keys, weight in weights.items()
            ]
            effects[effect] = effect_of(sum(margins[1:], margins[0]), effect)
        return {
            keys: sum(
                (effects[part] / shape.cells(keys - part) for part in parts_of(keys & shape.wide) if part in effects),
                shape.zeros(keys),
            )
            for keys in shape.wanted
        }

    def parts(self, keys: Keys, draws: Mapping[Keys, Draw]) -> Iterator[tuple[Draw, float, int]]:
        """The factors of all draws in a number of a set, which depend on which keys their groups share."""
        shape, variance = self._shape, self._variances
        for other, draw in draws.items():
            common = keys & other & shape.wide
            for shared in parts_of(common):
                factor = math.fsum(
                    self._weights[effect][other]
                    / shape.cells(keys - effect)
                    * math.prod((key in shared) - 1 / shape.sizes[key] for key in effect)
                    for effect in parts_of(common)
                )
                times = math.prod(shape.sizes[key] - 1 for key in common - shared) * shape.cells(other - keys)
                if factor**2 * times * variance[other] > LEAST_FACTOR**2 * variance[keys]:
                    yield draw, factor, times


def effect_of(table: Array, keys: Keys) -> Array:
    """The part of a table that varies with these keys and adds up to 0 over each."""
    for key in keys:
        table = table - table.mean(axis=key, keepdims=True)
    return table


class Shape:
    """The grouping sets of a question, and the groups of its keys."""

    def __init__(self, sets: Sequence[Keys], values: Sequence[Sequence[str | None]]) -> None:
        self.sets, self._values = list(sets), values
        self.sizes = [len(some) for some in values]
        self.wide = frozenset(key for key, size in enumerate(self.sizes) if size > 1)
        closed = dict.fromkeys(sorted(self.sets, key=len))
        for one, other in combinations(self.sets, 2):
            closed.setdefault(one & other)
        self._above = self._tree(sorted(closed, key=lambda keys: (len(keys), sorted(keys))))
        self.finest = frozenset[int]().union(*self.sets)
        self.wanted = list(self._above) if self._above else [self.finest]

    @classmethod
    def of(cls, plan: Plan, known: Sequence[Sequence[Group] | None]) -> Shape | None:
        """None where numbers do not add up, or there is too much of it."""
        sets = [frozenset(keys) for keys in plan.grouping.sets]
        if not plan.adds_up or not all(known):
            return None
        values: list[list[str | None]] = [[] for _ in plan.grouping.keys]
        for keys, groups in zip(sets, known, strict=True):
            for key in keys:
                values[key] = sorted({group[key] for group in groups or ()}, key=key_order)
        shape = cls(sets, values)
        full = all(len(groups or ()) == shape.cells(keys) for keys, groups in zip(sets, known, strict=True))
        small = shape._above is not None or shape.cells(shape.finest) <= MOST_CELLS
        return shape if full and small and len(shape.wide) <= MOST_KEYS else None

    @staticmethod
    def _tree(closed: Sequence[Keys]) -> dict[Keys, Keys | None] | None:
        """Above each set the one that it hangs on; None where some set hangs on several."""
        above: dict[Keys, Keys | None] = {}
        for keys in closed:
            within = [other for other in closed if other < keys]
            nearest = [other for other in within if not any(other < third for third in within)]
            if len(nearest) > 1:
                return None
            above[keys] = nearest[0] if nearest else None
        return above if sum(one is None for one in above.values()) == 1 else None

    def cells(self, keys: Keys) -> int:
        return math.prod(self.sizes[key] for key in keys)

    def shape(self, keys: Keys) -> tuple[int, ...]:
        return tuple(size if key in keys else 1 for key, size in enumerate(self.sizes))

    def zeros(self, keys: Keys) -> Array:
        import numpy as np

        return np.zeros(self.shape(keys))

    def table(self, keys: Keys, numbers: Mapping[Group, int]) -> Array:
        import numpy as np

        return np.array([float(numbers[group]) for group in self._groups(keys)]).reshape(self.shape(keys))

    def groups(self, keys: Keys, whole: Array) -> dict[Group, int]:
        return dict(zip(self._groups(keys), whole.reshape(-1).tolist(), strict=True))

    def _groups(self, keys: Keys) -> Iterator[Group]:
        return product(*(some if key in keys else [None] for key, some in enumerate(self._values)))

    # -- whole numbers

    def rounded(self, tables: Tables, unit: int, counts: bool) -> tuple[Tables, dict[Keys, Fraction]]:
        """Multiples of a unit that add up, and by how much numbers of each set are off by it."""
        if self._above is not None:
            return self._down(tables, self._above, unit, counts)
        import numpy as np

        finest = tables[self.finest] / unit
        for axis in range(finest.ndim):
            finest = finest.cumsum(axis=axis)
        whole = np.rint(finest).astype(object)
        whole = np.vectorize(int, otypes=[object])(whole) * unit
        for axis in range(whole.ndim):
            whole = np.diff(whole, axis=axis, prepend=0)
        margins = {keys: whole.sum(axis=tuple(sorted(self.finest - keys)), keepdims=True) for keys in self.sets}
        return margins, {keys: Fraction(unit * 2 ** len(keys & self.wide), 2) for keys in self.sets}

    def _down(
        self, tables: Tables, above: Mapping[Keys, Keys | None], unit: int, counts: bool
    ) -> tuple[Tables, dict[Keys, Fraction]]:
        """From the set that all hang on, each group of a set with the groups below it."""
        import numpy as np

        moved: dict[Keys, Array] = {}
        whole: dict[Keys, Array] = {}
        away: dict[Keys, Fraction] = {}
        for keys, upper in above.items():
            shape, farthest = self.shape(keys), 0.0
            own, units = np.empty(shape), np.empty(shape, dtype=object)
            for place in np.ndindex(*([1] * len(shape) if upper is None else self.shape(upper))):
                block = tuple(
                    slice(at, at + 1) if upper is not None and key in upper else slice(None)
                    for key, at in enumerate(place)
                )
                some = tables[keys][block].reshape(-1)
                total = float(some.sum()) if upper is None else float(moved[upper][place])
                total = max(total, 0.0) if counts else total
                total_units = math.floor(total / unit + 0.5) if upper is None else whole[upper][place]
                if counts:
                    some, by = not_below_0(some, total)
                    farthest = max(farthest, by)
                own[block] = some.reshape(own[block].shape)
                units[block] = np.array(shared_out(some / unit, total_units), dtype=object).reshape(units[block].shape)
            moved[keys], whole[keys] = own, units
            away[keys] = Fraction(farthest) + (unit if unit > 1 else 0)
        return {keys: units * unit for keys, units in whole.items()}, away


def not_below_0(numbers: Array, total: float) -> tuple[Array, float]:
    """The nearest numbers that are not below 0 and add up to the total, and by how much those above 0 were moved."""
    import numpy as np

    ranked = np.sort(numbers)[::-1]
    down = (np.cumsum(ranked) - total) / np.arange(1, len(ranked) + 1)
    above = np.flatnonzero(ranked - down > 0)
    by = float(down[above[-1]]) if len(above) else max(float(ranked[0]) - total, 0.0)
    return np.maximum(numbers - by, 0), abs(by)


def shared_out(numbers: Array, total: int) -> list[int]:
    """Whole numbers that add up to the total, each rounded up or down: up where most is missing."""
    down = [math.floor(number + 1e-9) for number in numbers]
    each, rest = divmod(total - sum(down), len(down))
    order = sorted(range(len(down)), key=lambda place: (down[place] - numbers[place], place))
    for rank, place in enumerate(order):
        down[place] += each + (rank < rest)
    return down
