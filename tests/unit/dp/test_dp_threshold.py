"""Thresholded release of unknown keys."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from opendp.domains import atom_domain, map_domain
from opendp.measurements import make_gaussian_threshold, make_laplace_threshold
from opendp.metrics import absolute_distance, l01inf_distance, l02inf_distance

from discreet.core.errors import InvalidParameterError
from discreet.dp.price import Price
from discreet.dp.threshold import ThresholdedRelease

DELTA = Fraction(1, 10**6)


@pytest.mark.parametrize("keys", [1, 2, 7])
@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "1", "5"])
def test_the_threshold_is_the_smallest_that_keeps_delta(epsilon: str, keys: int) -> None:
    mechanism = ThresholdedRelease(Price.of(epsilon), DELTA, keys)
    p = math.exp(-float(Fraction(epsilon)) / keys)
    chances = [keys * p ** (threshold - 1) / (1 + p) for threshold in (mechanism.threshold, mechanism.threshold - 1)]
    assert chances[0] <= 1e-6 < chances[1]


@pytest.mark.parametrize("keys", [1, 2, 7])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_the_gaussian_threshold_keeps_delta_and_is_not_much_larger_than_needed(epsilon: str, keys: int) -> None:
    price = Price.of(epsilon, "zcdp")
    mechanism = ThresholdedRelease(price, DELTA, keys)
    scale = math.sqrt(keys / (2 * float(price.amount)))
    total = math.fsum(math.exp(-((x / scale) ** 2) / 2) for x in range(-4000, 4001))

    def chance(threshold: int) -> float:
        return keys * math.fsum(math.exp(-((x / scale) ** 2) / 2) for x in range(threshold - 1, 4000)) / total

    assert chance(mechanism.threshold) <= 1e-6
    assert chance(mechanism.threshold - 2 - math.ceil(scale / 20)) > 1e-6


def test_opendp_agrees_that_delta_is_kept() -> None:
    domain = map_domain(atom_domain(T=str), atom_domain(T="i64"))
    mechanism = ThresholdedRelease(Price.of(1), DELTA, 3)
    measurement = make_laplace_threshold(
        domain,
        l01inf_distance(absolute_distance(T="f64")),
        float(mechanism._noise.scale),
        mechanism.threshold,
    )
    epsilon, delta = measurement.map((3, 3.0, 1.0))
    assert Fraction(epsilon) <= 1
    assert delta <= 1e-6
    mechanism = ThresholdedRelease(Price.of(1, "zcdp"), DELTA, 3)
    measurement = make_gaussian_threshold(
        domain,
        l02inf_distance(absolute_distance(T="f64")),
        float(mechanism._noise.scale),
        mechanism.threshold,
    )
    rho, delta = measurement.map((3, math.sqrt(3), 1.0))
    assert rho <= 0.5 * (1 + 1e-12)
    assert delta <= 1e-6


def test_large_keys_are_shown_and_small_ones_are_not() -> None:
    # Each key goes the other way with probability below e**-400.
    released = ThresholdedRelease(Price.of(1), DELTA).release({"many": 10**6, "none": 0, "few": -(10**6)})
    assert list(released) == ["many"]
    assert abs(released["many"] - 10**6) < 1000


def test_the_order_of_keys_does_not_follow_the_data() -> None:
    mechanism = ThresholdedRelease(Price.of(1), DELTA)
    forwards = {("b", 1): 10**6, ("a", 2): 10**6, ("c", 0): 10**6}
    assert list(mechanism.release(forwards)) == [("a", 2), ("b", 1), ("c", 0)]
    assert list(mechanism.release(dict(reversed(forwards.items())))) == [("a", 2), ("b", 1), ("c", 0)]


@pytest.mark.parametrize("delta", [0, -1, "NaN", "0.5", 1])
def test_a_delta_without_meaning_is_refused(delta: object) -> None:
    with pytest.raises(InvalidParameterError):
        ThresholdedRelease(Price.of(1), delta)  # type: ignore[arg-type]


@pytest.mark.parametrize("keys", [0, -1, 10**7])
def test_a_number_of_keys_without_meaning_is_refused(keys: int) -> None:
    with pytest.raises(InvalidParameterError):
        ThresholdedRelease(Price.of(1), DELTA, keys)


def test_the_half_width_is_that_of_the_noise() -> None:
    assert ThresholdedRelease(Price.of(1), DELTA).half_width() == 3
