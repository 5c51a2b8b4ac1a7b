"""What a checked expression has become: native SQL that cannot fail, and what is known about its values."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from discreet.gate.intervals import Interval
from discreet.gate.refusal import refuse, refuse_unbounded
from discreet.gate.schema import FAMILY_OF_TYPE, NUMBERS, TIMES, Family
from discreet.gate.traces import Trace

# within this, 64-bit arithmetic on whole numbers cannot overflow
LARGEST_INT = 2**62

# Nothing about one row may make a question fail. But upper() fails on 256 MB, a jsonb ends there too, a tuple ends at a
# gigabyte, and each call of length() or LIKE keeps a copy until the row is done. So what they are given is cut to so
# many bytes: a tuple holds 1664 texts of the first kind, even where upper() lengthens them, a jsonb all keys of the
# second.
LONGEST_TEXT = 100_000
LONGEST_KEY = 10_000

NATIVE_TYPE = {
    Family.INT: "int8",
    Family.NUMERIC: "numeric",
    Family.FLOAT: "float8",
    Family.TEXT: "text",
    Family.BOOL: "bool",
    Family.DATE: "date",
    Family.TIMESTAMP: "timestamp",
    Family.TIMESTAMPTZ: "timestamptz",
}

# more than a constant can have
DIGITS = Context(prec=200)
LAST_REAL = Fraction(2**24 - 1) * 2**104

# built in, of no family
SHOWN_TYPES = frozenset(
    ["uuid", "inet", "cidr", "macaddr", "macaddr8", "interval", "time without time zone", "time with time zone",
     "bytea", "money", 'pg_catalog."bit"', "bit varying"]
)  # fmt: skip
BLANK_PADDED = "pg_catalog.bpchar"
TYPES_OF_THE_GRAMMAR = {"smallint", "integer", "bigint", "real", "boolean"}
# Written without a length, these would mean a length of 1.
UNLIMITED = {"character": BLANK_PADDED, "bit": 'pg_catalog."bit"'}
REAL = "real"


@dataclass(frozen=True)
class Value:
    """`domain`: SQL literals of every value it can take besides NULL, when that is known without data.

    `content`: what a constant text says; `untyped`: the same, where the text may yet become any type.
    `weight`: the length of the SQL once the planner has put the columns of subqueries in.
    `trace`: what it lets be known of columns.
    """

    sql: str
    family: Family
    interval: Interval | None = None
    domain: tuple[str, ...] | None = None
    column: str | None = None
    constant: bool = False
    content: str | None = None
    untyped: str | None = None
    identifies: bool = False
    type_name: str | None = None
    weight: int = 0
    trace: Trace = field(default=Trace(), repr=False, compare=False)

    @property
    def native_type(self) -> str:
        """The type in which it is shown, always a built-in one; values of others are shown as their text.

        Types, casts and domains of users run code, and what shows an answer runs as the extension's owner.
        """
        if self.family is Family.OTHER:
            return self.type_name if self.type_name in SHOWN_TYPES else "text"
        named = self.type_name or ""
        if named == BLANK_PADDED or FAMILY_OF_TYPE.get(named) is self.family:
            return named
        return "numeric" if is_wide(self) else NATIVE_TYPE[self.family]

    @property
    def other_type(self) -> tuple[str, ...]:
        """Schema and name of a type that is known by name only; those of pg_catalog have no schema."""
        parts = re.findall(r'"((?:[^"]|"")+)"|([^".]+)', (self.type_name or "").removeprefix("pg_catalog."))
        return tuple(plain or quoted.replace('""', '"') for quoted, plain in parts)

    @property
    def is_null(self) -> bool:
        return self.constant and (self.sql == "NULL" or self.sql.startswith("NULL::"))


NULL = Value("NULL", Family.OTHER, constant=True)


def is_wide(value: Value) -> bool:
    """Whether whole numbers are kept as numeric, because 64 bits may not be enough for what is made of them."""
    return value.family is Family.INT and value.interval is not None and value.interval.reach >= LARGEST_INT


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def number_sql(number: Fraction | Decimal) -> str:
    """A numeric literal: a decimal as it is written, with its zeros; a bound that is none is rounded, which only moves
    a clamp.
    """
    if isinstance(number, Fraction):
        number = DIGITS.divide(Decimal(number.numerator), Decimal(number.denominator))
    return format(number, "f")


def number_constant(number: Fraction | Decimal, family: Family, type_name: str | None = None) -> Value:
    """A constant; of a decimal, the scale stays, of which that of quotients depends."""
    sql = number_sql(number)
    if family is Family.FLOAT:
        sql = f"{literal(sql)}::pg_catalog.{'float4' if type_name == REAL else 'float8'}"
    elif number < 0:
        sql = f"({sql})"
    interval = Interval.of(Fraction(number))
    typed = f"{sql}::pg_catalog.{NATIVE_TYPE[family]}"
    domain = sql if family is Family.FLOAT else typed
    return Value(sql, family, interval, (domain,), constant=True, type_name=REAL if type_name == REAL else None)


def operator(name: str, left: str, right: str) -> str:
    return f"({left} OPERATOR(pg_catalog.{name}) {right})"


def one_of_its_equals(sql: str, family: Family) -> str:
    """1.0 and 1.00 are equal, 0 and -0, '1 day' and '24 hours': which one is kept must not depend on other rows.

    Texts are cut here, and not where they are shown: a person has one cell in the group of all texts that begin alike.
    """
    if family is Family.TEXT:
        return cut(sql, LONGEST_KEY)
    if family is Family.NUMERIC:
        return f"pg_catalog.trim_scale({sql})"
    if family is Family.FLOAT:
        return f"({sql} OPERATOR(pg_catalog.+) 0::pg_catalog.float8)"
    return f'({output_text(sql)} COLLATE pg_catalog."C")' if family is Family.OTHER else sql


def cut(sql: str, most: int) -> str:
    """The first bytes of a text, in whole characters; one that is not longer stays as it is, at hardly any cost."""
    return f"discreet._cut({sql}, {most})"


def padded(sql: str, most: int) -> str:
    """The first bytes of a character(n), with the blanks at its end."""
    return f"discreet._padded({sql}, {most})"


def output_text(sql: str) -> str:
    """The text of a value of any type, up to LONGEST_KEY bytes, without a cast, which could be anybody's code."""
    return f"discreet._text({sql})"


