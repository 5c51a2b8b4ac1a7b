"""Stated half-widths hold at least 95 times in 100, for aggregates and for what arithmetic makes of them.

Groups of known totals are released as the gate releases them, each with noise of its own and the half-width that stands
beside it. Each case raises a false alarm with a probability of at most 1e-8, the whole file with less than 1e-6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from tests.corpus.sample import SCHEMA, planned
from tests.statistical.dp.dp_evidence import proportion_bounds

from discreet.dp.price import Price
from discreet.gate.measure import Terms, measure
from discreet.gate.measurements import Measurement, Quantity
from discreet.gate.plan import Plan
from discreet.gate.printer import printed
from discreet.gate.schema import Dataset, Schema

FALSE_ALARM = 1e-8
DRAWS = 10_000
WOMEN = "FILTER (WHERE gender = 'F')"
MEN = "FILTER (WHERE gender = 'M')"
# what everybody has in every group; conditions of FILTER select the first 300 or the others
SALARIES = [30_000 + 150 * n for n in range(1000)]

Column = Callable[..., Fraction]


@dataclass(frozen=True)
class Case:
    """A column of an answer, and how PostgreSQL makes it of the aggregates, in the order of the text."""

    column: str
    made: Column = lambda only: only
    salaries: tuple[int, ...] = tuple(SALARIES)


def rounded(number: Fraction) -> Fraction:
    return Fraction(round(number * 100), 100)


CASES = [
    Case("count(*)"),
    Case("count(*)", salaries=()),
    Case("sum(salary)"),
    Case("avg(salary)"),
    Case("avg(salary)", salaries=tuple(SALARIES[:3])),
    Case("100 * count(*)", lambda count: 100 * count),
    Case("count(*) / 7", lambda count: Fraction(count // 7)),
    Case(f"count(*) {WOMEN} + count(*) {MEN}", lambda women, men: women + men),
    Case(f"sum(salary) {WOMEN} - sum(salary) {MEN}", lambda women, men: women - men),
    Case(f"avg(salary) {WOMEN} - avg(salary) {MEN}", lambda women, men: women - men),
    Case("sum(salary) + 1000 * count(salary) - avg(salary)", lambda total, count, mean: total + 1000 * count - mean),
    Case("round(avg(salary) / 12, 2)", lambda mean: rounded(mean / 12)),
]


def asked(column: str, accounting: str) -> tuple[Plan, Terms]:
    datasets = {name: Dataset(name, accounting, "unbounded", Fraction(0)) for name in SCHEMA.datasets}
    plan = planned(f"SELECT {column} AS x FROM hr.employee GROUP BY dept", schema=Schema(SCHEMA.relations, datasets))
    return plan, Terms.of(plan, Price.of("0.5", accounting), Fraction(0), plan.grouping.sets[0])


def selected(measurement: Measurement, case: Case) -> list[int]:
    only = measurement.subject.condition
    condition = "" if only is None else printed(only)
    return list(case.salaries[:300] if "'F'" in condition else case.salaries[300:] if condition else case.salaries)


def total(measurement: Measurement, case: Case) -> int:
    """The exact integer that the native SQL would find in a group."""
    grid, salaries = measurement.subject.grid, selected(measurement, case)
    if grid is None or measurement.quantity in (Quantity.ROWS, Quantity.VALUES):
        return len(salaries)
    on_grid = sum(grid.place(salary) for salary in salaries)
    centre = grid.lower + grid.upper
    return on_grid if measurement.quantity is Quantity.TOTAL else 2 * on_grid - centre * len(salaries)


def exact(plan: Plan, case: Case) -> Fraction:
    numbers = []
    for aggregate in plan.aggregates:
        salaries = [min(salary, 200_000) for salary in selected(aggregate.measurements[0], case)]
        of_kind = {"count": len(salaries), "avg": Fraction(sum(salaries), max(len(salaries), 1))}
        numbers.append(Fraction(of_kind.get(aggregate.kind, sum(salaries))))  # type: ignore[call-overload]
    return case.made(*numbers)


def share_within(case: Case, accounting: str, part_of_width: Fraction = Fraction(1)) -> float:
    """An upper bound of the probability to be within (a part of) the half-width, true but for FALSE_ALARM."""
    plan, terms = asked(case.column, accounting)
    groups: list[tuple[str | None, ...]] = [(f"{number:06}",) for number in range(DRAWS)]
    totals = {measurement: dict.fromkeys(groups, total(measurement, case)) for measurement in plan.measurements}
    truth, inside = exact(plan, case), 0
    for row in measure(plan, terms, groups, totals):
        numbers = [Fraction(str(number)) for number in row[1 : 1 + len(plan.aggregates)]]
        (error,) = row[1 + len(plan.aggregates) :]
        inside += abs(case.made(*numbers) - truth) <= Fraction(str(error)) * part_of_width
    return float(proportion_bounds(np.array([inside]), DRAWS, FALSE_ALARM)[1][0])


@pytest.mark.parametrize("accounting", ["pure", "zcdp"])
@pytest.mark.parametrize("case", CASES, ids=[f"{case.column} of {len(case.salaries)}" for case in CASES])
def test_a_column_is_within_its_half_width_95_times_in_100(case: Case, accounting: str) -> None:
    assert share_within(case, accounting) >= 0.95


@pytest.mark.parametrize("accounting", ["pure", "zcdp"])
@pytest.mark.parametrize("column", ["count(*)", "sum(salary)"])
def test_a_half_width_that_is_too_small_is_noticed(column: str, accounting: str) -> None:
    assert share_within(Case(column), accounting, Fraction(4, 5)) < 0.95
