"""Whether an expression can be NULL: then NULL is a group of its own where it is a group key.

A row says no more than its value does here: an expression that is never NULL by these rules is NULL in no row. Two
things are left aside, and docs/limits.md says so: dates outside the years 1 to 9999, and NaN and the infinities where a
number is clamped. They have no value, and an answer has no group for them.
"""

from __future__ import annotations

from discreet.gate import tree
from discreet.gate.schema import NUMBERS, TIMES, Family
from discreet.gate.tree import Expression, Rules, kept, rule, rules

# NULL just where an argument is
STRICT_CALLS = frozenset((
    "abs", "sign", "ceil", "floor", "round", "trunc", "bucket", "lower", "upper", "btrim", "ltrim", "rtrim", "length",
    "left", "right", "substr", "strpos", "extract", "date_part", "date_trunc", "initcap", "reverse", "md5",
    "octet_length", "lpad", "rpad", "split_part", "replace", "translate", "starts_with", "regexp_replace",
    "regexp_count", "regexp_instr", "overlay", "cbrt", "cardinality", "width_bucket", "to_char", "age",
))  # fmt: skip


@kept
def may_be_null(node: Expression) -> bool:
    """Whether NULL is possible; of a type of nodes without a rule, it is."""
    answer = NULLNESS.get(type(node))
    return True if answer is None else answer(node)


def declared(node: Expression) -> bool:
    return node.nullable


def never(node: Expression) -> bool:
    return False


def always(node: Expression) -> bool:
    return True


def any_part(node: Expression) -> bool:
    return any(map(may_be_null, node.parts))


def computed(node: tree.Arithmetic) -> bool:
    """What is divided by 0, and a date that leaves the years known, has no value."""
    divisor = node.right.interval if node.name in ("/", "%") else None
    by_zero = node.name in ("/", "%") and (divisor is None or divisor.lower <= 0 <= divisor.upper)
    return by_zero or node.family in TIMES or any_part(node)


def called(node: tree.Call) -> bool:
    if node.name in ("concat", "concat_ws"):
        return False
    return node.name not in STRICT_CALLS or any_part(node)


def cast(node: tree.Cast) -> bool:
    """Of casts between numbers, and to text, nothing is lost; what a text says may be no value of another type."""
    kept_whole = node.family is Family.TEXT or (node.argument.family in NUMBERS and node.family in NUMBERS)
    return not kept_whole or any_part(node)


NULLNESS: Rules[bool] = rules(
    rule(tree.Column, declared),
    rule(tree.Output, declared),
    rule(tree.Either, declared),
    rule(tree.Given, lambda node: any(value.is_null for value in node.values)),
    rule(tree.SystemColumn, never),
    rule(tree.Constant, lambda node: node.is_null),
    rule(tree.Logic, any_part),
    rule(tree.NullTest, never),
    rule(tree.TruthTest, never),
    rule(tree.Compare, any_part),
    rule(tree.SamePerson, any_part),
    rule(tree.SameParent, any_part),
    rule(tree.HasPerson, never),
    rule(tree.Within, lambda node: node.name != "count"),
    rule(tree.Ordered, always),
    rule(tree.Placed, lambda node: node.name not in ("row_number", "rank", "dense_rank", "ntile")),
    rule(tree.Exists, never),
    rule(tree.Among, always),
    rule(tree.Quantified, always),
    rule(tree.Scalar, always),
    rule(tree.Released, lambda node: node.text is None),
    rule(tree.Distinct, never),
    rule(tree.Like, any_part),
    rule(tree.Matches, any_part),
    rule(tree.AnyElement, always),
    rule(tree.NullIf, always),
    rule(tree.Case, lambda node: any(map(may_be_null, node.results))),
    rule(tree.Choice, lambda node: all(map(may_be_null, node.values))),
    rule(tree.Arithmetic, computed),
    rule(tree.Negative, any_part),
    rule(tree.Concatenation, any_part),
    rule(tree.Call, called),
    rule(tree.Cast, cast),
    rule(tree.Conversion, any_part),
    rule(tree.Clamp, any_part),
    rule(tree.KnownYears, any_part),
    rule(tree.Beginning, any_part),
    rule(tree.Canonical, any_part),
    rule(tree.Together, never),
    rule(tree.Own, always),
)
