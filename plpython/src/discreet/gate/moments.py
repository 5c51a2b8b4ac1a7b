"""Functions of dates and times: fields, truncations, differences, zones. Moments lie in the years 1 to 9999.

A difference of timestamps, and age(), is an interval; what is added up or compared with numbers is its length in
seconds, with months of 30 days, as PostgreSQL itself compares and averages intervals. Its bounds follow from those of
the two moments.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from operator import or_
from zoneinfo import available_timezones

from discreet.gate.calls import INTEGER, FunctionRule, constant_text, constant_words
from discreet.gate.intervals import Interval
from discreet.gate.refusal import refuse
from discreet.gate.schema import TIMES, Family
from discreet.gate.times import duration
from discreet.gate.tree import (
    INTERVAL,
    TEXT,
    Arithmetic,
    Call,
    Canonical,
    Case,
    Cast,
    Choice,
    Constant,
    Duration,
    Expression,
    KnownYears,
    Ordered,
    Output,
    Placed,
    Type,
    Within,
)
from discreet.gate.unbounded import refuse_without_bounds
from discreet.gate.values import as_family, clamped, content, guarded_time, is_untyped, number_constant

DAY = 86_400
# of the years 1 to 9999
FIRST, LAST = -719_162, 2_932_897
LONGEST = LAST - FIRST
SECONDS = Interval.of(FIRST * DAY, LAST * DAY)

# field: interval of extract(), and whether every whole number in it is a category of its own
DATE_FIELDS: dict[str, tuple[Interval, bool]] = {
    "year": (Interval.of(1, 9999), False),
    "isoyear": (Interval.of(0, 10_000), False),
    "quarter": (Interval.of(1, 4), True),
    "month": (Interval.of(1, 12), True),
    "week": (Interval.of(1, 53), True),
    "day": (Interval.of(1, 31), True),
    "doy": (Interval.of(1, 366), True),
    "dow": (Interval.of(0, 6), True),
    "isodow": (Interval.of(1, 7), True),
    "hour": (Interval.of(0, 23), True),
    "minute": (Interval.of(0, 59), True),
    "second": (Interval.of(0, 60), False),
    "milliseconds": (Interval.of(0, 60 * 10**3), False),
    "microseconds": (Interval.of(0, 60 * 10**6), False),
    "decade": (Interval.of(0, 999), False),
    "century": (Interval.of(1, 100), False),
    "millennium": (Interval.of(1, 10), False),
    "epoch": (SECONDS, False),
    "julian": (Interval.of(1_721_426, 5_373_485), False),
    # of a moment in UTC
    "timezone": (Interval.of(0), True),
    "timezone_hour": (Interval.of(0), True),
    "timezone_minute": (Interval.of(0), True),
}
OF_CLOCK = ("hour", "minute", "second", "milliseconds", "microseconds")
TRUNCATIONS = (
    "year", "quarter", "month", "week", "day", "hour", "minute", "second", "milliseconds", "microseconds", "decade",
    "century", "millennium",
)  # fmt: skip
# fields of an interval, which are signed; None: they follow from its length
INTERVAL_FIELDS: dict[str, int | None] = {
    "epoch": None, "year": None, "month": 11, "day": None, "hour": 23, "minute": 59, "second": 60,
    "milliseconds": 60 * 10**3, "microseconds": 60 * 10**6,
}  # fmt: skip
# how many seconds a field of date_trunc() has at most
SPANS = {
    "millennium": 366_000 * DAY, "century": 36_600 * DAY, "decade": 3660 * DAY, "year": 366 * DAY, "quarter": 92 * DAY,
    "month": 31 * DAY, "week": 7 * DAY, "day": DAY, "hour": 3600, "minute": 60, "second": 1, "milliseconds": 1,
    "microseconds": 1,
}  # fmt: skip
LONGEST_FORMAT = 100
# of to_char(): names in the language of the server, and zones, depend on settings
FORMAT_OF_SETTINGS = re.compile(r"TM|TZ|OF|tz", re.ASCII)
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"?')


def is_interval(value: Expression) -> bool:
    return value.family is Family.OTHER and value.type.names == INTERVAL.names


def as_interval(value: Expression, node: object) -> Expression:
    """A constant as the interval that it says."""
    text = content(value)
    return value if text is None else duration(text, node)


# -- differences


def seconds_of(moment: Expression) -> Interval | None:
    """Between which seconds since 1970 a curator says that a moment lies.

    Whatever is computed from moments without leaving their calendar keeps bounds: the beginning of a month is at most a
    month before. Nothing enforces them, so what is made of them is clamped.
    """
    if isinstance(moment, Output):
        return seconds_of(moment.origin)
    if isinstance(moment, KnownYears | Canonical):
        return seconds_of(moment.argument)
    if isinstance(moment, Cast) and moment.argument.family in TIMES:
        # a cast moves a moment to the beginning of its day, at most
        return moved_by(seconds_of(moment.argument), -DAY, 0)
    if isinstance(moment, Call) and moment.name in EARLIER:
        return EARLIER[moment.name](moment)
    if isinstance(moment, Within | Placed | Ordered) and moment.type.family in TIMES:
        return seconds_of(moment.parts[0])
    if isinstance(moment, Case | Choice):
        values = moment.results if isinstance(moment, Case) else moment.values
        return either([seconds_of(value) for value in values if not value.is_null])
    if isinstance(moment, Arithmetic) and isinstance(moment.right, Constant):
        return shifted(moment, moment.right)
    if moment.interval is None:
        return None
    return moment.interval * Interval.of(DAY) if moment.family is Family.DATE else moment.interval


def moved_by(whole: Interval | None, lower: int, upper: int) -> Interval | None:
    return None if whole is None else whole + Interval.of(lower, upper)


def either(bounds: list[Interval | None]) -> Interval | None:
    known = [each for each in bounds if each is not None]
    return reduce(or_, known) if known and len(known) == len(bounds) else None


def before_truncation(call: Call) -> Interval | None:
    """Not more than the truncated field before the moment; in a zone, a clock may have been set meanwhile."""
    field, moment = call.arguments[:2]
    span = SPANS.get(field.content or "") if isinstance(field, Constant) else None
    return None if span is None else moved_by(seconds_of(moment), -span - DAY, 0)


def before_bin(call: Call) -> Interval | None:
    stride, moment, _ = call.arguments
    held = stride.value if isinstance(stride, Constant) else None
    assert isinstance(held, Duration)
    return moved_by(seconds_of(moment), -held.days * DAY - held.microseconds // 10**6 - 1, 0)


def shifted(moment: Arithmetic, by: Constant) -> Interval | None:
    """A moment plus or minus a constant; months have 28 to 31 days."""
    start = seconds_of(moment.left)
    if isinstance(by.value, Duration):
        rest = by.value.days * DAY + Fraction(by.value.microseconds, 10**6)
        ends = [by.value.months * days * DAY + rest for days in (28, 31)]
    elif by.interval is not None and moment.family is Family.DATE:
        ends = [by.interval.lower * DAY]
    else:
        return None
    signed = [end if moment.name == "+" else -end for end in ends]
    return None if start is None else start + Interval(Fraction(min(signed)), Fraction(max(signed)))


def bounds_of_difference(left: Expression, right: Expression) -> Interval | None:
    """In seconds, not more than the years 1 to 9999 are apart; None where a side has no declared bounds."""
    most = Interval.of(-LONGEST * DAY, LONGEST * DAY)
    one, other = seconds_of(left), seconds_of(right)
    return None if one is None or other is None else (one - other).within(most)


def difference(left: Expression, right: Expression, node: object) -> Expression:
    """Days between two dates, or the interval between two timestamps."""
    sides = guarded_time(left, node), guarded_time(right, node)
    bounds = bounds_of_difference(left, right)
    if left.family is right.family is Family.DATE:
        # declared bounds are wishes, until the number is clamped; without them the calendar has bounds (loose.py)
        days = Interval.of(-LONGEST, LONGEST) if bounds is None else Interval(bounds.lower / DAY, bounds.upper / DAY)
        return Arithmetic("-", *sides, type=INTEGER, interval=days, raw="the difference")
    return Arithmetic("-", *sides, type=INTERVAL, interval=bounds)


def age(arguments: list[Expression], node: object) -> Expression:
    """Years, months and days; months of 30 days make it shorter than the difference, by less than a month a year."""
    left, right = (as_family(each, Family.TIMESTAMP, node) for each in arguments)
    sides = guarded_time(left, node), guarded_time(right, node)
    bounds = bounds_of_difference(left, right)
    if bounds is None:
        return Call("age", sides, type=INTERVAL)
    shorter = bounds * Interval.of(Fraction(360, 366))
    return Call("age", sides, type=INTERVAL, interval=(bounds | shorter).widened(31 * DAY))


def length(value: Expression, node: object) -> Expression:
    """The seconds of an interval, with months of 30 days."""
    if value.interval is None:
        refuse_without_bounds(value, node)
    bounds = value.interval
    return Call("seconds", (value,), type=Type(Family.NUMERIC), interval=bounds, raw="the interval")


# -- fields


def extract(arguments: list[Expression], node: object) -> Expression:
    return field_of("extract", Family.NUMERIC, arguments, node)


def date_part(arguments: list[Expression], node: object) -> Expression:
    """The same, but in double precision."""
    return field_of("date_part", Family.FLOAT, arguments, node)


def field_of(native: str, family: Family, arguments: list[Expression], node: object) -> Expression:
    if is_interval(arguments[1]):
        return interval_field(native, family, arguments, node)
    field = constant_text(arguments[0], tuple(DATE_FIELDS), node)
    name = field.content or ""
    interval, listed = DATE_FIELDS[name]
    if arguments[1].family is Family.DATE and name in OF_CLOCK:
        refuse(f"{name} of a date", node)
    if name.startswith("timezone") and arguments[1].family is not Family.TIMESTAMPTZ:
        refuse(f"{name} of something that has no time zone", node)
    moment, raw = guarded_time(arguments[1], node), None
    declared = seconds_of(moment)
    if name == "epoch" and declared is not None and not isinstance(moment, Constant):
        interval, raw = declared.within(SECONDS), "the moment"
    numbers = range(int(interval.lower), int(interval.upper) + 1) if listed else range(0)
    domain = tuple(number_constant(number, family) for number in numbers) if listed else None
    return Call(native, (field, moment), type=Type(family), interval=interval, domain=domain, raw=raw)


def interval_field(native: str, family: Family, arguments: list[Expression], node: object) -> Expression:
    """A field of an interval; without bounds of the interval, that of its length has those of the calendar, or none."""
    field = constant_text(arguments[0], tuple(INTERVAL_FIELDS), node)
    interval: Interval | None
    name, value = field.content or "", as_interval(arguments[1], node)
    most, bounds = INTERVAL_FIELDS[name], value.interval
    if bounds is None and is_between_moments(value):
        bounds = Interval.of(-LONGEST * DAY, LONGEST * DAY)
    if most is not None:
        interval = Interval.of(-most, most)
    elif bounds is None:
        interval = None
    elif name == "epoch":  # with years of 365.25 days
        interval = (bounds | bounds * Interval.of(Fraction(1461, 1440))).widened(DAY)
    elif name == "day":
        interval = Interval(bounds.lower / DAY, bounds.upper / DAY).widened(31)
    else:
        interval = Interval(bounds.lower / (360 * DAY), bounds.upper / (360 * DAY)).widened(1)
    return Call(native, (field, value), type=Type(family), interval=interval, raw="the interval")


def is_between_moments(value: Expression) -> bool:
    """Whether an interval lies between two moments of the years 1 to 9999."""
    if isinstance(value, Output):
        return is_between_moments(value.origin)
    difference = isinstance(value, Arithmetic) and value.left.family in TIMES and value.right.family in TIMES
    return difference or (isinstance(value, Call) and value.name == "age")


# -- other moments


def truncation(arguments: list[Expression], node: object) -> Expression:
    field = constant_text(arguments[0], TRUNCATIONS, node)
    moment = guarded_time(arguments[1], node)
    if len(arguments) == 3:
        if moment.family is not Family.TIMESTAMPTZ:
            refuse("date_trunc() in a time zone, of something that has none", node)
        zoned = Call("date_trunc", (field, moment, zone(arguments[2], node)), type=moment.type, raw="the moment")
        return guarded_time(zoned, node)
    family = Family.TIMESTAMPTZ if moment.family is Family.TIMESTAMPTZ else Family.TIMESTAMP
    return Call("date_trunc", (field, moment), type=Type(family))


def zone(value: Expression, node: object) -> Constant:
    """A time zone by its name; offsets and abbreviations may mean something else tomorrow."""
    words = constant_words(value, 64, node)
    known = {name.lower(): name for name in available_timezones()}
    name = known.get((words.content or "").lower())
    if name is None:
        refuse("a time zone that is not known by name", node, "Time zones are written Europe/Berlin, or UTC.")
    return Constant(name, type=TEXT, nullable=False)


def at_zone(arguments: list[Expression], node: object) -> Expression:
    """moment AT TIME ZONE zone: what a clock on the wall shows there, or the moment at which it shows that."""
    moment = guarded_time(arguments[1], node)
    if moment.family is Family.DATE:
        moment = Cast(moment, "timestamptz", type=Type(Family.TIMESTAMPTZ))
    family = Family.TIMESTAMP if moment.family is Family.TIMESTAMPTZ else Family.TIMESTAMPTZ
    shown = Call("timezone", (zone(arguments[0], node), moment), type=Type(family), raw="the moment")
    return guarded_time(shown, node)


def day(arguments: list[Expression], node: object) -> Expression:
    value = as_family(arguments[0], Family.DATE, node)
    return value if value.family is Family.DATE else Cast(guarded_time(value, node), "date", type=Type(Family.DATE))


def made_date(arguments: list[Expression], node: object) -> Expression:
    parts = [clamped(as_family(each, Family.INT, node), node) for each in arguments]
    if any(each.family is not Family.INT for each in parts):
        refuse("make_date() of something other than whole numbers", node)
    if any(each.interval is not None and each.interval.reach >= 2**62 for each in parts):
        refuse("make_date() of numbers this large", node)
    return Call("make_date", tuple(parts), type=Type(Family.DATE))


def written(arguments: list[Expression], node: object) -> Expression:
    """to_char() of a moment, without names in the language of the server and without zones."""
    if arguments[0].family not in TIMES:
        refuse("to_char() of something other than a date or timestamp", node)
    form = constant_words(arguments[1], LONGEST_FORMAT, node)
    if FORMAT_OF_SETTINGS.search(QUOTED.sub("", form.content or "")):
        refuse("to_char() with TM, TZ or OF, which depend on settings", node)
    return Call("to_char", (guarded_time(arguments[0], node), form), type=TEXT)


def binned(arguments: list[Expression], node: object) -> Expression:
    """date_bin(stride, moment, origin), of a constant stride without months."""
    stride = as_interval(arguments[0], node) if is_interval(arguments[0]) or is_untyped(arguments[0]) else arguments[0]
    held = stride.value if isinstance(stride, Constant) else None
    if not isinstance(held, Duration) or held.months or held.days * DAY * 10**6 + held.microseconds <= 0:
        refuse("date_bin() with other than a constant number of days, hours, minutes or seconds above 0", node)
    moment, origin = guarded_time(arguments[1], node), arguments[2]
    families = {each.family for each in (moment, origin) if not is_untyped(each)}
    family = Family.TIMESTAMP if Family.TIMESTAMP in families - {Family.TIMESTAMPTZ} else Family.TIMESTAMPTZ
    family = Family.TIMESTAMPTZ if Family.TIMESTAMPTZ in families else family
    origin = as_family(origin, family, node)
    if not isinstance(origin, Constant) or origin.family not in TIMES:
        refuse("date_bin() with an origin that is no constant", node)
    found = Call("date_bin", (stride, moment, origin), type=Type(family), raw="the moment")
    return guarded_time(found, node)


# functions of a moment that give an earlier one, or another reading of it
EARLIER: dict[str, Callable[[Call], Interval | None]] = {
    "date_trunc": before_truncation,
    "date_bin": before_bin,
    "timezone": lambda call: moved_by(seconds_of(call.arguments[1]), -DAY, DAY),
}

MOMENTS: dict[str, FunctionRule] = {
    "extract": FunctionRule("extract(field FROM date)", (2, 2), extract),
    "date_part": FunctionRule("date_part(field, date)", (2, 2), date_part),
    "date_trunc": FunctionRule("date_trunc(field, date [, 'zone'])", (2, 3), truncation),
    "date_bin": FunctionRule("date_bin(interval, timestamp, origin)", (3, 3), binned),
    "timezone": FunctionRule("timestamp AT TIME ZONE 'zone'", (2, 2), at_zone),
    "age": FunctionRule("age(timestamp [, timestamp])", (2, 2), age),
    "date": FunctionRule("date(timestamp)", (1, 1), day),
    "make_date": FunctionRule("make_date(year, month, day)", (3, 3), made_date),
    "to_char": FunctionRule("to_char(date, 'format')", (2, 2), written),
}
