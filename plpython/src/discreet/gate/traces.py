"""Traces: what an expression lets be known of the columns that it is made of, and what it compares.

They say nothing about rows and do not change an answer; gate/trackers.py judges by them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from itertools import combinations
from math import ceil, floor
from typing import TYPE_CHECKING, NamedTuple

from discreet.gate.schema import TIMES, Family

if TYPE_CHECKING:
    from discreet.gate.values import Value

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
PARTS_OF_TEXT = {"left", "right", "substr", "substring", "strpos", "position", "length", "char_length"}
ROUNDING = {"floor", "ceil", "ceiling", "round", "trunc", "bucket"}


class Item(NamedTuple):
    """A column of the table that stands at place `row` of the question; `part` of it, or all."""

    row: int
    column: str
    part: str = ""


class Cut(NamedTuple):
    """Where a range ends: before or after a position. In whole numbers "after n" is "before n + 1"."""

    position: Fraction | str
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
    """What an expression lets be known of columns: `items` when its value is known, `comparisons` in any case.

    `lines`: it is always one of these, or a constant; none when that is not known. `written`: it is text made of other
    text or of numbers, of which a pattern can mean one value: '#' || n || '#' LIKE '#7#%'.
    """

    items: frozenset[Item] = frozenset()
    lines: frozenset[Line] = frozenset()
    comparisons: frozenset[Comparison] = frozenset()
    written: bool = False

    @classmethod
    def of_column(cls, row: int, column: str, family: Family) -> Trace:
        item = Item(row, column)
        line = Line(item, Fraction(1), Fraction(0), family in (Family.INT, Family.DATE))
        return cls(frozenset([item]), frozenset([line]))

    def __or__(self, other: Trace) -> Trace:
        """Of a column of UNION ALL, whose two origins then stand for each other."""
        both = {Comparison(self.items, other.items)} if self.items and other.items else set[Comparison]()
        return Trace(
            self.items | other.items,
            self.lines | other.lines,
            self.comparisons | other.comparisons | both,
            self.written or other.written,
        )


# -- what expressions let be known


def passed_on(name: str, result: Value, arguments: Sequence[Value]) -> Trace:
    """The trace of the result of an operator, a function, a "cast" or a "choice" among its arguments."""
    items = frozenset(item for argument in arguments for item in argument.trace.items)
    if name in ("+", "-", "*", "/", "%", "mod"):
        return of_arithmetic(name, result, *arguments)
    if name == "choice":
        varying = [argument.trace for argument in arguments if argument.trace.items]
        known = all(trace.lines for trace in varying)
        among = frozenset(line for trace in varying for line in trace.lines if known)
        return Trace(items, among, written=any(trace.written for trace in varying))
    if name == "abs":
        straight = arguments[0].trace.lines
        return Trace(items, straight | {scaled(line, Fraction(-1)) for line in straight})
    if name in ("extract", "date_part", "date_trunc"):
        field = (arguments[0].content or "").lower()
        if name != "date_trunc":
            fields = parts(items, [field])
            lines = frozenset(Line(each, Fraction(1), Fraction(0), True) for each in fields)
            return Trace(fields, lines if len(fields) == 1 else frozenset())
        if arguments[1].family is Family.DATE and field in ("day", "hour", "minute"):
            return arguments[1].trace
        return Trace(parts(items, TRUNCATED.get(field, [field])))
    if name == "cast":
        return of_cast(result, arguments[0])
    if name in ROUNDING:
        fine = name != "bucket" or (exact(arguments[1]) or 2) <= 1
        label = "quotient" if name == "bucket" else "rounded"
        return rounded(arguments[0], label) if fine else Trace(parts(items, [label]))
    written = name == "||" or any(argument.trace.written for argument in arguments)
    whole = name not in PARTS_OF_TEXT or written
    return Trace(items if whole else parts(items, ["text"]), written=written)


def of_arithmetic(name: str, result: Value, left: Value, right: Value) -> Trace:
    items, a, b = left.trace.items | right.trace.items, exact(left), exact(right)
    if name in ("%", "mod"):
        bounds = left.interval
        if b is not None and bounds is not None and bounds.reach < abs(b):
            return left.trace
        return Trace(parts(items, ["remainder"]))
    if name == "/" and result.family is Family.INT and (b is None or abs(b) != 1):
        return Trace(parts(items, ["quotient"]))
    lines: Iterable[Line] = ()
    if b is not None and name in ("+", "-"):
        lines = (line._replace(offset=line.offset + (b if name == "+" else -b)) for line in left.trace.lines)
    elif b and name in ("*", "/"):
        lines = (scaled(line, b if name == "*" else 1 / b) for line in left.trace.lines)
    elif a is not None and name in ("+", "-"):
        turned = (scaled(line, Fraction(1 if name == "+" else -1)) for line in right.trace.lines)
        lines = (line._replace(offset=line.offset + a) for line in turned)
    elif a and name == "*":
        lines = (scaled(line, a) for line in right.trace.lines)
    return Trace(items, frozenset(lines))


def of_cast(result: Value, argument: Value) -> Trace:
    if argument.family is result.family:
        return argument.trace
    if result.family is Family.DATE:
        return Trace(parts(argument.trace.items, DAY))
    if result.family is Family.INT and argument.family is not Family.BOOL:
        return rounded(argument, "rounded")
    if result.family is Family.TEXT:
        return Trace(argument.trace.items, written=True)
    return Trace(argument.trace.items, frozenset() if result.family is Family.BOOL else argument.trace.lines)


def rounded(argument: Value, label: str) -> Trace:
    """Rounding changes nothing where the values are whole numbers."""
    lines = argument.trace.lines
    whole = bool(lines) and all(line.keeps_whole for line in lines)
    return argument.trace if whole else Trace(parts(argument.trace.items, [label]))


def scaled(line: Line, by: Fraction) -> Line:
    return line._replace(scale=line.scale * by, offset=line.offset * by)


def parts(items: Iterable[Item], labels: Iterable[str]) -> frozenset[Item]:
    """What is known of the columns once only parts of them are; a part stays the part that it is."""
    labels = list(labels)
    return frozenset(item if item.part else item._replace(part=label) for item in items for label in labels)


def exact(value: Value) -> Fraction | None:
    """The number, or the days since 1970, that a constant stands for."""
    if value.trace.items:
        return None
    if value.untyped is not None:
        return Fraction(value.untyped) if re.fullmatch(r"\s*[+-]?\d+(\.\d+)?\s*", value.untyped) else None
    if value.family not in TIMES:
        interval = value.interval
        return interval.lower if interval is not None and interval.lower == interval.upper else None
    if not value.constant or "'" not in value.sql:
        return None
    moment = datetime.fromisoformat(value.sql.split("'")[1])
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - EPOCH
    return Fraction(since.days) + Fraction(since.seconds * 10**6 + since.microseconds, MICROSECONDS_A_DAY)


# -- comparisons


def compared(name: str, left: Value, right: Value) -> Collection[Comparison]:
    """The comparisons that left `name` right makes, with name one of = <> < <= > >=."""
    mine, theirs = left.trace.items, right.trace.items
    if mine & theirs:
        return [Comparison(mine | theirs)]
    if name in ("=", "<>") or left.trace.written or right.trace.written:
        return [Comparison(mine, theirs)]
    after = name in ("<=", ">")
    if not mine or (theirs and sorted(theirs) < sorted(mine)):
        left, right, mine, theirs, after = right, left, theirs, mine, not after
    number = exact(right)
    if number is not None and left.trace.lines:
        return [line.cut(number, after) for line in left.trace.lines]
    return [Comparison(mine, theirs, Cut("" if theirs else right.sql, after, False))]


def compared_inside(name: str, arguments: Sequence[Value]) -> Collection[Comparison]:
    """Comparisons that an operation makes by itself.

    A divisor is compared with 0, like the arguments of sign() and ::bool, and what abs() can make 0 of two columns;
    the range of sqrt() ends at 0, those of GREATEST and LEAST where one value overtakes another. A column that stands
    twice in a sum or product may be compared by it with any number: (x - 6) * (8 - x) is 1 for 7 only.
    """
    if name in ("+", "-", "*"):
        mine, theirs = ({Item(item.row, item.column) for item in side.trace.items} for side in arguments)
        return [Comparison(frozenset(mine & theirs))]
    if name in ("/", "%", "mod"):
        return [Comparison(arguments[1].trace.items)]
    if name in ("sign", "bool"):
        return [Comparison(arguments[0].trace.items)]
    if name == "abs" and not arguments[0].trace.lines:
        return [Comparison(arguments[0].trace.items)]
    if name == "sqrt":
        return [line.cut(Fraction(0), False) for line in arguments[0].trace.lines]
    if name == "extreme":
        return [each for a, b in combinations(arguments, 2) for each in compared("<", a, b)]
    return []


def matched(value: Value, pattern: str) -> Comparison:
    """LIKE a pattern: by value when it has no wildcards."""
    wild = re.search("[%_]", re.sub(r"\\.", "", pattern)) and not value.trace.written
    return Comparison(parts(value.trace.items, [PATTERN]) if wild else value.trace.items)


def tested_for_null(value: Value) -> Comparison:
    return Comparison(frozenset(item._replace(part=NULL_TEST) for item in value.trace.items))
