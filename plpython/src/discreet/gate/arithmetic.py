"""Arithmetic and casts that cannot fail: bounded operands, tested divisors, 64-bit integers or numeric throughout."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.gate.intervals import Interval
from discreet.gate.refusal import refuse, refuse_unbounded
from discreet.gate.schema import NUMBERS, TIMES, Family
from discreet.gate.times import moved
from discreet.gate.values import (
    LARGEST_INT,
    NATIVE_TYPE,
    Value,
    clamped,
    guarded_time,
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
    left, right = (as_number(side, node) for side in (left, right))
    whole = left.family is Family.INT and right.family is Family.INT
    assert left.interval is not None and right.interval is not None
    interval = result_interval(name, left.interval, right.interval, whole)
    if interval is None:
        refuse_unbounded("a quotient whose divisor may come near to 0", node)
    if not interval.usable:
        refuse("numbers of more than 60 digits", node)
    if whole and max(interval.reach, left.interval.reach, right.interval.reach) >= LARGEST_INT:
        whole = False
    native = "int8" if whole else "numeric"
    a, b = (f"({side.sql})::pg_catalog.{native}" for side in (left, right))
    sql = operator(name, a, b)
    if name in ("/", "%"):
        sql = f"(CASE WHEN {operator('<>', b, '0')} THEN {sql} END)"
    return Value(sql, Family.INT if whole else Family.NUMERIC, interval)


def as_number(value: Value, node: Any) -> Value:
    if value.untyped is not None:
        value = typed_literal(value.untyped, Family.NUMERIC, node)
    return clamped(value, node)


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
    if value.is_null:
        return Value(f"NULL::pg_catalog.{NATIVE_TYPE[target]}", target, constant=True)
    if value.untyped is not None:
        return typed_literal(value.untyped.rstrip(" ") if type_name == "bpchar" else value.untyped, target, node)
    if value.family is target and (type_name != "bpchar" or value.type_name == "pg_catalog.bpchar"):
        return value
    native = f"({value.sql})::pg_catalog.{NATIVE_TYPE[target]}"
    if type_name == "text" and value.family is Family.OTHER:
        return Value(f'({output_text(value.sql)} COLLATE pg_catalog."default")', target)
    if target is Family.TEXT and value.family in (Family.INT, Family.NUMERIC, Family.BOOL, Family.FLOAT):
        return Value(native, target)
    if target is Family.TEXT and value.family in TIMES:
        return Value(f"({guarded_time(value, node).sql})::pg_catalog.text", target)
    if target in TIMES and value.family in TIMES:
        return Value(f"({guarded_time(value, node).sql})::pg_catalog.{NATIVE_TYPE[target]}", target)
    if target is Family.NUMERIC and value.family in NUMBERS:
        return Value(native, target, value.interval) if value.interval is None else number_cast(value, target, node)
    if target in NUMBERS and value.family in NUMBERS:
        return number_cast(value, target, node)
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


def number_cast(value: Value, target: Family, node: Any) -> Value:
    value = clamped(value, node)
    assert value.interval is not None
    if value.constant and (target is not Family.INT or value.interval.lower.denominator == 1):
        return number_constant(value.interval.lower, Family.INT if target is Family.INT else Family.NUMERIC)
    if target is not Family.INT:
        # numeric throughout: the same number, without the errors that float arithmetic raises, 1e-400 being one
        return Value(f"({value.sql})::pg_catalog.numeric", Family.NUMERIC, value.interval)
    if value.interval.reach >= LARGEST_INT:
        refuse("a cast of numbers this large to whole numbers", node)
    sql = f"(pg_catalog.round(({value.sql})::pg_catalog.numeric))::pg_catalog.int8"
    return Value(sql, target, value.interval.widened(Fraction(1, 2)))
