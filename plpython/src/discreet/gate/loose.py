"""Bounds without a declaration: the years 1 to 9999 alone bound how far two moments are apart.

They are enough for a key, a condition, or arithmetic that cannot overflow: GROUP BY (ordered - first_order) / 30. In a
sum they would mean noise for ten thousand years. So what is added up or ranked needs bounds at either end that were
declared or written, and `is_loose` tells where they are missing.
"""

from __future__ import annotations

from collections.abc import Iterable

from discreet.gate import tree
from discreet.gate.moments import bounds_of_difference, is_interval
from discreet.gate.schema import TIMES
from discreet.gate.tree import Expression, Rules, kept_of_origins, rule, rules

# whether the lower end of its interval, and the upper one, are loose
Ends = tuple[bool, bool]
FAST: Ends = (False, False)
# functions whose results are as far apart as their arguments
AS_FAR = frozenset(["abs", "ceil", "floor", "round", "trunc", "bucket", "sqrt", "cbrt", "power", "exp"])


def is_loose(value: Expression) -> bool:
    return any(loose_ends(value))


@kept_of_origins
def loose_ends(value: Expression) -> Ends:
    found = LOOSE.get(type(value))
    return FAST if found is None else found(value)


def any_of(values: Iterable[Expression]) -> Ends:
    ends = [loose_ends(value) for value in values]
    return any(lower for lower, _ in ends), any(upper for _, upper in ends)


def both_of(values: Iterable[Expression]) -> Ends:
    loose = any(any_of(values))
    return loose, loose


def of_arithmetic(node: tree.Arithmetic) -> Ends:
    if node.left.family in TIMES and node.right.family in TIMES:
        loose = bounds_of_difference(node.left, node.right) is None
        return loose, loose
    if node.name == "%":  # a remainder is as far from 0 as its divisor, at most
        return both_of([node.right])
    return any_of(node.parts) if node.name == "+" else both_of(node.parts)


def of_call(node: tree.Call) -> Ends:
    if node.name in ("extract", "date_part") and is_interval(node.arguments[1]):
        loose = node.arguments[1].interval is None
        return loose, loose
    return both_of(node.arguments) if node.name in AS_FAR else FAST


def of_choice(node: tree.Choice) -> Ends:
    """The least of all is not above any of them."""
    lower, upper = any_of(node.values)
    ends = [loose_ends(value) for value in node.values]
    if node.word == "LEAST":
        upper = all(end for _, end in ends)
    if node.word == "GREATEST":
        lower = all(end for end, _ in ends)
    return lower, upper


def of_within(node: tree.Within) -> Ends:
    return FAST if node.argument is None or node.name == "count" else both_of([node.argument])


LOOSE: Rules[Ends] = rules(
    rule(tree.Output, lambda node: loose_ends(node.origin)),
    rule(tree.Arithmetic, of_arithmetic),
    rule(tree.Call, of_call),
    rule(tree.Choice, of_choice),
    rule(tree.Within, of_within),
    rule(tree.Case, lambda node: any_of(node.results)),
    rule(tree.NullIf, lambda node: loose_ends(node.result)),
    rule(tree.Either, lambda node: any_of(node.parts)),
    rule(tree.Scalar, lambda node: loose_ends(node.result)),
    rule(tree.Ordered, lambda node: loose_ends(node.argument)),
    rule(tree.Placed, lambda node: any_of(node.arguments)),
    rule(tree.Negative, lambda node: both_of(node.parts)),
    rule(tree.Cast, lambda node: loose_ends(node.argument)),
    rule(tree.Conversion, lambda node: loose_ends(node.argument)),
    rule(tree.Clamp, lambda node: loose_ends(node.argument)),
    rule(tree.Canonical, lambda node: loose_ends(node.argument)),
)
