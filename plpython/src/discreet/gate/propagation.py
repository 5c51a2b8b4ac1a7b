"""How the columns of an answer depend on released numbers, read off the trees that post-processing has checked.

Released aggregates enter as they are; sums, differences, constant factors and divisors, roundings, casts between
numbers and choices by exact conditions keep a bound on the error. What is known of everything else is that it is not
known, and why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from pglast import ast, enums

from discreet.core.syntax import Node
from discreet.gate.aggregates import AGGREGATES
from discreet.gate.expressions import COMPARISONS, function_name, operator_name
from discreet.gate.functions import FUNCTIONS

ROUNDINGS = ("round", "ceil", "ceiling", "floor", "trunc")
MOST_DIGITS = 1000
PLAIN_NUMBER = re.compile(r"\s*[+-]?(\d{1,100}\.?\d{0,100}|\.\d{1,100})(e[+-]?\d{1,2})?\s*", re.IGNORECASE)


class NumberType(StrEnum):
    """Types of numbers by what division and rounding do to them."""

    WHOLE = "whole"
    FRACTIONAL = "fractional"


TYPES = dict.fromkeys(("smallint", "integer", "bigint", "int2", "int4", "int8"), NumberType.WHOLE) | dict.fromkeys(
    ("numeric", "real", "double precision", "float4", "float8"), NumberType.FRACTIONAL
)


@dataclass(frozen=True)
class Dependence:
    """How an expression over released numbers depends on them.

    Guarantee, unless `unknown` says why there is none: its value over the released aggregates and its value over the
    exact ones differ by at most `slack` plus, for every aggregate, its weight times the error of that aggregate; and
    whether it is NULL does not depend on noise. Without weights and slack it is exact.

    `type` is None where it is no number, or not known to be one; `number`: the value of a constant; `key`: the group
    key that it is; `aggregate`: the released aggregate that it is, unchanged.
    """

    weights: tuple[tuple[int, Fraction], ...] = ()
    slack: Fraction = Fraction(0)
    type: NumberType | None = None
    number: Fraction | None = None
    key: int | None = None
    aggregate: int | None = None
    unknown: str | None = None

    @property
    def exact(self) -> bool:
        return not self.weights and not self.slack and self.unknown is None

    @property
    def error(self) -> Dependence:
        """What of it says how far it may be off."""
        return Dependence(self.weights, self.slack)

    def scaled(self, factor: Fraction) -> Dependence:
        by = abs(factor)
        weights = tuple((number, weight * by) for number, weight in self.weights if by)
        return replace(self, weights=weights, slack=self.slack * by, number=None, key=None, aggregate=None)

    def rounded(self, unit: Fraction, into: NumberType) -> Dependence:
        """Rounded to a multiple of `unit`, a power of ten: two numbers move apart by at most one unit."""
        kept = self.exact or (self.type is NumberType.WHOLE and unit <= 1)
        number = self.number if self.number is not None and self.number % unit == 0 else None
        slack = self.slack + (0 if kept else unit)
        return replace(self, slack=slack, type=into, number=number, key=None, aggregate=None)


EXACT = Dependence()
Columns = Callable[[ast.ColumnRef], Dependence]


def unknown(why: str) -> Dependence:
    return Dependence(unknown=why)


def released_aggregate(number: int, type_name: str) -> Dependence:
    return Dependence(((number, Fraction(1)),), type=TYPES.get(type_name), aggregate=number)


def released_key(number: int, type_name: str) -> Dependence:
    return Dependence(type=TYPES.get(type_name), key=number)


def dependence(node: Node, columns: Columns) -> Dependence:
    """Of a checked expression; `columns` says what its columns are."""
    if isinstance(node, ast.ColumnRef):
        return columns(node)
    if isinstance(node, ast.A_Const):
        return constant(node)
    if isinstance(node, ast.FuncCall):
        return call(node, columns)
    if isinstance(node, ast.TypeCast):
        return cast(node, dependence(node.arg, columns))
    if isinstance(node, ast.CaseExpr):
        return case(node, columns)
    if isinstance(node, ast.CoalesceExpr | ast.MinMaxExpr):
        # which one has a value does not depend on noise; the largest moves by no more than the one that moves most
        return one_of([dependence(part, columns) for part in node.args if not is_null(part)])
    if isinstance(node, ast.A_Expr) and node.kind == enums.A_Expr_Kind.AEXPR_OP:
        return operation(node, columns)
    parts = [dependence(part, columns) for part in below(node)]
    if isinstance(node, ast.A_ArrayExpr):
        return listed(parts)
    if isinstance(node, ast.A_Expr) and node.kind == enums.A_Expr_Kind.AEXPR_NULLIF:
        return if_exact(parts, "NULLIF of a noisy number")
    if isinstance(node, ast.A_Expr | ast.BoolExpr | ast.NullTest | ast.BooleanTest):
        return if_exact(parts, "a comparison with a noisy number")
    return unknown("an expression of a kind that is not followed")


def below(node: ast.Node) -> Iterator[ast.Node]:
    """The expressions directly below one that is no function and no cast."""
    waiting = [getattr(node, slot) for slot in node if slot != "name"]
    while waiting:
        part = waiting.pop(0)
        if isinstance(part, tuple | list):
            waiting = [*part, *waiting]
        elif isinstance(part, ast.Node):
            yield part


def if_exact(parts: Iterable[Dependence], otherwise: str) -> Dependence:
    """Whatever is made of exact parts is exact; of others, only that it depends on noise is known."""
    inexact = [part for part in parts if not part.exact]
    reasons = [part.unknown for part in inexact if part.unknown is not None]
    return unknown((reasons or [otherwise])[0]) if inexact else EXACT


def constant(node: ast.A_Const) -> Dependence:
    held = None if node.isnull else node.val
    if isinstance(held, ast.Integer):
        return Dependence(type=NumberType.WHOLE, number=Fraction(held.ival))
    text = held.fval if isinstance(held, ast.Float) else held.sval if isinstance(held, ast.String) else ""
    if not PLAIN_NUMBER.fullmatch(text):
        return EXACT
    # an untyped '2' beside whole numbers is one of them
    whole = text.strip().lstrip("+-").isdigit()
    return Dependence(type=NumberType.WHOLE if whole else NumberType.FRACTIONAL, number=Fraction(Decimal(text.strip())))


def is_null(node: Node) -> bool:
    return isinstance(node, ast.A_Const) and bool(node.isnull)


def operation(node: ast.A_Expr, columns: Columns) -> Dependence:
    name, right = operator_name(node), dependence(divisor(node), columns)
    if node.lexpr is None and name in ("+", "-"):
        signed = right.number if name == "+" or right.number is None else -right.number
        return replace(right, number=signed, key=None, aggregate=None)
    if node.lexpr is None:
        return if_exact([right], f"operator {name} on a noisy number")
    left = dependence(node.lexpr, columns)
    if name in COMPARISONS:
        return if_exact((left, right), "a comparison with a noisy number")
    if name not in ARITHMETIC:
        return if_exact((left, right), f"operator {name} on a noisy number")
    if name == "/" and not right.exact:
        return unknown("a quotient of noisy numbers")
    if left.unknown or right.unknown or left.type is None or right.type is None:
        return if_exact((left, right), "arithmetic with something that is not known to be a number")
    return ARITHMETIC[name](left, right)


def divisor(node: ast.A_Expr) -> Node:
    """The right side; post-processing has put NULLIF(…, 0) around what is divided by, but for a literal."""
    guarded = operator_name(node) in ("/", "%") and isinstance(node.rexpr, ast.A_Expr)
    return node.rexpr.lexpr if guarded else node.rexpr


def common_type(parts: Iterable[Dependence]) -> NumberType | None:
    types = {part.type for part in parts}
    if None in types:
        return None
    return NumberType.FRACTIONAL if NumberType.FRACTIONAL in types else NumberType.WHOLE


def summed(left: Dependence, right: Dependence, sign: int) -> Dependence:
    weights = dict(left.weights)
    for number, weight in right.weights:
        weights[number] = weights.get(number, Fraction(0)) + weight
    total = None if left.number is None or right.number is None else left.number + sign * right.number
    return Dependence(tuple(sorted(weights.items())), left.slack + right.slack, common_type((left, right)), total)


def product(left: Dependence, right: Dependence) -> Dependence:
    kind = common_type((left, right))
    if left.number is not None and right.number is not None:
        return Dependence(type=kind, number=left.number * right.number)
    if left.exact and right.exact:
        return Dependence(type=kind)
    if left.number is not None:
        left, right = right, left
    if right.number is not None:
        return replace(left.scaled(right.number), type=kind)
    return unknown("a factor that is no constant" if left.exact or right.exact else "a product of noisy numbers")


def quotient(left: Dependence, right: Dependence) -> Dependence:
    """By an exact number: by a noisy one is no matter of weights."""
    kind = common_type((left, right))
    if right.number == 0:
        return EXACT  # it has no value, whatever the noise
    if left.number is not None and right.number is not None:
        number = left.number / right.number
        return Dependence(type=kind, number=Fraction(int(number)) if kind is NumberType.WHOLE else number)
    if left.exact:
        return Dependence(type=kind)
    if right.number is None:
        return unknown("a divisor that is no constant")
    divided = replace(left.scaled(1 / right.number), type=kind)
    # whole numbers divide towards 0, which moves two of them apart by less than 1
    return replace(divided, slack=divided.slack + 1) if kind is NumberType.WHOLE else divided


ARITHMETIC: dict[str, Callable[[Dependence, Dependence], Dependence]] = {
    "+": lambda left, right: summed(left, right, 1),
    "-": lambda left, right: summed(left, right, -1),
    "*": product,
    "/": quotient,
}


def one_of(parts: list[Dependence]) -> Dependence:
    """One of several, or the extreme of them: off by no more than the largest of all their errors."""
    kind = common_type(parts)
    if kind is None or any(part.unknown for part in parts):
        return if_exact(parts, "a choice between things that are not known to be numbers")
    weights: dict[int, Fraction] = {}
    for number, weight in (entry for part in parts for entry in part.weights):
        weights[number] = max(weight, weights.get(number, Fraction(0)))
    slack = max((part.slack for part in parts), default=Fraction(0))
    return Dependence(tuple(sorted(weights.items())), slack, kind)


def listed(parts: list[Dependence]) -> Dependence:
    """A list: each element is off by no more than its own error, so by no more than all of them together."""
    if all(part.exact for part in parts) or any(part.unknown for part in parts):
        return if_exact(parts, "a list of noisy numbers")
    return replace(one_of([replace(part, type=NumberType.FRACTIONAL) for part in parts]), type=None)


def case(node: ast.CaseExpr, columns: Columns) -> Dependence:
    conditions = [part for part in (node.arg, *(when.expr for when in node.args)) if part is not None]
    tested = if_exact((dependence(part, columns) for part in conditions), "a CASE that depends on a noisy number")
    if not tested.exact:
        return tested
    results = [part for part in (*(when.result for when in node.args), node.defresult) if part is not None]
    return one_of([dependence(part, columns) for part in results if not is_null(part)])


def call(node: ast.FuncCall, columns: Columns) -> Dependence:
    name = function_name(node)
    if node.over is not None:
        return unknown("a window function over noisy rows")
    if name in AGGREGATES or node.agg_star or node.agg_order or node.agg_filter or node.agg_distinct:
        return unknown(f"{name}() over several rows of the answer")
    first, *others = [dependence(argument, columns) for argument in node.args or ()] or [EXACT]
    followed = first.unknown is None and first.type is not None
    if followed and name == "abs" and not others:
        return first.scaled(Fraction(1))
    if followed and name in ROUNDINGS and len(others) <= 1:
        digits = others[0].number if others else Fraction(0)
        if digits is not None and digits.denominator == 1 and abs(digits) <= MOST_DIGITS:
            return first.rounded(Fraction(10) ** -int(digits), NumberType.FRACTIONAL)
    why = f"what {name}() makes of it is not followed"
    return if_exact((first, *others), why) if name in FUNCTIONS else unknown(why)


def cast(node: ast.TypeCast, part: Dependence) -> Dependence:
    name = node.typeName.names[-1].sval
    kind = TYPES.get(name)
    if node.typeName.arrayBounds and part.type is None:
        return replace(part, aggregate=None)
    if name == "float4" and part.unknown is None:
        return unknown("a cast to real, which keeps six digits") if not part.exact else Dependence(type=kind)
    if kind is None or part.type is None:
        return replace(if_exact([part], f"a cast to {name}"), type=kind)
    if kind is NumberType.WHOLE:
        return part.rounded(Fraction(1), kind)
    limits = [constant(limit).number for limit in node.typeName.typmods or ()] if name == "numeric" else []
    if not limits:
        return replace(part, type=kind, key=None, aggregate=None)
    scale = limits[1] if len(limits) > 1 else Fraction(0)
    return unknown(f"a cast to {name}") if scale is None else part.rounded(Fraction(10) ** -int(scale), kind)
