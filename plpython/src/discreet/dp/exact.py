"""Exact numbers out of what SQL hands over, and roundings that always err to a stated side."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation
from fractions import Fraction
from typing import TypeAlias

from discreet.core.errors import InvalidParameterError

Numeric: TypeAlias = Decimal | Fraction | int | float | str

# Beyond double precision's range no column bound makes sense, and 10**huge would eat the memory.
_LARGEST_EXPONENT = 400

# Fifty digits keep every intermediate error far below the thirty digits the callers rely on.
WORKING = Context(prec=50)


def exact(value: Numeric, name: str) -> Fraction:
    """The finite number that was written; a float stands for the decimal it prints as, 0.1 for 1/10."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, Decimal | int | float | str):
        raise InvalidParameterError(f"{name} must be a number, not {value!r}", "Give a finite number.")
    try:
        decimal = Decimal(str(value) if isinstance(value, float) else value)
    except InvalidOperation:
        raise InvalidParameterError(f"{name} must be a number, not {value!r}", "Give a finite number.") from None
    if not decimal.is_finite():
        raise InvalidParameterError(f"{name} must be finite, not {decimal}", "Give a finite number.")
    if decimal and abs(decimal.adjusted()) > _LARGEST_EXPONENT:
        raise InvalidParameterError(
            f"{name} is out of range",
            f"Its size must be between 1e-{_LARGEST_EXPONENT} and 1e{_LARGEST_EXPONENT}.",
        )
    return Fraction(decimal)


def float_above(value: Fraction) -> float:
    """The smallest double that is at least *value*."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def sqrt_above(value: Fraction) -> Fraction:
    """A rational at least the square root of *value* >= 0, larger by no more than one part in 2**63."""
    if value == 0:
        return Fraction(0)
    # sqrt(n/d) = sqrt(n*d)/d; the shift leaves 64 bits of the root behind the point even for n*d = 1.
    shift = 64
    product = (value.numerator * value.denominator) << (2 * shift)
    root = math.isqrt(product)
    if root * root < product:
        root += 1
    return Fraction(root, value.denominator << shift)


def ceil_log2(value: Fraction) -> int:
    """The smallest integer e with value <= 2**e, for value > 0."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    # Between 2**(exponent - 1) and 2**(exponent + 1), by the bit lengths.
    return exponent if value <= Fraction(2) ** exponent else exponent + 1


def decimal_above(value: Fraction, digits: int = 28) -> Decimal:
    """The smallest decimal of so many significant digits that is at least *value*."""
    return Context(prec=digits, rounding=ROUND_CEILING).divide(value.numerator, value.denominator)


def decimal_below(value: Fraction, digits: int = 28) -> Decimal:
    """The largest decimal of so many significant digits that is at most *value*."""
    return Context(prec=digits, rounding=ROUND_FLOOR).divide(value.numerator, value.denominator)


def decimal_of(value: Fraction) -> Decimal:
    """*value* to fifty digits: where the caller adds its own margin."""
    return WORKING.divide(value.numerator, value.denominator)


def readable(value: Fraction, spread: Fraction) -> Decimal:
    """*value* to about a thousandth of *spread*, never coarser than a unit; for numbers already private."""
    return rounded(value.numerator, value.denominator, readable_places(spread))


def readable_places(spread: Fraction) -> int:
    """The digits after the point that say about a thousandth of *spread*."""
    if spread <= 0:
        return 12
    # One digit for 3.32 bits; a digit too many does no harm.
    bits = (1000 * spread.denominator).bit_length() - spread.numerator.bit_length() + 1
    return max(0, math.ceil(bits * math.log10(2)))


def rounded(numerator: int, denominator: int, places: int) -> Decimal:
    """A quotient with so many digits after the point; halves go up."""
    return Decimal(f"{(2 * numerator * 10**places + denominator) // (2 * denominator)}E-{places}")


def decimal_text(number: Fraction, digits: int = 28) -> str:
    """The smallest decimal of so many significant digits that is at least the number, without an exponent."""
    return format(decimal_above(number, digits), "f")
