"""Numbers that nothing limits: the refusal names the columns without bounds, and the call that declares them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from discreet.core.quoting import literal
from discreet.gate.refusal import refuse_unbounded
from discreet.gate.schema import NUMBERS, TIMES, Family
from discreet.gate.tree import (
    INTERVAL,
    Among,
    Case,
    Column,
    Exists,
    Expression,
    Ordered,
    Output,
    Placed,
    Quantified,
    Scalar,
    Within,
)

WRITTEN = "A question can write them, too: least(greatest(value, 0), 20); of a count, least(count(*), 20)."
OF_DATE = "A question can write them of a number of days: least(greatest(value - date '2020-01-01', 0), 1500)."
OF_MOMENT = "A question can write them of seconds: least(greatest(extract(epoch FROM value), 1.6e9), 1.8e9)."
OF_INTERVAL = "Bounds of an interval can be written: least(greatest(extract(epoch FROM value), 0), 86400)."


def refuse_without_bounds(value: Expression, node: object) -> NoReturn:
    """Of a number that has no interval: which of its columns have none, by their names."""
    missing = list(dict.fromkeys(filter(is_without_bounds, columns_in(value))))
    if not missing:
        refuse_unbounded(value.raw or "this value", node, WRITTEN)
    declared = [column for column in missing if column.family in NUMBERS | TIMES]
    names = ", ".join(dict.fromkeys(column.name for column in missing))
    hint = OF_INTERVAL if not declared else f"A curator can declare them: {calls(declared)} {written_for(value)}"
    if isinstance(value, Output):  # the asker knows it by this name
        names = value.name
    several = len(missing) > 1 and not isinstance(value, Output)
    refuse_unbounded(f"each of the columns {names}" if several else f"column {names}", node, hint)


def written_for(value: Expression) -> str:
    """How the question can write bounds of such a value."""
    if value.family not in TIMES:
        return WRITTEN
    return OF_DATE if value.family is Family.DATE else OF_MOMENT


def calls(columns: list[Column]) -> str:
    """What a curator types."""
    each = (
        f"SELECT discreet.describe_column({literal(column.table)}, {literal(column.name)}, lower => …, upper => …);"
        for column in columns
    )
    return " ".join(each)


def is_without_bounds(column: Column) -> bool:
    return column.interval is None and (column.family in NUMBERS | TIMES or column.type.names == INTERVAL.names)


def columns_in(value: Expression) -> Iterator[Column]:
    """The columns that a value is made of, those of derived tables written out; not those that only choose rows."""
    if isinstance(value, Column):
        yield value
    for part in made_of(value):
        yield from columns_in(part)


def made_of(value: Expression) -> tuple[Expression, ...]:
    """The parts whose bounds would bound the value. Conditions, partitions and orders choose among values."""
    match value:
        case Output():
            return (value.origin,)
        case Within() | Ordered():
            return () if value.argument is None else (value.argument,)
        case Placed():
            return value.arguments
        case Case():
            return value.results
        case Scalar():
            return (value.result,)
        case Exists() | Quantified() | Among():
            return ()
    return value.parts
