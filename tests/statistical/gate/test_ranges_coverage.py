"""Variances, aggregates of two numbers and quantiles lie within their stated half-widths at least 95 times in 100.

Groups of known values are released as the gate releases them, each with noise of its own and the half-width that stands
beside it. Each case raises a false alarm with a probability of at most 1e-8, the whole file with less than 1e-6.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from tests.corpus.sample import SCHEMA, planned
from tests.statistical.dp.dp_evidence import proportion_bounds

from discreet.dp.price import Price
from discreet.gate.bins import EqualBins
from discreet.gate.measure import Terms, measure
from discreet.gate.measurements import Measurement, Quantity
from discreet.gate.plan import Plan
from discreet.gate.schema import Dataset, Schema

FALSE_ALARM = 1e-8
DRAWS = 1000
# income of a census is from 0 to 500,000, age from 0 to 120
AGES = [n * 7919 % 121 for n in range(2000)]
INCOMES = [2500 * age + n % 50 * 4000 for n, age in enumerate(AGES)]
PEOPLE = list(zip(INCOMES, AGES, strict=True))
FEW = PEOPLE[:3]
Rows = list[tuple[int, int]]


def incomes(rows: Rows) -> list[int]:
    return [income for income, _ in rows]


def ages(rows: Rows) -> list[int]:
    return sorted(age for _, age in rows)


def covariance(rows: Rows) -> float:
    return statistics.covariance(incomes(rows), [age for _, age in rows]) * (len(rows) - 1) / len(rows)


def slope(rows: Rows) -> float:
    return covariance(rows) / statistics.pvariance([age for _, age in rows])


@dataclass(frozen=True)
class Case:
    """An aggregate, and what PostgreSQL makes of the rows of a group."""

    column: str
    truth: Callable[[Rows], float]
    rows: tuple[tuple[int, int], ...] = tuple(PEOPLE)


def percentile(fraction: float) -> Callable[[Rows], float]:
    return lambda rows: ages(rows)[max(math.ceil(fraction * len(rows)) - 1, 0)]


def disc(fraction: float) -> str:
    return f"percentile_disc({fraction}) WITHIN GROUP (ORDER BY age)"


CASES = [
    Case("variance(age)", lambda rows: statistics.variance(ages(rows))),
    Case("variance(age)", lambda rows: statistics.variance(ages(rows)), tuple(FEW)),
    Case("var_pop(income)", lambda rows: statistics.pvariance(incomes(rows))),
    Case("stddev(income)", lambda rows: statistics.stdev(incomes(rows))),
    Case("stddev_pop(age)", lambda rows: statistics.pstdev(ages(rows)), tuple(PEOPLE[:40])),
    Case("2 * stddev(age) + avg(age)", lambda rows: 2 * statistics.stdev(ages(rows)) + statistics.mean(ages(rows))),
    Case("corr(income, age)", lambda rows: statistics.correlation(incomes(rows), [age for _, age in rows])),
    Case("covar_pop(income, age)", covariance),
    Case("covar_samp(income, age)", lambda rows: covariance(rows) * len(rows) / (len(rows) - 1)),
    Case("regr_slope(income, age)", slope),
    Case(
        "regr_intercept(income, age)",
        lambda rows: statistics.mean(incomes(rows)) - slope(rows) * statistics.mean(ages(rows)),
    ),
    Case("regr_r2(income, age)", lambda r: statistics.correlation(incomes(r), [age for _, age in r]) ** 2),
    Case("regr_avgx(income, age)", lambda rows: statistics.mean(ages(rows))),
    Case("regr_sxx(income, age)", lambda rows: statistics.pvariance(ages(rows)) * len(rows)),
    Case("regr_sxy(income, age)", lambda rows: covariance(rows) * len(rows)),
    Case(disc(0.5), percentile(0.5)),
    Case(disc(0.5), percentile(0.5), tuple(FEW)),
    Case(disc(0.9), percentile(0.9), tuple(PEOPLE[:100])),
    Case(disc(0.005), percentile(0.005)),
    Case("min(age)", lambda rows: min(ages(rows))),
    Case("max(age)", lambda rows: max(ages(rows)), tuple(PEOPLE[:300])),
    Case(f"{disc(0.75)} - {disc(0.25)}", lambda rows: percentile(0.75)(rows) - percentile(0.25)(rows)),
]


def asked(column: str, accounting: str) -> tuple[Plan, Terms]:
    datasets = {name: Dataset(name, accounting, "unbounded", Fraction(0)) for name in SCHEMA.datasets}
    plan = planned(
        f"SELECT {column} AS x FROM census.person GROUP BY region", schema=Schema(SCHEMA.relations, datasets)
    )
    return plan, Terms.of(plan, Price.of("2", accounting), Fraction(0), plan.grouping.sets[0])


def total(measurement: Measurement, rows: Rows) -> int | dict[int, int]:
    """The exact integer, or the number in each bin, that the native SQL would find in a group."""
    subject = measurement.subject
    if measurement.quantity is Quantity.QUANTILE:
        assert isinstance(measurement.bins, EqualBins)
        return dict(Counter(int(age - measurement.bins.lower) for _, age in rows))
    if measurement.quantity in (Quantity.ROWS, Quantity.VALUES) or subject.grid is None:
        return len(rows)
    of_income = subject.grid.upper * subject.grid.step > 1000
    grid, other = subject.grid, subject.other_grid
    placed = [2 * grid.place(income if of_income else age) - grid.lower - grid.upper for income, age in rows]
    if measurement.quantity is Quantity.CENTRED:
        return sum(placed)
    if measurement.quantity is Quantity.SQUARES:
        return sum(value**2 for value in placed)
    assert measurement.quantity is Quantity.PRODUCTS
    assert other is not None
    others = [2 * other.place(age) - other.lower - other.upper for _, age in rows]
    return sum(value * age for value, age in zip(placed, others, strict=True))


def made(plan: Plan, column: str, numbers: list[float]) -> float:
    """The column from the aggregates, in the order of the text."""
    if len(plan.aggregates) == 1:
        return numbers[0]
    return 2 * numbers[0] + numbers[1] if column.startswith("2 *") else numbers[0] - numbers[1]


def inside(case: Case, accounting: str) -> tuple[int, list[float]]:
    plan, terms = asked(case.column, accounting)
    groups: list[tuple[str | None, ...]] = [(f"{number:06}",) for number in range(DRAWS)]
    rows = list(case.rows)
    totals = {m: dict.fromkeys(groups, total(m, rows)) for m in plan.measurements}
    truth, found, errors = case.truth(rows), 0, []
    for row in measure(plan, terms, groups, totals):
        assert None not in row
        numbers = [float(str(number)) for number in row[1 : 1 + len(plan.aggregates)]]
        (error,) = row[1 + len(plan.aggregates) :]
        errors.append(float(str(error)))
        found += abs(made(plan, case.column, numbers) - truth) <= errors[-1] + 1e-9 * abs(truth)
    return found, errors


@pytest.mark.parametrize("accounting", ["pure", "zcdp"])
@pytest.mark.parametrize("case", CASES, ids=[f"{case.column} of {len(case.rows)}" for case in CASES])
def test_the_exact_number_is_within_the_half_width_95_times_in_100(case: Case, accounting: str) -> None:
    found, _ = inside(case, accounting)
    assert proportion_bounds(np.array([found]), DRAWS, FALSE_ALARM)[1][0] >= 0.95


@pytest.mark.parametrize(
    ("column", "most"),
    [("variance(age)", 300), ("stddev(age)", 6), ("corr(income, age)", 0.5), (disc(0.5), 20), ("max(age)", 10)],
)
def test_of_many_people_a_half_width_is_no_more_than_a_fraction_of_the_range(column: str, most: float) -> None:
    """A bound that is always true, since it is the whole range, would pass the test above."""
    _, errors = inside(Case(column, lambda rows: 0), "pure")
    assert statistics.median(errors) < most
