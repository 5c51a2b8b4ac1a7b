"""What a call of a dp_ aggregate brings along: bounds, and perhaps an epsilon. All are constants of the question."""

from __future__ import annotations

from fractions import Fraction
from typing import NoReturn

from pglast import ast

from discreet.core.syntax import Node
from discreet.dp.price import parse_epsilon
from discreet.gate.expressions import Expressions, type_names
from discreet.gate.intervals import Interval
from discreet.gate.refusal import refuse
from discreet.gate.schema import NUMBERS, TIMES, Family
from discreet.gate.tree import Expression
from discreet.gate.values import content, is_untyped, typed_literal

# types of numbers, each of which PostgreSQL takes for the next when it looks for a common one, by all their names
WIDENING = (
    ("smallint", "int2"),
    ("integer", "int4"),
    ("bigint", "int8"),
    ("numeric",),
    ("real", "float4"),
    ("double precision", "float8"),
)
# of which kinds a bound of dates and timestamps may be
KINDS = {Family.DATE: {Family.DATE}, Family.TIMESTAMP: TIMES, Family.TIMESTAMPTZ: TIMES}
SECONDS_OF_A_DAY = 86_400
BITS_OF_WHOLE = {31: "integer", 63: "bigint"}


def constant(node: Node, family: Family, what: str, expressions: Expressions) -> Fraction:
    """The number of a constant, dates as days and timestamps as seconds since 1970."""
    held = expressions.value(node)
    if is_untyped(held):
        text = content(held) or ""
        if text.strip().lower().lstrip("+-") in ("nan", "inf", "infinity"):
            refuse_constant(what, node)
        held = typed_literal(text, family, node)
    if not is_constant(node) or held.interval is None or held.family not in KINDS.get(family, NUMBERS):
        refuse_constant(what, node)
    if held.interval.lower != held.interval.upper or not held.interval.usable:
        refuse_constant(what, node)
    number = held.interval.lower
    return number * SECONDS_OF_A_DAY if held.family is Family.DATE and family is not Family.DATE else number


def is_constant(node: Node) -> bool:
    """A literal or a parameter, perhaps with a cast."""
    while isinstance(node, ast.TypeCast):
        node = node.arg
    return isinstance(node, ast.A_Const | ast.ParamRef)


def refuse_constant(what: str, node: Node) -> NoReturn:
    refuse(
        f"{what} that is not a finite constant of its kind",
        node,
        "Write numbers for numbers, dates for dates, or give them in params.",
    )


def asked_bounds(value: Expression, lower: Node, upper: Node, expressions: Expressions) -> Interval:
    """Between which values are clamped; any value of a row has a place then, whether its column has bounds or not."""
    if value.family not in NUMBERS | TIMES:
        refuse(f"bounds of {value.kind_name}", lower, "Numbers, dates and timestamps have bounds.")
    family = Family.NUMERIC if value.family in NUMBERS else value.family
    low, high = (constant(end, family, "a bound", expressions) for end in (lower, upper))
    if low > high:
        refuse("a lower bound above the upper bound", lower, "Exchange them: lower is the smaller one.")
    return Interval(low, high)


def asked_epsilon(node: Node, expressions: Expressions) -> Fraction:
    return parse_epsilon(constant(node, Family.NUMERIC, "an epsilon", expressions))


def common_type(value: Expression, bounds: list[Node], expressions: Expressions) -> str:
    """The type that PostgreSQL gives to a value and its bounds together."""
    if value.family not in NUMBERS:
        return value.native_type
    written = [value.native_type, *(constant_type(bound, expressions) for bound in bounds)]
    places = [place for place, names in enumerate(WIDENING) if any(name in names for name in written)]
    return WIDENING[max(places)][0]


def constant_type(node: Node, expressions: Expressions) -> str | None:
    """The type of a literal as PostgreSQL reads it; None for one that takes the type of others."""
    if isinstance(node, ast.TypeCast):
        return type_names(node.typeName, node)[-1]
    held = expressions.value(node)
    if is_untyped(held) or held.interval is None:
        return None
    if held.family is not Family.INT:
        return "numeric"
    fitting = [name for bits, name in BITS_OF_WHOLE.items() if held.interval.reach < 2**bits]
    return fitting[0] if fitting else "numeric"
