"""Types of numbers: in which of them PostgreSQL computes, and conversions between them that cannot fail.

Where PostgreSQL gives a value, these conversions give the same one. Where it raises an error, because a double or a
real has no such number, the nearest one is taken, or there is no value.
"""

from __future__ import annotations

from discreet.gate.schema import Family
from discreet.gate.tree import REAL, Constant, Conversion, Expression, Type
from discreet.gate.values import as_family, clamped, is_untyped, number_constant


def is_real(value: Expression) -> bool:
    return value.family is Family.FLOAT and value.type.name == REAL


def is_double(value: Expression) -> bool:
    return value.family is Family.FLOAT and not is_real(value)


def as_double(value: Expression) -> Expression:
    return floating(value, real=False)


def as_numeric(value: Expression) -> Expression:
    return Conversion(
        value, "numeric", type=Type(Family.NUMERIC), interval=value.interval, domain=value.domain, raw=value.raw
    )


def floating(value: Expression, real: bool) -> Expression:
    """The number as a real or a double; NULL stays what it is."""
    if value.is_null or (is_real(value) if real else is_double(value)):
        return value
    type_name = REAL if real else None
    if isinstance(value, Constant) and value.interval is not None and value.family is not Family.FLOAT:
        return number_constant(value.interval.lower, Family.FLOAT, type_name)
    named = Type(Family.FLOAT, type_name)
    return Conversion(value, "real" if real else "double", type=named, interval=value.interval, raw=value.raw)


def of_one_float_type(values: list[Expression]) -> list[Expression]:
    """Numbers of which some are floating, as PostgreSQL takes them for one type: real, unless one of them is double."""
    real = not any(is_double(value) for value in values)
    return [floating(value, real) for value in values]


def operands(left: Expression, right: Expression, node: object) -> tuple[Expression, Expression]:
    """Both sides of an arithmetic operator, ready for it; a literal without a type is of the other side's."""

    def side(value: Expression, other: Expression) -> Expression:
        typed = not is_untyped(other) and not other.is_null
        return clamped(as_family(value, other.family if typed else Family.NUMERIC, node, other.type.name), node)

    return side(left, right), side(right, left)


def argument(value: Expression, node: object) -> Expression:
    """The argument of a function that PostgreSQL has for numeric and for double precision only."""
    value = clamped(as_family(value, Family.FLOAT, node), node)
    return value if value.family is Family.NUMERIC else floating(value, real=False)


def exact_argument(value: Expression, node: object) -> Expression:
    """The argument of a function that is there for numeric only; PostgreSQL wants a cast from double precision."""
    return as_numeric(clamped(as_family(value, Family.NUMERIC, node), node))
