"""Arithmetic and casts that cannot fail: bounded operands, tested divisors, types in which nothing overflows.

Where PostgreSQL gives a value, the result is that value, computed in PostgreSQL's type: whole numbers divide towards 0,
doubles and reals round as such. Where it raises an error there is a value or NULL, never an error.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from discreet.gate.intervals import Interval
from discreet.gate.numbers import as_double, as_numeric, floating, is_real, operands
from discreet.gate.refusal import refuse, refuse_unbounded
from discreet.gate.schema import NUMBERS, TIMES, Family
from discreet.gate.times import moved
from discreet.gate.values import (
    BLANK_PADDED,
    LARGEST_INT,
    REAL,
    Value,
    clamped,
    guarded_time,
    is_wide,
    literal,
    number_constant,
    operator,
    output_text,
    typed_literal,
)

LONGEST_TIME_IN_DAYS = 3_652_059

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


def arithmetic(name: str, left: Value, right: Value, node: Any) -> Value:
    """left `name` right, for + - * / %; dates may be subtracted from each other, and moved."""
    if left.family is Family.DATE and right.family is Family.DATE and name == "-":
        days = operator("-", guarded_time(left, node).sql, guarded_time(right, node).sql)
        return Value(days, Family.INT, Interval.of(-LONGEST_TIME_IN_DAYS, LONGEST_TIME_IN_DAYS))
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
    if Family.FLOAT in (left.family, right.family) and name != "%":
        return floating_arithmetic(name, left, right, interval)
    result = Value("", Family.INT if whole else Family.NUMERIC, interval)
    wide = not whole or any(map(is_wide, (left, right, result)))
    a, b = (f"({side.sql})::pg_catalog.{'numeric' if wide else 'int8'}" for side in (left, right))
    # whole numbers divide towards 0, however large they are
    sql = f"pg_catalog.div({a}, {b})" if name == "/" and whole and wide else operator(name, a, b)
    if name in ("/", "%"):
        sql = f"(CASE WHEN {operator('<>', b, '0')} THEN {sql} END)"
    return replace(result, sql=sql)


def floating_arithmetic(name: str, left: Value, right: Value, interval: Interval) -> Value:
    """In double precision, or in real where both sides are; no value where the divisor is 0."""
    sql = f'discreet._floating({as_double(left)}, {literal(name)}::pg_catalog."char", {as_double(right)})'
    if is_real(left) and is_real(right):
        return Value(f"discreet._real({sql})", Family.FLOAT, interval, type_name=REAL)
    return Value(sql, Family.FLOAT, interval)


def signed(name: str, value: Value, node: Any) -> Value:
    """+value or -value; in floating point -0 is another 0 than 0 - 0."""
    if value.family is not Family.FLOAT:
        return arithmetic(name, number_constant(Fraction(0), Family.INT), value, node)
    value = clamped(value, node)
    assert value.interval is not None
    if name == "+":
        return value
    return Value(f"(OPERATOR(pg_catalog.-) {value.sql})", Family.FLOAT, -value.interval, type_name=value.type_name)


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


def cast(value: Value, type_name: str, node: Any) -> Value:
    """value::type_name, where no value of the row can make it fail."""
    target = CAST_TARGETS.get(type_name)
    if target is None or getattr(node.typeName, "typmods", None):
        refuse(f"a cast to {type_name}{'(…)' if target else ''}", node)
    kept = {"float4": REAL, "bpchar": BLANK_PADDED}.get(type_name)
    if value.is_null:
        return Value(f"NULL::pg_catalog.{type_name}", target, constant=True, type_name=kept)
    if value.untyped is not None:
        text = value.untyped.rstrip(" ") if kept == BLANK_PADDED else value.untyped
        return typed_literal(text, target, node, kept)
    if target in NUMBERS and value.family in NUMBERS:
        return number_cast(value, type_name, target, node)
    if target is Family.TEXT and value.family is Family.TEXT:
        return text_cast(value, type_name, node)
    if value.family is target:
        return value
    if type_name == "text" and value.family is Family.OTHER:
        return Value(f'({output_text(value.sql)} COLLATE pg_catalog."default")', target)
    if target is Family.TEXT and value.family in NUMBERS | {Family.BOOL}:
        return Value(f"({value.sql})::pg_catalog.{type_name}", target, type_name=kept)
    if target in TIMES | {Family.TEXT} and value.family in TIMES:
        return Value(f"({guarded_time(value, node).sql})::pg_catalog.{type_name}", target, type_name=kept)
    if target is Family.INT and value.family is Family.BOOL:
        return Value(
            f"(CASE WHEN {value.sql} THEN 1 WHEN NOT {value.sql} THEN 0 END)",
            target,
            Interval.of(0, 1),
            ("0", "1"),
        )
    if target is Family.BOOL and value.family is Family.INT:
        return Value(operator("<>", value.sql, "0"), target, domain=("true", "false"))
    refuse(
        f"a cast from {value.family.value} to {type_name}",
        node,
        "It could fail on a row; only safe casts are let in.",
    )


def text_cast(value: Value, type_name: str, node: Any) -> Value:
    """From character(n) to other texts the blanks at the end are lost."""
    is_padded, pads = value.type_name == BLANK_PADDED, type_name == "bpchar"
    if pads and not is_padded:
        refuse("a cast from text to bpchar", node)
    if is_padded and not pads:
        return replace(value, sql=f"({value.sql})::pg_catalog.text", type_name="text")
    return value


def number_cast(value: Value, type_name: str, target: Family, node: Any) -> Value:
    """One number as another; without bounds where every number has one of the type wanted, or where none is wanted."""
    real = type_name == "float4"
    if value.family is target and (target is not Family.FLOAT or is_real(value) is real):
        return value
    if target is Family.INT or value.interval is not None:
        value = clamped(value, node)
    if target is Family.FLOAT:
        return replace(floating(value, real), column=None)
    if target is Family.NUMERIC and value.constant and value.family is Family.INT and value.interval is not None:
        return number_constant(value.interval.lower, target)
    if target is Family.NUMERIC:
        return Value(as_numeric(value), target, value.interval, constant=value.constant)
    assert value.interval is not None
    if value.interval.reach >= LARGEST_INT:
        refuse("a cast of numbers this large to whole numbers", node)
    if value.constant and value.interval.lower.denominator == 1:
        return number_constant(value.interval.lower, Family.INT)
    # halves of doubles go to the even number, those of numerics away from 0: the casts are PostgreSQL's
    return Value(f"({value.sql})::pg_catalog.int8", target, value.interval.widened(Fraction(1, 2)))
