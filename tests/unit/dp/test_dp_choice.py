"""Calibration of the private choice; its distribution is tested in tests/statistical."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameterError
from discreet.dp.choice import ExponentialChoice
from discreet.dp.noise import noisy_choice
from discreet.dp.price import Accounting, Price


@settings(max_examples=40, deadline=None)
@given(
    st.integers(min_value=1, max_value=10**6),
    st.decimals(min_value="1e-9", max_value=100, places=9),
    st.sampled_from(Accounting),
)
def test_a_choice_keeps_its_price_and_wastes_little(
    sensitivity: int, epsilon: Fraction, accounting: Accounting
) -> None:
    price = Price.of(epsilon, accounting)
    scale = ExponentialChoice(sensitivity, price).scale
    loss = noisy_choice(accounting, float(scale)).loss(sensitivity)
    assert price.amount * Fraction(99999, 100000) <= loss <= price.amount
    formula = 2 * sensitivity / scale if accounting is Accounting.PURE else (sensitivity / scale) ** 2 / 2
    assert formula <= price.amount


@pytest.mark.parametrize("accounting", Accounting)
def test_the_least_loss_is_chosen_when_the_others_are_hopeless(accounting: Accounting) -> None:
    choice = ExponentialChoice(1, Price.of(1, accounting))
    # False alarm: e**-500 at most.
    assert all(choice.release([1000, 1000, 0, 1000]) == 2 for _ in range(20))
    assert choice.release([10**30, 0]) == 1
    assert choice.release([7]) == 0


def test_nothing_can_be_chosen_from_nothing() -> None:
    with pytest.raises(InvalidParameterError):
        ExponentialChoice(1, Price.of(1)).release([])


@pytest.mark.parametrize("sensitivity", [0, -1, 2**41])
def test_a_sensitivity_without_meaning_is_refused(sensitivity: int) -> None:
    with pytest.raises(InvalidParameterError):
        ExponentialChoice(sensitivity, Price.of(1))


def test_the_half_width_is_the_textbook_bound() -> None:
    # scale 2, ln(100 / 0.05) = 7.6009
    assert ExponentialChoice(1, Price.of(1)).half_width(100) == 16
