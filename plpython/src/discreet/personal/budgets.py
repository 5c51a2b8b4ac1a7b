"""Budgets as whole numbers: what is paid is rounded up, what may be spent is rounded down."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from discreet.core.declarations import LARGEST_UNIT_EPSILON, given
from discreet.core.errors import InvalidParameterError

STEPS = 100_000  # of one epsilon, as sql/personal has it
MOST = int(LARGEST_UNIT_EPSILON * STEPS)


def price_of(epsilon: Fraction) -> int:
    """What one row pays for a question; beyond the largest budget no person can, however much it is."""
    return min(math.ceil(epsilon * STEPS), MOST + 1)


def budget_of(epsilon: Decimal | None) -> int:
    """A budget that a curator gives; 0 is one, of who takes part in nothing."""
    number = given("epsilon", epsilon)
    if not number.is_finite() or not 0 <= number <= LARGEST_UNIT_EPSILON:
        raise InvalidParameterError(
            f"epsilon is {number}, which is not a personal budget",
            f"Give a number from 0 to {LARGEST_UNIT_EPSILON}; with 0 the person takes part in nothing.",
        )
    return math.floor(number * STEPS)
