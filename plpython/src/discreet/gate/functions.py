"""The functions that a row expression may call: each total, each with the bounds of its result.

The table FUNCTIONS is what the checker uses and what the list in the documentation is made from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.gate.arithmetic import arithmetic
from discreet.gate.intervals import Interval
from discreet.gate.numbers import argument, exact_argument
from discreet.gate.refusal import refuse
from discreet.gate.schema import Family
from discreet.gate.tree import TEXT, Call, Constant, Conversion, Expression, Type, is_wide
from discreet.gate.values import (
    LONGEST_TEXT,
    beginning,
    clamped,
    content,
    guarded_time,
    is_untyped,
    number_constant,
)

WHOLE = Type(Family.INT)
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
    build: Callable[[list[Expression], object], Expression]

    def compile(self, arguments: list[Expression], node: object) -> Expression:
        if not self.arity[0] <= len(arguments) <= self.arity[1]:
            refuse(f"a call that is not {self.usage}", node)
        return self.build(arguments, node)


def constant_text(value: Expression, choices: tuple[str, ...], node: object) -> Constant:
    text = content(value)
    if text is None or text.lower() not in choices:
        refuse("a field that is not known", node, f"Known are: {', '.join(choices)}.")
    return Constant(text.lower(), type=TEXT, nullable=False)


def constant_whole(value: Expression, least: int, node: object, most: int = 10**6) -> Constant:
    if not value.constant or value.interval is None or value.family is not Family.INT:
        refuse("an argument that is not a constant whole number", node)
    number = value.interval.lower
    if not least <= number <= most:
        refuse(f"an argument that is not from {least} to {most}", node)
    return number_constant(number, Family.INT)


def text_of(value: Expression, node: object) -> Expression:
    """The beginning of a text, which is all that a text function sees of it."""
    if value.family is not Family.TEXT:
        refuse(f"a text function on {value.family.value}", node)
    return beginning(value, LONGEST_TEXT)


def text_function(native: str) -> Callable[[list[Expression], object], Expression]:
    def build(arguments: list[Expression], node: object) -> Expression:
        return Call(native, (text_of(arguments[0], node),), type=TEXT)

    return build


def text_length(arguments: list[Expression], node: object) -> Expression:
    return Call("length", (text_of(arguments[0], node),), type=WHOLE, interval=Interval.of(0, LONGEST_TEXT))


def text_end(native: str) -> Callable[[list[Expression], object], Expression]:
    def build(arguments: list[Expression], node: object) -> Expression:
        return Call(native, (text_of(arguments[0], node), constant_whole(arguments[1], 0, node)), type=TEXT)

    return build


def text_part(arguments: list[Expression], node: object) -> Expression:
    start = constant_whole(arguments[1], 1, node)
    length = [constant_whole(each, 0, node) for each in arguments[2:]]
    return Call("substr", (text_of(arguments[0], node), start, *length), type=TEXT)


def text_position(arguments: list[Expression], node: object) -> Expression:
    inside, wanted = (text_of(argument, node) for argument in arguments)
    return Call("strpos", (inside, wanted), type=WHOLE, interval=Interval.of(0, LONGEST_TEXT))


def rounding(native: str) -> Callable[[list[Expression], object], Expression]:
    """In double precision halves go to the even number, in numeric away from 0, as PostgreSQL's functions do."""

    def build(arguments: list[Expression], node: object) -> Expression:
        number = argument(arguments[0], node) if len(arguments) == 1 else exact_argument(arguments[0], node)
        assert number.interval is not None
        # numbers of very many digits take time, by which a row could be told
        digits = [constant_whole(each, 0, node, MOST_DECIMALS) for each in arguments[1:]]
        interval = number.interval.widened(1)
        return Call(native, (number, *digits), type=Type(number.family), interval=interval)

    return build


def absolute(arguments: list[Expression], node: object) -> Expression:
    number = argument(arguments[0], node) if is_untyped(arguments[0]) else clamped(arguments[0], node)
    assert number.interval is not None
    interval = number.interval.absolute()
    result = number.type if number.family is Family.FLOAT else Type(number.family)
    if number.family is Family.INT:
        number = Conversion(number, "numeric" if is_wide(number) else "int8", type=WHOLE, interval=number.interval)
    return Call("abs", (number,), type=result, interval=interval)


def sign(arguments: list[Expression], node: object) -> Expression:
    number = argument(arguments[0], node)
    domain = tuple(number_constant(each, number.family) for each in (-1, 0, 1))
    return Call("sign", (number,), type=Type(number.family), interval=Interval.of(-1, 1), domain=domain)


def square_root(arguments: list[Expression], node: object) -> Expression:
    number = argument(arguments[0], node)
    assert number.interval is not None
    largest = math.isqrt(math.ceil(max(number.interval.upper, Fraction(0)))) + 1
    return Call("sqrt", (number,), type=Type(number.family), interval=Interval.of(0, largest))


def modulo(arguments: list[Expression], node: object) -> Expression:
    return arithmetic("%", arguments[0], arguments[1], node)


def extract(arguments: list[Expression], node: object) -> Expression:
    return date_field("extract", Family.NUMERIC, arguments, node)


def date_part(arguments: list[Expression], node: object) -> Expression:
    """The same, but in double precision."""
    return date_field("date_part", Family.FLOAT, arguments, node)


def date_field(native: str, family: Family, arguments: list[Expression], node: object) -> Expression:
    field = constant_text(arguments[0], tuple(DATE_FIELDS), node)
    interval, listed = DATE_FIELDS[field.content or ""]
    if arguments[1].family is Family.DATE and field.content in ("hour", "minute"):
        refuse(f"{field.content} of a date", node)
    moment = guarded_time(arguments[1], node)
    numbers = range(int(interval.lower), int(interval.upper) + 1)
    domain = tuple(number_constant(number, family) for number in numbers) if listed else None
    return Call(native, (field, moment), type=Type(family), interval=interval, domain=domain)


def date_truncation(arguments: list[Expression], node: object) -> Expression:
    field = constant_text(arguments[0], TRUNCATIONS, node)
    moment = guarded_time(arguments[1], node)
    family = Family.TIMESTAMPTZ if moment.family is Family.TIMESTAMPTZ else Family.TIMESTAMP
    return Call("date_trunc", (field, moment), type=Type(family))


def bucket(arguments: list[Expression], node: object) -> Expression:
    """bucket(x, width): the lower end of the interval of this width, counted from 0, that holds x."""
    number, width = (exact_argument(each, node) for each in arguments)
    assert number.interval is not None and width.interval is not None
    step = width.interval.lower
    if not width.constant or step <= 0:
        refuse("a bucket whose width is not a constant above 0", node)
    first, last = number.interval.lower // step, number.interval.upper // step
    domain = None
    if last - first < MOST_BUCKETS:
        domain = tuple(number_constant(n * step, Family.NUMERIC) for n in range(first, last + 1))
    interval = Interval.of(first * step, last * step)
    return Call("bucket", (number, width), type=Type(Family.NUMERIC), interval=interval, domain=domain)


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
