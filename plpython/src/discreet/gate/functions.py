"""The functions that a row expression may call: each total, each with the bounds of its result.

The table FUNCTIONS is what the checker uses and what the list in the documentation is made from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.gate.arithmetic import arithmetic
from discreet.gate.intervals import Interval
from discreet.gate.numbers import argument, exact_argument
from discreet.gate.refusal import refuse
from discreet.gate.schema import Family
from discreet.gate.values import (
    LONGEST_TEXT,
    Value,
    clamped,
    cut,
    guarded_time,
    is_wide,
    literal,
    number_sql,
    operator,
)

MOST_BUCKETS = 1000
MOST_DECIMALS = 30

# field: interval of extract(), and whether every whole number in it is a category of its own
DATE_FIELDS: dict[str, tuple[Interval, bool]] = {
    "year": (Interval.of(1, 9999), False),
    "quarter": (Interval.of(1, 4), True),
    "month": (Interval.of(1, 12), True),
    "week": (Interval.of(1, 53), True),
    "day": (Interval.of(1, 31), True),
    "doy": (Interval.of(1, 366), True),
    "dow": (Interval.of(0, 6), True),
    "isodow": (Interval.of(1, 7), True),
    "hour": (Interval.of(0, 23), True),
    "minute": (Interval.of(0, 59), True),
    "decade": (Interval.of(0, 999), False),
    "century": (Interval.of(1, 100), False),
}
TRUNCATIONS = ("year", "quarter", "month", "week", "day", "hour", "minute", "decade", "century")


@dataclass(frozen=True)
class FunctionRule:
    """A function that is let in: how it is written, and what it becomes."""

    usage: str
    arity: tuple[int, int]
    build: Callable[[list[Value], Any], Value]

    def compile(self, arguments: list[Value], node: Any) -> Value:
        if not self.arity[0] <= len(arguments) <= self.arity[1]:
            refuse(f"a call that is not {self.usage}", node)
        return self.build(arguments, node)


def constant_text(value: Value, choices: tuple[str, ...], node: Any) -> str:
    if value.content is None or value.content.lower() not in choices:
        refuse("a field that is not known", node, f"Known are: {', '.join(choices)}.")
    return value.content.lower()


def constant_whole(value: Value, least: int, node: Any, most: int = 10**6) -> int:
    if not value.constant or value.interval is None or value.family is not Family.INT:
        refuse("an argument that is not a constant whole number", node)
    number = value.interval.lower
    if not least <= number <= most:
        refuse(f"an argument that is not from {least} to {most}", node)
    return int(number)


def text_of(value: Value, node: Any) -> str:
    """The beginning of a text, which is all that a text function sees of it."""
    if value.family is not Family.TEXT:
        refuse(f"a text function on {value.family.value}", node)
    return cut(value.sql, LONGEST_TEXT)


def text_function(native: str) -> Callable[[list[Value], Any], Value]:
    def build(arguments: list[Value], node: Any) -> Value:
        return Value(f"pg_catalog.{native}({text_of(arguments[0], node)})", Family.TEXT)

    return build


def text_length(arguments: list[Value], node: Any) -> Value:
    return Value(f"pg_catalog.length({text_of(arguments[0], node)})", Family.INT, Interval.of(0, LONGEST_TEXT))


def text_end(native: str) -> Callable[[list[Value], Any], Value]:
    def build(arguments: list[Value], node: Any) -> Value:
        length = constant_whole(arguments[1], 0, node)
        return Value(f"pg_catalog.{native}({text_of(arguments[0], node)}, {length})", Family.TEXT)

    return build


def text_part(arguments: list[Value], node: Any) -> Value:
    start = constant_whole(arguments[1], 1, node)
    length = f", {constant_whole(arguments[2], 0, node)}" if len(arguments) == 3 else ""
    return Value(f"pg_catalog.substr({text_of(arguments[0], node)}, {start}{length})", Family.TEXT)


def text_position(arguments: list[Value], node: Any) -> Value:
    inside, wanted = (text_of(argument, node) for argument in arguments)
    return Value(f"pg_catalog.strpos({inside}, {wanted})", Family.INT, Interval.of(0, LONGEST_TEXT))


def rounding(native: str) -> Callable[[list[Value], Any], Value]:
    """In double precision halves go to the even number, in numeric away from 0, as PostgreSQL's functions do."""

    def build(arguments: list[Value], node: Any) -> Value:
        number = argument(arguments[0], node) if len(arguments) == 1 else exact_argument(arguments[0], node)
        assert number.interval is not None
        # numbers of very many digits take time, by which a row could be told
        digits = f", {constant_whole(arguments[1], 0, node, MOST_DECIMALS)}" if len(arguments) == 2 else ""
        return Value(f"pg_catalog.{native}({number.sql}{digits})", number.family, number.interval.widened(1))

    return build


def absolute(arguments: list[Value], node: Any) -> Value:
    number = argument(arguments[0], node) if arguments[0].untyped is not None else clamped(arguments[0], node)
    assert number.interval is not None
    sql = number.sql
    if number.family is Family.INT:
        sql = f"({sql})::pg_catalog.{'numeric' if is_wide(number) else 'int8'}"
    type_name = number.type_name if number.family is Family.FLOAT else None
    return Value(f"pg_catalog.abs({sql})", number.family, number.interval.absolute(), type_name=type_name)


