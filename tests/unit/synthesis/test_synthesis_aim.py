"""What a synthetic table costs, and how much one person can change what is measured."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from discreet.dp.price import Accounting, Price
from discreet.dp.sensitivity import Neighbours
from discreet.synthesis.aim import Aim, Chosen, Purse, Sensitivity, Taken
from discreet.synthesis.model import Measured, Model
from discreet.synthesis.problem import Counts, Problem, decoded

SIZES = (2, 3, 4, 2)
PRICES = [Price(Accounting.PURE, Fraction(2)), Price(Accounting.ZCDP, Fraction(1, 20))]


class Fitted:
    """The model, in this process."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.model = problem, Model(problem.sizes, problem.drawn)

    def fitted(self, measured: Sequence[Measured]) -> npt.NDArray[np.int64]:
        self.model.fit(measured)
        tables = self.model.marginals(self.problem.layout.cliques)
        return np.concatenate([np.rint(t).ravel() for t in tables if t is not None]).astype(np.int64)


def rows(number: int, seed: int) -> list[npt.NDArray[np.int64]]:
    random = np.random.default_rng(seed)
    first = random.integers(0, 2, number)
    third = (first * 2 + random.integers(0, 2, number)) % 4
    return [first, random.integers(0, 3, number), third, first ^ (random.random(number) < 0.1)]


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("price", PRICES, ids=lambda price: price.accounting)
def test_a_run_spends_its_price_and_no_more(price: Price, neighbours: Neighbours) -> None:
    problem = Problem(SIZES, most_rows=2)
    aim = Aim(problem, price, neighbours, Fitted(problem))
    taken = aim.run(problem.layout.counted(rows(3000, 1)))
    assert aim.purse.left == 0
    assert {each.measured.clique for each in taken} >= set(problem.single)
    assert sum(each.amount for each in taken) <= price.amount
    noise = Sensitivity(2, neighbours)
    losses = [noise.noise(Price(price.accounting, each.amount)) for each in taken]
    assert all(float(loss.spread) > 0 for loss in losses)


def test_a_purse_gives_no_more_than_it_holds() -> None:
    purse = Purse(Price(Accounting.PURE, Fraction(1)))
    purse.take(Fraction(3, 4))
    with pytest.raises(AssertionError):
        purse.take(Fraction(1, 3))


@pytest.mark.parametrize("neighbours", Neighbours)
def test_one_person_changes_counts_and_losses_by_no_more_than_their_sensitivity(neighbours: Neighbours) -> None:
    """Tables with and without a person, or with another in their place, and every marginal of each."""
    random = np.random.default_rng(2)
    for most in (1, 3):
        problem = Problem(SIZES, most_rows=most)
        sensitivity = Sensitivity(most, neighbours)
        base = rows(200, 3)
        model = random.integers(0, 50, problem.layout.cells)
        for _ in range(50):
            person = random_rows(random, most)
            other = random_rows(random, most) if neighbours is Neighbours.BOUNDED else [[] for _ in SIZES]
            one = counted(problem, base, person)
            two = counted(problem, base, other)
            for clique in problem.layout.cliques:
                change = problem.layout.counts(one, clique) - problem.layout.counts(two, clique)
                assert np.abs(change).sum() <= sensitivity.absolute
                squares = Fraction(int((change * change).sum()))
                assert squares <= sensitivity.of_noise(Accounting.ZCDP) ** 2
                apart = np.abs(distance(problem, one, model, clique) - distance(problem, two, model, clique))
                assert apart <= sensitivity.absolute


def random_rows(random: np.random.Generator, most: int) -> list[list[int]]:
    number = int(random.integers(1, most + 1))
    alike = random.random() < 0.5
    drawn = [random.integers(0, size, number).tolist() for size in SIZES]
    return [[column[0]] * number for column in drawn] if alike else drawn


def counted(problem: Problem, base: list[npt.NDArray[np.int64]], more: list[list[int]]) -> Counts:
    columns = [np.concatenate([column, np.array(added, np.int64)]) for column, added in zip(base, more, strict=True)]
    return problem.layout.counted(columns)


def distance(problem: Problem, counts: Counts, model: Counts, clique: tuple[int, ...]) -> int:
    return int(np.abs(problem.layout.counts(counts, clique) - problem.layout.counts(model, clique)).sum())


