"""Joint noise: what its theorem rests on, and what it costs."""

from __future__ import annotations

import math
import os
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameterError
from discreet.dp.additive import additive_noise
from discreet.dp.joint import LARGEST_WORD, STEPS, JointNoise, chance, changed, end_of
from discreet.dp.price import Price

WIDTHS = st.lists(st.integers(1, 2**45), min_size=1, max_size=6)
PARTS = st.lists(st.fractions(-1, 1), min_size=6, max_size=6)


def steps_to(z: list[int], widths: list[int]) -> int:
    """M of the theorem."""
    return max(-(-abs(number) * STEPS // width) for number, width in zip(z, widths, strict=True))


@given(WIDTHS, st.lists(st.integers(-(2**50), 2**50), min_size=12, max_size=12))
def test_a_sum_is_no_further_than_its_parts_together(widths: list[int], numbers: list[int]) -> None:
    one, other = numbers[: len(widths)], numbers[6 : 6 + len(widths)]
    both = [a + b for a, b in zip(one, other, strict=True)]
    assert steps_to(both, widths) <= steps_to(one, widths) + steps_to(other, widths)


@given(WIDTHS, st.lists(PARTS, min_size=1, max_size=4))
def test_what_one_person_changes_is_no_further_than_the_price_covers(
    widths: list[int], groups: list[list[Fraction]]
) -> None:
    """In each group by no more than the widths; all largest parts add up to `touched`."""
    moved = [[int(part * width) for part, width in zip(parts, widths, strict=False)] for parts in groups]
    largest = [max(Fraction(abs(by), width) for by, width in zip(group, widths, strict=True)) for group in moved]
    assert sum(steps_to(group, widths) for group in moved) <= changed(sum(largest, Fraction(0)), len(groups))


@given(WIDTHS, st.integers(0, 2**60), st.integers(-(2**40), 2**40))
def test_a_box_holds_the_vectors_that_are_no_further_than_its_radius(
    widths: list[int], radius: int, number: int
) -> None:
    z = [number] * len(widths)
    in_box = all(abs(number) <= radius * width // STEPS for width in widths)
    assert in_box == (steps_to(z, widths) <= radius)


@given(st.integers(1, 2**45), st.lists(st.integers(0, 2**35), min_size=1, max_size=5))
def test_ends_and_chances_are_those_of_the_theorem_in_64_bits_and_beyond(width: int, radii: list[int]) -> None:
    small, large = np.array(radii), np.array([radius << 40 for radius in radii], dtype=object)
    for found in (small, large):
        assert found.dtype == object or 2 * width * (max(radii) // STEPS + 1) < LARGEST_WORD
        whole, rest = chance(found, width)
        ends = end_of(found, width).tolist()
        assert ends == [radius * width // STEPS for radius in found.tolist()]
        assert [(2 * end + 1) * STEPS for end in ends] == (2 * width * whole.astype(object) + rest).tolist()
        assert (rest >= 0).all()
        assert (rest < 2 * width).all()


@given(WIDTHS, st.integers(0, 2**60))
def test_no_chance_to_accept_is_above_one(widths: list[int], radius: int) -> None:
    below = -(-STEPS // (2 * min(widths)))
    for place, width in enumerate(widths, start=1):
        assert (2 * (radius * width // STEPS) + 1) * STEPS <= 2 * width * (radius + below + place)


@pytest.mark.parametrize("epsilon", ["1e-9", "0.001", "1", "1.99"])
@pytest.mark.parametrize(("touched", "cells"), [(Fraction(1), 1), (Fraction(7, 5), 3), (Fraction(40), 40)])
def test_noise_keeps_the_price_and_hardly_costs_less(epsilon: str, touched: Fraction, cells: int) -> None:
    price = Price.of(epsilon)
    noise = JointNoise.for_price((1, 100), touched, cells, price)
    assert noise is not None
    assert price.amount * (1 - Fraction(1, 2**15)) < noise.epsilon_at(touched, cells) <= price.amount


@pytest.mark.parametrize(("numbers", "ratio"), [(2, 0.708), (3, 0.609), (8, 0.485), (50, 0.421)])
def test_joint_noise_is_less_than_noise_of_its_own_for_each(numbers: int, ratio: float) -> None:
    noise = JointNoise.for_price([10**6] * numbers, Fraction(1), 1, Price.of(1))
    assert noise is not None
    alone = additive_noise(10**6, Price.of(1).split(numbers)[0], 1)
    assert float(noise.of_number(0).spread / alone.spread) < ratio
    # a half-width at 95 % gains as much, and more
    assert noise.of_number(0).half_width() < ratio * alone.half_width()


def test_numbers_have_noise_of_their_own_where_joint_noise_is_no_less() -> None:
    one, touched = Price.of(1), Fraction(1)
    assert JointNoise.for_price([5], touched, 1, one) is None
    assert JointNoise.for_price([1, 100], touched, 1, Price.of(3)) is None
    assert JointNoise.for_price([2, 100], touched, 1, Price.of(3)) is not None
    assert JointNoise.for_price([1, 1], touched, 1, Price.of(1, "zcdp")) is None


@pytest.mark.parametrize("widths", [(), (0, 1), (1,) * 101])
def test_widths_are_numbers_that_one_person_can_change(widths: tuple[int, ...]) -> None:
    with pytest.raises(InvalidParameterError):
        JointNoise(widths, STEPS)


def exact_law(widths: tuple[int, ...], scale: int, place: int) -> dict[int, float]:
    """P(noise = k) of one number, by adding up all radii: feasible where the scale is far below STEPS."""
    last = 60 * len(widths) * scale
    radii = np.arange(last)
    ends = [radii * width // STEPS for width in widths]
    weights = np.exp(-radii / scale + sum(np.log(2.0 * end + 1) for end in ends))
    weights /= weights.sum()
    own = ends[place]
    reach = int(own[-1])
    beyond = np.append(np.cumsum((weights / (2 * own + 1))[::-1])[::-1], 0)
    first = np.searchsorted(own, np.arange(reach + 1))
    return {k: float(beyond[first[abs(k)]]) for k in range(-reach, reach + 1)}


CASES = [((2**10, 2**14), 2**12, 0), ((2**11,) * 5, 2**12, 3), ((2**12, 2**9, 2**10), 2**12, 1)]


@pytest.mark.parametrize(("widths", "scale", "place"), CASES)
def test_the_half_width_is_that_of_the_exact_law(widths: tuple[int, ...], scale: int, place: int) -> None:
    law = exact_law(widths, scale, place)
    part = JointNoise(widths, scale).of_number(place)
    for probability in (Fraction(95, 100), Fraction(99, 100), Fraction(9999, 10000)):
        width = part.half_width(probability)
        inside = sum(chance for k, chance in law.items() if abs(k) <= width)
        one_less = sum(chance for k, chance in law.items() if abs(k) < width)
        assert one_less - 1e-3 * float(1 - probability) <= float(probability) <= inside


@pytest.mark.parametrize(("widths", "scale", "place"), CASES)
def test_sums_are_bounded_as_those_of_laplace_noise_of_the_same_variance(
    widths: tuple[int, ...], scale: int, place: int
) -> None:
    """E exp(tX) <= 1 / (1 - t² b²), where it is used: for t <= 1 / (2 b)."""
    law = exact_law(widths, scale, place)
    spread = float(JointNoise(widths, scale).of_number(place).spread)
    for share in (0.05, 0.2, 0.35, 0.5):
        t = share / spread
        expected = math.fsum(chance * math.cosh(t * k) for k, chance in law.items())
        assert expected <= 1 / (1 - share**2) * (1 + 2e-2)


def gaussian(epsilon: float, delta: float) -> float:
    """The deviation of the analytic Gaussian mechanism at sensitivity 1 (Balle and Wang 2018, Theorem 8)."""
    law, low, high = NormalDist(), 1e-3, 1e6
    for _ in range(200):
        middle = math.sqrt(low * high)
        lost = law.cdf(1 / (2 * middle) - epsilon * middle) - math.exp(epsilon) * law.cdf(
            -1 / (2 * middle) - epsilon * middle
        )
        low, high = (middle, high) if lost > delta else (low, middle)
    return high


def test_what_limits_say_of_gaussian_noise_in_a_pure_dataset() -> None:
    """From so many numbers on it has less error, where a person is in so many groups."""
    deviation = gaussian(1, 1e-6)

    def pure(numbers: int, groups: int) -> float:
        noise = JointNoise.for_price([10**6] * numbers, Fraction(groups), groups, Price.of(1))
        alone = additive_noise(10**6 * groups, Price.of(1), groups)
        spread = alone.spread if noise is None else noise.of_number(0).spread
        return math.sqrt(2) * float(spread) / 10**6

    first = {
        groups: next(d for d in range(1, 99) if deviation * math.sqrt(d * groups) < pure(d, groups))
        for groups in (1, 2, 5, 10)
    }
    assert first == {1: 51, 2: 24, 5: 8, 10: 1}


def test_few_vectors_come_from_a_reserve_and_each_is_given_out_once() -> None:
    """Equal vectors have a probability below 1e-20 at this scale."""
    noise = JointNoise((2**40, 2**40), 2**60)
    drawn = [vector for _ in range(200) for vector in noise.draw(3)]
    assert len(set(drawn)) == len(drawn) == 600


def test_a_forked_process_draws_vectors_of_its_own() -> None:
    noise = JointNoise((2**40, 2**40), 2**60)
    noise.draw(1)
    drawn = []
    for _ in range(2):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writer, str(noise.draw(1)).encode())
            os._exit(0)
        os.waitpid(child, 0)
        drawn.append(os.read(reader, 200))
        os.close(reader)
        os.close(writer)
    assert drawn[0] != drawn[1]
