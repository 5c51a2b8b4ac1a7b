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
from discreet.gate.nullness import may_be_null
from discreet.gate.patterns import is_whole_text
from discreet.gate.schema import TIMES, Family
from discreet.gate.tree import Constant, Expression, Rules, kept_of_origins, rule, rules

MICROSECONDS_A_DAY = 86_400_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NULL_TEST = "null"
PATTERN = "pattern"
RANK = "rank"
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
PARTS_OF_TEXT = {"left", "right", "substr", "strpos", "length", "octet_length", "split_part", "starts_with"}
# text made of other text, of which a pattern can mean one value
MADE_TEXT = {
    "replace",
    "translate",
    "concat",
    "concat_ws",
    "lpad",
    "rpad",
    "regexp_replace",
    "regexp_substr",
    "regexp_match",
    "regexp_split_to_array",
    "overlay",
    "substring",
}
# functions that have a value where an argument has none
OF_NULL = {"concat", "concat_ws"}
# aggregates within a person that do not compare values, and those that copies of rows do not change
UNSPREAD = {"count", "sum", "avg", "min", "max", "bool_and", "bool_or", "every"}
SAME_OF_COPIES = {"avg", "min", "max", "bool_and", "bool_or", "every"}
ROUNDING = {"floor", "ceil", "round", "trunc", "bucket"}
# fields that let all of a moment be known, and what the others let be known
WHOLE_FIELDS = {"epoch", "julian"}
SAME_FIELDS = {"isoyear": "year", "milliseconds": "second", "microseconds": "second"}
# strides of date_bin(), in days, and what is known of a moment that is cut to a multiple of them
STRIDES = ((28, ["year", "month"]), (7, ["year", "week"]), (1, [*DAY]), (Fraction(1, 24), [*DAY, "hour"]))
# parts of a format of to_char(), and what they let be known
FORMATS = {
    "YYYY": "year", "IYYY": "year", "YY": "year", "Q": "quarter", "MM": "month", "MON": "month", "MONTH": "month",
    "WW": "week", "IW": "week", "DD": "day", "DY": "dow", "DAY": "dow", "D": "dow", "ID": "dow", "DDD": "doy",
    "HH24": "hour", "HH12": "hour", "HH": "hour", "MI": "minute", "AM": "hour", "PM": "hour", "FM": "",
}  # fmt: skip


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

    With a `cut` it is one end of a range, and counts only together with the other end. `joint`: a range of what is made
    of several columns, which depends on all of them: for a unique key that has two of them or more, it counts.
    """

    left: frozenset[Item]
    right: frozenset[Item] = frozenset()
    cut: Cut | None = None
    joint: bool = False


class Line(NamedTuple):
    """scale · column + offset; `whole` when the column holds whole numbers or days."""

    item: Item
    scale: Fraction
    offset: Fraction
    whole: bool

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
    if node.family is Family.OTHER:  # an interval, which no number is compared with
        return Trace(items)
    if name == "%":
        bounds = node.left.interval
        if b is not None and bounds is not None and bounds.reach < abs(b):
            return left
        return Trace(parts(items, ["remainder"]))
    if name == "/" and node.family is Family.INT and (b is None or not is_fine(left, abs(b))):
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
    if source is Family.TEXT:  # a range of whole numbers may hold one text
        return Trace(found.items, written=True)
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
        field = field_of(node)
        if node.arguments[1].family not in TIMES or field in WHOLE_FIELDS:
            return Trace(items)
        fields = parts(items, [SAME_FIELDS.get(field, field)])
        lines = frozenset(Line(each, Fraction(1), Fraction(0), True) for each in fields)
        return Trace(fields, lines if len(fields) == 1 else frozenset())
    if name == "date_trunc":
        field = field_of(node)
        if node.arguments[1].family is Family.DATE and field in ("day", "hour", "minute"):
            return found[1]
        if field in ("second", *SAME_FIELDS):
            return Trace(items)
        return Trace(parts(items, TRUNCATED.get(field, [field])))
    if name in ROUNDING:
        given = exact(node.arguments[1]) if len(node.arguments) > 1 else Fraction(0)
        if name == "bucket":
            return Trace(parts(items, ["quotient"])) if given is None else rounded(found[0], "quotient", given)
        return rounded(found[0], "rounded", Fraction(1, 10 ** min(max(int(given or 0), 0), 100)))
    if name == "width_bucket":
        low, high, count = (exact(each) or Fraction(0) for each in node.arguments[1:])
        return rounded(found[0], "quotient", abs(high - low) / count) if count else Trace(parts(items, ["quotient"]))
    if name == "date_bin":
        return Trace(of_stride(items, node.arguments[0]))
    if name == "to_char":
        return Trace(of_format(items, node.arguments[1]), written=True)
    written = name in MADE_TEXT or any(one.written for one in found)
    whole = name not in PARTS_OF_TEXT or written
    return Trace(items if whole else parts(items, ["text"]), written=written)


def of_within(node: tree.Within) -> Trace:
    """Of a person with one row, least, greatest, sum and mean are the value itself; counts tell what they count by."""
    if node.argument is None or node.name not in ("min", "max", "sum", "avg"):
        return NOTHING
    return trace(node.argument)


def of_ordered(node: tree.Ordered) -> Trace:
    """The value of a row, or text made of several; and something of what the rows are ordered by."""
    found = trace(node.argument)
    ordered = parts((item for key in node.order for item in trace(key.value).items), [RANK])
    return Trace(found.items | ordered, found.lines, found.written or node.name == "string_agg")


def of_placed(node: tree.Placed) -> Trace:
    """The value of a row, which is that of another row; and something of what the rows are ordered by."""
    ordered = parts((item for key in node.window.order for item in trace(key.value).items), [RANK])
    found = of_choice(node.arguments)
    return Trace(found.items | ordered, found.lines, found.written)


def of_stride(items: frozenset[Item], stride: Expression) -> frozenset[Item]:
    """What is known of moments that are cut to multiples of a stride."""
    held = stride.value if isinstance(stride, Constant) else None
    assert isinstance(held, tree.Duration)
    days = held.days + Fraction(held.microseconds, MICROSECONDS_A_DAY)
    known = [labels for least, labels in STRIDES if days >= least]
    return parts(items, known[0]) if known else items


def of_format(items: frozenset[Item], form: Expression) -> frozenset[Item]:
    """What a format shows of a moment; one with parts that are not known here, all of it."""
    words = re.findall("[A-Z0-9]+", ((form.content if isinstance(form, Constant) else None) or "?").upper())
    if not words or any(word not in FORMATS for word in words):
        return items
    labels = {FORMATS[word] for word in words} - {""}
    return parts(items, labels) if labels else items


def field_of(node: tree.Call) -> str:
    field = node.arguments[0]
    assert isinstance(field, Constant) and field.content is not None
    return field.content


def rounded(found: Trace, label: str, step: Fraction = Fraction(1)) -> Trace:
    """What is left of a value that is rounded to steps."""
    return found if is_fine(found, step) else Trace(parts(found.items, [label]))


def is_fine(found: Trace, step: Fraction) -> bool:
    """Whether rounding to steps tells any two values apart: of whole numbers, as far apart as a step is wide."""
    return bool(found.lines) and all(line.whole and abs(line.scale) >= step for line in found.lines)


def scaled(line: Line, by: Fraction) -> Line:
    return line._replace(scale=line.scale * by, offset=line.offset * by)


def parts(items: Iterable[Item], labels: Iterable[str]) -> frozenset[Item]:
    """What is known of the columns once only parts of them are; a part stays the part that it is."""
    labels = list(labels)
    return frozenset(item if item.part else item._replace(part=label) for item in items for label in labels)


def exact(value: Expression) -> Fraction | None:
    """The number, or the days since 1970, that a constant stands for."""
    if trace(value).items or is_chosen(value):
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
    if isinstance(node, tree.SamePerson | tree.SameParent | tree.HasPerson):  # it compares people with themselves
        return found
    return found.union(*map(comparisons, node.parts))


def all_comparisons(nodes: Iterable[Expression]) -> frozenset[Comparison]:
    return frozenset[Comparison]().union(*map(comparisons, nodes))


def compared(name: str, left: Expression, right: Expression) -> list[Comparison]:
    """The comparisons that left `name` right makes, with name one of = <> < <= > >=."""
    sides = left, right
    here, there = trace(left), trace(right)
    mine, theirs = here.items, there.items
    if mine & theirs or (mine and theirs and any(map(has_alternatives, sides))):
        return [Comparison(mine | theirs)]
    if name in ("=", "<>") or here.written or there.written or any(map(is_chosen, sides)) or any(map(is_sum, sides)):
        return [Comparison(mine, theirs)]
    after = name in ("<=", ">")
    if not mine or (theirs and sorted(theirs) < sorted(mine)):
        left, right, mine, theirs, after = right, left, theirs, mine, not after
    number, lines = exact(right), trace(left).lines
    if number is not None and lines:
        return [line.cut(number, after) for line in lines]
    end = Comparison(mine, theirs, Cut(None if theirs else right, after, False))
    return [end, Comparison(mine | theirs, joint=True)]


@kept_of_origins
def is_chosen(node: Expression) -> bool:
    """Whether a released number, or one that the question lists, is part of it.

    Two of them, which may be any, can be the ends of one value's range.
    """
    below = (node.origin,) if isinstance(node, tree.Output) else node.parts
    return isinstance(node, tree.Released | tree.Given) or any(map(is_chosen, below))


@kept_of_origins
def is_sum(node: Expression) -> bool:
    """Whether a sum of a person's rows is part of it: that of copies of one row has one value in a wide range."""
    below = (node.origin,) if isinstance(node, tree.Output) else node.parts
    own = isinstance(node, tree.Within) and node.name == "sum" and bool(trace(node).items)
    return own or any(map(is_sum, below))


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


