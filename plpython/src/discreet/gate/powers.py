"""Logarithms, exponentials, powers and buckets: with bounds, and no value where PostgreSQL would fail."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from discreet.gate.calls import INTEGER, FunctionRule, constant_number, constant_whole
from discreet.gate.intervals import Interval
from discreet.gate.numbers import argument, as_numeric, exact_argument, floating
from discreet.gate.refusal import refuse, refuse_unbounded
from discreet.gate.schema import Family
from discreet.gate.tree import Call, Expression, Type
from discreet.gate.values import as_family, clamped, number_constant

# enough for numbers of 60 digits; rounded outwards
BELOW, ABOVE = Context(prec=80, rounding=ROUND_FLOOR), Context(prec=80, rounding=ROUND_CEILING)
SLACK = Fraction(1, 10**9)
# no number above 0 that a double, or a numeric, can hold has a logarithm below
LEAST_LOGARITHM = {Family.FLOAT: -745, Family.NUMERIC: -37_800}
LARGEST_EXPONENT = 138  # 10**60 is about e**138
MOST_POWER = 100
MOST_BUCKETS = 1000


def logarithm(number: Fraction) -> Interval:
    """Around the natural logarithm of a number above 0."""
    ends = (
        context.divide(Decimal(number.numerator), Decimal(number.denominator)).ln(context) for context in (BELOW, ABOVE)
    )
    return Interval.of(*map(Fraction, ends)).widened(SLACK)


def exponential(exponent: Fraction) -> Interval:
    """Around e to that power; 0 is a bound of what is next to 0."""
    if exponent < -1000:
        return Interval.of(0, SLACK)
    ends = (
        context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator)).exp(context)
        for context in (BELOW, ABOVE)
    )
    found = Interval.of(*map(Fraction, ends))
    return Interval(found.lower * (1 - SLACK), found.upper * (1 + SLACK))


def logarithms(interval: Interval, family: Family) -> Interval:
    """Of the numbers above 0 that lie in an interval; none at all: of 1."""
    if interval.upper <= 0:
        return Interval.of(0)
    highest = logarithm(interval.upper).upper
    lowest = logarithm(interval.lower).lower if interval.lower > 0 else Fraction(LEAST_LOGARITHM[family])
    return Interval(min(lowest, highest), highest)


def natural_logarithm(arguments: list[Expression], node: object) -> Expression:
    number = argument(arguments[0], node)
    assert number.interval is not None
    return Call("ln", (number,), type=Type(number.family), interval=logarithms(number.interval, number.family))


def cube_root(arguments: list[Expression], node: object) -> Expression:
    number = floating(argument(arguments[0], node), real=False)
    assert number.interval is not None
    ends = [
        ceil_of_cube_root(abs(end)) * (1 if end > 0 else -1) for end in (number.interval.lower, number.interval.upper)
    ]
    interval = Interval.of(*ends) | Interval.of(0)
    return Call("cbrt", (number,), type=Type(Family.FLOAT), interval=interval)


def ceil_of_cube_root(number: Fraction) -> int:
    """A whole number whose cube is above a number from 0 on, by not much."""
    whole = 1
    while whole**3 <= number:
        whole *= 2
    step = whole // 2
    while step > 0:
        if (whole - step) ** 3 > number:
            whole -= step
        step //= 2
    return whole


def decimal_logarithm(arguments: list[Expression], node: object) -> Expression:
    """log(number) to base 10, log(base, number) of numerics."""
    if len(arguments) == 2:
        base = constant_number(arguments[0], node)
        number = exact_argument(arguments[1], node)
        if base <= 0 or base == 1 or base > 10**9 or base < Fraction(1, 10**9):
            refuse("a logarithm to a base that is not above 0, or 1", node)
        assert number.interval is not None
        found = logarithms(number.interval, Family.NUMERIC)
        interval = found * Interval.of(1 / logarithm(base).lower, 1 / logarithm(base).upper)
        exact = exact_argument(arguments[0], node)
        return Call("log", (exact, number), type=Type(Family.NUMERIC), interval=interval.widened(SLACK))
    number = argument(arguments[0], node)
    assert number.interval is not None
    ten = logarithm(Fraction(10))
    found = logarithms(number.interval, number.family)
    interval = (found * Interval.of(1 / ten.lower, 1 / ten.upper)).widened(SLACK)
    return Call("log", (number,), type=Type(number.family), interval=interval)


def exponent(arguments: list[Expression], node: object) -> Expression:
    number = argument(arguments[0], node)
    assert number.interval is not None
    if number.interval.upper > LARGEST_EXPONENT or (
        number.family is Family.NUMERIC and number.interval.lower < -LARGEST_EXPONENT
    ):
        refuse_unbounded("exp() of a number that may be large", node)
    interval = Interval(Fraction(0), exponential(number.interval.upper).upper)
    return Call("exp", (number,), type=Type(number.family), interval=interval)


def power(arguments: list[Expression], node: object) -> Expression:
    """power(number, constant) and number ^ constant; in numeric if one is numeric and none floating, else in double."""
    beside = Family.NUMERIC if any(each.family is Family.NUMERIC for each in arguments) else Family.FLOAT
    left, right = (clamped(as_family(each, beside, node), node) for each in arguments)
    exact = Family.FLOAT not in (left.family, right.family) and Family.NUMERIC in (left.family, right.family)
    left, right = (as_numeric(each) if exact else floating(each, real=False) for each in (left, right))
    if not right.constant or right.interval is None or left.interval is None:
        refuse("a power whose exponent is no constant", node)
    interval = powers(left.interval, right.interval.lower, node)
    if not interval.usable:
        refuse_unbounded("a power of a number that may be large", node)
    return Call("power", (left, right), type=Type(Family.NUMERIC if exact else Family.FLOAT), interval=interval)


def powers(base: Interval, to: Fraction, node: object) -> Interval:
    """Of the numbers of an interval that have such a power."""
    if abs(to) > MOST_POWER:
        refuse(f"a power of more than {MOST_POWER}", node)
    if to.denominator != 1:
        base = Interval(max(base.lower, Fraction(0)), max(base.upper, Fraction(0)))
    if to < 0 and 0 in base:
        refuse_unbounded("a power below 0 of a number that may come near to 0", node)
    if to.denominator == 1:
        whole = Interval.of(base.lower ** int(to), base.upper ** int(to))
        return whole | Interval.of(0) if 0 in base and to > 0 else whole
    found = Interval.of(0) if 0 in base else None
    for end in (base.lower, base.upper):
        if end > 0:
            near = logarithm(end) * Interval.of(to)
            around = exponential(near.lower) | exponential(near.upper)
            found = around if found is None else found | around
    return found or Interval.of(0)


def width_bucket(arguments: list[Expression], node: object) -> Expression:
    """Which of n ranges of equal width between two constants holds the number; 0 and n + 1 are outside."""
    number = clamped(as_family(arguments[0], Family.NUMERIC, node), node)
    low, high = (constant_number(each, node) for each in arguments[1:3])
    count = constant_whole(arguments[3], 1, node, 10**6)
    assert count.interval is not None
    if low == high or max(abs(low), abs(high)) > 10**30:
        refuse("width_bucket() with bounds that are equal, or too large", node)
    floats = any(each.family is Family.FLOAT for each in arguments[:3])
    if number.family is not Family.NUMERIC and not any(each.family is Family.NUMERIC for each in arguments[1:3]):
        floats = floats or number.family is Family.INT
    sides = [number, *arguments[1:3]]
    sides = [
        floating(as_family(each, Family.FLOAT, node), real=False) if floats else exact_argument(each, node)
        for each in sides
    ]
    last = int(count.interval.lower) + 1
    domain = tuple(number_constant(n, Family.INT) for n in range(last + 1)) if last < MOST_BUCKETS else None
    return Call("width_bucket", (*sides, count), type=INTEGER, interval=Interval.of(0, last), domain=domain)


POWERS: dict[str, FunctionRule] = {
    "ln": FunctionRule("ln(number)", (1, 1), natural_logarithm),
    "cbrt": FunctionRule("cbrt(number)", (1, 1), cube_root),
    "log": FunctionRule("log([base,] number)", (1, 2), decimal_logarithm),
    "log10": FunctionRule("log10(number)", (1, 1), decimal_logarithm),
    "exp": FunctionRule("exp(number)", (1, 1), exponent),
    "power": FunctionRule("power(number, constant)", (2, 2), power),
    "pow": FunctionRule("pow(number, constant)", (2, 2), power),
    "width_bucket": FunctionRule("width_bucket(number, low, high, n)", (4, 4), width_bucket),
}
