"""Grouping sets estimated together: least squares, whole numbers that add up, and when it is done."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.corpus.sample import SCHEMA, planned

from discreet.dp.additive import DiscreteGaussian, DiscreteLaplace, additive_noise
from discreet.dp.combined import CombinedNoise
from discreet.dp.price import Accounting, Price
from discreet.gate.consistent import Estimate, Keys, Shape, consistent, not_below_0, shared_out, unit_of
from discreet.gate.measure import domain_groups
from discreet.gate.measurements import Measurement, Quantity, Subject
from discreet.gate.pricing import divided, terms_of
from discreet.gate.run import statements
from discreet.gate.schema import Dataset, Schema
from discreet.gate.stored import Stored, of_one_run, store_keys

ROLLUP, CUBE = [(0, 1, 2), (0, 1), (0,), ()], [(0, 1), (0,), (1,), ()]
BESIDE, APART, MIXED = [(0,), (1,), ()], [(0,), (1,)], [(0, 1), (1, 2), (1,)]
FAMILIES = [
    ROLLUP,
    CUBE,
    BESIDE,
    APART,
    MIXED,
    [(0, 1), (1, 2)],
    [(0, 1, 2), (0, 1), (0, 2), (1, 2), (0,), (1,), (2,), ()],
]
SIZES = [2, 3, 2]


def shape(sets: Sequence[tuple[int, ...]], sizes: Sequence[int] = SIZES) -> Shape:
    return Shape([frozenset(keys) for keys in sets], [[f"v{n}" for n in range(size)] for size in sizes])


def sums(found: Shape, keys: Keys) -> Any:
    """The matrix that adds the cells of all keys up to the groups of a set."""
    cells = list(product(*map(range, found.sizes)))
    groups = list(product(*(range(size) if key in keys else [0] for key, size in enumerate(found.sizes))))
    return np.array([[all(cell[key] == group[key] for key in keys) for cell in cells] for group in groups], dtype=float)


@pytest.mark.parametrize("sets", FAMILIES)
def test_the_estimate_is_that_of_least_squares(sets: list[tuple[int, ...]]) -> None:
    found, generator = shape(sets), np.random.default_rng(1)
    variances = {keys: float(generator.uniform(0.5, 4)) for keys in found.sets}
    drawn = {keys: generator.normal(size=found.shape(keys)) for keys in found.sets}
    every = np.vstack([sums(found, keys) / variances[keys] ** 0.5 for keys in found.sets])
    noisy = np.concatenate([drawn[keys].reshape(-1) / variances[keys] ** 0.5 for keys in found.sets])
    solved = np.linalg.lstsq(every, noisy, rcond=None)[0]
    for keys, table in Estimate(found, variances).tables(drawn).items():
        if keys in found.sets:
            assert np.allclose(table.reshape(-1), sums(found, keys) @ solved)


@pytest.mark.parametrize("sets", FAMILIES)
def test_the_factors_of_draws_are_those_of_least_squares(sets: list[tuple[int, ...]]) -> None:
    found = shape(sets)
    draws = {keys: DiscreteLaplace(Fraction(1 + place)) for place, keys in enumerate(found.sets)}
    variances = {keys: float(draw.spread) ** 2 for keys, draw in draws.items()}
    every = np.vstack([sums(found, keys) / variances[keys] ** 0.5 for keys in found.sets])
    scales = np.concatenate([np.full(found.cells(keys), variances[keys] ** -0.5) for keys in found.sets])
    for keys in found.sets:
        factors = (sums(found, keys) @ np.linalg.pinv(every) * scales)[0]
        squares: dict[object, float] = {}
        for draw, factor, times in Estimate(found, variances).parts(keys, draws):
            squares[draw] = squares.get(draw, 0.0) + factor**2 * times
        start = 0
        for other, draw in draws.items():
            own = factors[start : start + found.cells(other)]
            start += found.cells(other)
            assert squares.get(draw, 0.0) == pytest.approx(float(own @ own), abs=1e-9)


@pytest.mark.parametrize("sets", FAMILIES)
@given(data=st.data())
def test_no_estimate_has_more_variance_than_its_own_draw(sets: list[tuple[int, ...]], data: st.DataObject) -> None:
    found = shape(sets, [3, 4, 2])
    draws = {keys: DiscreteLaplace(Fraction(data.draw(st.integers(1, 50)))) for keys in found.sets}
    estimate = Estimate(found, {keys: float(draw.spread) ** 2 for keys, draw in draws.items()})
    for keys in found.sets:
        assert CombinedNoise(tuple(estimate.parts(keys, draws))).spread <= draws[keys].spread * (1 + Fraction(1, 10**6))


TABLE = st.lists(st.floats(-50, 500), min_size=12, max_size=12)


@pytest.mark.parametrize("sets", FAMILIES)
@pytest.mark.parametrize(("counts", "unit"), [(True, 1), (False, 1), (False, 1024)])
@given(numbers=TABLE)
def test_rounded_numbers_add_up_and_are_near(
    sets: list[tuple[int, ...]], counts: bool, unit: int, numbers: list[float]
) -> None:
    found = shape(sets)
    cells = np.array(numbers).reshape(found.sizes)
    tables = {
        keys: cells.sum(axis=tuple(key for key in range(3) if key not in keys), keepdims=True) for keys in found.wanted
    }
    whole, away = found.rounded(tables, unit, counts)
    for keys in found.sets:
        exact = cells.sum(axis=tuple(key for key in range(3) if key not in keys), keepdims=True)
        below_0 = (exact < 0) & (whole[keys] == 0)
        off = np.abs(whole[keys].astype(float) - exact)
        assert (np.where(below_0, 0, off) <= float(away[keys]) + 1 + 1e-6).all()
        assert all(number % unit == 0 for number in whole[keys].flat)
        for other in found.sets:
            if other < keys:
                assert (whole[keys].sum(axis=tuple(sorted(keys - other)), keepdims=True) == whole[other]).all()
        if counts and found._above is not None:
            assert (whole[keys] >= 0).all()


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=8), st.floats(0, 100))
def test_numbers_moved_above_0_add_up_and_none_is_moved_further_than_said(numbers: list[float], total: float) -> None:
    moved, by = not_below_0(np.array(numbers), total)
    assert (moved >= 0).all()
    assert moved.sum() == pytest.approx(total, abs=1e-9)
    away = np.abs(moved - np.array(numbers))
    assert (away[(moved > 0) | (np.array(numbers) >= 0)] <= by + 1e-9).all()


@given(st.lists(st.floats(0, 1000), min_size=1, max_size=20))
def test_shared_out_numbers_add_up_and_are_rounded_up_or_down(numbers: list[float]) -> None:
    for total in (int(np.floor(sum(numbers))), int(np.ceil(sum(numbers)))):
        found = shared_out(np.array(numbers), total)
        assert sum(found) == total
        assert all(abs(whole - number) < 1 + 1e-6 for whole, number in zip(found, numbers, strict=True))


# -- when

BY = "SELECT dept, position, count(*), sum(salary) FROM hr.employee GROUP BY {}"


def test_sets_add_up_where_everybody_has_one_row_in_known_groups() -> None:
    assert planned(BY.format("ROLLUP (dept, position)")).adds_up
    assert planned(BY.format("GROUPING SETS ((dept, position), ())")).adds_up
    assert not planned(BY.format("dept, position")).adds_up
    assert not planned(BY.format("GROUPING SETS ((dept, position), (position, dept))")).adds_up
    assert not planned("SELECT count(*) FROM hr.employee GROUP BY ROLLUP (dept, zip)").adds_up
    assert not planned("SELECT count(*) FROM clinic.visit GROUP BY ROLLUP (ward)").adds_up


def test_rows_outside_the_categories_take_no_part_in_any_set() -> None:
    plan = planned(BY.format("ROLLUP (dept, position)"))
    for keys in plan.grouping.sets:
        (statement,) = statements(plan, keys, 0)
        assert statement.sql.count(" IN (") == 2
    whole = plan.grouping.sets[0]
    alone = planned(BY.format("dept, position"))
    assert statements(plan, whole, 0) == statements(alone, whole, 0)
    assert " IN (" not in statements(planned("SELECT count(*), sum(salary) FROM hr.employee"), (), 0)[0].sql


def test_a_total_of_known_groups_is_another_measurement_than_one_of_all_rows() -> None:
    rollup, plain, alone = (
        store_keys(planned(sql), "policy")
        for sql in (
            BY.format("ROLLUP (dept, position)"),
            BY.format("dept, position"),
            "SELECT count(*) FROM hr.employee",
        )
    )
    count = Measurement(Quantity.ROWS, Subject())
    assert rollup[count, 0] == plain[count, 0]
    assert rollup[count, 2] != alone[count, 0]


def test_the_price_of_a_rollup_goes_to_the_total_and_the_cells() -> None:
    def parts(sql: str, epsilon: int = 1, accounting: str = "pure") -> list[float]:
        price = Price.of(epsilon, accounting)
        return [float(one.amount / price.amount) for one in divided(planned(sql), price)]

    three = "SELECT count(*) FROM hr.employee GROUP BY ROLLUP (dept, position, gender)"
    assert parts(three) == [0.9, 0.6, 0.6, 1.9]
    assert parts(three, 1, "zcdp") == [0.95, 0.9, 0.9, 1.25]
    assert parts(BY.format("ROLLUP (dept, position)")) == [0.95, 0.9, 1.15]
    assert parts(BY.format("CUBE (dept, position)")) == [0.95, 0.9, 0.9, 1.25]
    beside = "SELECT count(*) FROM hr.employee GROUP BY GROUPING SETS (dept, position, ())"
    assert parts(beside) == [0.95, 0.95, 1.1]
    for sql in (
        BY.format("GROUPING SETS (dept, position)"),
        "SELECT count(*) FROM clinic.visit GROUP BY ROLLUP (ward)",
    ):
        assert set(parts(sql)) == {1}
    assert set(parts(three, 60)) == {1}


def ratios(sql: str, price: Price, values: int) -> dict[int, float]:
    """The largest error of a set with so many keys, of that of an even share without the estimate."""
    plan = planned(sql)
    sets = [frozenset(keys) for keys in plan.grouping.sets]
    shape = Shape(sets, [[str(number) for number in range(values)]] * len(plan.grouping.keys))
    noises = [additive_noise(Fraction(1), one, 1) for one in divided(plan, price)]
    before = additive_noise(Fraction(1), price, 1)
    variances = {keys: float(noise.spread) ** 2 for keys, noise in zip(sets, noises, strict=True)}
    estimate = Estimate(shape, variances)
    found: dict[int, float] = {}
    for keys in sets:
        parts = estimate.parts(keys, dict(zip(sets, noises, strict=True)))
        variance = sum(factor**2 * times * float(noise.spread) ** 2 for noise, factor, times in parts)
        found[len(keys)] = max(found.get(len(keys), 0.0), math.sqrt(variance) / float(before.spread))
    return found


@pytest.mark.parametrize("accounting", ["pure", "zcdp"])
@pytest.mark.parametrize(
    "grouped", ["ROLLUP (dept, position)", "CUBE (dept, position)", "CUBE (dept, position, gender)", "ROLLUP (dept)"]
)
@pytest.mark.parametrize("values", [3, 10])
def test_no_error_is_larger_than_that_of_an_even_price(accounting: str, grouped: str, values: int) -> None:
    found = ratios(f"SELECT count(*) FROM hr.employee GROUP BY {grouped}", Price.of(1, accounting), values)
    assert max(found.values()) < 1.01
    assert found[0] < 0.94


def test_errors_of_a_rollup_over_three_keys() -> None:
    three = "SELECT count(*) FROM hr.employee GROUP BY ROLLUP (dept, position, gender)"
    pure = ratios(three, Price.of(1), 10)
    assert pure[0] < 0.53  # of the scale; of the deviation of whole numbers less (bench/noise.py)
    assert pure[3] < 1.07
    assert max(pure.values()) < 1.55
    zcdp = ratios(three, Price.of(1, "zcdp"), 10)
    assert max(zcdp.values()) < 1
    assert zcdp[0] < 0.87


def estimated(sql: str, accounting: str = "pure", of_one_run: bool = True) -> Any:
    datasets = {name: Dataset(name, accounting, "unbounded", Fraction(0)) for name in SCHEMA.datasets}
    plan = planned(sql, schema=Schema(SCHEMA.relations, datasets))
    terms = terms_of(plan, Price.of(1, accounting), Fraction(0))
    texts = {key: ["a", "b", "c", None] for key in range(len(plan.grouping.keys))}
    known = [domain_groups(plan, keys, texts) for keys in plan.grouping.sets]
    numbers = [
        {m: {group: (7 * n) % 23 + 10 for n, group in enumerate(groups or ())} for m in plan.measurements}
        for groups in known
    ]
    run = plan.measurements if of_one_run else ()
    return plan, terms, numbers, *consistent(plan, terms, known, numbers, run)


@pytest.mark.parametrize("accounting", ["pure", "zcdp"])
@pytest.mark.parametrize("sets", ["ROLLUP (dept, position)", "CUBE (dept, position)"])
def test_groups_add_up_to_totals(sets: str, accounting: str) -> None:
    plan, terms, _, stated, found = estimated(BY.format(sets), accounting)
    for measurement in plan.measurements:
        assert len({sum(of_set[measurement].values()) for of_set in found}) == 1
        for some, before in zip(stated, terms, strict=True):
            assert some.stated_noise(measurement).spread < before.noise(measurement).spread


def test_numbers_of_several_runs_are_left_as_they_are() -> None:
    _, terms, numbers, stated, found = estimated(BY.format("ROLLUP (dept, position)"), of_one_run=False)
    assert (list(stated), list(found)) == (terms, numbers)


def test_stored_numbers_are_of_one_run_where_they_say_so() -> None:
    one, other = Measurement(Quantity.ROWS, Subject()), Measurement(Quantity.PEOPLE, Subject())
    price = Price(Accounting.PURE, Fraction(1))
    first, second, old = (Stored(price, Fraction(0), {}, run=run) for run in ("1", "2", None))
    assert of_one_run({one: [first, first]}, [other]) == [one, other]
    assert of_one_run({one: [first, second], other: [old, old]}, []) == []


def test_sums_of_whole_numbers_are_whole() -> None:
    for column in ("salary::int", "hired - dob"):
        (whole,) = planned(f"SELECT sum({column}) FROM hr.employee").measurements
        assert whole.subject.grid is not None
        assert unit_of(whole) * whole.subject.grid.step == 1
    (other,) = planned("SELECT sum(salary) FROM hr.employee").measurements
    assert unit_of(other) == 1


# -- half-widths


def test_the_half_width_of_one_draw_is_its_own() -> None:
    for draw in (DiscreteLaplace(Fraction(1000)), DiscreteGaussian(Fraction(1000))):
        for probability in (Fraction(95, 100), Fraction(999, 1000)):
            combined = CombinedNoise(((draw, 1.0, 1),)).half_width(probability)
            assert combined == pytest.approx(draw.half_width(probability), rel=2e-3)
    assert CombinedNoise(((DiscreteLaplace(Fraction(1000)), -2.0, 1),)).half_width() == pytest.approx(5991, rel=2e-3)


def test_the_half_width_of_two_equal_laplace_draws_is_that_of_their_sum() -> None:
    """P(|X + Y| > w) = (1 + w / 2 b) e**(-w / b)."""
    width = CombinedNoise(((DiscreteLaplace(Fraction(1000)), 1.0, 2),)).half_width() / 1000
    assert (1 + width / 2) * np.exp(-width) == pytest.approx(0.05, rel=5e-3)


def test_what_is_away_besides_is_added() -> None:
    parts = ((DiscreteLaplace(Fraction(1000)), 1.0, 1),)
    assert CombinedNoise(parts, Fraction(50)).half_width() == CombinedNoise(parts).half_width() + 50