def in_matches(node: tree.Matches) -> list[Comparison]:
    """By value when the pattern may mean a whole text."""
    found = trace(node.argument)
    part = not is_whole_text(node.pattern) and not found.written
    return [Comparison(parts(found.items, [PATTERN]) if part else found.items)]


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
    found = trace(node.arguments[-1 if node.name == "log" else 0])
    if node.name in ("ln", "log", "power"):
        return [line.cut(Fraction(0), after) for line in found.lines for after in (False, True)]
    if node.name == "width_bucket":
        ends = [end for end in map(exact, node.arguments[1:3]) if end is not None]
        return [line.cut(end, False) for line in found.lines for end in ends]
    if node.name in ("regexp_count", "regexp_instr", "starts_with"):
        pattern = node.arguments[1].content if isinstance(node.arguments[1], Constant) else None
        whole = found.written or (node.name != "starts_with" and is_whole_text(pattern or ""))
        return [Comparison(found.items if whole else parts(found.items, [PATTERN]))]
    if node.name == "sign" or (node.name == "abs" and not found.lines):
        return [Comparison(found.items)]
    return [line.cut(Fraction(0), False) for line in found.lines] if node.name == "sqrt" else []


def in_within(node: tree.Within) -> list[Comparison]:
    """A count of values tells where there are none; distinct values, and those of a spread, are told apart."""
    value, found = node.argument, in_window(node.window)
    if value is not None and (node.distinct or node.name not in UNSPREAD):
        found += told_apart([value])
    return [*found, tested_for_null(value)] if node.name == "count" and value is not None else found


