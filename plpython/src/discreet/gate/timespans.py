"""At which times a condition may hold: never fewer than those at which it does.

A time is counted in microseconds since 0001-01-01 00:00 UTC. What is not understood may hold at any time. Dates and
timestamps without a zone are read in UTC, as the native SQL reads them.

Undated rows (NULL, infinite, outside the years 1 to 9999) meet what is not understood, and IS NULL; that an infinite
time is greater than all others is not followed: such rows take no part in a question that compares their time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from math import ceil, floor
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from discreet.gate.schema import NUMBERS, TIMES, Family
from discreet.gate.tree import (
    Arithmetic,
    Call,
    Canonical,
    Cast,
    Clamp,
    Column,
    Compare,
    Constant,
    Conversion,
    Distinct,
    Duration,
    Either,
    Expression,
    KnownYears,
    Logic,
    NullTest,
    Output,
    TruthTest,
)

START = datetime(1, 1, 1)
DAY = 86_400 * 10**6
LAST = date.max.toordinal() * DAY
CLOCK_UNITS = {
    "microseconds": 1, "milliseconds": 10**3, "second": 10**6, "minute": 60 * 10**6, "hour": 3600 * 10**6,
    "day": DAY, "week": 7 * DAY,
}  # fmt: skip
# months, and the year that such a span begins with: centuries begin with the year 1
CALENDAR_UNITS = {
    "month": (1, 0), "quarter": (3, 0), "year": (12, 0), "decade": (120, 0), "century": (1200, 1),
    "millennium": (12_000, 1),
}  # fmt: skip
MIRRORED = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
DENIED = {"=": "<>", "<>": "=", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}
# a month moved by months may come to lie some days nearer to its end
SHORTEST_MONTH = 3 * DAY

Span = tuple[int, int]


@dataclass(frozen=True)
class Times:
    """Spans from the first microsecond up to the second, in order and apart; `undated`: also rows without a date."""

    spans: tuple[Span, ...]
    undated: bool = False

    @classmethod
    def of(cls, spans: Iterable[Span], undated: bool = False) -> Times:
        found: list[Span] = []
        for low, high in sorted((max(low, 0), min(high, LAST)) for low, high in spans):
            if low >= high:
                continue
            if found and found[-1][1] >= low:
                low, high = found[-1][0], max(high, found.pop()[1])
            found.append((low, high))
        return cls(tuple(found), undated)

    def __and__(self, other: Times) -> Times:
        both = ((max(a, c), min(b, d)) for a, b in self.spans for c, d in other.spans)
        return Times.of(both, self.undated and other.undated)

    def __or__(self, other: Times) -> Times:
        return Times.of([*self.spans, *other.spans], self.undated or other.undated)


EVER = Times(((0, LAST),), True)
NEVER = Times(())


@dataclass(frozen=True)
class Moment:
    """The time of a row of the table at this place of the question."""

    place: int
    column: str

    def when(self, condition: Expression, holds: bool = True) -> Times:
        """When a condition may be true; or, not `holds`, may be false."""
        if isinstance(condition, Logic):
            return self._logic(condition, holds)
        if isinstance(condition, Constant) and isinstance(condition.value, bool):
            return EVER if condition.value is holds else NEVER
        if isinstance(condition, Compare):
            return self._compared(condition.name if holds else DENIED[condition.name], condition)
        if isinstance(condition, Distinct) and condition.negated is holds:
            return self._compared("=", condition)
        if isinstance(condition, NullTest) and self.is_at(condition.argument):
            return Times((), True) if condition.negated is not holds else EVER
        if isinstance(condition, TruthTest) and holds and condition.words in ("IS TRUE", "IS FALSE"):
            return self.when(condition.argument, condition.words == "IS TRUE")
        return EVER

    def _logic(self, node: Logic, holds: bool) -> Times:
        if node.word == "NOT":
            return self.when(node.conditions[0], not holds)
        every = (node.word == "AND") is holds
        found = EVER if every else NEVER
        for part in node.conditions:
            found = found & self.when(part, holds) if every else found | self.when(part, holds)
        return found

    def is_at(self, value: Expression) -> bool:
        """Whether a value is the time, NULL only for undated rows."""
        if isinstance(value, Column):
            return value.place == self.place and value.name == self.column
        if isinstance(value, Output):
            return self.is_at(value.origin)
        return isinstance(value, KnownYears | Canonical) and self.is_at(value.argument)

    def _compared(self, name: str, node: Compare | Distinct) -> Times:
        for side, other, way in ((node.left, node.right, name), (node.right, node.left, MIRRORED[name])):
            found = self._against(side, way, other)
            if found is not None:
                return Times.of(found)
        return EVER

    def _against(self, side: Expression, name: str, constant: Expression) -> list[Span] | None:
        """The times at which `side name constant` may hold; None where that is not known."""
        if side.family in TIMES:
            moment = moment_of(constant)
            return None if moment is None else self.before(side, spans_of(name, moment))
        years = year_of(side)
        number = number_of(constant)
        if years is None or number is None:
            return None
        return self.before(years, spans_of_years(name, number))

    def before(self, value: Expression, spans: list[Span]) -> list[Span] | None:
        """The times at which a value made of the time may lie in one of the spans; None where that is not known."""
        if self.is_at(value):
            return spans
        if isinstance(value, Output):
            return self.before(value.origin, spans)
        if isinstance(value, KnownYears | Canonical):
            return self.before(value.argument, spans)
        if isinstance(value, Either):  # a scan is below one side of it
            left = self.before(value.left, spans)
            return self.before(value.right, spans) if left is None else left
        if isinstance(value, Cast) and value.family in TIMES and value.argument.family in TIMES:
            to_days = value.family is Family.DATE
            return self.before(value.argument, ceiled(spans, "day") if to_days else spans)
        if isinstance(value, Arithmetic) and value.name in ("+", "-") and value.family in TIMES:
            return self._before_moved(value, spans)
        if isinstance(value, Call) and value.name == "date_trunc":
            return self._before_truncated(value, spans)
        if isinstance(value, Call) and value.name == "timezone":
            return self._before_shown(value, spans)
        return None

    def _before_moved(self, value: Arithmetic, spans: list[Span]) -> list[Span] | None:
        by, sign = value.right, 1 if value.name == "+" else -1
        if value.left.family not in TIMES:
            return None
        if isinstance(by, Constant) and isinstance(by.value, Duration):
            months, fixed = by.value.months, by.value.days * DAY + by.value.microseconds
        elif by.family in NUMBERS and by.interval is not None and by.interval.lower == by.interval.upper:
            months, fixed = 0, int(by.interval.lower) * DAY
        else:
            return None
        moved = [shifted(span, lambda at: at - sign * fixed) for span in spans]
        if months:
            back = [shifted(span, lambda at: with_months(at, -sign * months)) for span in moved]
            moved = [(low - SHORTEST_MONTH, high + SHORTEST_MONTH) for low, high in back]
        return self.before(value.left, moved)

    def _before_truncated(self, value: Call, spans: list[Span]) -> list[Span] | None:
        field, moment, *zones = value.arguments
        name = field.content if isinstance(field, Constant) else None
        if name not in CLOCK_UNITS and name not in CALENDAR_UNITS:
            return None
        if not zones:
            return self.before(moment, ceiled(spans, name))
        zone = zone_of(zones[0])
        if zone is None:
            return None
        local = [shifted(span, lambda at: on_the_wall(at, zone)) for span in spans]
        # hours that a clock shows twice or not at all
        wide = [shifted(span, lambda at: at - DAY, lambda at: at + DAY) for span in local]
        found = ceiled(local if are_on(local, name) else wide, name)
        return self.before(moment, [instants(span, zone) for span in found])

    def _before_shown(self, value: Call, spans: list[Span]) -> list[Span] | None:
        zone, moment = zone_of(value.arguments[0]), value.arguments[1]
        if zone is None:
            return None
        if moment.family is Family.TIMESTAMPTZ:
            return self.before(moment, [instants(span, zone) for span in spans])
        wide = [shifted(span, lambda at: on_the_wall(at, zone)) for span in spans]
        return self.before(moment, [shifted(span, lambda at: at - DAY, lambda at: at + DAY) for span in wide])


# -- constants


def microseconds(moment: date) -> int:
    """Since 0001-01-01, in UTC."""
    if not isinstance(moment, datetime):
        return (moment.toordinal() - 1) * DAY
    naive = moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    return (naive - START) // timedelta(microseconds=1)


def moment_of(value: Expression) -> int | None:
    """The moment that a constant is."""
    if isinstance(value, Cast) and value.family in TIMES:
        found = moment_of(value.argument)
        if found is not None and value.family is Family.DATE:
            return found - found % DAY
        return found
    if not isinstance(value, Constant) or not isinstance(value.value, date):
        return None
    try:
        return microseconds(value.value)
    except OverflowError:
        return None


def number_of(value: Expression) -> Fraction | None:
    if value.family in NUMBERS and value.constant and value.interval is not None:
        return value.interval.lower if value.interval.lower == value.interval.upper else None
    return None


def year_of(value: Expression) -> Expression | None:
    """The moment of which a value is the year."""
    while isinstance(value, Conversion | Clamp | Canonical) or (isinstance(value, Cast) and value.family in NUMBERS):
        value = value.argument
    if not isinstance(value, Call) or value.name not in ("extract", "date_part") or len(value.arguments) != 2:
        return None
    field, moment = value.arguments
    year = isinstance(field, Constant) and field.content == "year"
    return moment if year and moment.family in TIMES else None


def zone_of(value: Expression) -> ZoneInfo | None:
    try:
        return ZoneInfo((value.content if isinstance(value, Constant) else None) or "")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


# -- spans


def spans_of(name: str, moment: int) -> list[Span]:
    return {
        "=": [(moment, moment + 1)],
        "<>": [(0, moment), (moment + 1, LAST)],
        "<": [(0, moment)],
        "<=": [(0, moment + 1)],
        ">": [(moment + 1, LAST)],
        ">=": [(moment, LAST)],
    }[name]


def spans_of_years(name: str, number: Fraction) -> list[Span]:
    up, after = ceil(number), floor(number) + 1
    return {
        "=": [(of_year(up), of_year(after))],
        "<>": [(0, LAST)],
        "<": [(0, of_year(up))],
        "<=": [(0, of_year(after))],
        ">": [(of_year(after), LAST)],
        ">=": [(of_year(up), LAST)],
    }[name]


def of_year(year: int) -> int:
    return 0 if year < 1 else LAST if year > 9999 else microseconds(date(year, 1, 1))


def shifted(span: Span, low: Callable[[int], int], high: Callable[[int], int] | None = None) -> Span:
    """The span with its ends moved; an end that is open stays open, and so does one that leaves all years."""
    try:
        begin = 0 if span[0] <= 0 else low(span[0])
    except OverflowError:
        begin = 0
    try:
        end = LAST if span[1] >= LAST else (high or low)(span[1])
    except OverflowError:
        end = LAST
    return begin, end


def ceiled(spans: Iterable[Span], unit: str) -> list[Span]:
    """The moments that lie in the spans once they are cut to the beginning of their unit."""
    return [shifted(span, lambda at: next_beginning(at, unit)) for span in spans]


def are_on(spans: Iterable[Span], unit: str) -> bool:
    return all(end in (0, LAST) or next_beginning(end, unit) == end for span in spans for end in span)


def next_beginning(at: int, unit: str) -> int:
    """The first beginning of a unit that is not before a moment."""
    if unit in CLOCK_UNITS:
        return -(-at // CLOCK_UNITS[unit]) * CLOCK_UNITS[unit]
    months, first_year = CALENDAR_UNITS[unit]
    moment = START + timedelta(microseconds=at)
    held = (moment.year - first_year) * 12 + moment.month - 1
    whole = moment == datetime(moment.year, moment.month, 1)
    found = -(-(held if whole else held + 1) // months) * months
    year, month = divmod(found, 12)
    return of_month(year + first_year, month)


def of_month(year: int, month: int) -> int:
    return 0 if year < 1 else LAST if year > 9999 else microseconds(date(year, month + 1, 1))


def with_months(at: int, months: int) -> int:
    """So many months later, on the first of the month if there is no such day."""
    moment = START + timedelta(microseconds=at)
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    return of_month(year, month) + at - microseconds(date(moment.year, moment.month, 1))


def on_the_wall(at: int, zone: ZoneInfo) -> int:
    """What a clock shows at a moment."""
    shown = (START + timedelta(microseconds=at)).replace(tzinfo=UTC).astimezone(zone)
    return microseconds(shown.replace(tzinfo=None))


def instants(span: Span, zone: ZoneInfo) -> Span:
    """The moments at which a clock shows a time of the span: from the first one possible to the last."""

    def possible(at: int) -> list[int]:
        shown = START + timedelta(microseconds=at)
        return [microseconds(shown.replace(tzinfo=zone, fold=fold)) for fold in (0, 1)]

    return shifted(span, lambda at: min(possible(at)), lambda at: max(possible(at)))
