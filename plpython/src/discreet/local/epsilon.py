"""The epsilon of mechanisms with finitely many inputs and outputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import localcontext
from fractions import Fraction

from discreet.core.declarations import given
from discreet.core.errors import InvalidParameterError
from discreet.dp.exact import WORKING, decimal_of, exact, float_above

# rows of a third and two thirds, written as doubles, add up to nearly one
_TOLERANCE = 1e-9


def rr_epsilon(p: float, n: int) -> float:
    """The epsilon of a response that is the truth with probability *p*, else one of the *n* - 1 others, each alike.

    Guarantee: |ln(p (n - 1) / (1 - p))|, rounded up: whatever two people hold, a response is at most e**epsilon times
    as likely from the one as from the other. Source: Warner 1965; Kairouz, Oh and Viswanath 2014.
    """
    truth = probability(p, "p")
    if n < 2:
        raise InvalidParameterError(f"n is {n}, but there must be at least two values to choose from")
    return ratio_epsilon(truth, (1 - truth) / (n - 1))


def mechanism_epsilon(probabilities: Sequence[Sequence[float | None]]) -> float:
    """The least epsilon of the mechanism whose rows are inputs and whose columns are outputs, rounded up.

    Guarantee: for all inputs i and k and every set of outputs, P(set | i) <= e**epsilon P(set | k), since it holds for
    each output alone. Infinity where an output is possible for one input and not for another.
    """
    rows = [list(row) if isinstance(row, Sequence) else [] for row in probabilities]
    if not rows or not rows[0]:
        raise InvalidParameterError(
            "the matrix of probabilities must have two dimensions",
            "Give a row for each input, such as '{{0.75,0.25},{0.25,0.75}}'.",
        )
    matrix = [[given("a probability", each) for each in row] for row in rows]
    for number, row in enumerate(matrix, start=1):
        for each in row:
            probability(each, "a probability")
        total = math.fsum(row)
        if abs(total - 1) > _TOLERANCE:
            raise InvalidParameterError(
                f"row {number} of the matrix adds up to {total:.12g}, not to 1",
                "Whatever the input is, some output comes.",
            )
    # a number is exact from here on: doubles are compared as they are, and divided as fractions
    outputs = {(max(output), min(output)) for output in zip(*matrix, strict=True)}
    return max(ratio_epsilon(Fraction(most), Fraction(least)) for most, least in outputs)


def ratio_epsilon(one: Fraction, other: Fraction) -> float:
    """|ln(one / other)| as the least double that is not below it; of two zeros 0, of one Infinity."""
    larger, smaller = max(one, other), min(one, other)
    if larger == smaller:
        return 0.0
    if smaller == 0:
        return math.inf
    with localcontext(WORKING):
        # the working precision errs by less than one part in 10**48
        return float_above(Fraction(decimal_of(larger / smaller).ln()) * (1 + Fraction(1, 10**40)))


def probability(value: float, name: str) -> Fraction:
    number = exact(value, name)
    if not 0 <= number <= 1:
        raise InvalidParameterError(f"{name} is {value}, but must be from 0 to 1")
    return number
