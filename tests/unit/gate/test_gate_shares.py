"""How the price of a question is divided: the least sum of squared errors, and what discreet.favour does to it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.corpus.sample import SCHEMA, planned

from discreet.dp.joint import STEPS, JointNoise, JointPart
from discreet.dp.price import Price
from discreet.gate.measurements import Measurement, Quantity, Subject
from discreet.gate.plan import Plan
from discreet.gate.pricing import terms_of
from discreet.gate.schema import Dataset, Schema
from discreet.gate.shares import (
    FAVOURED,
    Number,
    divided_among,
    favoured_aggregates,
    shares_of,
    squares,
    without_joint_noise,
    worths,
)
from discreet.gate.terms import Terms

MANY = "SELECT count(*), avg(salary), sum(salary) AS paid FROM hr.employee"
ERRORS = st.lists(st.floats(0.01, 30), min_size=2, max_size=6)


def measurement(number: int) -> Measurement:
    return Measurement(Quantity.ROWS, Subject(), fraction=Fraction(number))


def numbers_of(errors: list[float], joint: bool = False, favoured: int | None = None) -> tuple[Number, ...]:
    return tuple(
        Number(measurement(place), error, error if joint else None, 27 if place == favoured else 1)
        for place, error in enumerate(errors)
    )


def terms(plan: Plan, accounting: str = "pure", epsilon: str = "0.5") -> Terms:
    return terms_of(plan, Price.of(epsilon, accounting), Fraction(0))[0]


def under(sql: str, accounting: str = "pure", *favour: str) -> Plan:
    datasets = {name: Dataset(name, accounting, "unbounded", Fraction(0)) for name in SCHEMA.datasets}
    return replace(planned(sql, schema=Schema(SCHEMA.relations, datasets)), favour=favour)


@given(ERRORS)
@pytest.mark.parametrize("power", [3, 2])
def test_the_closed_form_is_what_a_numeric_search_finds(power: int, errors: list[float]) -> None:
    """sum c / e**(power - 1) over shares e that add up to 1, by steps between pairs from many starts."""
    division = dict(without_joint_noise(numbers_of(errors), power).shares)
    shares = np.array([float(division[measurement(place)]) for place in range(len(errors))])

    def squares(parts: np.ndarray) -> float:
        return float(np.sum(np.array(errors) / parts ** (power - 1)))

    best = squares(shares)
    generator = np.random.default_rng(len(errors))
    for start in [np.full(len(errors), 1 / len(errors)), *generator.dirichlet(np.ones(len(errors)), size=20)]:
        parts, step = np.maximum(start, 1e-3), 0.1
        parts /= parts.sum()
        while step > 1e-5:
            moved = False
            for one in range(len(errors)):
                for other in range(len(errors)):
                    tried = parts.copy()
                    tried[one] += step
                    tried[other] -= step
                    if one != other and tried[other] > 0 and squares(tried) < squares(parts):
                        parts, moved = tried, True
            step = step if moved else step / 4
        assert best <= squares(parts) * (1 + 1e-3)


@given(st.lists(st.floats(0.001, 30), min_size=1, max_size=100))
def test_shares_add_up_to_the_whole_price(weights: list[float]) -> None:
    shares = shares_of([(measurement(place), weight) for place, weight in enumerate(weights)])
    assert sum(share for _, share in shares) == 1
    assert all(share > 0 for _, share in shares)


@given(ERRORS)
def test_no_way_to_divide_has_a_smaller_sum(errors: list[float]) -> None:
    """All sets of measurements with joint noise, by brute force; the best are next to each other by their errors."""
    numbers = numbers_of(errors, joint=True)
    least = math.fsum(error ** (1 / 3) for error in errors)
    for chosen in range(2 ** len(errors)):
        inside = [place for place in range(len(errors)) if chosen >> place & 1]
        if len(inside) < 2:
            continue
        d = len(inside)
        squared = math.fsum(errors[place] for place in inside)
        apart = math.fsum(error ** (1 / 3) for place, error in enumerate(errors) if place not in inside)
        least = min(least, apart + ((d + 1) * (d + 2) / 6 * squared) ** (1 / 3))
    assert math.fsum(squares(numbers, divided_among(numbers, True)).values()) <= least**3 * (1 + 1e-3)


@given(ERRORS, st.integers(0, 1))
def test_a_favoured_number_has_less_noise_in_any_question(errors: list[float], liked: int) -> None:
    usual = numbers_of(errors, joint=True)
    numbers = tuple(
        Number(one.measurement, 27 * one.alone, 27 * one.alone, 27) if place == liked else one
        for place, one in enumerate(usual)
    )
    for may_copy in (True, False):
        now = squares(numbers, divided_among(numbers, may_copy))[measurement(liked)]
        assert now < squares(numbers, divided_among(usual, may_copy))[measurement(liked)]


def test_a_price_is_divided_without_a_rest() -> None:
    for accounting in ("pure", "zcdp"):
        for sql in (MANY, "SELECT dept, count(*), stddev(salary), max(salary) FROM hr.employee GROUP BY dept"):
            for favour in ((), ("count",), ("paid", "max")):
                plan = under(sql, accounting, *favour)
                found = terms(plan, accounting)
                total = sum(found.price_of(one).amount for one in plan.measurements)
                assert total == Price.of("0.5", accounting).amount


def test_a_measurement_of_several_columns_has_more_of_the_price() -> None:
    """The number of values serves the average, and the count beside it; under zcdp shares are as square roots."""
    plan = under("SELECT avg(salary), count(salary) FROM hr.employee", "zcdp")
    assert sorted(worth for _, worth, _ in worths(plan)) == [1, Fraction(4, 3)]
    values, centred = (terms(plan, "zcdp").price_of(one).amount for one in plan.measurements)
    assert float(values / centred) == pytest.approx(math.sqrt(4 / 3), rel=1e-5)


@pytest.mark.parametrize("accounting", ["pure", "zcdp"])
@pytest.mark.parametrize(
    ("sql", "favour"),
    [
        ("SELECT count(*), avg(salary) FROM hr.employee", "count"),
        ("SELECT count(*), avg(salary) FROM hr.employee", "avg"),
        ("SELECT count(*), sum(salary) AS paid FROM hr.employee", "paid"),
        ("SELECT count(*), sum(salary) AS paid, count(DISTINCT dept) AS d FROM hr.employee", "sum"),
        ("SELECT count(*), sum(salary), count(DISTINCT dept) AS d FROM hr.employee", "d"),
    ],
)
def test_what_is_favoured_has_less_noise_and_the_rest_more(accounting: str, sql: str, favour: str) -> None:
    plain, liked = under(sql, accounting), under(sql, accounting, favour)
    before, after = terms(plain, accounting), terms(liked, accounting)
    (number,) = favoured_aggregates(liked)
    spreads = [
        float(after.noise(one).spread / before.noise(one).spread) for one in plain.aggregates[number].measurements
    ]
    others = [
        one for one in plain.measurements if one.bins is None and one not in plain.aggregates[number].measurements
    ]
    assert max(spreads) < 0.97
    assert all(after.noise(one).spread > before.noise(one).spread for one in others)


def test_what_limits_say_of_a_favoured_average() -> None:
    sql = "SELECT count(*), avg(salary) FROM hr.employee"
    before, after = terms(under(sql)), terms(under(sql, "pure", "avg"))
    ratios = {
        one.quantity: round(float(after.noise(one).spread / before.noise(one).spread), 2) for one in before.measured
    }
    assert ratios == {Quantity.ROWS: 2.83, Quantity.VALUES: 0.96, Quantity.CENTRED: 0.96}


def test_a_favoured_column_costs_others_what_the_weight_says() -> None:
    """Under zcdp, squared errors of a favoured count weigh 27 times: its part is √27 times that of another sum."""
    plan = under("SELECT count(*), sum(salary) FROM hr.employee", "zcdp", "count")
    count, total = (terms(plan, "zcdp").price_of(one).amount for one in plan.measurements)
    assert float(count / total) == pytest.approx(math.sqrt(FAVOURED), rel=1e-5)


@pytest.mark.parametrize(
    ("sql", "favour", "numbers"),
    [
        (MANY, (), set()),
        (MANY, ("nothing",), set()),
        (MANY, ("count", "paid"), {0, 2}),
        (MANY, ("sum",), {2}),
        ("SELECT sum(salary) / count(*) AS each, max(salary) FROM hr.employee", ("each",), {0, 1}),
        ("SELECT 2 * count(*) AS n FROM hr.employee", ("n",), {0}),
        ("SELECT count(*) AS avg, avg(salary) AS mean FROM hr.employee", ("avg",), {0}),
        ("SELECT m FROM (SELECT avg(salary) AS m, count(*) AS n FROM hr.employee) AS t", ("m",), {0}),
    ],
)
def test_names_are_those_of_columns_and_then_of_aggregates(
    sql: str, favour: tuple[str, ...], numbers: set[int]
) -> None:
    assert favoured_aggregates(under(sql, "pure", *favour)) == numbers


def test_the_key_of_a_measurement_does_not_depend_on_the_division() -> None:
    plain, liked = under(MANY), under(MANY, "pure", "count")
    for one in plain.measurements:
        assert plain.key_of(one, ()) == liked.key_of(one, ())


def test_counts_of_unknown_groups_share_with_the_number_of_people() -> None:
    plan = under("SELECT position, hired, count(*), avg(salary) FROM hr.employee GROUP BY position, hired")
    found = terms(plan)
    assert found.price_of(Measurement(Quantity.ROWS, Subject())) == found.price_of(
        Measurement(Quantity.PEOPLE, Subject())
    )


# -- copies

NOISE = JointNoise((STEPS // 8,) * 3 + (STEPS // 2,), STEPS)


def test_copies_have_the_mean_of_their_noise() -> None:
    part = NOISE.of_number(0, 3)
    assert [part.of_vector(vector) for vector in [(3, 4, 5, 9), (1, 0, 0, 9), (-1, -1, 0, 9), (-3, -4, -5, 0)]] == [
        4, 0, -1, -4,
    ]  # fmt: skip
    assert JointPart(NOISE, 1, 2).of_vector((9, 1, 2, 9)) == 2
    assert JointPart(NOISE, 1, 2).of_vector((9, 1, 0, 9)) == 0


def test_the_noise_of_copies_is_as_stated() -> None:
    """By 20,000 draws: a false alarm has a probability below 1e-6 (five and a half standard deviations)."""
    draws = 20_000
    noise = JointNoise((1000, 1000, 1000), 8 * STEPS)
    part = noise.of_number(0, 2)
    drawn = np.array([part.of_vector(vector) for vector in noise.draw(draws)], dtype=float)
    variance = 2 * float(part.spread) ** 2
    spread = math.sqrt(np.var(drawn**2) / draws)
    assert abs(float(np.mean(drawn**2)) - variance) < 5.5 * spread
    assert part.spread < noise.of_number(2).spread == part.scale_of_sums
    for probability in (Fraction(95, 100), Fraction(99, 100)):
        width = part.half_width(probability)
        inside, p = float(np.mean(np.abs(drawn) <= width)), float(probability)
        assert abs(inside - p) < 5.5 * math.sqrt(p * (1 - p) / draws)
