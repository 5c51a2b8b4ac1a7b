"""Arithmetic and casts that cannot fail: bounded operands, tested divisors, types in which nothing overflows.

Where PostgreSQL gives a value, the result is that value, computed in PostgreSQL's type: whole numbers divide towards 0,
doubles and reals round as such. Where it raises an error there is a value or NULL, never an error.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from discreet.gate.intervals import Interval
from discreet.gate.moments import difference
from discreet.gate.numbers import floating, is_real, operands
from discreet.gate.powers import power
from discreet.gate.refusal import refuse, refuse_unbounded
from discreet.gate.schema import NUMBERS, TIMES, Family
from discreet.gate.times import moved
from discreet.gate.tree import (
    BLANK_PADDED,
    BOOLEAN,
    LARGEST_INT,
    REAL,
    Arithmetic,
    Cast,
    Constant,
    Expression,
    Negative,
    Type,
)
from discreet.gate.values import (
    LONGEST_TEXT,
    beginning,
    boolean_constant,
    clamped,
    guarded_time,
    known_values,
    number_constant,
    typed_literal,
)

SECONDS_OF_A_DAY = 86_400
CAST_TARGETS = {
    "int2": Family.INT,
    "int4": Family.INT,
    "int8": Family.INT,
    "numeric": Family.NUMERIC,
    "float4": Family.FLOAT,
    "float8": Family.FLOAT,
    "text": Family.TEXT,
    "varchar": Family.TEXT,
    "bpchar": Family.TEXT,
    "bool": Family.BOOL,
    "date": Family.DATE,
    "timestamp": Family.TIMESTAMP,
    "timestamptz": Family.TIMESTAMPTZ,
}


def arithmetic(name: str, left: Expression, right: Expression, node: object) -> Expression:
    """left `name` right, for + - * / % ^; moments may be subtracted from each other, and moved."""
    if left.family in TIMES and right.family in TIMES and name == "-":
        return difference(left, right, node)
    if name == "^":
        return power([left, right], node)
    if left.family in TIMES and name in ("+", "-"):
        return moved(name, left, right, node)
    if right.family in TIMES and name == "+":
        return moved(name, right, left, node)
    left, right = operands(left, right, node)
    assert left.interval is not None and right.interval is not None
    whole = left.family is Family.INT and right.family is Family.INT
    interval = result_interval(name, left.interval, right.interval, whole)
    if interval is None:
        refuse_unbounded("a quotient whose divisor may come near to 0", node)
    if not interval.usable:
        refuse("numbers of more than 60 digits", node)
    result = Type(Family.INT if whole else Family.NUMERIC)
    if Family.FLOAT in (left.family, right.family) and name != "%":
        # in double precision, or in real where both sides are
        result = Type(Family.FLOAT, REAL if is_real(left) and is_real(right) else None)
    return Arithmetic(name, left, right, type=result, interval=interval)


def signed(name: str, value: Expression, node: object) -> Expression:
    """+value or -value; in floating point -0 is another 0 than 0 - 0."""
    if value.family is not Family.FLOAT:
        return arithmetic(name, number_constant(0, Family.INT), value, node)
    value = clamped(value, node)
    assert value.interval is not None
    return value if name == "+" else Negative(value, type=value.type, interval=-value.interval)


def result_interval(name: str, left: Interval, right: Interval, whole: bool) -> Interval | None:
    if name == "+":
        return left + right
    if name == "-":
        return left - right
    if name == "*":
        return left * right
    if name == "/":
        return left.divided_by(right, whole)
    return Interval.of(-right.reach, right.reach)


def moved_interval(value: Expression, target: Family) -> Interval | None:
    """The declared bounds of a moment in the unit of another type of moments; time zones are at most a day apart."""
    if value.interval is None:
        return None
    seconds = value.interval * Interval.of(SECONDS_OF_A_DAY) if value.family is Family.DATE else value.interval
    if target is Family.DATE:
        first, last = (Fraction(end // SECONDS_OF_A_DAY) for end in (seconds.lower, seconds.upper))
        return Interval(first, last).widened(1)
    return seconds.widened(SECONDS_OF_A_DAY)


def cast(value: Expression, type_name: str, limited: bool, node: object) -> Expression:
    """value::type_name, where no value of the row can make it fail; `limited`: to a length or a precision."""
    target = CAST_TARGETS.get(type_name)
    if target is None or limited:
        refuse(f"a cast to {type_name}{'(…)' if target else ''}", node)
    result = Type(target, {"float4": REAL, "bpchar": BLANK_PADDED}.get(type_name))
    if value.is_null:
        return Constant(None, type=result)
    if isinstance(value, Constant) and value.untyped:
        text = value.content or ""
        return typed_literal(text.rstrip(" ") if result.name == BLANK_PADDED else text, target, node, result.name)
    if target in NUMBERS and value.family in NUMBERS:
        return number_cast(value, type_name, result, node)
    if target is Family.TEXT and value.family is Family.TEXT:
        return text_cast(value, type_name, node)
    if value.family is target:
        return value
    if type_name == "text" and value.family is Family.OTHER:
        return Cast(value, type_name, type=result)
    if target is Family.TEXT and value.family in NUMBERS | {Family.BOOL}:
        return Cast(value, type_name, type=result)
    if target in TIMES | {Family.TEXT} and value.family in TIMES:
        interval = None if target is Family.TEXT else moved_interval(value, target)
        # declared bounds are wishes, which nothing enforces here
        raw = None if interval is None else value.raw or "the date"
        return Cast(guarded_time(value, node), type_name, type=result, interval=interval, raw=raw)
    if target is Family.INT and value.family is Family.BOOL:
        both = (number_constant(0, target), number_constant(1, target))
        return Cast(value, type_name, type=result, interval=Interval.of(0, 1), domain=both)
    if value.family is Family.TEXT and not value.constant and target in NUMBERS | {Family.BOOL}:
        return read(value, type_name, result)
    if target is Family.BOOL and value.family is Family.INT:
        return Cast(value, type_name, type=BOOLEAN, domain=(boolean_constant(True), boolean_constant(False)))
    refuse(
        f"a cast from {value.kind_name} to {type_name}",
        node,
        "It could fail on a row; only safe casts are let in.",
    )


def read(value: Expression, type_name: str, result: Type) -> Expression:
    """What a text says; no value where PostgreSQL would raise an error, and of NaN and the infinities."""
    text = beginning(value, LONGEST_TEXT)
    if result.family is Family.BOOL:
        return Cast(text, type_name, type=BOOLEAN, domain=(boolean_constant(True), boolean_constant(False)))
    return Cast(text, type_name, type=result, raw="the number in a text")


def text_cast(value: Expression, type_name: str, node: object) -> Expression:
    """From character(n) to other texts the blanks at the end are lost."""
    is_padded, pads = value.type.name == BLANK_PADDED, type_name == "bpchar"
    if pads and not is_padded:
        refuse("a cast from text to bpchar", node)
    if not is_padded or pads:
        return value
    text = Type(Family.TEXT, "text")
    if isinstance(value, Constant):
        return replace(value, type=text)
    return Cast(value, "text", type=text, domain=known_values(value), raw=value.raw)


def number_cast(value: Expression, type_name: str, target: Type, node: object) -> Expression:
    """One number as another; without bounds where every number has one of the type wanted, or where none is wanted."""
    real = type_name == "float4"
    if value.family is target.family and (target.family is not Family.FLOAT or is_real(value) is real):
        return value
    if target.family is Family.INT or value.interval is not None:
        value = clamped(value, node)
    if target.family is Family.FLOAT:
        folded = floating(value, real)
        return folded if isinstance(folded, Constant) else Cast(value, type_name, type=target, interval=value.interval)
    if target.family is Family.NUMERIC:
        if isinstance(value, Constant) and value.family is Family.INT and value.interval is not None:
            return number_constant(value.interval.lower, target.family)
        return Cast(value, type_name, type=target, interval=value.interval)
    assert value.interval is not None
    if value.interval.reach >= LARGEST_INT:
        refuse("a cast of numbers this large to whole numbers", node)
    if value.constant and value.interval.lower.denominator == 1:
        return number_constant(value.interval.lower, Family.INT)
    # halves of doubles go to the even number, those of numerics away from 0: the casts are PostgreSQL's
    return Cast(value, type_name, type=target, interval=value.interval.widened(Fraction(1, 2)))