def collated(value: Value) -> str:
    """Texts of two collations cannot be compared, which PostgreSQL tells when it comes to the first row."""
    return f'({value.sql} COLLATE pg_catalog."default")' if value.family is Family.TEXT else value.sql


def clamped(value: Value, node: Any) -> Value:
    """A number that lies in its interval and is never NaN or infinite, ready for arithmetic."""
    if value.family not in NUMBERS:
        refuse(f"arithmetic on {value.family.value}", node)
    if value.interval is None:
        refuse_unbounded(f"column {value.column}" if value.column else "an expression", node)
    if not value.interval.usable:
        refuse("numbers of more than 60 digits", node)
    if value.column is None:
        return value
    x, low, high = value.sql, number_sql(value.interval.lower), number_sql(value.interval.upper)
    if value.family is Family.INT:
        low, high = str(-(-value.interval.lower // 1)), str(value.interval.upper // 1)
    if value.family is Family.FLOAT:
        low, high = (float_bound(end, value.type_name) for end in (value.interval.lower, value.interval.upper))
    below, above = operator("<", x, low), operator(">", x, high)
    if value.family is not Family.INT:
        below += f" AND {operator('>', x, infinity(value.family, '-'))}"
        above += f" AND {operator('<', x, infinity(value.family, ''))}"
    inside = f"{operator('>=', x, low)} AND {operator('<=', x, high)}"
    sql = f"CASE WHEN {inside} THEN {x} WHEN {below} THEN {low} WHEN {above} THEN {high} END"
    return replace(value, sql=f"({sql})", column=None)


def float_bound(bound: Fraction, type_name: str | None) -> str:
    """A bound in the type of the value, which stays what it is; one that is beyond all reals is the last of them."""
    if type_name != REAL:
        return number_constant(bound, Family.FLOAT).sql
    return number_constant(max(min(bound, LAST_REAL), -LAST_REAL), Family.FLOAT, REAL).sql


def infinity(family: Family, sign: str) -> str:
    """Of the value's own type: a numeric of 400 digits has no double to be compared as."""
    return f"'{sign}Infinity'::pg_catalog.{NATIVE_TYPE[family]}"


def guarded_time(value: Value, node: Any) -> Value:
    """A date or timestamp of the years 1 to 9999; outside, where date functions fail, there is no value."""
    if value.family not in TIMES:
        refuse(f"a date function on {value.family.value}", node)
    if value.column is None:
        return value
    sql = (
        f"(CASE WHEN {operator('>=', value.sql, date_literal('0001-01-01'))}"
        f" AND {operator('<', value.sql, date_literal('10000-01-01'))} THEN {value.sql} END)"
    )
    return replace(value, sql=sql, column=None)


def date_literal(text: str) -> str:
    return f"{literal(text)}::pg_catalog.date"


def typed_literal(text: str, family: Family, node: Any, type_name: str | None = None) -> Value:
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
            sql = f"{literal(text)}::{BLANK_PADDED if padded else 'pg_catalog.text'}"
            kept = BLANK_PADDED if padded else None
            return Value(sql, family, domain=(literal(text),), constant=True, content=text, type_name=kept)
        if family is Family.BOOL and text.strip().lower() in TRUTH:
            return boolean_constant(TRUTH[text.strip().lower()])
        if family in TIMES and not MOMENT.fullmatch(text.strip()):
            raise ValueError
        if family is Family.DATE:
            day = date.fromisoformat(text.strip()[:10])
            datetime.fromisoformat(text.strip())
            days = Interval.of((day - date(1970, 1, 1)).days)
            return Value(date_literal(day.isoformat()), family, days, constant=True)
        if family in TIMES:
            moment = datetime.fromisoformat(text.strip())
            if moment.tzinfo is not None and family is Family.TIMESTAMP:
                moment = moment.replace(tzinfo=None)
            since = moment.replace(tzinfo=moment.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
            return Value(
                f"{literal(moment.isoformat(sep=' '))}::pg_catalog.{NATIVE_TYPE[family]}",
                family,
                Interval.of(Fraction(since // timedelta(microseconds=1), 10**6)),
                constant=True,
            )
    except ValueError:
        pass
    refuse(f"{literal(text)} is no {family.value}", node, "Dates are written 2024-12-31, numbers 12.5.")


NUMBER = re.compile(r"\s*[+-]?(\d{1,40}\.?\d{0,40}|\.\d{1,40})([eE][+-]?\d\d?)?\s*")
MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d(:\d\d)?)?)?",
    re.ASCII,
)
TRUTH = {"t": True, "true": True, "yes": True, "on": True, "1": True} | {
    "f": False, "false": False, "no": False, "off": False, "0": False,
}  # fmt: skip


def boolean_constant(truth: bool) -> Value:
    sql = "true" if truth else "false"
    return Value(sql, Family.BOOL, domain=(sql,), constant=True)


def same_family(values: list[Value], node: Any) -> tuple[Family, list[Value]]:
    """The family that values share, with untyped literals read as it; numbers of several kinds become numeric."""
    families = {value.family for value in values if value.untyped is None and not value.is_null}
    if not families:
        families = {value.family for value in values if value.family is not Family.OTHER} or {Family.TEXT}
    if len(families) > 1 and families <= NUMBERS:
        families = {Family.FLOAT if Family.FLOAT in families else Family.NUMERIC}
    if len(families) > 1 and families <= TIMES:
        families = {Family.TIMESTAMPTZ if Family.TIMESTAMPTZ in families else Family.TIMESTAMP}
    if len(families) > 1:
        refuse(f"values of kinds {' and '.join(sorted(families))} together", node)
    (family,) = families
    beside = {value.type_name for value in values if value.family is family and value.untyped is None}
    type_name = beside.pop() if len(beside) == 1 else None
    typed = [
        value if value.untyped is None else typed_literal(value.untyped, family, node, type_name) for value in values
    ]
    return family, typed


def schema_qualified(type_name: str) -> str:
    """A type as format_type() writes it, which leaves the schema out for those of pg_catalog; some are words of SQL."""
    if type_name in UNLIMITED:
        return UNLIMITED[type_name]
    plain = re.fullmatch(r"[a-z][a-z0-9_]*", type_name) and type_name not in TYPES_OF_THE_GRAMMAR
    return f"pg_catalog.{type_name}" if plain else type_name
