"""Whether an expression can fail: of one row that made it fail, the error would tell.

`is_total` is true only of trees whose SQL, as printer.py writes it, gives a value or NULL on every row that a table can
hold, with NaN, infinities, dates of any year and texts of any length. That is shown node by node: each rule below says
what the parts of a node must be for its SQL not to fail, when the parts do not. The rules trust no interval that
nothing enforces: one of a `raw` expression is a wish. A node without a rule is not total.

The readers of questions build total trees only; the planner asks again, so that a mistake in one of them becomes a
refusal and never an oracle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from discreet.gate import tree
from discreet.gate.refusal import refuse
from discreet.gate.schema import NUMBERS, TIMES, Family
from discreet.gate.tree import LARGEST_INT, Constant, Duration, Expression, Rules, is_wide, kept, rule, rules

EXACT = frozenset([Family.INT, Family.NUMERIC])
TEXT_CALLS = {"lower", "upper", "btrim", "ltrim", "rtrim", "length", "left", "right", "substr", "strpos"}
NUMBER_CALLS = {"abs", "sign", "ceil", "floor", "round", "trunc", "sqrt"}
MOMENT_CALLS = {"extract", "date_part", "date_trunc"}


@kept
def is_total(node: Expression) -> bool:
    """Whether no row can make the expression fail."""
    rule = RULES.get(type(node))
    return rule is not None and all(map(is_total, node.parts)) and rule(node)


def refuse_partial(expressions: Iterable[Expression], rows: tree.Rows) -> None:
    """Refuses a question of which a row could make an expression fail, here or in the relation below."""
    if not all(map(is_total, (*expressions, *expressions_of(rows)))):
        refuse("an expression that could fail on a row")


def expressions_of(rows: tree.Rows) -> Iterator[Expression]:
    """All expressions that a relation evaluates."""
    if isinstance(rows, tree.Join):
        yield from rows.conditions
        yield from expressions_of(rows.left)
        yield from expressions_of(rows.right)
    elif isinstance(rows, tree.Derived):
        yield from expressions_of_query(rows.query)


def expressions_of_query(query: tree.Map | tree.Union) -> Iterator[Expression]:
    if isinstance(query, tree.Union):
        yield from expressions_of_query(query.left)
        yield from expressions_of_query(query.right)
        return
    yield from query.conditions
    yield from (value for _, value in query.columns)
    if query.unit is not None:
        yield query.unit
    yield from expressions_of(query.rows)


# -- what a part must be


def is_bounded(value: Expression) -> bool:
    """A number that its SQL keeps within bounds of at most 60 digits: neither NaN nor infinite."""
    enforced = value.raw is None and value.interval is not None and value.interval.usable
    return value.family in NUMBERS and enforced


def is_known_moment(value: Expression) -> bool:
    """A date or timestamp that its SQL keeps within the years 1 to 9999."""
    return value.family in TIMES and value.raw is None


def is_short_text(value: Expression) -> bool:
    """The beginning of a text."""
    return isinstance(value, tree.Beginning)


def meet(values: tuple[Expression, ...]) -> bool:
    """Whether PostgreSQL brings the values to one type by casts that cannot fail, or by none.

    A numeric of 400 digits has no double, a date of the year 5000000 no timestamp: a choice between such values fails.
    """
    families = {value.family for value in values if not value.is_null}
    return len(families) <= 1 or families <= EXACT or all(map(is_known_moment, values))


# -- the rules


def always(node: Expression) -> bool:
    return True


def compares(node: tree.Compare | tree.Distinct) -> bool:
    """PostgreSQL compares dates with timestamps without casting them."""
    return (
        node.left.is_null or node.right.is_null or meet(node.parts) or all(part.family in TIMES for part in node.parts)
    )


def same_person(node: tree.SamePerson) -> bool:
    return meet(node.parts)


def chooses(node: tree.Case | tree.Choice) -> bool:
    values = node.results if isinstance(node, tree.Case) else node.values
    moments = all(map(is_known_moment, (value for value in values if not value.is_null)))
    return meet(values) and (node.family not in TIMES or moments)


def computes(node: tree.Arithmetic) -> bool:
    left, right = node.left, node.right
    if left.family not in TIMES:
        usable = node.interval is not None and node.interval.usable
        return is_bounded(left) and is_bounded(right) and usable and node.name in ("+", "-", "*", "/", "%")
    if right.family in TIMES:
        return left.family is right.family is Family.DATE and is_known_moment(left) and is_known_moment(right)
    days = right.constant and right.interval is not None and right.family is Family.INT
    return is_known_moment(left) and (days or (isinstance(right, Constant) and isinstance(right.value, Duration)))


def calls(node: tree.Call) -> bool:
    first, *others = node.arguments
    if node.name in MOMENT_CALLS:
        return first.constant and is_known_moment(others[0])
    if node.name == "bucket":
        step = others[0].interval
        return is_bounded(first) and others[0].constant and step is not None and step.lower > 0
    if node.name == "strpos":
        return is_short_text(first) and is_short_text(others[0])
    ready = is_bounded(first) if node.name in NUMBER_CALLS else is_short_text(first) and node.name in TEXT_CALLS
    return ready and all(other.constant for other in others)


def casts(node: tree.Cast) -> bool:
    value, target = node.argument, node.family
    if value.family in TIMES:
        return target in TIMES | {Family.TEXT} and is_known_moment(value)
    if target is Family.INT:
        small = value.interval is not None and value.interval.reach < LARGEST_INT
        return value.family is Family.BOOL or (is_bounded(value) and small)
    if target is Family.BOOL:
        return value.family is Family.INT
    if target is Family.TEXT:
        return True  # of types that are built in, or by discreet._text
    return value.family in NUMBERS and target in NUMBERS


def converts(node: tree.Conversion) -> bool:
    value = node.argument
    if node.to == "text":
        return True
    return value.family in NUMBERS and (node.to != "int8" or (value.family is Family.INT and not is_wide(value)))


RULES: Rules[bool] = rules(
    rule(tree.Column, always),
    rule(tree.Output, always),  # its origin is asked where it is evaluated
    rule(tree.SystemColumn, always),
    rule(tree.Constant, always),
    rule(tree.Logic, always),
    rule(tree.NullTest, always),
    rule(tree.TruthTest, always),
    rule(tree.Compare, compares),
    rule(tree.SamePerson, same_person),
    rule(tree.HasPerson, always),
    rule(tree.Distinct, compares),
    rule(tree.Like, lambda node: is_short_text(node.argument)),
    rule(tree.NullIf, always),
    rule(tree.Case, chooses),
    rule(tree.Choice, chooses),
    rule(tree.Arithmetic, computes),
    rule(tree.Negative, lambda node: is_bounded(node.argument)),
    rule(tree.Concatenation, lambda node: all(part.is_null or part.family is Family.TEXT for part in node.parts)),
    rule(tree.Call, calls),
    rule(tree.Cast, casts),
    rule(tree.Conversion, converts),
    rule(tree.Clamp, lambda node: node.family in NUMBERS and node.interval is not None and node.interval.usable),
    rule(tree.KnownYears, lambda node: node.family in TIMES),
    rule(tree.Beginning, lambda node: node.family is Family.TEXT),
    rule(tree.Canonical, always),
    rule(tree.Own, always),
)
