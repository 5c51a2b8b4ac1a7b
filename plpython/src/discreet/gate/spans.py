"""Lengths of time in words, and conditions that limit a column on both sides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from discreet.gate.intervals import Interval
from discreet.gate.schema import NUMBERS
from discreet.gate.tree import (
    Call,
    Canonical,
    Cast,
    Column,
    Compare,
    Constant,
    Conversion,
    Derived,
    Expression,
    Join,
    KnownYears,
    Logic,
    Map,
    Output,
    Own,
    Rows,
)

DAY = 86_400
TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "="}


def span_text(seconds: Fraction) -> str:
    """Days of 24 hours and a clock: 425 days, -1 day, 1 day 18:13:20, 0:00:30."""
    whole = round(abs(seconds))
    days, rest = divmod(whole, DAY)
    clock = f"{rest // 3600}:{rest // 60 % 60:02}:{rest % 60:02}"
    parts = [f"{days} day{'s' if days != 1 else ''}"] if days else []
    parts += [clock] if rest or not days else []
    return ("-" if seconds < 0 and whole else "") + " ".join(parts)


def conjuncts(conditions: Iterable[Expression]) -> Iterator[Expression]:
    waiting = list(conditions)
    while waiting:
        condition = waiting.pop(0)
        if isinstance(condition, Logic) and condition.word == "AND":
            waiting[:0] = condition.conditions
        else:
            yield condition


def conditions_below(rows: Rows) -> Iterator[Expression]:
    """Those that every row has met on its way."""
    if isinstance(rows, Join):
        if rows.kind == "INNER":
            yield from rows.conditions
        yield from conditions_below(rows.left)
        yield from conditions_below(rows.right)
    elif isinstance(rows, Derived) and isinstance(rows.query, Map):
        yield from rows.query.conditions
        yield from conditions_below(rows.query.rows)


def limits_of(column: Column, conditions: Iterable[Expression]) -> Interval | None:
    """Between which constants of its type constraints and conditions keep a column; None: on one side there is none."""
    lower = [] if column.limits is None else [column.limits.lower]
    upper = [] if column.limits is None else [column.limits.upper]
    for condition in conjuncts(conditions):
        if not isinstance(condition, Compare) or condition.name not in TURNED:
            continue
        for one, other, name in (
            (condition.left, condition.right, condition.name),
            (condition.right, condition.left, TURNED[condition.name]),
        ):
            if not isinstance(other, Constant) or other.interval is None or as_it_is(bare(one)) != column:
                continue
            # a date is a number of days, a moment one of seconds
            if other.family is column.family or {other.family, column.family} <= NUMBERS:
                lower += [other.interval.lower] if name in (">", ">=", "=") else []
                upper += [other.interval.upper] if name in ("<", "<=", "=") else []
    if not lower or not upper:
        return None
    return Interval(min(max(lower), min(upper)), max(max(lower), min(upper)))


def as_it_is(value: Expression) -> Expression:
    """The column that a column of a derived table is there."""
    while isinstance(value, Output):
        value = value.origin
    return value


def bare(value: Expression) -> Expression:
    """Without what changes the type of a value, and keeps what it says."""
    while True:
        seconds = isinstance(value, Call) and value.name == "seconds"
        if not seconds and not isinstance(value, Cast | Conversion | Canonical | Own | KnownYears):
            return value
        (value,) = value.parts
