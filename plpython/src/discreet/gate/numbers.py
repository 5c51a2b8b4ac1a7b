"""Types of numbers: in which of them PostgreSQL computes, and conversions between them that cannot fail.

Where PostgreSQL gives a value, these conversions give the same one. Where it raises an error, because a double or a
real has no such number, the nearest one is taken, or there is no value.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from discreet.gate.schema import Family
from discreet.gate.values import REAL, Value, clamped, is_wide, number_constant, typed_literal


def is_real(value: Value) -> bool:
    return value.family is Family.FLOAT and value.type_name == REAL


def is_double(value: Value) -> bool:
    return value.family is Family.FLOAT and not is_real(value)


def as_double(value: Value) -> str:
    return floating(value, real=False).sql


def as_numeric(value: Value) -> str:
    return f"({value.sql})::pg_catalog.numeric"


def floating(value: Value, real: bool) -> Value:
    """The number as a real or a double; NULL stays what it is."""
    if value.is_null or (is_real(value) if real else is_double(value)):
        return value
    type_name = REAL if real else None
    if value.constant and value.interval is not None and value.family is not Family.FLOAT:
        return number_constant(value.interval.lower, Family.FLOAT, type_name)
    if value.family is Family.NUMERIC or is_wide(value):
        sql = f"discreet.{'_real' if real else '_double'}({as_numeric(value)})"
    elif real and value.family is Family.FLOAT:
        sql = f"discreet._real({value.sql})"
    else:
        sql = f"({value.sql})::pg_catalog.{'float4' if real else 'float8'}"
    return replace(value, sql=sql, family=Family.FLOAT, type_name=type_name, domain=None)


def of_one_float_type(values: list[Value]) -> list[Value]:
    """Numbers of which some are floating, as PostgreSQL takes them for one type: real, unless one of them is double."""
    real = not any(is_double(value) for value in values)
    return [floating(value, real) for value in values]


def operands(left: Value, right: Value, node: Any) -> tuple[Value, Value]:
    """Both sides of an arithmetic operator, ready for it; a literal without a type is of the other side's."""

    def side(value: Value, other: Value) -> Value:
        if value.untyped is not None:
            typed = other.untyped is None and not other.is_null
            value = typed_literal(value.untyped, other.family if typed else Family.NUMERIC, node, other.type_name)
        return clamped(value, node)

    return side(left, right), side(right, left)


def argument(value: Value, node: Any) -> Value:
    """The argument of a function that PostgreSQL has for numeric and for double precision only."""
    if value.untyped is not None:
        value = typed_literal(value.untyped, Family.FLOAT, node)
    value = clamped(value, node)
    return value if value.family is Family.NUMERIC else floating(value, real=False)


def exact_argument(value: Value, node: Any) -> Value:
    """The argument of a function that is there for numeric only; PostgreSQL wants a cast from double precision."""
    if value.untyped is not None:
        value = typed_literal(value.untyped, Family.NUMERIC, node)
    value = clamped(value, node)
    return replace(value, sql=as_numeric(value), family=Family.NUMERIC, type_name=None)
