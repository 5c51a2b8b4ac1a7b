"""Disclosure risk against what can be computed by hand or by brute force."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameterError
from discreet.release import risk


def sizes(*counts: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(counts, dtype=np.int64)


def test_the_risks_of_four_classes() -> None:
    measured = dict(risk.measures(sizes(1, 1, 2, 6), None))
    assert measured == {
        "rows": 10, "classes": 4, "sample uniques": 2, "share of sample uniques": 0.2, "prosecutor risk, highest": 1,
        "prosecutor risk, average": 0.4, "share of rows above risk 0.2": 0.4, "journalist risk, highest": 1,
        "marketer risk": 0.4,
    }  # fmt: skip


def test_a_class_of_five_is_not_above_the_risk_of_a_fifth() -> None:
    assert dict(risk.measures(sizes(5, 4), None))["share of rows above risk 0.2"] == pytest.approx(4 / 9)


@pytest.mark.parametrize("size", [1, 2, 3, 20, 60])
@pytest.mark.parametrize("fraction", [0.01, 0.3, 0.5, 0.9])
def test_the_risk_of_a_class_is_the_mean_of_one_over_its_size_in_the_population(size: int, fraction: float) -> None:
    largest = int(20 * size / fraction + 2000)
    log = math.lgamma
    mean = sum(
        math.exp(
            log(n) - log(size) - log(n - size + 1) + size * math.log(fraction) + (n - size) * math.log1p(-fraction)
        )
        / n
        for n in range(size, largest)
    )
    assert risk.class_risk(size, fraction) == pytest.approx(mean, rel=1e-4)


def test_a_whole_population_has_the_risk_of_the_table() -> None:
    measured = dict(risk.measures(sizes(1, 3, 3), 7))
    assert measured["journalist risk, highest"] == 1
    assert measured["marketer risk"] == pytest.approx(3 / 7)
    assert measured["population uniques, Zayatz"] == pytest.approx(1)


def test_the_smaller_the_sample_the_fewer_of_its_uniques_are_unique() -> None:
    table = sizes(*[1] * 20, *[2] * 30, *[10] * 20)
    estimates = [
        dict(risk.measures(table, population))["population uniques, Zayatz"] for population in (280, 2800, 10**6)
    ]
    assert estimates == sorted(estimates, reverse=True)
    # nearly every class is then met once or not at all, in proportion to its size: 20 * 20 / (20 + 60 + 200)
    assert estimates[2] == pytest.approx(20 * 20 / 280, rel=0.01)


def test_pitmans_parameters_are_found_again() -> None:
    """Classes as the Chinese restaurant fills them, with theta 50 and alpha 0.5, in their expected numbers."""
    theta, alpha, rows = 50.0, 0.5, 20000
    table: list[float] = []
    classes = 1.0
    counts = {1: 1.0}
    for seated in range(1, rows):
        grown = {size: number * (size - alpha) / (theta + seated) for size, number in counts.items() if size < 200}
        for size, number in grown.items():
            counts[size] -= number
            counts[size + 1] = counts.get(size + 1, 0.0) + number
        fresh = (theta + classes * alpha) / (theta + seated)
        counts[1] += fresh
        classes += fresh
    for size, number in counts.items():
        table += [size] * round(number)
    kinds, times = np.unique(np.array(table, dtype=np.int64), return_counts=True)
    population = 10**6
    expected_uniques = math.exp(math.lgamma(theta + 1) - math.lgamma(theta + alpha)) * population**alpha
    assert risk.pitman(kinds, times, population) == pytest.approx(expected_uniques, rel=0.25)


@pytest.mark.parametrize("table", [[2, 3], [1, 1, 1], [1]])
def test_pitman_is_silent_where_the_classes_say_nothing(table: list[int]) -> None:
    kinds, times = np.unique(sizes(*table), return_counts=True)
    assert risk.pitman(kinds, times, 100) is None


def test_a_population_smaller_than_the_table_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="population is 3, but the table has 4 rows"):
        list(risk.measures(sizes(4), 3))


@given(st.lists(st.tuples(*[st.integers(-1, 2)] * 4), min_size=1, max_size=30, unique=True))
def test_special_uniques_are_singled_out_by_no_smaller_part(rows: list[tuple[int, ...]]) -> None:
    columns = [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]
    found = dict(risk.special_uniques(columns, np.ones(len(rows), dtype=np.int64), list("abcd")))

    def single(row: tuple[int, ...], part: tuple[int, ...]) -> bool:
        return sum(all(other[at] == row[at] for at in part) for other in rows) == 1

    for width in range(1, 5):
        for part in combinations(range(4), width):
            smaller = [each for size in range(1, width) for each in combinations(part, size)]
            special = sum(single(row, part) and not any(single(row, each) for each in smaller) for row in rows)
            assert found.get("special uniques by " + ", ".join("abcd"[at] for at in part), 0) == special
