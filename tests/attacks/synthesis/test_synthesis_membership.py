"""Is a person in the table that a synthetic one was made of? The attacker knows everybody else, and the person's rows.

The attacker makes shadow tables, with and without the person, and learns from them from how many rows of the person's
kind on to guess that the person is there. Then there are 100 guesses. Under epsilon no attacker is right with a
probability above e**ε / (1 + e**ε): 0.623 at 0.5, so more than 85 of 100 have a chance below 1e-6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from discreet.dp.price import Accounting, Price
from discreet.dp.sensitivity import Neighbours
from discreet.synthesis.aim import Aim
from discreet.synthesis.model import Measured, Model
from discreet.synthesis.problem import Problem

Rows = npt.NDArray[np.int64]
EPSILON = Fraction(1, 2)
TRIES, SHADOWS, WRITTEN = 100, 40, 500
FALSE_ALARM = 1e-6
PROBLEM = Problem((4, 4))
OTHERS = np.random.default_rng(1).integers(0, 3, (60, 2))
PERSON = np.array([[3, 3]])
random = np.random.default_rng()


class Fitted:
    def __init__(self) -> None:
        self.model = Model(PROBLEM.sizes, PROBLEM.drawn)

    def fitted(self, measured: Sequence[Measured]) -> npt.NDArray[np.int64]:
        self.model.fit(measured)
        tables = self.model.marginals(PROBLEM.layout.cliques)
        return np.concatenate([np.rint(table).ravel() for table in tables if table is not None]).astype(np.int64)


def resampled(rows: Rows) -> Rows:
    return rows[random.integers(0, len(rows), WRITTEN)]


def of_a_bayes_net(rows: Rows) -> Rows:
    """The first column by its shares, the second by its shares given the first; all of them exact."""
    first = rows[random.integers(0, len(rows), WRITTEN), 0]
    second = [random.choice(rows[rows[:, 0] == value, 1]) for value in first]
    return np.stack([first, second], axis=1)


def synthesized(rows: Rows) -> Rows:
    fitted = Fitted()
    price = Price(Accounting.PURE, EPSILON)
    Aim(PROBLEM, price, Neighbours.UNBOUNDED, fitted).run(PROBLEM.layout.counted(list(rows.T)))
    return np.stack(fitted.model.drawn(WRITTEN, random), axis=1)


def right(make: Callable[[Rows], Rows]) -> int:
    """How often the attacker is right about whether the person is there."""

    def signal(there: bool) -> int:
        made = make(np.concatenate([OTHERS, PERSON]) if there else OTHERS)
        return int((made == PERSON).all(axis=1).sum())

    without, with_person = ([signal(there) for _ in range(SHADOWS)] for there in (False, True))
    most = max(range(WRITTEN), key=lambda n: sum(m <= n for m in without) + sum(m > n for m in with_person))
    guesses = [(there, (signal(there) > most)) for there in random.random(TRIES) < 0.5]
    return sum(there == guess for there, guess in guesses)


def test_who_is_there_shows_in_rows_that_are_resampled() -> None:
    """500 rows of 61 people: none is the person's with a probability of 3e-4, so 6 misses have one below 1e-12."""
    assert right(resampled) >= 95


def test_who_is_there_shows_in_a_bayes_net_without_noise() -> None:
    assert right(of_a_bayes_net) >= 95


def test_who_is_there_does_not_show_in_a_synthetic_table() -> None:
    likely = math.exp(EPSILON) / (1 + math.exp(EPSILON))
    most = int(binom.isf(FALSE_ALARM, TRIES, likely))
    assert most < 90
    assert right(synthesized) <= most
