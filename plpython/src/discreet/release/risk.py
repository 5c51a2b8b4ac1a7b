"""Disclosure risk of a table, from the sizes of its classes: who could be found again in it.

The three attackers are those of El Emam and Dankar, Protecting Privacy Using k-Anonymity (JAMIA 2008): the prosecutor
knows that a person is in the table, the journalist looks for any person, the marketer for as many as possible.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations, islice

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameterError
from discreet.release.classes import Ints, People, numbered, summed
from discreet.release.measures import wildcard_composition

Flags = NDArray[np.bool_]

# a class of fewer than five is what most publishers call a risk
RISKY = 0.2
# classes up to here by recurrence, which is exact for small sampling fractions
RECURRED = 50
# combinations of more columns are not looked through beyond this many
MOST_COMBINATIONS = 1023


@dataclass(frozen=True)
class Crowds:
    """Among how many each class of rows is: itself, or more where NULL may be anything; `members` are its own.

    Both count rows, or people; a person with rows in several classes counts in each.
    """

    class_of: Ints
    sizes: Ints
    members: Ints

    @classmethod
    def of(cls, columns: list[Ints], count: Ints, person: Ints | None, nulls: str) -> Crowds:
        """Of combinations of columns, NULL as -1, with their rows, and with whose they are if that is known."""
        class_of, classes = numbered(columns)
        people = None if person is None else People.of(len(person), np.arange(len(person)), person)
        members = summed(class_of, count, classes) if people is None else people.within(class_of, classes)
        if nulls == "wildcard":
            return cls(class_of, wildcard_composition(columns, 0 * count, count, 1, person).people, members)
        if nulls == "conservative":
            alone = np.zeros(classes, dtype=bool)
            alone[class_of] = np.any([column < 0 for column in columns], axis=0)
            return cls(class_of, np.where(alone, 1, members), members)
        return cls(class_of, members, members)

    def measures(self, population: int | None, counted: str, nulls: str) -> Iterator[tuple[str, float]]:
        if nulls == "own":
            yield from measures(self.sizes, population, counted)
            return
        if nulls == "conservative":
            # a row that stands alone is a class
            alone = np.ones(int(self.members[self.sizes < self.members].sum()), dtype=np.int64)
            yield from measures(np.append(self.sizes[self.sizes == self.members], alone), population, counted)
            return
        if population is not None:
            raise InvalidParameterError(
                "nulls => 'wildcard' makes no classes that could be counted in a population",
                "Give no population, or take 'own' or 'conservative'.",
            )
        rows = int(self.members.sum())
        average = float((self.members / self.sizes).sum()) / rows
        unique = int(self.members[self.sizes == 1].sum())
        yield counted, rows
        yield "classes", len(self.sizes)
        yield "sample uniques", unique
        yield "share of sample uniques", unique / rows
        yield "prosecutor risk, highest", 1 / int(self.sizes.min())
        yield "prosecutor risk, average", average
        yield f"share of {counted} above risk 0.2", int(self.members[self.sizes * RISKY < 1].sum()) / rows
        yield "journalist risk, highest", 1 / int(self.sizes.min())
        yield "marketer risk", average


def measures(sizes: Ints, population: int | None, counted: str = "rows") -> Iterator[tuple[str, float]]:
    """Risks from the sizes of the classes; with the size of the population the table is a sample of it.

    `counted` says what sizes count.
    """
    rows, classes = int(sizes.sum()), len(sizes)
    unique = int((sizes == 1).sum())
    yield counted, rows
    yield "classes", classes
    yield "sample uniques", unique
    yield "share of sample uniques", unique / rows
    yield "prosecutor risk, highest", 1 / int(sizes.min())
    yield "prosecutor risk, average", classes / rows
    yield f"share of {counted} above risk 0.2", int(sizes[sizes * RISKY < 1].sum()) / rows
    if population is None:
        yield "journalist risk, highest", 1 / int(sizes.min())
        yield "marketer risk", classes / rows
        return
    if population < rows:
        raise InvalidParameterError(
            f"population is {population}, but the table has {rows} {counted}", "The table is a part of the population."
        )
    kinds, times = np.unique(sizes, return_counts=True)
    risks = np.array([class_risk(int(size), rows / population) for size in kinds])
    yield "journalist risk, highest", float(risks[0])
    yield "marketer risk", float((risks * kinds * times).sum()) / rows
    yield "population uniques, Zayatz", zayatz(kinds, times, population)
    if (estimate := pitman(kinds, times, population)) is not None:
        yield "population uniques, Pitman", estimate


def class_risk(size: int, fraction: float) -> float:
    """E(1/F | f): the mean of one over the size in the population of a class that has `size` rows in the sample.

    F given f is negative binomial with the sampling fraction p (Benedetti, Franconi 1998), which makes it
    p * I(f), I(f) being the integral of u^(f-1) / (p + (1 - p) u) from 0 to 1, with p I(f) + (1 - p) I(f + 1) = 1 / f.
    """
    if fraction >= 1:
        return 1 / size
    if fraction < 0.5 and size <= RECURRED:
        integral = -math.log(fraction) / (1 - fraction)
        for smaller in range(1, size):
            integral = (1 / smaller - fraction * integral) / (1 - fraction)
        return fraction * integral
    # there the recurrence loses digits; v = u^f makes the integrand even
    nodes, weights = np.polynomial.legendre.leggauss(200)
    integrand = 1 / (fraction + (1 - fraction) * ((nodes + 1) / 2) ** (1 / size))
    return float(fraction / size * np.sum(weights / 2 * integrand))


def zayatz(kinds: Ints, times: Ints, population: int) -> float:
    """How many sample uniques are unique in the population: sample uniques times Pr(F = 1 | f = 1).

    Zayatz 1991: classes of the population are taken to have the sizes of those of the sample, and a sample meets them
    hypergeometrically.
    """
    rows = int((kinds * times).sum())
    met = {int(size): float(n) * met_once(int(size), rows, population) for size, n in zip(kinds, times, strict=True)}
    if 1 not in met:
        return 0.0
    return met[1] / sum(met.values()) * int(times[0])


def met_once(size: int, rows: int, population: int) -> float:
    """Probability that a sample of `rows` has one member of a class of `size`."""
    if rows - 1 > population - size:
        return 0.0
    return math.exp(math.log(size) + _log_choose(population - size, rows - 1) - _log_choose(population, rows))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def pitman(kinds: Ints, times: Ints, population: int) -> float | None:
    """Population uniques by Pitman's sampling formula with parameters of the highest likelihood (Hoshino 2001).

    Gamma(theta + 1) / Gamma(theta + alpha) * N^alpha. None when the classes do not show how they came about:
    none of one row, or all of one.
    """
    rows, classes = int((kinds * times).sum()), int(times.sum())
    if int(kinds[0]) != 1 or classes == rows or classes < 2:
        return None

    def likelihood(theta: float, alpha: float) -> float:
        seen = (classes - 1) * math.log(alpha) + math.lgamma(theta / alpha + classes) - math.lgamma(theta / alpha + 1)
        drawn = math.lgamma(theta + rows) - math.lgamma(theta + 1)
        larger = sum(
            int(n) * (math.lgamma(int(size) - alpha) - math.lgamma(1 - alpha))
            for size, n in zip(kinds, times, strict=True)
        )
        return seen - drawn + larger

    theta, alpha = _highest(likelihood, rows)
    return min(
        math.exp(math.lgamma(theta + 1) - math.lgamma(theta + alpha) + alpha * math.log(population)), float(population)
    )


def _highest(likelihood: Callable[[float, float], float], rows: int) -> tuple[float, float]:
    """Alpha between 0 and 1 and theta above 0: a grid that narrows around its best point."""
    low_alpha, high_alpha = 1e-6, 1 - 1e-6
    low, high = math.log(1e-3), math.log(10.0 * rows)
    for _ in range(12):
        alphas = np.linspace(low_alpha, high_alpha, 13)
        thetas = np.linspace(low, high, 13)
        theta, alpha = max(((t, a) for t in thetas for a in alphas), key=lambda at: likelihood(math.exp(at[0]), at[1]))
        wide_alpha, wide = (high_alpha - low_alpha) / 5, (high - low) / 5
        low_alpha, high_alpha = max(1e-6, alpha - wide_alpha), min(1 - 1e-6, alpha + wide_alpha)
        low, high = theta - wide, theta + wide
    return math.exp(theta), float(alpha)


def special_uniques(
    codes: list[Ints], count: Ints, names: list[str], person: Ints | None = None, nulls: str = "own"
) -> Iterator[tuple[str, float]]:
    """For each combination of columns, the rows that it singles out while no smaller part of it does.

    Elliot, Manning, Ford: A Computational Algorithm for Handling the Special Uniques Problem (2002). A row that few
    columns single out is easier to find than one that takes all of them. `person` says whose each row is, where
    a person may have several; then people are counted.
    """
    narrower: dict[tuple[int, ...], Flags] = {}
    current: dict[tuple[int, ...], Flags] = {}
    for chosen in islice(parts(len(codes)), MOST_COMBINATIONS):
        if current and len(next(iter(current))) < len(chosen):
            narrower, current = current, {}
        crowds = Crowds.of([codes[place] for place in chosen], count, person, nulls)
        # who is singled out by a part is so by the whole
        current[chosen] = crowds.sizes[crowds.class_of] == 1
        special = current[chosen].copy()
        for part in combinations(chosen, len(chosen) - 1):
            if part:
                special &= ~narrower[part]
        if special.any():
            found = int(count[special].sum()) if person is None else len(np.unique(person[special]))
            yield f"special uniques by {', '.join(names[place] for place in chosen)}", found


def parts(columns: int) -> Iterator[tuple[int, ...]]:
    """Combinations of columns, small ones first."""
    return chain.from_iterable(combinations(range(columns), width) for width in range(1, columns + 1))