def in_window(window: tree.Window | None) -> list[Comparison]:
    """Rows are told apart by what they are partitioned and ordered by."""
    return [] if window is None else told_apart(window.parts)


def in_subquery(node: tree.Exists | tree.Quantified | tree.Among | tree.Scalar) -> list[Comparison]:
    return told_apart(tree.telling_apart_below(node.query))


def told_apart(values: Iterable[Expression]) -> list[Comparison]:
    """What is compared where rows of one person are told apart by these values.

    A value that is made of one column alone differs between two rows just where their columns do. Of other values one
    row may have that of a person's column, and the next a constant: whether the two differ is a comparison.
    """
    single = [part for value in values for part in (value.parts if isinstance(value, tree.Together) else [value])]
    mixed = [value for value in single if len(varying(value)) > 1 or has_alternatives(value)]
    return [Comparison(items) for items in (trace(value).items for value in mixed) if items]


@kept_of_origins
def has_alternatives(node: Expression) -> bool:
    """Whether it may be a constant or a computed value instead of a column: where a row is missing, for example.

    concat() makes a text of NULL, too.
    """
    below = (node.origin,) if isinstance(node, tree.Output) else node.parts
    own = isinstance(node, tree.Case | tree.Choice | tree.NullIf)
    own |= isinstance(node, tree.Call) and node.name in OF_NULL and any(map(may_be_null, node.arguments))
    own |= isinstance(node, tree.Either) and not all(map(is_plain, node.parts))
    return (own and bool(trace(node).items)) or any(map(has_alternatives, below))


