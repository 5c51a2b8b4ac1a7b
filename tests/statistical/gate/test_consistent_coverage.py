"""Numbers of grouping sets that are estimated together lie within their half-widths as often as is stated.

A false alarm has a probability of at most 1e-8 for each case, below 1e-6 for the whole file. Groups of one answer
share draws, so the first group of each set counts, once in each answer.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.corpus.sample import SCHEMA, planned
from tests.statistical.dp.dp_evidence import proportion_bounds

from discreet.dp.price import Price
from discreet.gate.consistent import consistent
from discreet.gate.measure import domain_groups
from discreet.gate.pricing import terms_of
from discreet.gate.schema import Dataset, Schema

FALSE_ALARM = 1e-8
ANSWERS = 1500
TEXTS = {place: ["a", "b", "c", "d"] for place in range(2)}


def inside(
    sets: str, accounting: str, epsilon: str, people: int, part: float
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many answers of each set are within this part of the half-width, with so many people in each cell."""
    datasets = {name: Dataset(name, accounting, "unbounded", Fraction(0)) for name in SCHEMA.datasets}
    sql = f"SELECT dept, position, count(*) FROM hr.employee GROUP BY {sets}"
    plan = planned(sql, schema=Schema(SCHEMA.relations, datasets))
    (measurement,) = plan.measurements
    terms = terms_of(plan, Price.of(epsilon, accounting), Fraction(0))
    known = [domain_groups(plan, keys, TEXTS) or [] for keys in plan.grouping.sets]
    exact = [people * 4 ** (2 - len(keys)) for keys in plan.grouping.sets]
    found = np.zeros(len(known), dtype=np.int64)
    for _ in range(ANSWERS):
        numbers = []
        for some, groups, number in zip(terms, known, exact, strict=True):
            drawn = some.noise(measurement).draw(len(groups))  # type: ignore[union-attr]
            numbers.append({measurement: {group: number + by for group, by in zip(groups, drawn, strict=True)}})
        stated, estimates = consistent(plan, terms, known, numbers, plan.measurements)
        for place, (some, of_set) in enumerate(zip(stated, estimates, strict=True)):
            width = some.stated_noise(measurement).half_width()
            found[place] += abs(of_set[measurement][known[place][0]] - exact[place]) <= part * width
    return found


@pytest.mark.parametrize("accounting", ["pure", "zcdp"])
@pytest.mark.parametrize("sets", ["ROLLUP (dept, position)", "CUBE (dept, position)"])
@pytest.mark.parametrize(("epsilon", "people"), [("0.05", 10_000), ("1", 10_000), ("4", 10_000), ("0.2", 3)])
def test_a_number_is_within_its_half_width_95_times_in_100(
    sets: str, accounting: str, epsilon: str, people: int
) -> None:
    hits = inside(sets, accounting, epsilon, people, 1)
    assert (proportion_bounds(hits, ANSWERS, FALSE_ALARM)[1] >= 0.95).all()


@pytest.mark.parametrize("sets", ["ROLLUP (dept, position)", "CUBE (dept, position)"])
def test_a_half_width_that_is_too_small_is_noticed(sets: str) -> None:
    hits = inside(sets, "pure", "0.05", 10_000, 0.6)
    assert (proportion_bounds(hits, ANSWERS, FALSE_ALARM)[1] < 0.95).all()