def test_given_attributes_alone_are_no_candidates_and_the_target_weighs_more() -> None:
    problem = Problem(SIZES, given=frozenset([0, 1]), target=3)
    assert (0, 1) not in problem.candidates
    assert (0, 2) in problem.candidates
    plain = Problem(SIZES, given=frozenset([0, 1]))
    for clique, weight, usual in zip(problem.candidates, problem.weights, plain.weights, strict=True):
        assert weight == (4 if 3 in clique else 1) * usual


def test_marginals_that_are_too_large_are_left_out() -> None:
    problem = Problem((200, 200, 3))
    assert (0, 1) not in problem.candidates
    assert (0, 1, 2) not in problem.candidates
    assert (0, 2) in problem.candidates


def test_counts_come_out_as_they_were_packed() -> None:
    counts = [0, 1, 127, 128, 300, 2**40, 0]
    packed = bytearray()
    for count in counts:
        while count > 127:
            packed.append(count & 127 | 128)
            count >>= 7
        packed.append(count)
    assert decoded(bytes(packed)).tolist() == counts
    assert decoded(b"").tolist() == []


class Broken:
    """A fitter that gives any whole numbers."""

    def __init__(self, problem: Problem, number: int) -> None:
        self.counts = np.full(problem.layout.cells, number, np.int64)
        self.counts[list(problem.layout.starts.values())] = 0

    def fitted(self, measured: Sequence[Measured]) -> npt.NDArray[np.int64]:
        return self.counts


@pytest.mark.parametrize("number", [-(2**63), 2**63 - 1])
def test_one_person_changes_losses_by_one_whatever_the_fitter_gives(number: int) -> None:
    """Sums that leave 64 bits would jump from the largest to the least."""
    problem = Problem(SIZES)
    aim = Aim(problem, PRICES[0], Neighbours.UNBOUNDED, Broken(problem, number))
    nobody: Counts = np.zeros(problem.layout.cells, np.int64)
    person = problem.layout.counted([np.array([1]) for _ in SIZES])
    model = aim.model()
    for clique in problem.candidates:
        apart = distance(problem, nobody, model, clique) - distance(problem, person, model, clique)
        assert abs(apart) <= 1


@pytest.mark.parametrize("price", PRICES, ids=lambda price: price.accounting)
def test_what_was_not_measured_is_off_by_no_more_than_the_choices_tell(price: Price) -> None:
    """In the mean over runs and pairs; the bounds are of means, and a mean of 40 runs is far from both sides here."""
    problem = Problem(SIZES)
    exact = problem.layout.counted(rows(3000, 1))
    told, true = [], []
    for _ in range(40):
        fitter = Fitted(problem)
        aim = Aim(problem, price, Neighbours.UNBOUNDED, fitter)
        taken = {each.measured.clique for each in aim.run(exact)}
        last = fitter.fitted(aim.measured)
        for clique, bound in aim.expected(last).items():
            if not any(set(clique) <= set(other) for other in taken):
                told.append(bound)
                true.append(distance(problem, exact, last, clique))
    assert told
    assert sum(true) < sum(told)
    # it is of use: nothing is off by more than the table is large
    assert sum(told) / len(told) < 6000


def test_a_choice_tells_how_far_the_others_are_off() -> None:
    """What was chosen is 30 off, 20 beyond its penalty. Twice that and 8 is 48; the other weighs 4: 12 + 6 = 18."""
    problem = Problem(SIZES)
    aim = Aim(problem, PRICES[1], Neighbours.UNBOUNDED, Fitted(problem))
    model: Counts = np.zeros(problem.layout.cells, np.int64)
    counts = np.zeros((2, 3))
    counts[0, 1], counts[1, 2] = 20, -10
    aim.taken.append(Taken(Measured((0, 1), counts, 1.0), 1.0, Fraction(1)))
    aim.learn(Chosen((0, 1), 2, 10, {(0, 1): (2, 10), (0, 2): (4, 6), (0, 1, 2): (9, 9)}, 8.0), model)
    later = model.copy()
    problem.layout.counts(later, (0, 2))[1, 1] = 5
    assert aim.expected(later) == {(0, 1): 34.0, (0, 2): 23.0}
    problem.layout.counts(later, (0, 2))[:] = -1
    assert aim.expected(later) == {(0, 1): 34.0}
