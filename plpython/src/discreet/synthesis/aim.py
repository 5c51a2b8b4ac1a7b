"""Which marginals are measured, and how exactly: the adaptive mechanism AIM (McKenna, Mullins, Sheldon, Miklau 2022).

Every attribute is measured alone. Then, round after round, the exponential mechanism chooses the candidate that the
model so far gets most wrong, additive noise measures it, and the model is fitted again. A round that changed the model
by no more than its own noise is followed by rounds at a higher price (annealing), until the price is spent.

Guarantee: the whole costs no more than the price it is given, under unbounded or bounded neighbours of *persons*.
Proof. Everything that leaves is a choice (ExponentialChoice) or noisy counts (additive_noise); each has a price of its
own, `Purse` hands out no more than it was given, and both accountings add up, adaptively (dp/price.py). All else (the
model, its marginals, which candidates fit, when the price is raised) is computed from what was released before and from
declarations. What one person can change, with at most m rows:

- the counts of a marginal: a row is in one cell of it, so m rows change it by m in L1, and by m in L2 where all are in
  one cell. A change of a person's rows is a removal plus an addition, of disjoint parts of two vectors without negative
  cells: 2 m in L1, and √(m² + m²) in L2.
- the loss of a candidate, weight × (penalty − ‖counts − model‖₁): weight × the L1 change, by the triangle inequality;
  the model's marginal is rounded to whole numbers, so the loss is one exactly. The weights are public; the sensitivity
  is that of the largest.

How far the model is off where nothing was measured follows from the choices (McKenna et al. 2022, section 5, with
expectations in the place of probabilities), and so is released already. Let the model miss the chosen candidate c by
e_c, and another candidate r, which was not chosen, by e_r, in L1. The mean loss of what is chosen among n is above the
least by no more than scale × ln n, since under a distribution in proportion to exp(-loss / scale) the mean is the least
loss plus at most scale × the entropy. So, in the mean, weight_r (e_r − penalty_r) is at most
weight_c (e_c − penalty_c) + scale × ln n. e_c is not known, but the distance of the *noisy* counts from the model is,
and its mean is no less: noise has mean 0, and a norm is convex. From the model of that round to the last one it is as
far as both tell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from discreet.dp.additive import DiscreteGaussian, DiscreteLaplace, additive_noise
from discreet.dp.choice import ExponentialChoice
from discreet.dp.exact import sqrt_above
from discreet.dp.price import Accounting, Price
from discreet.dp.sensitivity import Neighbours
from discreet.synthesis.junction import CELL_BYTES, Clique, cells, fits
from discreet.synthesis.model import Measured
from discreet.synthesis.problem import Counts, Layout, Problem

# of each round, this part pays for the choice
CHOICE_PART = Fraction(1, 10)
# the price is divided into so many rounds for each attribute at first; annealing makes them fewer
ROUNDS = {Accounting.ZCDP: 16, Accounting.PURE: 3}
# how much more a round costs after annealing, so that its noise is half as large
RAISE = {Accounting.ZCDP: 4, Accounting.PURE: 2}
MEGABYTE = 2**20
# more rows than a cell of the model can have
MOST_COUNTED = 2**40


class Fitter(Protocol):
    """The model, which sees released numbers only."""

    def fitted(self, measured: Sequence[Measured]) -> npt.NDArray[np.int64]:
        """Fits the model to all measurements so far; its counts in the layout of the problem, rounded.

        Below 0 are the counts of a marginal that cannot be read off the model; it is no candidate then.
        """


@dataclass(frozen=True)
class Sensitivity:
    """By how much one person with at most `most_rows` rows changes the counts of a marginal."""

    most_rows: int
    neighbours: Neighbours

    @property
    def absolute(self) -> int:
        """In L1."""
        return self.most_rows * (2 if self.neighbours is Neighbours.BOUNDED else 1)

    def of_noise(self, accounting: Accounting) -> Fraction:
        """In the norm of the noise that the accounting calls for: L1, or L2 rounded up."""
        if accounting is Accounting.PURE:
            return Fraction(self.absolute)
        bounded = self.neighbours is Neighbours.BOUNDED
        return sqrt_above(Fraction(2 * self.most_rows**2)) if bounded else Fraction(self.most_rows)

    def noise(self, price: Price) -> DiscreteLaplace | DiscreteGaussian:
        return additive_noise(self.of_noise(price.accounting), price, self.absolute)

    def choice(self, price: Price, weight: int) -> ExponentialChoice:
        return ExponentialChoice(weight * self.absolute, price)


class Purse:
    """A price that is spent in parts, and never more than it."""

    def __init__(self, price: Price) -> None:
        self.price, self.left = price, price.amount

    def take(self, amount: Fraction) -> Price:
        if amount > self.left:
            raise AssertionError("a synthetic table would cost more than its price")
        self.left -= amount
        return Price(self.price.accounting, amount)


@dataclass(frozen=True)
class Taken:
    """A measurement as it was released, with what the report says of it."""

    measured: Measured
    error: float
    amount: Fraction


@dataclass(frozen=True)
class Round:
    """What a round may cost, and the noise that it buys."""

    amount: Fraction

    def __post_init__(self) -> None:
        assert self.amount > 0

    @property
    def for_choice(self) -> Fraction:
        return self.amount * CHOICE_PART

    @property
    def for_counts(self) -> Fraction:
        return self.amount - self.for_choice


@dataclass(frozen=True)
class Chosen:
    """A choice as it was released: the candidate, all that it was chosen from, and by how much it may be surpassed."""

    clique: Clique
    weight: int
    penalty: int
    # the weight and the penalty of each
    among: Mapping[Clique, tuple[int, int]]
    surpassed: float


@dataclass(frozen=True)
class Missed:
    """By how much a model is expected to miss the counts of a pair, in L1, and what it said of them."""

    by: float
    model: Counts


@dataclass
class Aim:
    """One run. `most_mb`: the size that the model may have; `told`: hears which round it is and what part is spent."""

    problem: Problem
    price: Price
    neighbours: Neighbours
    fitter: Fitter
    most_mb: float = 8
    told: Callable[[int, float], None] = lambda number, spent: None
    taken: list[Taken] = field(default_factory=list)
    missed: dict[Clique, Missed] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.sensitivity = Sensitivity(self.problem.most_rows, self.neighbours)
        self.purse = Purse(self.price)
        self.layout: Layout = self.problem.layout

    def run(self, counts: Counts) -> list[Taken]:
        """Measures until the price is spent."""
        accounting = self.price.accounting
        parts = ROUNDS[accounting] * len(self.problem.sizes)
        alone = self.problem.single
        if not self.problem.candidates:
            for clique in alone:
                self.measure(counts, clique, self.price.amount / len(alone))
            self.fitter.fitted(self.measured)
            return self.taken
        now = Round(self.price.amount / parts)
        for clique in alone:
            self.measure(counts, clique, now.for_counts)
        model = self.model()
        number = 0
        while self.purse.left > 0:
            if self.purse.left < 2 * now.amount:
                now = Round(self.purse.left)
            chosen = self.chosen(counts, model, now)
            clique = chosen.clique
            noise = self.measure(counts, clique, now.for_counts)
            self.learn(chosen, model)
            before = self.layout.counts(model, clique)
            model = self.model()
            changed = int(np.abs(self.layout.counts(model, clique) - before).sum())
            number += 1
            self.told(number, 1 - float(self.purse.left / self.price.amount))
            if changed <= expected_error(noise) * before.size:
                now = Round(min(now.amount * RAISE[accounting], max(self.purse.left, now.amount)))
        return self.taken

    def learn(self, chosen: Chosen, model: Counts) -> None:
        """What the choice, and the counts that were measured thereupon, tell of all pairs it was made from."""
        seen = np.abs(self.taken[-1].measured.counts - self.layout.counts(model, chosen.clique)).sum()
        most = chosen.weight * (float(seen) - chosen.penalty) + chosen.surpassed
        for clique, (weight, penalty) in chosen.among.items():
            if len(clique) == 2:
                by = max(0.0, most / weight + penalty)
                self.missed[clique] = Missed(by, self.layout.counts(model, clique).copy())

    def expected(self, model: Counts) -> dict[Clique, float]:
        """By how much the last model is expected to miss pairs at most, in L1, as far as a choice tells."""
        found = {}
        for clique, missed in self.missed.items():
            last = self.layout.counts(model, clique)
            if last.flat[0] >= 0 and missed.model.flat[0] >= 0:
                found[clique] = missed.by + float(np.abs(last - missed.model).sum())
        return found

    def model(self) -> Counts:
        """The counts of the model, whatever whole numbers the fitter gives, where sums of 64 bits hold them.

        A loss is then the exact distance, and its sensitivity that of the theorem.
        """
        found: Counts = np.clip(self.fitter.fitted(self.measured), -1, MOST_COUNTED)
        return found

    @property
    def measured(self) -> list[Measured]:
        return [each.measured for each in self.taken]

    def measure(self, counts: Counts, clique: Clique, amount: Fraction) -> DiscreteLaplace | DiscreteGaussian:
        noise = self.sensitivity.noise(self.purse.take(amount))
        self.taken.append(release(noise, clique, self.layout.counts(counts, clique), amount))
        return noise

    def chosen(self, counts: Counts, model: Counts, now: Round) -> Chosen:
        """The candidate whose counts the model misses most, beyond what noise would add, among those that fit."""
        measured = [each.measured.clique for each in self.taken]
        spent = 1 - float((self.purse.left - now.amount) / self.price.amount)
        room = max(
            spent * self.most_mb * MEGABYTE, CELL_BYTES * max(self.layout.counts(counts, c).size for c in measured)
        )
        read = [n for n, clique in enumerate(self.problem.candidates) if model[self.layout.starts[clique]] >= 0]
        # noise may have made the total negative, and all counts of the model with it: then none is missing
        read = read or list(range(len(self.problem.candidates)))
        fitting = [
            n
            for n in read
            if fits(self.problem.sizes, [*measured, self.problem.candidates[n]], self.problem.drawn, room)
        ]
        open_ = fitting or [min(read, key=lambda n: cells(self.problem.sizes, self.problem.candidates[n]))]
        noise = self.sensitivity.noise(Price(self.price.accounting, now.for_counts))
        losses, among = [], {}
        for n in open_:
            clique, weight = self.problem.candidates[n], self.problem.weights[n]
            exact, expected = self.layout.counts(counts, clique), self.layout.counts(model, clique)
            penalty = math.ceil(expected_error(noise) * exact.size)
            losses.append(weight * (penalty - int(np.abs(exact - expected).sum())))
            among[clique] = weight, penalty
        widest = max(self.problem.weights[n] for n in open_)
        choice = self.sensitivity.choice(self.purse.take(now.for_choice), widest)
        clique = self.problem.candidates[open_[choice.release(losses)]]
        return Chosen(clique, *among[clique], among, float(choice.scale) * math.log(len(open_)))


def expected_error(noise: DiscreteLaplace | DiscreteGaussian) -> float:
    """The mean of the noise's absolute value."""
    part = 1.0 if noise.accounting is Accounting.PURE else math.sqrt(2 / math.pi)
    return part * float(noise.spread)


def variance(noise: DiscreteLaplace | DiscreteGaussian) -> float:
    """Of one draw: the square of the scale, twice that for Laplace noise."""
    return float(noise.spread) ** 2 * (2.0 if noise.accounting is Accounting.PURE else 1.0)


def release(noise: DiscreteLaplace | DiscreteGaussian, clique: Clique, counts: Counts, amount: Fraction) -> Taken:
    noisy = np.array(noise.release_many(counts.ravel().tolist()), np.float64).reshape(counts.shape)
    return Taken(Measured(clique, noisy, variance(noise)), expected_error(noise), amount)
