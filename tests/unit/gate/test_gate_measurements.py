"""What one person can change: the formulas against the arithmetic that the native SQL does for a person."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.corpus.sample import SCHEMA, planned

from discreet.dp.grid import Grid
from discreet.dp.price import Accounting, Price
from discreet.gate.measure import Terms
from discreet.gate.measurements import Measurement, Quantity, Subject
from discreet.gate.schema import Dataset, Schema

SUMS = (Quantity.TOTAL, Quantity.CENTRED, Quantity.SQUARES)
VISITS = "SELECT ward, count(*), sum(cost) FROM clinic.visit GROUP BY ward"


def towards_zero(numerator: int, denominator: int) -> int:
    whole = abs(numerator) // denominator
    return whole if numerator >= 0 else -whole


def contribution(quantity: Quantity, grid: Grid, values: list[int], rows: int) -> int:
    """Of a person with these grid integers in a group: at most `rows` rows' worth, as run.person_sql computes it."""
    count, capped = len(values), min(len(values), rows)

    def worth(total: int) -> int:
        return towards_zero(total * rows, count) if count > rows else total

    total, squares = worth(sum(values)), worth(sum(value**2 for value in values))
    centre = grid.lower + grid.upper
    return {
        Quantity.TOTAL: total,
        Quantity.CENTRED: 2 * total - centre * capped,
        Quantity.SQUARES: 4 * squares - 4 * centre * total + centre**2 * capped,
    }[quantity]


@st.composite
def people(draw: st.DrawFn) -> tuple[Grid, list[int]]:
    low, high = sorted(draw(st.tuples(st.integers(-1000, 1000), st.integers(-1000, 1000))))
    return Grid(0, low, high), draw(st.lists(st.integers(low, high), max_size=30))


@pytest.mark.parametrize("quantity", SUMS)
@given(person=people(), rows=st.integers(1, 8))
def test_a_person_adds_no_more_than_the_sensitivity(
    quantity: Quantity, person: tuple[Grid, list[int]], rows: int
) -> None:
    grid, values = person
    limit = Measurement(quantity, Subject(grid=grid)).sensitivity(rows, single=False)
    assert abs(contribution(quantity, grid, values, rows)) <= limit


@pytest.mark.parametrize("quantity", SUMS)
@given(person=people())
def test_a_person_of_one_row_adds_no_more_than_the_sensitivity(
    quantity: Quantity, person: tuple[Grid, list[int]]
) -> None:
    grid, values = person
    limit = Measurement(quantity, Subject(grid=grid)).sensitivity(1, single=True)
    assert abs(contribution(quantity, grid, values[:1], 1)) <= limit


@pytest.mark.parametrize("quantity", SUMS)
def test_the_sensitivity_is_attained_by_a_person_of_one_row(quantity: Quantity) -> None:
    grid = Grid(0, -3, 8)
    attained = max(abs(contribution(quantity, grid, [value], 1)) for value in range(-3, 9))
    assert attained == Measurement(quantity, Subject(grid=grid)).sensitivity(1, single=True)


@pytest.mark.parametrize(("quantity", "expected"), [("people", 1), ("rows", 5), ("values", 5), ("distinct", 5)])
def test_counts_change_by_as_many_rows_as_a_person_may_have(quantity: str, expected: int) -> None:
    assert Measurement(Quantity(quantity), Subject()).sensitivity(5, single=False) == expected


def test_a_measurement_of_nothing_still_has_noise() -> None:
    zero = Subject(grid=Grid(0, 0, 0))
    assert [Measurement(quantity, zero).sensitivity(1, True) for quantity in SUMS] == [1, 1, 1]


def terms(sql: str, accounting: str = "pure", neighbours: str = "unbounded", amount: int = 1) -> Terms:
    datasets = {name: Dataset(name, accounting, neighbours, Fraction(0)) for name in SCHEMA.datasets}
    plan = planned(sql, schema=Schema(SCHEMA.relations, datasets))
    return Terms.of(plan, Price(Accounting(accounting), Fraction(amount)), Fraction(0), plan.grouping.sets[0])


def test_the_price_is_shared_evenly_by_the_measurements() -> None:
    assert terms(VISITS).share.amount == Fraction(1, 2)
    assert terms("SELECT count(*) FROM hr.employee").share.amount == 1


@pytest.mark.parametrize(
    ("sql", "reach", "rows"),
    [
        ("SELECT count(*) FROM hr.employee", 1, 1),
        ("SELECT dept, count(*) FROM hr.employee GROUP BY dept", 1, 1),
        ("SELECT count(*) FROM clinic.visit", 1, 5),
        (VISITS, 3, 5),
    ],
)
def test_one_person_reaches_as_many_groups_and_rows_as_the_policy_says(sql: str, reach: int, rows: int) -> None:
    found = terms(sql)
    assert (found.reach, found.rows) == (reach, rows)
    assert terms(sql, neighbours="bounded").reach == 2 * reach


def test_laplace_noise_is_calibrated_to_all_groups_together() -> None:
    """Scale = groups · rows / (epsilon / measurements)."""
    count = Measurement(Quantity.ROWS, Subject())
    assert 30 <= terms(VISITS).noise(count).scale < Fraction(30 * (2**40 + 1), 2**40)
    assert 60 <= terms(VISITS, neighbours="bounded").noise(count).scale < 61


def test_gaussian_noise_is_calibrated_to_the_root_of_the_groups() -> None:
    """Variance = groups · rows² / (2 rho / measurements)."""
    count = Measurement(Quantity.ROWS, Subject())
    assert abs(float(terms(VISITS, "zcdp").noise(count).scale) ** 2 - 3 * 25) < 1e-6


@pytest.mark.parametrize("quantity", [Quantity.TOTAL, Quantity.CENTRED])
def test_under_bounded_neighbours_a_sum_may_change_twice_in_one_group(quantity: Quantity) -> None:
    """A value may go from one bound to the other: 2 s, not √2 s, in each group."""
    grid = Grid(0, -100, 100)
    measured = Measurement(quantity, Subject("x", None, grid))
    found = terms("SELECT sum(salary) FROM hr.employee", "zcdp", "bounded").noise(measured)
    changed = abs(contribution(quantity, grid, [100], 1) - contribution(quantity, grid, [-100], 1))
    assert float(found.scale) ** 2 >= changed**2 / 2  # rho 1 = change² / (2 variance)


def test_under_bounded_neighbours_the_loss_of_a_bin_changes_twice() -> None:
    median = Measurement(Quantity.QUANTILE, Subject("x"), Fraction(1, 2))
    one = terms("SELECT count(*) FROM hr.employee", "zcdp").choice(median).choice
    two = terms("SELECT count(*) FROM hr.employee", "zcdp", "bounded").choice(median).choice
    assert two.sensitivity == 2 * one.sensitivity
    assert two.price == one.price
