"""The graphical model beside that of mbi, which estimates the same thing in another way: McKenna, Sheldon, Miklau 2019.

mbi with jax takes 650 MB, so it is no dependency of the tests: pip install mbi, and these tests run.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from discreet.synthesis.junction import Clique
from discreet.synthesis.model import Measured, Model

jax = pytest.importorskip("jax", reason="the oracle takes 650 MB: pip install mbi")
jax.config.update("jax_enable_x64", True)
mbi = pytest.importorskip("mbi", reason="the oracle takes 650 MB: pip install mbi")

SIZES = (4, 5, 3, 6, 2, 4)
DEVIATION = 30.0
ROWS = 40_000
GRAPHS: dict[str, list[Clique]] = {
    "alone": [(a,) for a in range(6)],
    "tree": [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)],
    "cycle": [(0, 1), (1, 2), (2, 3), (0, 3), (3, 4), (4, 5), (0, 5)],
    "triples": [(0, 1, 2), (2, 3), (3, 4, 5), (0, 5)],
    "twice": [(0,), (0, 1), (0, 1, 2), (1, 2), (3, 4), (3,)],
}


def measured(graph: list[Clique], seed: int) -> list[Measured]:
    """Noisy marginals of one table, so that they do not fit together."""
    random = np.random.default_rng(seed)
    weights = random.random(SIZES) ** 4
    table = random.multinomial(ROWS, (weights / weights.sum()).ravel()).reshape(SIZES)
    found = []
    for n, clique in enumerate(graph):
        exact = table.sum(axis=tuple(a for a in range(len(SIZES)) if a not in clique))
        deviation = DEVIATION * (1 + n % 3)
        found.append(Measured(clique, exact + random.normal(0, deviation, exact.shape), deviation**2))
    return found


def estimated(measurements: list[Measured], total: float) -> object:
    names = [str(a) for a in range(len(SIZES))]
    listed = [
        mbi.LinearMeasurement(each.counts.ravel(), tuple(map(str, each.clique)), each.variance**0.5)
        for each in measurements
    ]
    return mbi.estimation.MirrorDescent().estimate(mbi.Domain(names, SIZES), listed, known_total=total, iters=3000)


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_the_model_is_as_close_as_the_oracle_and_says_the_same(graph: list[Clique]) -> None:
    measurements = measured(graph, 1)
    model = Model(SIZES)
    ours = model.fit(measurements, 2000, 0)
    oracle = estimated(measurements, model.total)

    def of_oracle(clique: Clique) -> np.ndarray:
        return np.asarray(oracle.project(tuple(map(str, clique))).datavector(flatten=False))  # type: ignore[attr-defined]

    theirs = sum(float(((of_oracle(m.clique) - m.counts) ** 2).sum()) / m.variance / 2 for m in measurements)
    # a measurement made twice is combined here, which leaves out a part of the loss that no model can change
    alone = sum(
        float(((model.local(m.clique, model.beliefs) - m.counts) ** 2).sum()) / m.variance / 2 for m in measurements
    )
    assert alone <= 1.01 * theirs + 0.5
    assert ours <= alone + 1e-6
    for ways in (1, 2, 3):
        for clique in combinations(range(len(SIZES)), ways):
            (found,) = model.marginals([clique])
            assert found is not None
            assert np.abs(found - of_oracle(clique)).sum() / 2 / ROWS < 0.01
