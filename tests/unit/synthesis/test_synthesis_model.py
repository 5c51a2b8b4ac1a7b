"""The graphical model against brute force over the whole domain."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from discreet.synthesis.junction import Clique, JunctionTree, cells, fits
from discreet.synthesis.model import Measured, Model, combined, total_of

SIZES = (3, 4, 2, 5, 2)
EVERY = tuple(range(len(SIZES)))
Table = npt.NDArray[np.float64]
GRAPHS: dict[str, list[Clique]] = {
    "chain": [(0, 1), (1, 2), (2, 3), (3, 4)],
    "cycle": [(0, 1), (1, 2), (2, 3), (0, 3), (3, 4)],
    "apart": [(0, 1), (2, 3)],
    "triples": [(0, 1, 2), (2, 3, 4)],
    "alone": [(0,), (1,), (2,), (3,), (4,)],
}


def truth(seed: int) -> Table:
    random = np.random.default_rng(seed)
    weights = random.random(SIZES) ** 3
    return random.multinomial(50_000, (weights / weights.sum()).ravel()).reshape(SIZES).astype(float)


def marginal(table: Table, clique: Clique) -> Table:
    found: Table = table.sum(axis=tuple(a for a in EVERY if a not in clique))
    return found


def joint(model: Model) -> Table:
    """The whole distribution, by multiplying all potentials."""
    whole = np.zeros(SIZES)
    for clique, potential in model.potentials.items():
        whole = whole + potential.reshape([SIZES[a] if a in clique else 1 for a in EVERY])
    whole = np.exp(whole - whole.max())
    return whole * model.total / whole.sum()


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_all_marginals_are_those_of_the_product_of_potentials(graph: list[Clique]) -> None:
    counts = truth(1)
    model = Model(SIZES)
    model.fit([Measured(clique, marginal(counts, clique), 25.0) for clique in graph])
    whole = joint(model)
    for ways in range(1, 1 + len(SIZES)):
        for clique in combinations(EVERY, ways):
            (found,) = model.marginals([clique])
            assert found is not None
            np.testing.assert_allclose(found, marginal(whole, clique), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_a_fit_reaches_consistent_measurements(graph: list[Clique]) -> None:
    counts = truth(2)
    measured = [Measured(clique, marginal(counts, clique), 1.0) for clique in graph]
    model = Model(SIZES)
    model.fit(measured, steps=2000, close=1e-3)
    for each in measured:
        (found,) = model.marginals([each.clique])
        assert found is not None
        assert np.abs(found - each.counts).sum() / counts.sum() < 0.002


def test_the_model_has_the_most_entropy_of_all_that_fit() -> None:
    """Attributes of which no marginal was measured together are independent."""
    counts = truth(3)
    model = Model(SIZES)
    model.fit([Measured((a,), marginal(counts, (a,)), 1.0) for a in EVERY], steps=2000, close=1e-6)
    (pair,) = model.marginals([(1, 3)])
    assert pair is not None
    np.testing.assert_allclose(pair, np.outer(pair.sum(axis=1), pair.sum(axis=0)) / model.total, rtol=1e-9)


@pytest.mark.parametrize("given", [(), (0,), (0, 1)])
def test_rows_are_drawn_from_the_model_given_some_attributes(given: tuple[int, ...]) -> None:
    """Systematic sampling keeps conditional counts within a row: a cell of 100,000 rows is off by fewer than 600."""
    counts = truth(4)
    first = frozenset(EVERY) - frozenset(given)
    model = Model(SIZES, first)
    model.fit([Measured(clique, marginal(counts, clique), 25.0) for clique in GRAPHS["cycle"]])
    random = np.random.default_rng(5)
    rows = 100_000
    whole = joint(model) / model.total
    drawn = model.drawn(rows, random)
    again = model.drawn(rows, random, {a: drawn[a] for a in given})
    for clique in combinations(EVERY, 2):
        found = np.zeros([SIZES[a] for a in clique])
        np.add.at(found, tuple(again[a] for a in clique), 1)
        assert np.abs(found - marginal(whole, clique) * rows).max() < 600
    for attribute in given:
        assert (again[attribute] == drawn[attribute]).all()


def test_measurements_of_one_clique_are_combined_by_their_variances() -> None:
    (both,) = combined([Measured((0,), np.array([10.0, 0.0]), 1.0), Measured((0,), np.array([20.0, 5.0]), 4.0)])
    np.testing.assert_allclose(both.counts, [12.0, 1.0])
    assert both.variance == pytest.approx(0.8)
    assert total_of([both]) == pytest.approx(13)
    assert total_of([Measured((0,), np.array([-5.0, 0.0]), 1.0)]) == 1


def test_a_junction_tree_holds_every_clique_and_what_two_cliques_share_lies_between_them() -> None:
    random = np.random.default_rng(6)
    for _ in range(200):
        number = int(random.integers(2, 9))
        sizes = [int(size) for size in random.integers(2, 5, number)]
        measured = [tuple(sorted(random.choice(number, min(number, 3), replace=False).tolist())) for _ in range(6)]
        first = frozenset(random.choice(number, number // 2, replace=False).tolist())
        tree = JunctionTree.of(sizes, measured, first)
        assert all(tree.holder(clique) is not None for clique in measured)
        assert {step.attribute for step in tree.steps[: len(first)]} == first
        parents = {link.clique: link for link in tree.links}
        for attribute in range(number):
            inside = [n for n, clique in enumerate(tree.cliques) if attribute in clique]
            tops = [n for n in inside if parents[n].parent not in inside]
            assert len(tops) <= 1


def test_the_size_of_a_model_is_known_before_it_is_fitted() -> None:
    sizes, measured = [10, 10, 10], [(0, 1), (1, 2), (0, 2)]
    largest = cells(sizes, (0, 1, 2)) * 8
    assert fits(sizes, measured, frozenset(), largest)
    assert not fits(sizes, measured, frozenset(), largest - 1)
