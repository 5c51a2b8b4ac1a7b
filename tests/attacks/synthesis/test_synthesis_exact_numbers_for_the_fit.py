"""The process that fits is outside the server: what it is told may leave. It is told noisy counts and declarations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.dp.price import Accounting, Price
from discreet.dp.sensitivity import Neighbours
from discreet.synthesis.aim import Aim
from discreet.synthesis.model import Measured, Model
from discreet.synthesis.problem import Problem

PEOPLE = 1000


class Spy:
    """Fits, and keeps what it is told."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.model = problem, Model(problem.sizes, problem.drawn)
        self.told: list[Measured] = []

    def fitted(self, measured: Sequence[Measured]) -> npt.NDArray[np.int64]:
        self.told = list(measured)
        self.model.fit(measured)
        tables = zip(self.problem.layout.cliques, self.model.marginals(self.problem.layout.cliques), strict=True)
        sizes = self.problem.sizes
        cells = [
            np.full(math.prod(sizes[a] for a in clique), -1) if table is None else np.rint(table).ravel()
            for clique, table in tables
        ]
        return np.concatenate(cells).astype(np.int64)


def test_what_the_fit_is_told_is_what_was_released_and_has_noise() -> None:
    """Epsilon 0.01 for eight measurements: noise has a scale of 800, and 20 cells without any a chance below 1e-40."""
    problem = Problem((2, 3, 4))
    spy = Spy(problem)
    aim = Aim(problem, Price(Accounting.PURE, Fraction(1, 100)), Neighbours.UNBOUNDED, spy)
    random = np.random.default_rng(1)
    counts = problem.layout.counted([random.integers(0, size, PEOPLE) for size in problem.sizes])
    aim.run(counts)
    assert spy.told == [each.measured for each in aim.taken]
    cells = sum(each.counts.size for each in spy.told)
    exact = sum(int((each.counts == problem.layout.counts(counts, each.clique)).sum()) for each in spy.told)
    assert cells >= 20
    assert exact < cells / 2
