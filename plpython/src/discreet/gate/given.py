"""Rows that a question lists itself: VALUES, and unnest() and generate_series() of constants.

The analyst has written them, so they are public; a comparison with them is one with a constant, which may be any.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from pglast import ast

from discreet.core.syntax import Node
from discreet.gate.calls import INTEGER
from discreet.gate.elements import called
from discreet.gate.expressions import Expressions, function_name
from discreet.gate.intervals import Interval
from discreet.gate.moments import as_interval
from discreet.gate.names import Named, Source
from discreet.gate.parse import nodes
from discreet.gate.refusal import refuse
from discreet.gate.schema import NUMBERS, TIMES, Family
from discreet.gate.tree import Cast, Constant, Duration, Expression, Given, Listing, Output, Series, Type
from discreet.gate.values import as_family, is_untyped, same_family

MOST_ROWS = 10_000
# more values are no categories
MOST_GROUPS = 1000
SHORTEST_MONTH = timedelta(days=28)


def values(select: ast.SelectStmt, place: int, alias: str, expressions: Expressions) -> Source:
    """VALUES: its columns are called column1, column2, …"""
    rows: Sequence[Sequence[Node]] = select.valuesLists
    names = [f"column{place}" for place, _ in enumerate(rows[0], start=1)]
    return listing(rows, names, place, alias, expressions, select)


def listing(
    lines: Sequence[Sequence[Node]], names: list[str], place: int, alias: str, expressions: Expressions, node: Node
) -> Source:
    if len(lines) > MOST_ROWS:
        refuse(f"VALUES of more than {MOST_ROWS} rows", node)
    rows = [[constant(each, expressions) for each in row] for row in lines]
    columns = [same_family(list(column), node) for column in zip(*rows, strict=True)]
    listed = tuple(typed(family, found, node) for family, found in columns)
    named = {name: output(place, name, alias, column) for name, column in zip(names, listed, strict=True)}
    return Source(Listing(place, listed, tuple(named), alias), (Named(alias, named),))


def constant(node: Node, expressions: Expressions) -> Constant:
    named = any(isinstance(part, ast.ColumnRef) for part in nodes(node))
    value = None if named else expressions.value(node)
    if not isinstance(value, Constant):
        refuse("VALUES of something other than constants", node)
    return value


def typed(family: Family, found: Sequence[Expression], node: Node) -> tuple[Constant, ...]:
    """The values of a column, which has one type."""
    if family is Family.OTHER:
        refuse("VALUES of this type", node, "Write texts, numbers, dates, timestamps or booleans.")
    types = {value.type for value in found if not value.is_null}
    kind = types.pop() if len(types) == 1 else Type(family)
    constants = [value for value in found if isinstance(value, Constant)]
    if len(constants) < len(found):
        refuse("VALUES of several types", node, "Cast them to one type.")
    return tuple(
        Constant(each.value, type=kind, interval=each.interval, domain=each.domain, nullable=each.nullable)
        for each in constants
    )


def output(place: int, name: str, alias: str, column: tuple[Constant, ...]) -> Output:
    kept = tuple(dict.fromkeys(value for value in column if not value.is_null))
    kind, interval = column[0].type, None
    if kind.family in NUMBERS and kept:
        ends = [value.interval for value in kept if value.interval is not None]
        interval = Interval(min(each.lower for each in ends), max(each.upper for each in ends))
    known = kept if 0 < len(kept) <= MOST_GROUPS and kind.family not in TIMES else None
    return Output(
        place, name, alias, Given(column, type=kind), type=kind, interval=interval, domain=known,
        nullable=len(kept) < len(set(column)), raw=name if kind.family in TIMES else None,
    )  # fmt: skip


# -- functions in FROM


def is_given(node: Node) -> bool:
    """Whether this item of FROM is generate_series(), or unnest() of a list of constants."""
    if not isinstance(node, ast.RangeFunction):
        return False
    call = called(node)
    name, array = function_name(call), (call.args or (None,))[0]
    listed = isinstance(array, ast.A_ArrayExpr) and not any(isinstance(part, ast.ColumnRef) for part in nodes(array))
    return name == "generate_series" or (name == "unnest" and listed)


def rows_of_function(node: ast.RangeFunction, place: int, expressions: Expressions) -> Source:
    call = called(node)
    name = function_name(call)
    alias = node.alias.aliasname if node.alias is not None else name
    names = [part.sval for part in (node.alias.colnames if node.alias is not None else None) or ()]
    if len(names) > 1:
        refuse(f"several columns of {name}()", node)
    column = names[0] if names else alias
    if name == "generate_series":
        return series(call, place, alias, column, expressions)
    elements = call.args[0].elements or ()
    if not elements or any(isinstance(each, ast.A_ArrayExpr) for each in elements):
        refuse("unnest() of an empty list, or of lists", node)
    return listing([(each,) for each in elements], [column], place, alias, expressions, node)


def series(node: ast.FuncCall, place: int, alias: str, column: str, expressions: Expressions) -> Source:
    given = [expressions.value(each) for each in node.args or ()]
    if not 2 <= len(given) <= 3:
        refuse(f"generate_series() with {len(given)} arguments", node)
    whole = all(each.family is Family.INT for each in given)
    ends = numbers(given, node) if whole else moments(given, node)
    kind = ends[0].type
    interval = Interval.of(*(int(str(end.value)) for end in ends[:2])) if whole else None
    value = Output(
        place, column, alias, Given(ends, type=kind), type=kind, interval=interval, nullable=False,
        raw=None if whole else column,
    )  # fmt: skip
    return Source(Series(place, ends, column, alias, MOST_ROWS), (Named(alias, {column: value}),))


def numbers(given: list[Expression], node: Node) -> tuple[Constant, ...]:
    found = [each for each in given if isinstance(each, Constant) and each.value is not None]
    if len(found) < len(given):
        refuse("generate_series() of something other than constants", node)
    first, last, *step = (int(str(each.value)) for each in found)
    by = step[0] if step else 1
    if max(map(abs, (first, last, by))) >= 2**31:
        refuse("generate_series() of numbers this large", node)
    if by == 0 or (last - first) // by > MOST_ROWS:
        refuse_length(node)
    return tuple(Constant(each.value, type=INTEGER, interval=each.interval, nullable=False) for each in found)


def moments(given: list[Expression], node: Node) -> tuple[Constant, ...]:
    """Days are those of the gate's calendar, which has no daylight saving."""
    zoned = any(each.family is not Family.TIMESTAMP for each in given[:2] if not is_untyped(each))
    kind = Type(Family.TIMESTAMPTZ if zoned else Family.TIMESTAMP)
    first, last = (moment(as_family(each, kind.family, node), zoned, node) for each in given[:2])
    step = as_interval(given[2], node) if len(given) == 3 else None
    held = step.value if isinstance(step, Constant) else None
    if not isinstance(held, Duration) or step is None:
        refuse("generate_series() of moments without a constant interval", node)
    parts = (held.months, held.days, held.microseconds)
    if min(parts) < 0 < max(parts) or not any(parts):
        refuse_length(node)
    least = abs(held.months) * SHORTEST_MONTH + timedelta(abs(held.days), microseconds=abs(held.microseconds))
    forward = last - first if max(parts) > 0 else first - last
    if forward / least > MOST_ROWS:
        refuse_length(node)
    ends = (Constant(each, type=kind, nullable=False) for each in (first, last))
    return (*ends, Constant(held, type=step.type, nullable=False))


def moment(value: Expression, zoned: bool, node: Node) -> datetime:
    if isinstance(value, Cast) and value.argument.family in TIMES:  # of a date
        value = value.argument
    held = value.value if isinstance(value, Constant) and value.family in TIMES else None
    if not isinstance(held, date):
        refuse("generate_series() of something other than constants", node, "Give whole numbers, dates or timestamps.")
    at = held if isinstance(held, datetime) else datetime.combine(held, datetime.min.time())
    return at.replace(tzinfo=at.tzinfo or UTC) if zoned else at.replace(tzinfo=None)


def refuse_length(node: Node) -> None:
    refuse(f"generate_series() of more than {MOST_ROWS} rows, or without an end", node)