def sign(arguments: list[Value], node: Any) -> Value:
    number = argument(arguments[0], node)
    return Value(f"pg_catalog.sign({number.sql})", number.family, Interval.of(-1, 1), ("-1", "0", "1"))


def square_root(arguments: list[Value], node: Any) -> Value:
    number = argument(arguments[0], node)
    assert number.interval is not None
    largest = math.isqrt(math.ceil(max(number.interval.upper, Fraction(0)))) + 1
    sql = f"(CASE WHEN {operator('>=', number.sql, '0')} THEN pg_catalog.sqrt({number.sql}) END)"
    return Value(sql, number.family, Interval.of(0, largest))


def modulo(arguments: list[Value], node: Any) -> Value:
    return arithmetic("%", arguments[0], arguments[1], node)


def extract(arguments: list[Value], node: Any) -> Value:
    return date_field("extract", Family.NUMERIC, arguments, node)


def date_part(arguments: list[Value], node: Any) -> Value:
    """The same, but in double precision."""
    return date_field("date_part", Family.FLOAT, arguments, node)


def date_field(native: str, family: Family, arguments: list[Value], node: Any) -> Value:
    field = constant_text(arguments[0], tuple(DATE_FIELDS), node)
    interval, listed = DATE_FIELDS[field]
    if arguments[1].family is Family.DATE and field in ("hour", "minute"):
        refuse(f"{field} of a date", node)
    moment = guarded_time(arguments[1], node).sql
    domain = tuple(str(n) for n in range(int(interval.lower), int(interval.upper) + 1)) if listed else None
    return Value(f"pg_catalog.{native}({literal(field)}, {moment})", family, interval, domain)


def date_truncation(arguments: list[Value], node: Any) -> Value:
    field = constant_text(arguments[0], TRUNCATIONS, node)
    moment = guarded_time(arguments[1], node)
    family = Family.TIMESTAMPTZ if moment.family is Family.TIMESTAMPTZ else Family.TIMESTAMP
    native = "timestamptz" if family is Family.TIMESTAMPTZ else "timestamp"
    return Value(f"pg_catalog.date_trunc({literal(field)}, ({moment.sql})::pg_catalog.{native})", family)


def bucket(arguments: list[Value], node: Any) -> Value:
    """bucket(x, width): the lower end of the interval of this width, counted from 0, that holds x."""
    number, width = (exact_argument(each, node) for each in arguments)
    assert number.interval is not None and width.interval is not None
    step = width.interval.lower
    if not width.constant or step <= 0:
        refuse("a bucket whose width is not a constant above 0", node)
    first, last = number.interval.lower // step, number.interval.upper // step
    domain = None
    if last - first < MOST_BUCKETS:
        domain = tuple(f"({number_sql(n * step)})::pg_catalog.numeric" for n in range(first, last + 1))
    sql = operator("*", f"pg_catalog.floor({operator('/', number.sql, width.sql)})", width.sql)
    return Value(sql, Family.NUMERIC, Interval.of(first * step, last * step), domain)


FUNCTIONS: dict[str, FunctionRule] = {
    "abs": FunctionRule("abs(number)", (1, 1), absolute),
    "sign": FunctionRule("sign(number)", (1, 1), sign),
    "ceil": FunctionRule("ceil(number)", (1, 1), rounding("ceil")),
    "ceiling": FunctionRule("ceiling(number)", (1, 1), rounding("ceil")),
    "floor": FunctionRule("floor(number)", (1, 1), rounding("floor")),
    "round": FunctionRule("round(number [, digits])", (1, 2), rounding("round")),
    "trunc": FunctionRule("trunc(number [, digits])", (1, 2), rounding("trunc")),
    "mod": FunctionRule("mod(number, number)", (2, 2), modulo),
    "sqrt": FunctionRule("sqrt(number)", (1, 1), square_root),
    "bucket": FunctionRule("bucket(number, width)", (2, 2), bucket),
    "lower": FunctionRule("lower(text)", (1, 1), text_function("lower")),
    "upper": FunctionRule("upper(text)", (1, 1), text_function("upper")),
    "btrim": FunctionRule("trim(text)", (1, 1), text_function("btrim")),
    "ltrim": FunctionRule("ltrim(text)", (1, 1), text_function("ltrim")),
    "rtrim": FunctionRule("rtrim(text)", (1, 1), text_function("rtrim")),
    "length": FunctionRule("length(text)", (1, 1), text_length),
    "char_length": FunctionRule("char_length(text)", (1, 1), text_length),
    "left": FunctionRule("left(text, n)", (2, 2), text_end("left")),
    "right": FunctionRule("right(text, n)", (2, 2), text_end("right")),
    "substr": FunctionRule("substr(text, from [, length])", (2, 3), text_part),
    "substring": FunctionRule("substring(text, from [, length])", (2, 3), text_part),
    "strpos": FunctionRule("strpos(text, text)", (2, 2), text_position),
    "position": FunctionRule("position(text IN text)", (2, 2), text_position),
    "extract": FunctionRule("extract(field FROM date)", (2, 2), extract),
    "date_part": FunctionRule("date_part(field, date)", (2, 2), date_part),
    "date_trunc": FunctionRule("date_trunc(field, date)", (2, 2), date_truncation),
}
