"""Traces: what an expression lets be known of the columns that it is made of, and what it compares.

They say nothing about rows and do not change an answer; gate/trackers.py judges by them. `trace` and `comparisons` are
functions over the tree, with a rule for each type of node in the tables at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fractions import Fraction
from itertools import combinations
from math import ceil, floor
from typing import NamedTuple

from discreet.gate import tree
from discreet.gate.schema import TIMES, Family
from discreet.gate.tree import Constant, Expression, Rules, kept_of_origins, rule, rules

MICROSECONDS_A_DAY = 86_400_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NULL_TEST = "null"
PATTERN = "pattern"
DAY = frozenset(["year", "month", "day"])
# what date_trunc() leaves of a moment
TRUNCATED = {
    "year": ["year"],
    "quarter": ["year", "quarter"],
    "month": ["year", "month"],
    "week": ["year", "week"],
    "day": [*DAY],
    "hour": [*DAY, "hour"],
    "minute": [*DAY, "hour", "minute"],
}
PARTS_OF_TEXT = {"left", "right", "substr", "strpos", "length"}
ROUNDING = {"floor", "ceil", "round", "trunc", "bucket"}


class Item(NamedTuple):
    """A column of the table that stands at place `row` of the question; `part` of it, or all."""

    row: int
    column: str
    part: str = ""


class Cut(NamedTuple):
    """Where a range ends: before or after a position. In whole numbers "after n" is "before n + 1"."""

    position: Fraction | Expression | None
    after: bool
    whole: bool

    @property
    def one_value_on(self) -> Cut | None:
        """The end of the range that begins here and holds one value."""
        if isinstance(self.position, Fraction) and self.whole:
            return self._replace(position=self.position + 1)
        return None if self.after else self._replace(after=True)


@dataclass(frozen=True)
class Comparison:
    """A comparison by value of what two sides let be known; no items on the right: a constant.

    With a `cut` it is one end of a range, and counts only together with the other end.
    """

    left: frozenset[Item]
    right: frozenset[Item] = frozenset()
    cut: Cut | None = None


class Line(NamedTuple):
    """scale · column + offset; `whole` when the column holds whole numbers or days."""

    item: Item
    scale: Fraction
    offset: Fraction
    whole: bool

    @property
    def keeps_whole(self) -> bool:
        return self.whole and self.scale.denominator == self.offset.denominator == 1

    def cut(self, number: Fraction, after: bool) -> Comparison:
        """The end of a range of the column that the end `number` of a range of this line means."""
        position = (number - self.offset) / self.scale
        after = after != (self.scale < 0)
        if self.whole:
            position, after = Fraction(floor(position) + 1 if after else ceil(position)), False
        return Comparison(frozenset([self.item]), cut=Cut(position, after, self.whole))


@dataclass(frozen=True)
class Trace:
    """What an expression lets be known of columns when its value is known: `items`.

    `lines`: it is always one of these, or a constant; none when that is not known. `written`: it is text made of other
    text or of numbers, of which a pattern can mean one value: '#' || n || '#' LIKE '#7#%'.
    """

    items: frozenset[Item] = frozenset()
    lines: frozenset[Line] = frozenset()
    written: bool = False


NOTHING = Trace()


# -- what expressions let be known


@kept_of_origins
def trace(node: Expression) -> Trace:
    """What the expression lets be known of columns."""
    return TRACES[type(node)](node)


def of_column(node: tree.Column) -> Trace:
    item = Item(node.place, node.name)
    line = Line(item, Fraction(1), Fraction(0), node.family in (Family.INT, Family.DATE))
    return Trace(frozenset([item]), frozenset([line]))


def of_choice(values: Iterable[Expression]) -> Trace:
    varying = [found for found in map(trace, values) if found.items]
    known = all(found.lines for found in varying)
    among = frozenset(line for found in varying for line in found.lines if known)
    items = frozenset(item for found in varying for item in found.items)
    return Trace(items, among, any(found.written for found in varying))


def of_arithmetic(node: tree.Arithmetic) -> Trace:
    name, left, right = node.name, trace(node.left), trace(node.right)
    items, a, b = left.items | right.items, exact(node.left), exact(node.right)
    if name == "%":
        bounds = node.left.interval
        if b is not None and bounds is not None and bounds.reach < abs(b):
            return left
        return Trace(parts(items, ["remainder"]))
    if name == "/" and node.family is Family.INT and (b is None or abs(b) != 1):
        return Trace(parts(items, ["quotient"]))
    lines: Iterable[Line] = ()
    if b is not None and name in ("+", "-"):
        lines = (line._replace(offset=line.offset + (b if name == "+" else -b)) for line in left.lines)
    elif b and name in ("*", "/"):
        lines = (scaled(line, b if name == "*" else 1 / b) for line in left.lines)
    elif a is not None and name in ("+", "-"):
        turned = (scaled(line, Fraction(1 if name == "+" else -1)) for line in right.lines)
        lines = (line._replace(offset=line.offset + a) for line in turned)
    elif a and name == "*":
        lines = (scaled(line, a) for line in right.lines)
    return Trace(items, frozenset(lines))


def of_negative(node: tree.Negative) -> Trace:
    found = trace(node.argument)
    return Trace(found.items, frozenset(scaled(line, Fraction(-1)) for line in found.lines))


def of_concatenation(node: tree.Concatenation) -> Trace:
    return Trace(trace(node.left).items | trace(node.right).items, written=True)


def of_cast(node: tree.Cast) -> Trace:
    found, source, target = trace(node.argument), node.argument.family, node.family
    if source is target:
        return found
    if target is Family.DATE:
        return Trace(parts(found.items, DAY))
    if target is Family.INT and source is not Family.BOOL:
        return rounded(found, "rounded")
    if target is Family.TEXT:
        return Trace(found.items, written=True)
    return Trace(found.items, frozenset() if target is Family.BOOL else found.lines)


def of_call(node: tree.Call) -> Trace:
    name, found = node.name, [trace(argument) for argument in node.arguments]
    items = frozenset(item for one in found for item in one.items)
    if name == "abs":
        straight = found[0].lines
        return Trace(items, straight | {scaled(line, Fraction(-1)) for line in straight})
    if name in ("extract", "date_part"):
        fields = parts(items, [field_of(node)])
        lines = frozenset(Line(each, Fraction(1), Fraction(0), True) for each in fields)
        return Trace(fields, lines if len(fields) == 1 else frozenset())
    if name == "date_trunc":
        field = field_of(node)
        if node.arguments[1].family is Family.DATE and field in ("day", "hour", "minute"):
            return found[1]
        return Trace(parts(items, TRUNCATED.get(field, [field])))
    if name in ROUNDING:
        fine = name != "bucket" or (exact(node.arguments[1]) or 2) <= 1
        label = "quotient" if name == "bucket" else "rounded"
        return rounded(found[0], label) if fine else Trace(parts(items, [label]))
    written = any(one.written for one in found)
    whole = name not in PARTS_OF_TEXT or written
    return Trace(items if whole else parts(items, ["text"]), written=written)


def field_of(node: tree.Call) -> str:
    field = node.arguments[0]
    assert isinstance(field, Constant) and field.content is not None
    return field.content


def rounded(found: Trace, label: str) -> Trace:
    """Rounding changes nothing where the values are whole numbers."""
    whole = bool(found.lines) and all(line.keeps_whole for line in found.lines)
    return found if whole else Trace(parts(found.items, [label]))


def scaled(line: Line, by: Fraction) -> Line:
    return line._replace(scale=line.scale * by, offset=line.offset * by)


def parts(items: Iterable[Item], labels: Iterable[str]) -> frozenset[Item]:
    """What is known of the columns once only parts of them are; a part stays the part that it is."""
    labels = list(labels)
    return frozenset(item if item.part else item._replace(part=label) for item in items for label in labels)


def exact(value: Expression) -> Fraction | None:
    """The number, or the days since 1970, that a constant stands for."""
    if trace(value).items:
        return None
    if isinstance(value, Constant) and value.untyped:
        text = value.content or ""
        return Fraction(text) if re.fullmatch(r"\s*[+-]?\d+(\.\d+)?\s*", text) else None
    if value.family not in TIMES:
        interval = value.interval
        return interval.lower if interval is not None and interval.lower == interval.upper else None
    if not isinstance(value, Constant) or not isinstance(value.value, date):
        return None
    moment = value.value if isinstance(value.value, datetime) else datetime.combine(value.value, datetime.min.time())
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - EPOCH
    return Fraction(since.days) + Fraction(since.seconds * 10**6 + since.microseconds, MICROSECONDS_A_DAY)


# -- comparisons


@kept_of_origins
def comparisons(node: Expression) -> frozenset[Comparison]:
    """All comparisons that the expression makes, in the columns of derived tables too."""
    rule = COMPARES.get(type(node))
    found = frozenset(rule(node) if rule is not None else ())
    if type(node) not in TRACES:
        raise TypeError(type(node).__name__)
    if isinstance(node, tree.SamePerson | tree.HasPerson):  # it compares people with themselves
        return found
    return found.union(*map(comparisons, node.parts))


def all_comparisons(nodes: Iterable[Expression]) -> frozenset[Comparison]:
    return frozenset[Comparison]().union(*map(comparisons, nodes))


def compared(name: str, left: Expression, right: Expression) -> list[Comparison]:
    """The comparisons that left `name` right makes, with name one of = <> < <= > >=."""
    here, there = trace(left), trace(right)
    mine, theirs = here.items, there.items
    if mine & theirs:
        return [Comparison(mine | theirs)]
    if name in ("=", "<>") or here.written or there.written:
        return [Comparison(mine, theirs)]
    after = name in ("<=", ">")
    if not mine or (theirs and sorted(theirs) < sorted(mine)):
        left, right, mine, theirs, after = right, left, theirs, mine, not after
    number, lines = exact(right), trace(left).lines
    if number is not None and lines:
        return [line.cut(number, after) for line in lines]
    return [Comparison(mine, theirs, Cut(None if theirs else right, after, False))]


def in_column(node: tree.Column) -> list[Comparison]:
    """A boolean may decide, wherever it stands."""
    return [Comparison(trace(node).items)] if node.family is Family.BOOL else []


def in_output(node: tree.Output) -> list[Comparison]:
    own = [Comparison(trace(node).items)] if node.family is Family.BOOL else []
    return [*comparisons(node.origin), *own]


def in_either(node: tree.Either) -> list[Comparison]:
    """Its two origins stand for each other."""
    left, right = trace(node.left).items, trace(node.right).items
    return [Comparison(left, right)] if left and right else []


def in_compare(node: tree.Compare) -> list[Comparison]:
    return [] if node.left.is_null or node.right.is_null else compared(node.name, node.left, node.right)


def in_distinct(node: tree.Distinct) -> list[Comparison]:
    if node.left.is_null or node.right.is_null:
        return [tested_for_null(node.left), tested_for_null(node.right)]
    return compared("=", node.left, node.right)


def in_like(node: tree.Like) -> list[Comparison]:
    """By value when the pattern has no wildcards."""
    found = trace(node.argument)
    wild = re.search("[%_]", re.sub(r"\\.", "", node.pattern)) and not found.written
    return [Comparison(parts(found.items, [PATTERN]) if wild else found.items)]


def in_arithmetic(node: tree.Arithmetic) -> list[Comparison]:
    """A divisor is compared with 0.

    A column that stands twice in a sum or product may be compared by it with any number: (x - 6) * (8 - x) is 1 for 7
    only.
    """
    if node.name in ("/", "%"):
        return [Comparison(trace(node.right).items)]
    mine, theirs = ({Item(item.row, item.column) for item in trace(side).items} for side in (node.left, node.right))
    return [Comparison(frozenset(mine & theirs))]


def in_cast(node: tree.Cast) -> list[Comparison]:
    """A number becomes true unless it is 0."""
    return [Comparison(trace(node.argument).items)] if node.family is Family.BOOL else []


def in_choice(node: tree.Choice) -> list[Comparison]:
    """The ranges of GREATEST and LEAST end where one value overtakes another."""
    if node.word == "COALESCE":
        return []
    return [each for a, b in combinations(node.values, 2) for each in compared("<", a, b)]


def in_call(node: tree.Call) -> list[Comparison]:
    """sign() compares with 0, and abs() where it can make 0 of two columns; the range of sqrt() ends at 0."""
    found = trace(node.arguments[0])
    if node.name == "sign" or (node.name == "abs" and not found.lines):
        return [Comparison(found.items)]
    return [line.cut(Fraction(0), False) for line in found.lines] if node.name == "sqrt" else []


def tested_for_null(value: Expression) -> Comparison:
    return Comparison(frozenset(item._replace(part=NULL_TEST) for item in trace(value).items))


# -- the rules: a node that is in none of these tables is refused


def nothing(node: Expression) -> Trace:
    """What is true or false lets nothing be known but what it compares; nor do constants."""
    return NOTHING


def of_argument(
    node: tree.Clamp | tree.KnownYears | tree.Beginning | tree.Canonical | tree.Conversion,
) -> Trace:
    """It is the same value, or none."""
    return trace(node.argument)


TRACES: Rules[Trace] = rules(
    rule(tree.Column, of_column),
    rule(tree.Output, lambda node: trace(node.origin)),
    rule(tree.Either, lambda node: of_choice(node.parts)),
    rule(tree.Constant, nothing),
    rule(tree.Logic, nothing),
    rule(tree.NullTest, nothing),
    rule(tree.TruthTest, nothing),
    rule(tree.Compare, nothing),
    rule(tree.SamePerson, nothing),
    rule(tree.HasPerson, nothing),
    rule(tree.Distinct, nothing),
    rule(tree.Like, nothing),
    rule(tree.NullIf, lambda node: trace(node.result)),
    rule(tree.Case, lambda node: of_choice(node.results)),
    rule(tree.Choice, lambda node: of_choice(node.values)),
    rule(tree.Arithmetic, of_arithmetic),
    rule(tree.Negative, of_negative),
    rule(tree.Concatenation, of_concatenation),
    rule(tree.Call, of_call),
    rule(tree.Cast, of_cast),
    rule(tree.Clamp, of_argument),
    rule(tree.KnownYears, of_argument),
    rule(tree.Beginning, of_argument),
    rule(tree.Canonical, of_argument),
    rule(tree.Conversion, of_argument),
)

COMPARES: Rules[Sequence[Comparison]] = rules(
    rule(tree.Column, in_column),
    rule(tree.Output, in_output),
    rule(tree.Either, in_either),
    rule(tree.Compare, in_compare),
    rule(tree.Distinct, in_distinct),
    rule(tree.NullTest, lambda node: [tested_for_null(node.argument)]),
    rule(tree.Like, in_like),
    rule(tree.Arithmetic, in_arithmetic),
    rule(tree.Cast, in_cast),
    rule(tree.Choice, in_choice),
    rule(tree.Call, in_call),
)