@kept_of_origins
def varying(node: Expression) -> frozenset[Item | Expression]:
    """What may differ between two rows of one person: columns, and what is not made of columns alone."""
    if isinstance(node, tree.Output):
        return varying(node.origin)
    if isinstance(node, tree.Column):
        return frozenset([Item(node.place, node.name)])
    if isinstance(node, tree.Either) and all(map(is_plain, node.parts)):
        return frozenset([node])
    found = frozenset[Item | Expression]().union(*map(varying, node.parts))
    if isinstance(node, tree.Within):
        return found if node.name in SAME_OF_COPIES and node.window is None else found | {node}
    return found | {node} if isinstance(node, VARYING) else found


VARYING = (tree.Either, tree.Given, tree.Ordered, tree.Placed, tree.Exists, tree.Quantified, tree.Among, tree.Scalar)


def is_plain(side: Expression) -> bool:
    """Whether a side of UNION ALL is columns as they are."""
    found = trace(side)
    plain = all(line.scale == 1 and not line.offset for line in found.lines)
    return plain and {line.item for line in found.lines} == found.items != frozenset()


def in_quantified(node: tree.Quantified) -> list[Comparison]:
    own = [] if node.value.is_null or node.element.is_null else compared(node.name, node.value, node.element)
    return [*own, *in_subquery(node)]


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
    rule(tree.SameParent, nothing),
    rule(tree.HasPerson, nothing),
    rule(tree.Within, of_within),
    rule(tree.Ordered, of_ordered),
    rule(tree.Placed, of_placed),
    rule(tree.Exists, nothing),
    rule(tree.Quantified, nothing),
    rule(tree.Among, nothing),
    rule(tree.Scalar, lambda node: trace(node.result)),
    rule(tree.Released, nothing),
    rule(tree.Given, nothing),
    rule(tree.Distinct, nothing),
    rule(tree.Like, nothing),
    rule(tree.Matches, nothing),
    rule(tree.AnyElement, nothing),
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
    rule(tree.Together, lambda node: Trace(frozenset(item for part in node.parts for item in trace(part).items))),
)

COMPARES: Rules[Sequence[Comparison]] = rules(
    rule(tree.Column, in_column),
    rule(tree.Output, in_output),
    rule(tree.Either, in_either),
    rule(tree.Compare, in_compare),
    rule(tree.Distinct, in_distinct),
    rule(tree.NullTest, lambda node: [tested_for_null(node.argument)]),
    rule(tree.Like, in_like),
    rule(tree.Matches, in_matches),
    rule(tree.AnyElement, lambda node: [Comparison(trace(node.array).items)]),
    rule(tree.Arithmetic, in_arithmetic),
    rule(tree.Cast, in_cast),
    rule(tree.Choice, in_choice),
    rule(tree.Call, in_call),
    rule(tree.Within, in_within),
    rule(tree.Ordered, lambda node: told_apart([node.argument, *(key.value for key in node.order)])),
    rule(tree.Placed, lambda node: in_window(node.window)),
    rule(tree.Exists, in_subquery),
    rule(tree.Among, in_subquery),
    rule(tree.Scalar, in_subquery),
    rule(tree.Quantified, in_quantified),
)
