"""Calibration and arithmetic of the additive mechanisms; for their distribution see tests/statistical."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
from decimal import localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameterError
from discreet.dp.additive import DiscreteGaussian, DiscreteLaplace, additive_noise
from discreet.dp.noise import integer_noise
from discreet.dp.price import Accounting, Price

sensitivities = st.integers(min_value=1, max_value=2**90)
epsilons = st.decimals(min_value="1e-9", max_value=100, places=9)


@settings(max_examples=60, deadline=None)
@given(sensitivities, epsilons, st.integers(min_value=1, max_value=5))
def test_laplace_noise_keeps_its_price_and_wastes_little(sensitivity: int, epsilon: Fraction, cells: int) -> None:
    price = Price.of(epsilon)
    mechanism = DiscreteLaplace.for_price(sensitivity, price, cells)
    claimed = mechanism.epsilon_at(sensitivity, cells)
    assert claimed <= price.amount
    assert claimed >= price.amount * Fraction(9999, 10000)
    lattice = mechanism.lattice_sensitivity(sensitivity, cells)
    assert claimed <= integer_noise(Accounting.PURE, float(mechanism.scale)).loss(lattice) <= price.amount


@settings(max_examples=60, deadline=None)
@given(sensitivities, epsilons, st.integers(min_value=1, max_value=5))
def test_gaussian_noise_keeps_its_price_and_wastes_little(sensitivity: int, epsilon: Fraction, cells: int) -> None:
    price = Price.of(epsilon, "zcdp")
    mechanism = DiscreteGaussian.for_price(sensitivity, price, cells)
    claimed = mechanism.rho_at(sensitivity, cells)
    assert claimed <= price.amount
    assert claimed >= price.amount * Fraction(999, 1000)
    lattice = mechanism.lattice_sensitivity(sensitivity, cells)
    assert claimed <= integer_noise(Accounting.ZCDP, float(mechanism.scale)).loss(lattice) <= price.amount


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(-(2**120), 2**120), st.integers(-(2**80), 2**80)), min_size=1, max_size=3),
    st.integers(min_value=0, max_value=90),
)
def test_the_lattice_stretches_no_vector_by_more_than_it_says(changes: list[tuple[int, int]], shift: int) -> None:
    mechanism, half = DiscreteLaplace(Fraction(1), shift), (1 << shift) >> 1
    distance = sum(abs(change) for _, change in changes)
    moved = sum(abs(((a + change + half) >> shift) - ((a + half) >> shift)) for a, change in changes)
    assert moved <= mechanism.lattice_sensitivity(distance, len(changes))


@pytest.mark.parametrize("accounting", ["pure", "zcdp"])
def test_values_of_any_size_take_noise_without_overflow(accounting: str) -> None:
    mechanism = additive_noise(2**80, Price.of("1e-9", accounting))
    assert mechanism.shift > 0
    for value in (2**120, -(2**120), 0):
        released = mechanism.release(value)
        assert released % 2**mechanism.shift == 0
        # A false alarm here has probability below e**-1000.
        assert abs(released - value) < 1001 * mechanism.spread


def test_small_noise_leaves_every_integer_possible() -> None:
    assert DiscreteLaplace.for_price(1, Price.of(1)).shift == 0


def test_many_values_take_noise_of_their_own() -> None:
    released = DiscreteLaplace(Fraction(2**50)).release_many([0] * 50)
    assert len(set(released)) > 40
    assert DiscreteLaplace(Fraction(1)).release_many([]) == []


def _laplace_within(scale: float, width: int) -> float:
    p = math.exp(-1 / scale)
    return (1 - p) / (1 + p) * sum(p ** abs(x) for x in range(-width, width + 1))


def _gaussian_within(scale: float, width: int) -> float:
    total = sum(math.exp(-((x / scale) ** 2) / 2) for x in range(-8000, 8001))
    return sum(math.exp(-((x / scale) ** 2) / 2) for x in range(-width, width + 1)) / total


@pytest.mark.parametrize(
    ("scale", "probability"), list(itertools.product([0.1, 0.5, 1.0, 3.3, 40.0, 150.0], [0.5, 0.95, 0.999]))
)
def test_a_half_width_is_the_smallest_that_holds_enough(scale: float, probability: float) -> None:
    share = Fraction(str(probability))
    width = DiscreteLaplace(Fraction(scale)).half_width(share)
    assert _laplace_within(scale, width) >= probability > (_laplace_within(scale, width - 1) if width else 0)
    width = DiscreteGaussian(Fraction(scale)).half_width(share)
    assert _gaussian_within(scale, width) >= probability > (_gaussian_within(scale, width - 1) if width else 0)


def test_half_widths_of_large_noise_follow_the_continuous_laws() -> None:
    assert DiscreteGaussian(Fraction(10**9)).half_width() == pytest.approx(1.959964e9, rel=1e-6)
    assert DiscreteLaplace(Fraction(10**9)).half_width() == pytest.approx(math.log(20) * 1e9, rel=1e-6)


@pytest.mark.parametrize("scale", [0.3, 1.0, 5.5, 60.0])
def test_tails_are_upper_bounds_and_not_loose(scale: float) -> None:
    laplace, gaussian = DiscreteLaplace(Fraction(scale)), DiscreteGaussian(Fraction(scale))
    total = sum(math.exp(-((x / scale) ** 2) / 2) for x in range(-4000, 4001))
    p = math.exp(-1 / scale)
    for least in (1, 2, 5, 30, 300):
        exact = p**least / (1 + p)
        assert exact * (1 - 1e-12) <= float(laplace.tail(least)) <= exact * (1 + 1e-12)
        exact = sum(math.exp(-((x / scale) ** 2) / 2) for x in range(least, 4001)) / total
        assert exact <= float(gaussian.tail(least))


def test_a_callers_decimal_context_changes_nothing() -> None:
    laplace = DiscreteLaplace(Fraction(10))
    before = laplace.tail(50), laplace.half_width()
    with localcontext() as context:
        context.prec = 3
        assert (laplace.tail(50), laplace.half_width()) == before


@pytest.mark.parametrize("scale", [0, -1, "NaN", "Infinity", 2**52])
def test_a_scale_without_meaning_is_refused(scale: object) -> None:
    with pytest.raises(InvalidParameterError):
        DiscreteLaplace(scale)  # type: ignore[arg-type]


def test_a_mechanism_is_not_sold_under_the_other_accounting() -> None:
    with pytest.raises(InvalidParameterError, match="pure"):
        DiscreteLaplace.for_price(1, Price.of(1, "zcdp"))
    with pytest.raises(InvalidParameterError, match="zcdp"):
        DiscreteGaussian.for_price(1, Price.of(1))


@pytest.mark.parametrize(("sensitivity", "cells"), [(0, 1), (-1, 1), ("NaN", 1), (1, 0)])
def test_a_sensitivity_without_meaning_is_refused(sensitivity: object, cells: int) -> None:
    with pytest.raises(InvalidParameterError):
        DiscreteLaplace.for_price(sensitivity, Price.of(1), cells)  # type: ignore[arg-type]


@pytest.mark.parametrize("probability", [Fraction(0), Fraction(1), Fraction(2)])
def test_a_half_width_needs_a_probability(probability: Fraction) -> None:
    with pytest.raises(InvalidParameterError):
        DiscreteLaplace(Fraction(1)).half_width(probability)


def test_opendp_is_not_imported_before_the_first_draw() -> None:
    code = "import discreet.dp.release, sys; sys.exit('opendp' in sys.modules or 'numpy' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


def test_a_forked_process_draws_noise_of_its_own() -> None:
    mechanism = DiscreteLaplace(Fraction(2**50))
    mechanism.release(0)
    drawn = []
    for _ in range(2):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writer, str(mechanism.release(0)).encode())
            os._exit(0)
        os.waitpid(child, 0)
        drawn.append(os.read(reader, 100))
        os.close(reader)
        os.close(writer)
    assert drawn[0] != drawn[1]
