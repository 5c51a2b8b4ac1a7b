"""What one person can change: the formulas against the arithmetic that the native SQL does for a person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.corpus.sample import SCHEMA, planned

from discreet.dp.grid import Grid
from discreet.dp.price import Accounting, Price
from discreet.gate.measure import Terms, interval
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


def terms(
    sql: str, accounting: str = "pure", neighbours: str = "unbounded", amount: int = 1, **limits: int | None
) -> Terms:
    datasets = {name: Dataset(name, accounting, neighbours, Fraction(0)) for name in SCHEMA.datasets}
    visit = SCHEMA.relations["clinic", "visit"]
    assert visit.protection is not None
    changed = replace(visit, protection=replace(visit.protection, **limits))  # type: ignore[arg-type]
    plan = planned(sql, schema=Schema({**SCHEMA.relations, ("clinic", "visit"): changed}, datasets))
    return Terms.of(plan, Price(Accounting(accounting), Fraction(amount)), Fraction(0), plan.grouping.sets[0])


def of_one(found: Terms, measurement: Measurement) -> Terms:
    """The terms of a question for this measurement alone."""
    return replace(found, worths=((measurement, Fraction(1), Fraction(1)),), measured=(measurement,))


def test_the_price_is_shared_evenly_by_counts_and_sums() -> None:
    for accounting in ("pure", "zcdp"):
        found = terms(VISITS, accounting)
        assert [found.price_of(one).amount for one in found.measured] == [Fraction(1, 2)] * 2
    assert terms("SELECT count(*) FROM hr.employee").price_of(COUNT).amount == 1


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
    """Scale = groups · rows / epsilon."""
    count = Measurement(Quantity.ROWS, Subject())
    one = "SELECT ward, count(*) FROM clinic.visit GROUP BY ward"
    assert 15 <= terms(one).noise(count).spread < Fraction(15 * (2**40 + 1), 2**40)
    assert 30 <= terms(one, neighbours="bounded").noise(count).spread < 31


def test_joint_noise_is_calibrated_to_all_groups_together() -> None:
    """Scale = groups · rows / epsilon, for all measurements; of two, the variance is that of twice √2 times less."""
    count = Measurement(Quantity.ROWS, Subject())
    for neighbours, most in (("unbounded", 15), ("bounded", 30)):
        found = terms(VISITS, neighbours=neighbours)
        ((members, noise),) = found.together
        assert members[count].width == (10 if neighbours == "bounded" else 5)
        assert 1 - Fraction(1, 2**17) < noise.epsilon_at(Fraction(3), found.reach) <= 1
        assert float(found.noise(count).spread) == pytest.approx(most * 2**0.5, rel=1e-4)


def test_measurements_that_reach_groups_differently_have_noise_of_their_own() -> None:
    """Six rows in three groups: a person counts three times among people, and 6/5 times as five rows."""
    found = terms("SELECT ward, count(*), count(DISTINCT patient_id) FROM clinic.visit GROUP BY ward", max_total_rows=6)
    assert (found.touched(COUNT), found.touched(PEOPLE)) == (Fraction(6, 5), 3)
    assert found.together == []
    # the one with the larger change has the larger share, by the cube root of its square
    ratio = float(found.price_of(PEOPLE).amount / found.price_of(COUNT).amount)
    assert ratio == pytest.approx((3 / (6 / 5)) ** (2 / 3), rel=1e-5)
    assert terms(VISITS, max_total_rows=6).together == []
    assert len(terms(VISITS, max_total_rows=14).together) == 1


def test_distinct_values_of_several_groups_have_noise_of_their_own() -> None:
    """The statement that reads them may choose other groups of a person than that for sums."""
    selected = "count(*), sum(cost), count(DISTINCT ward) FROM clinic.visit"
    ((members, _),) = terms(f"SELECT ward, {selected} GROUP BY ward").together
    assert [m.quantity for m in members] == [Quantity.ROWS, Quantity.TOTAL]
    ((members, _),) = terms(f"SELECT {selected}").together
    assert len(members) == 3


def test_which_unknown_groups_are_shown_is_decided_by_noise_of_its_own() -> None:
    found = terms("SELECT zip, count(salary), sum(salary) FROM hr.employee GROUP BY zip")
    ((members, _),) = found.together
    assert PEOPLE in found.measured
    assert PEOPLE not in members


def test_under_zcdp_noise_is_gaussian_for_each() -> None:
    assert terms(VISITS, "zcdp").together == []


def test_gaussian_noise_is_calibrated_to_the_root_of_the_groups() -> None:
    """Variance = groups · rows² / (2 rho / measurements)."""
    count = Measurement(Quantity.ROWS, Subject())
    assert abs(float(terms(VISITS, "zcdp").noise(count).spread) ** 2 - 3 * 25) < 1e-6


@pytest.mark.parametrize("quantity", [Quantity.TOTAL, Quantity.CENTRED])
def test_under_bounded_neighbours_a_sum_may_change_twice_in_one_group(quantity: Quantity) -> None:
    """A value may go from one bound to the other: 2 s, not √2 s, in each group."""
    grid = Grid(0, -100, 100)
    measured = Measurement(quantity, Subject("x", None, grid))  # type: ignore[arg-type]
    found = terms("SELECT sum(salary) FROM hr.employee", "zcdp", "bounded")
    changed = abs(contribution(quantity, grid, [100], 1) - contribution(quantity, grid, [-100], 1))
    assert (
        float(of_one(found, measured).noise(measured).spread) ** 2 >= changed**2 / 2
    )  # rho 1 = change² / (2 variance)


def test_under_bounded_neighbours_the_loss_of_a_bin_changes_twice() -> None:
    median = Measurement(Quantity.QUANTILE, Subject("x"), Fraction(1, 2))  # type: ignore[arg-type]
    count = "SELECT count(*) FROM hr.employee"
    one = of_one(terms(count, "zcdp"), median).choice(median).choice
    two = of_one(terms(count, "zcdp", "bounded"), median).choice(median).choice
    assert two.sensitivity == 2 * one.sensitivity
    assert two.price == one.price


# -- a bound on the rows of all groups together

COUNT, PEOPLE = Measurement(Quantity.ROWS, Subject()), Measurement(Quantity.PEOPLE, Subject())
WAYS = [("pure", "unbounded"), ("pure", "bounded"), ("zcdp", "unbounded"), ("zcdp", "bounded")]


@pytest.mark.parametrize(
    ("accounting", "neighbours", "count", "total"),
    [
        ("pure", "unbounded", 7, 700),
        ("pure", "bounded", 14, 1400),
        ("zcdp", "unbounded", (7 * 5) ** 0.5, (7 * 5) ** 0.5 * 100),
        ("zcdp", "bounded", (2 * 7 * 5) ** 0.5, 2 * (7 * 5) ** 0.5 * 100),
    ],
)
def test_noise_is_for_the_rows_of_all_groups_together(
    accounting: str, neighbours: str, count: float, total: float
) -> None:
    """Five rows in each of three groups, but seven in all: an L1 norm of 7, and an L2 norm of at most √(7 · 5)."""
    found = terms(VISITS, accounting, neighbours, max_total_rows=7)
    summed = Measurement(Quantity.TOTAL, Subject("x", None, Grid(0, -100, 100)))  # type: ignore[arg-type]
    assert float(found.norm(COUNT)) == pytest.approx(count)
    assert float(found.norm(summed)) == pytest.approx(total)
    assert float(found.norm(PEOPLE)) == pytest.approx(float(terms(VISITS, accounting, neighbours).norm(PEOPLE)))


@pytest.mark.parametrize(("quantity", "slack"), [(Quantity.CENTRED, 2), (Quantity.SQUARES, 4 + 8 * 3)])
@pytest.mark.parametrize(("total", "groups"), [(2, 2), (3, 3), (7, 3)])
def test_what_cutting_adds_is_added_in_each_group_with_rows(
    quantity: Quantity, slack: int, total: int, groups: int
) -> None:
    found = terms(VISITS, max_total_rows=total)
    width = 3 if quantity is Quantity.CENTRED else 9
    assert found.in_all(Measurement(quantity, Subject("x", None, Grid(0, 0, 3)))) == total * width + groups * slack  # type: ignore[arg-type]


@pytest.mark.parametrize(("accounting", "neighbours"), WAYS)
@pytest.mark.parametrize("quantity", [*SUMS, Quantity.ROWS, Quantity.VALUES, Quantity.DISTINCT, Quantity.PEOPLE])
@pytest.mark.parametrize("total", [15, 16, 10**6])
def test_a_bound_that_cannot_be_met_changes_nothing(
    accounting: str, neighbours: str, quantity: Quantity, total: int
) -> None:
    measured = Measurement(quantity, Subject("x", None, Grid(0, -3, 8)))  # type: ignore[arg-type]
    without, with_bound = (terms(VISITS, accounting, neighbours, max_total_rows=most) for most in (None, total))
    assert with_bound == without
    assert with_bound.norm(measured) == without.norm(measured)


def test_without_groups_the_smaller_bound_holds() -> None:
    one = "SELECT count(*) FROM clinic.visit"
    assert [terms(one, max_total_rows=most).norm(COUNT) for most in (None, 7, 5, 2)] == [5, 5, 5, 2]


def test_a_choice_in_each_group_costs_what_its_rows_are_of_all() -> None:
    """Two choices of five rows each cost no less than three of seven rows in all."""
    median = Measurement(Quantity.QUANTILE, Subject("x"), Fraction(1, 2))  # type: ignore[arg-type]
    shares = {
        most: of_one(terms(VISITS, max_total_rows=most), median).choice(median).choice for most in (None, 7, 5, 2)
    }  # fmt: skip
    assert {most: choice.price.amount for most, choice in shares.items()} == {
        None: Fraction(1, 3), 7: Fraction(1, 2), 5: 1, 2: 1,
    }  # fmt: skip
    assert shares[7].sensitivity == shares[5].sensitivity == 5
    assert shares[2].sensitivity == 2


def rows_of_a_person(groups: int, rows: int, total: int, places: int) -> Iterator[tuple[int, ...]]:
    """All that one person may have in so many places."""
    for found in product(range(rows + 1), repeat=places):
        if sum(found) <= total and sum(map(bool, found)) <= groups:
            yield found


def norm_of(vector: list[int], accounting: str) -> float:
    return sum(map(abs, vector)) if accounting == "pure" else sum(x * x for x in vector) ** 0.5


@pytest.mark.parametrize(("accounting", "neighbours"), WAYS)
@pytest.mark.parametrize("signed", [False, True], ids=["counts", "sums"])
@pytest.mark.parametrize(
    ("groups", "rows", "total"), [(1, 3, 3), (2, 3, 4), (2, 2, 1), (3, 2, 3), (2, 3, 5), (3, 1, 2)]
)
def test_nobody_changes_more_than_the_norm(
    accounting: str, neighbours: str, signed: bool, groups: int, rows: int, total: int
) -> None:
    """All vectors that one person can add, or, under bounded neighbours, one person can make of another's."""
    quantity = Quantity.TOTAL if signed else Quantity.ROWS
    measured = Measurement(quantity, Subject("x", None, Grid(0, -1, 1) if signed else None))  # type: ignore[arg-type]
    limits = {"max_groups": groups, "max_rows": rows, "max_total_rows": total}
    most = float(terms(VISITS, accounting, neighbours, **limits).norm(measured))
    places = min(2 * groups, 4)
    added = list(rows_of_a_person(groups, rows, total, places))
    removed = added if neighbours == "bounded" else [(0,) * places]
    sign = -1 if signed else 1
    changes = (norm_of([a - sign * b for a, b in zip(one, other, strict=True)], accounting)
               for one in added for other in removed)  # fmt: skip
    assert max(changes) <= most * (1 + 1e-9)
    if accounting == "pure" and groups <= 2:
        assert max(norm_of(list(one), accounting) for one in added) * (2 if neighbours == "bounded" else 1) == most


