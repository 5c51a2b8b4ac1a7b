"""Arithmetic of privacy losses, for the ledger and for curators. Every result errs to the safe side."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal, localcontext
from fractions import Fraction

from discreet.core.errors import InvalidParameterError
from discreet.dp.exact import WORKING, Numeric, decimal_above, decimal_below, exact
from discreet.dp.price import LARGEST_EPSILON, parse_delta, parse_epsilon

_DIGITS = 15

# Above the rounding of a handful of operations on numbers below 10**5 with fifty digits.
_MARGIN = Decimal("1e-30")
_GOLDEN = (math.sqrt(5) - 1) / 2


def _losses(values: Iterable[Numeric], name: str) -> list[Fraction]:
    losses = [exact(value, name) for value in values]
    if any(loss < 0 for loss in losses):
        raise InvalidParameterError(f"{name} must not be negative")
    return losses


def compose_sequential(losses: Iterable[Numeric]) -> Decimal:
    """The loss of several answers about the same people: the sum (epsilons, deltas or rhos alike)."""
    return decimal_above(sum(_losses(losses, "loss"), Fraction(0)))


def compose_parallel(losses: Iterable[Numeric]) -> Decimal:
    """The loss of several answers about disjoint people: the largest (McSherry 2009, Theorem 4)."""
    return decimal_above(max(_losses(losses, "loss"), default=Fraction(0)))


def group_epsilon(epsilon: Numeric, people: int) -> Decimal:
    """The epsilon that a group of so many people together still has (Dwork and Roth 2014, Theorem 2.2)."""
    if isinstance(people, bool) or not isinstance(people, int) or people < 1:
        raise InvalidParameterError("people must be a positive whole number", "Give the size of the group.")
    return decimal_above(parse_epsilon(epsilon) * people)


def laplace_scale(sensitivity: Numeric, epsilon: Numeric) -> Decimal:
    """The scale of Laplace noise that gives *epsilon* at this sensitivity."""
    width = exact(sensitivity, "sensitivity")
    if width <= 0:
        raise InvalidParameterError("sensitivity must be positive")
    return decimal_above(width / parse_epsilon(epsilon))


def zcdp_epsilon(rho: Numeric, delta: Numeric) -> Decimal:
    """An epsilon such that every rho-zCDP mechanism is (epsilon, delta)-private.

    Canonne, Kamath and Steinke 2020 (conversion from Renyi divergence alpha rho): for every alpha > 1,
    epsilon = alpha rho + ln(1/(alpha delta)) / (alpha - 1) + ln(1 - 1/alpha) will do. The best alpha is
    searched in floats, which decides tightness only; the bound at that alpha is then computed to fifty
    digits and rounded up.
    """
    loss, chance = exact(rho, "rho"), _positive_delta(delta)
    if loss < 0:
        raise InvalidParameterError("rho must not be negative")
    if loss == 0:
        return Decimal(0)
    if loss > LARGEST_EPSILON**2:
        raise InvalidParameterError("rho is too large to protect a person", "The largest rho is 10000.")
    order = _best_order(float(loss), math.log(float(chance)))
    epsilon = _renyi_bound(order, decimal_above(loss, 50), decimal_below(chance, 50))
    return decimal_above(Fraction(max(epsilon, Decimal(0))), _DIGITS)


def gaussian_rho(epsilon: Numeric, delta: Numeric) -> Decimal:
    """The largest rho, to fifteen digits, with zcdp_epsilon(rho, delta) <= epsilon."""
    wanted, chance = parse_epsilon(epsilon), _positive_delta(delta)
    low, high = Fraction(0), Fraction(1)
    while zcdp_epsilon(high, chance) <= wanted:
        low, high = high, high * 2
    # For delta >= 1e-30, epsilon <= rho + 2 sqrt(70 rho): this start is always good, and never far off.
    low = max(low, min(wanted, wanted**2) / 10**4)
    while high - low > low / 2**55:
        middle = (low + high) / 2
        low, high = (middle, high) if zcdp_epsilon(middle, chance) <= wanted else (low, middle)
    rho = decimal_below(low, _DIGITS)
    # The search for an order is not monotone in its last digit.
    while zcdp_epsilon(rho, chance) > wanted:
        rho = decimal_below(Fraction(rho) * (1 - Fraction(1, 10**14)), _DIGITS)
    return rho


def _positive_delta(delta: Numeric) -> Fraction:
    chance = parse_delta(delta)
    if chance == 0:
        raise InvalidParameterError(
            "zero-concentrated privacy gives no epsilon at delta 0", "Give a small delta, such as 1e-6."
        )
    return chance


def _renyi_bound(order: Decimal, rho: Decimal, delta: Decimal) -> Decimal:
    with localcontext(WORKING):
        return order * rho - (order * delta).ln() / (order - 1) + (1 - 1 / order).ln() + _MARGIN


def _best_order(rho: float, log_delta: float) -> Decimal:
    """Golden-section search for the order with the least bound, over ln(order - 1)."""

    def bound(log_less: float) -> float:
        less = math.exp(log_less)
        log_order = math.log1p(less)
        return (1 + less) * rho - (log_order + log_delta) / less + log_less - log_order

    left, right = -25.0, 60.0
    inner, outer = right - _GOLDEN * (right - left), left + _GOLDEN * (right - left)
    at_inner, at_outer = bound(inner), bound(outer)
    for _ in range(90):
        if at_inner <= at_outer:
            right, outer, at_outer = outer, inner, at_inner
            inner = right - _GOLDEN * (right - left)
            at_inner = bound(inner)
        else:
            left, inner, at_inner = inner, outer, at_outer
            outer = left + _GOLDEN * (right - left)
            at_outer = bound(outer)
    with localcontext(WORKING):
        return 1 + Decimal(math.exp((left + right) / 2))
