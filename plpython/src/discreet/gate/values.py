"""Constants, and what makes an expression ready for more: one type for several, clamps, known years."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from fractions import Fraction

from discreet.core.quoting import identifier as identifier
from discreet.core.quoting import literal as literal
from discreet.gate.intervals import Interval
from discreet.gate.refusal import refuse
from discreet.gate.schema import NUMBERS, TIMES, Family
from discreet.gate.tree import (
    BLANK_PADDED,
    BOOLEAN,
    REAL,
    TEXT,
    Beginning,
    Choice,
    Clamp,
    Column,
    Constant,
    Either,
    Expression,
    KnownYears,
    Output,
    Type,
)
from discreet.gate.unbounded import refuse_without_bounds

# Nothing about one row may make a question fail. But upper() fails on 256 MB, a jsonb ends there too, a tuple ends at a
# gigabyte, and each call of length() or LIKE keeps a copy until the row is done. So what they are given is cut to so
# many bytes: a tuple holds 1664 texts of the first kind, even where upper() lengthens them, a jsonb all keys of the
# second.
LONGEST_TEXT = 100_000
LONGEST_KEY = 10_000

# more than a constant can have
DIGITS = Context(prec=200)

NUMBER = re.compile(r"\s*[+-]?(\d{1,40}\.?\d{0,40}|\.\d{1,40})([eE][+-]?\d\d?)?\s*")
MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d(:\d\d)?)?)?",
    re.ASCII,
)
TRUTH = {"t": True, "true": True, "yes": True, "on": True, "1": True} | {
    "f": False, "false": False, "no": False, "off": False, "0": False,
}  # fmt: skip

# -- constants

NULL = Constant(None, type=Type(Family.OTHER))


def decimal(number: Fraction | Decimal | int) -> Decimal:
    """A decimal as it is, with its zeros; a fraction that is none is rounded, which only moves a clamp."""
    if isinstance(number, Decimal):
        return number
    return DIGITS.divide(Decimal(number.numerator), Decimal(number.denominator))


def number_constant(number: Fraction | Decimal | int, family: Family, type_name: str | None = None) -> Constant:
    """A constant; of a decimal, the scale stays, on which that of quotients depends."""
    named = Type(family, REAL if type_name == REAL else None)
    return Constant(decimal(number), type=named, interval=Interval.of(Fraction(number)), nullable=False)


def boolean_constant(truth: bool) -> Constant:
    return Constant(truth, type=BOOLEAN, nullable=False)


def untyped(text: str) -> Constant:
    return Constant(text, untyped=True, type=TEXT, nullable=False)


def typed_literal(text: str, family: Family, node: object, type_name: str | None = None) -> Constant:
    """An untyped 'literal' as a value of a family, read here and not by the server; `type_name`: of what is beside it.

    Dates and times are read only in a form that PostgreSQL reads alike.
    """
    try:
        if family in NUMBERS and NUMBER.fullmatch(text):
            number = Decimal(text.strip())
            if family is Family.INT and Fraction(number).denominator != 1:
                raise ValueError
            return number_constant(Fraction(number) if family is Family.INT else number, family, type_name)
        if family is Family.TEXT:
            padded = type_name == BLANK_PADDED
            return Constant(text, type=Type(family, BLANK_PADDED) if padded else TEXT, nullable=False)
        if family is Family.BOOL and text.strip().lower() in TRUTH:
            return boolean_constant(TRUTH[text.strip().lower()])
        if family in TIMES and not MOMENT.fullmatch(text.strip()):
            raise ValueError
        if family is Family.DATE:
            day = date.fromisoformat(text.strip()[:10])
            datetime.fromisoformat(text.strip())
            days = Interval.of((day - date(1970, 1, 1)).days)
            return Constant(day, type=Type(family), interval=days, nullable=False)
        if family in TIMES:
            moment = datetime.fromisoformat(text.strip())
            if moment.tzinfo is not None and family is Family.TIMESTAMP:
                moment = moment.replace(tzinfo=None)
            since = moment.replace(tzinfo=moment.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
            seconds = Interval.of(Fraction(since // timedelta(microseconds=1), 10**6))
            return Constant(moment, type=Type(family), interval=seconds, nullable=False)
    except ValueError:
        pass
    refuse(f"{literal(text)} is no {family.value}", node, "Dates are written 2024-12-31, numbers 12.5.")


def typed(value: Expression) -> Expression:
    """The column of a subquery: a literal without a type is a text there."""
    return replace(value, untyped=False) if isinstance(value, Constant) else value


def is_untyped(value: Expression) -> bool:
    return isinstance(value, Constant) and value.untyped


def content(value: Expression) -> str | None:
    """What a constant text says."""
    return value.content if isinstance(value, Constant) else None


def as_family(value: Expression, family: Family, node: object, type_name: str | None = None) -> Expression:
    """The value; a literal without a type as one of this family."""
    if isinstance(value, Constant) and value.untyped:
        return typed_literal(value.content or "", family, node, type_name)
    return value


# -- what is known of an expression


def identifies(value: Expression) -> bool:
    """Whether it names people: a column that does, as it is, or the one that USING makes of two in a FULL JOIN."""
    if isinstance(value, Choice):
        return any(map(identifies, value.values))
    return isinstance(value, Column | Output | Either) and value.identifies


def known_values(value: Expression) -> tuple[Constant, ...] | None:
    """Every value that it can take besides NULL, where that is known without data."""
    if not isinstance(value, Constant):
        return value.domain
    listed = value.family not in TIMES | {Family.OTHER} and value.value is not None
    return (replace(value, untyped=False),) if listed else None


def same_family(values: list[Expression], node: object) -> tuple[Family, list[Expression]]:
    """The family that values share, with untyped literals read as it; numbers of several kinds become numeric."""
    families = {value.family for value in values if not (is_untyped(value) or value.is_null)}
    if not families:
        families = {value.family for value in values if value.family is not Family.OTHER} or {Family.TEXT}
    if len(families) > 1 and families <= NUMBERS:
        families = {Family.FLOAT if Family.FLOAT in families else Family.NUMERIC}
    if len(families) > 1 and families <= TIMES:
        families = {Family.TIMESTAMPTZ if Family.TIMESTAMPTZ in families else Family.TIMESTAMP}
    if len(families) > 1:
        refuse(f"values of kinds {' and '.join(sorted(families))} together", node)
    (family,) = families
    beside = {value.type.name for value in values if value.family is family and not is_untyped(value)}
    type_name = beside.pop() if len(beside) == 1 else None
    return family, [as_family(value, family, node, type_name) for value in values]


# -- expressions that are ready for more


def clamped(value: Expression, node: object) -> Expression:
    """A number that lies in its interval and is never NaN or infinite, ready for arithmetic."""
    if value.family not in NUMBERS:
        refuse(f"arithmetic on {value.kind_name}", node)
    if value.interval is None:
        refuse_without_bounds(value, node)
    if not value.interval.usable:
        refuse("numbers of more than 60 digits", node)
    if value.raw is None:
        return value
    return Clamp(value, type=value.type, interval=value.interval, domain=value.domain)


def guarded_time(value: Expression, node: object) -> Expression:
    """A date or timestamp of the years 1 to 9999; outside, where date functions fail, there is no value."""
    if value.family not in TIMES:
        refuse(f"a date function on {value.kind_name}", node)
    if value.raw is None:
        return value
    return KnownYears(value, type=value.type, interval=value.interval, domain=value.domain)


def beginning(value: Expression, most: int, padded: bool = False) -> Expression:
    """The first bytes of a text; one that is not longer stays as it is, at hardly any cost."""
    return Beginning(value, most, padded, type=value.type)