@pytest.mark.parametrize("accounting", ["pure", "zcdp"])
@pytest.mark.parametrize("quantity", SUMS)
@given(data=st.data(), rows=st.integers(1, 4), groups=st.integers(1, 4), total=st.integers(1, 9))
def test_two_people_with_any_values_differ_by_no_more_than_the_norm(
    accounting: str, quantity: Quantity, data: st.DataObject, rows: int, groups: int, total: int
) -> None:
    low, high = sorted(data.draw(st.tuples(st.integers(-9, 9), st.integers(-9, 9))))
    grid = Grid(0, low, high)
    values = st.lists(st.lists(st.integers(low, high), max_size=7), min_size=groups, max_size=groups)

    def added() -> list[int]:
        left, numbers = total, []
        for held in data.draw(values):
            counted = min(len(held), rows, left)
            left -= counted
            numbers.append(contribution(quantity, grid, held, counted) if counted else 0)
        return numbers

    measured = Measurement(quantity, Subject("x", None, grid))  # type: ignore[arg-type]
    limits = {"max_groups": groups, "max_rows": rows, "max_total_rows": total}
    found = [terms(VISITS, accounting, way, **limits) for way in ("unbounded", "bounded")]
    one, other = added(), added()
    assert norm_of(one, accounting) <= float(found[0].norm(measured)) * (1 + 1e-9)
    differ = [a - b for a, b in zip(one, other, strict=True)]
    assert norm_of(differ, accounting) <= float(found[1].norm(measured)) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("seconds", "has_months", "text"),
    [
        (19_055 * 86_400 + 3661, True, "52 years 11 mons 5 days 1:01:01.000000"),
        (-45 * 86_400 - 1, True, "-0 years -1 mons -15 days -0:00:01.000000"),
        (45 * 86_400 + 1, False, "45 days 0:00:01.000000"),
    ],
)
def test_lengths_of_time_are_written_as_postgresql_writes_them(seconds: int, has_months: bool, text: str) -> None:
    assert interval(Fraction(seconds), has_months) == text


@pytest.mark.parametrize(
    ("column", "has_months"), [("avg(age(hired, dob))", True), ("avg(hired::timestamp - dob)", False)]
)
def test_averages_of_ages_have_years_and_months(column: str, has_months: bool) -> None:
    (aggregate,) = planned(f"SELECT {column} FROM hr.employee").aggregates
    assert aggregate.result_type == "interval"
    assert aggregate.has_months == has_months
