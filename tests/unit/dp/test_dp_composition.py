"""Composition, group privacy and the conversion from zero-concentrated privacy."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opendp.combinators import make_zCDP_to_approxDP
from opendp.domains import atom_domain
from opendp.measurements import make_gaussian
from opendp.metrics import absolute_distance
from opendp.mod import enable_features

from discreet.core.errors import InvalidParameterError
from discreet.dp.composition import (
    compose_parallel,
    compose_sequential,
    gaussian_rho,
    group_epsilon,
    laplace_scale,
    zcdp_epsilon,
)

rhos = st.decimals(min_value="1e-6", max_value=50, places=8)
deltas = st.sampled_from(["1e-12", "1e-9", "1e-6", "1e-5", "0.001", "0.05"])


def test_losses_about_the_same_people_add_up_exactly() -> None:
    assert compose_sequential(["0.1"] * 10) == 1
    assert compose_sequential([]) == 0


def test_the_loss_about_disjoint_people_is_the_largest() -> None:
    assert compose_parallel(["0.1", "0.7", 0]) == Decimal("0.7")
    assert compose_parallel([]) == 0


@pytest.mark.parametrize("losses", [["NaN"], ["Infinity"], [-1], [None]])
def test_losses_without_meaning_are_refused(losses: list[object]) -> None:
    for compose in (compose_sequential, compose_parallel):
        with pytest.raises(InvalidParameterError):
            compose(losses)  # type: ignore[arg-type]


def test_a_group_shares_the_epsilon_of_its_members() -> None:
    assert group_epsilon("0.1", 5) == Decimal("0.5")
    for people in (0, -1, True, 1.5):
        with pytest.raises(InvalidParameterError):
            group_epsilon("0.1", people)  # type: ignore[arg-type]


def test_a_laplace_scale_is_rounded_up() -> None:
    assert laplace_scale(10, "0.5") == 20
    assert Fraction(laplace_scale(1, 3)) >= Fraction(1, 3)
    for sensitivity in (0, -1, "NaN"):
        with pytest.raises(InvalidParameterError):
            laplace_scale(sensitivity, 1)


def _formula(rho: float, delta: float) -> float:
    orders = [1 + 10 ** (k / 400) for k in range(-1600, 4000)]
    return min(a * rho + math.log(1 / (a * delta)) / (a - 1) + math.log1p(-1 / a) for a in orders)


@settings(max_examples=40, deadline=None)
@given(rhos, deltas)
def test_the_conversion_is_the_formula_of_canonne_kamath_and_steinke(rho: Decimal, delta: str) -> None:
    """The least over all orders; over those of a grid it is a little more, which shows where it is near 0."""
    wanted = max(_formula(float(rho), float(delta)), 0.0)
    assert float(zcdp_epsilon(rho, delta)) == pytest.approx(wanted, rel=1e-4, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.floats(min_value=0.2, max_value=500), deltas)
def test_the_conversion_agrees_with_opendp(scale: float, delta: str) -> None:
    enable_features("contrib")
    measurement = make_zCDP_to_approxDP(make_gaussian(atom_domain(T="i64"), absolute_distance(T="f64"), scale))
    theirs = measurement.map(1.0).epsilon(float(delta))
    ours = zcdp_epsilon(1 / (2 * Fraction(scale) ** 2), delta)
    assert float(ours) == pytest.approx(theirs, rel=1e-6, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.decimals(min_value="1e-6", max_value=100, places=6), deltas)
def test_the_largest_rho_stays_below_epsilon_and_touches_it(epsilon: Decimal, delta: str) -> None:
    rho = gaussian_rho(epsilon, delta)
    assert zcdp_epsilon(rho, delta) <= epsilon
    assert zcdp_epsilon(rho * Decimal("1.000001"), delta) > epsilon


@pytest.mark.parametrize("delta", ["1e-30", "0.1"])
@pytest.mark.parametrize("epsilon", ["1e-9", "100"])
def test_the_corners_convert_safely_too(epsilon: str, delta: str) -> None:
    assert 0 < zcdp_epsilon(gaussian_rho(epsilon, delta), delta) <= Decimal(epsilon)


def test_no_rho_costs_nothing() -> None:
    assert zcdp_epsilon(0, "1e-6") == 0


def test_a_callers_decimal_context_changes_nothing() -> None:
    before = zcdp_epsilon("0.1", "1e-6"), gaussian_rho(1, "1e-6")
    with localcontext() as context:
        context.prec = 3
        assert (zcdp_epsilon("0.1", "1e-6"), gaussian_rho(1, "1e-6")) == before


@pytest.mark.parametrize(
    ("rho", "delta"),
    [(-1, "1e-6"), ("NaN", "1e-6"), (1, 0), (1, "NaN"), (1, 1), ("1e9", "1e-6"), (1, "-1e-6")],
)
def test_a_conversion_without_meaning_is_refused(rho: object, delta: object) -> None:
    with pytest.raises(InvalidParameterError):
        zcdp_epsilon(rho, delta)  # type: ignore[arg-type]


def test_many_small_questions_cost_far_less_under_zcdp() -> None:
    limit = gaussian_rho(1, "1e-6")
    price = Fraction(1, 100) ** 2 / 2
    assert Fraction(limit) / price > 4 * 100
