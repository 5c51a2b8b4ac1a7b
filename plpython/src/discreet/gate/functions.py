"""The functions that a row expression may call: each total, each with the bounds of its result.

The table FUNCTIONS is what the checker uses and what the list in the documentation is made from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.gate.arithmetic import arithmetic
from discreet.gate.calls import WHOLE, FunctionRule, constant_whole
from discreet.gate.intervals import Interval
from discreet.gate.moments import MOMENTS
from discreet.gate.numbers import argument, exact_argument
from discreet.gate.powers import POWERS
from discreet.gate.refusal import refuse
from discreet.gate.schema import Family
from discreet.gate.texts import TEXTS
from discreet.gate.tree import Call, Conversion, Expression, Type, is_wide
from discreet.gate.values import clamped, is_untyped, number_constant

MOST_BUCKETS = 1000
MOST_DECIMALS = 30


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
    **POWERS,
    **TEXTS,
    **MOMENTS,
}
