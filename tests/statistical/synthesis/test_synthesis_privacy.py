"""Choices and measurements of synthetic tables have the distributions that their guarantees rest on, and a membership
attack on whole tables learns no more than the price allows.

Each test raises a false alarm with a probability of at most 1e-7, so the file with less than 1e-6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from tests.statistical.dp.dp_evidence import Sample, measured_epsilon, proportion_bounds

from discreet.dp.price import Accounting, Price
from discreet.dp.samplers import allowed_distance, distance
from discreet.dp.sensitivity import Neighbours
from discreet.synthesis.aim import Aim, Round, Sensitivity, expected_error, release
from discreet.synthesis.model import Measured, Model
from discreet.synthesis.problem import Counts, Problem

FALSE_ALARM = 1e-7
CHOICES = 4000
MEASUREMENTS = 20_000
TABLES = 500
ROWS = 40


class Fitted:
    """The model, in this process."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.model = problem, Model(problem.sizes, problem.drawn)

    def fitted(self, measured: Sequence[Measured]) -> npt.NDArray[np.int64]:
        self.model.fit(measured)
        tables = self.model.marginals(self.problem.layout.cliques)
        return np.concatenate([np.rint(t).ravel() for t in tables if t is not None]).astype(np.int64)


def test_the_choice_of_a_marginal_follows_the_exponential_mechanism() -> None:
    """P(candidate) is proportional to e**(-loss / scale), with the scale of rho for the heaviest candidate's weight."""
    problem = Problem((2, 3, 2))
    price = Price(Accounting.ZCDP, Fraction(1, 100))
    random = np.random.default_rng(1)
    counts = problem.layout.counted([random.integers(0, size, 60) for size in problem.sizes])
    model = np.full(problem.layout.cells, 9, np.int64)
    hits = np.zeros(len(problem.candidates), np.int64)
    now = Round(price.amount)
    for _ in range(CHOICES):
        aim = Aim(problem, price, Neighbours.UNBOUNDED, Fitted(problem))
        aim.taken = [release(aim.sensitivity.noise(price), (0,), aim.layout.counts(counts, (0,)), Fraction(0))]
        hits[problem.candidates.index(aim.chosen(counts, model, now).clique)] += 1
    noise = expected_error(aim.sensitivity.noise(Price(price.accounting, now.for_counts)))
    layout = problem.layout
    losses = [
        weight * (math.ceil(noise * layout.counts(counts, c).size) - int(np.abs(layout.counts(counts, c) - 9).sum()))
        for c, weight in zip(problem.candidates, problem.weights, strict=True)
    ]
    scale = max(problem.weights) / math.sqrt(2 * float(now.for_choice))
    weights = np.exp(-(np.array(losses) - min(losses)) / scale)
    lower, upper = proportion_bounds(hits, CHOICES, FALSE_ALARM)
    expected = weights / weights.sum()
    assert (lower <= expected + 1e-9).all()
    assert (expected <= upper + 1e-9).all()
    assert upper.max() < 0.9, "one candidate takes nearly all: the test would see little"


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("accounting", Accounting)
def test_measured_counts_have_the_noise_of_their_price(accounting: Accounting, neighbours: Neighbours) -> None:
    """Scale: m / epsilon, or m / √(2 rho); under bounded neighbours 2 m and √2 m."""
    price = Price(accounting, Fraction(1, 2))
    counts = np.arange(MEASUREMENTS)
    noise = Sensitivity(3, neighbours).noise(price)
    taken = release(noise, (0,), counts, price.amount)
    drawn = (taken.measured.counts - counts).astype(np.int64).tolist()
    times = 2 if neighbours is Neighbours.BOUNDED else 1
    scale = 3 * times / 0.5 if accounting is Accounting.PURE else 3 * math.sqrt(times) / math.sqrt(2 * 0.5)
    assert distance(drawn, accounting, scale) <= allowed_distance(MEASUREMENTS, FALSE_ALARM / 4)


def table_of(others: int, person: int) -> Counts:
    """A table of people who all have the codes (0, 0), and one with so many rows (1, 1)."""
    columns = [np.array([0] * others + [1] * person) for _ in range(2)]
    return Problem((2, 2)).layout.counted(columns)


def shares(counts: Counts, epsilon: Fraction, most_rows: int) -> Sample:
    """Of many synthetic tables the part of the rows that only the person would have."""
    problem = Problem((2, 2), most_rows)
    found = []
    for _ in range(TABLES):
        fitted = Fitted(problem)
        Aim(problem, Price(Accounting.PURE, epsilon), Neighbours.UNBOUNDED, fitted).run(counts)
        first, second = fitted.model.drawn(ROWS, np.random.default_rng(), None)
        found.append(float((first & second).sum()))
    return np.array(found)


@pytest.mark.parametrize("most_rows", [1, 4])
def test_a_membership_attack_learns_no_more_than_the_price_allows(most_rows: int) -> None:
    """The attacker knows everybody else, and the rows of the person, which no one else has."""
    epsilon = Fraction(1)
    without, with_person = (shares(table_of(30, rows), epsilon, most_rows) for rows in (0, most_rows))
    assert measured_epsilon(without, with_person, FALSE_ALARM / 2) <= float(epsilon)


def test_the_attack_sees_a_person_whose_rows_are_not_bounded() -> None:
    """The same attack, where a person has forty rows and noise is for one: it has teeth."""
    epsilon = Fraction(1)
    without, with_person = (shares(table_of(30, rows), epsilon, 1) for rows in (0, 40))
    assert measured_epsilon(without, with_person, FALSE_ALARM) > float(epsilon)
