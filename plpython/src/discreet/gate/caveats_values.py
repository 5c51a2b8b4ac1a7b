"""What an answer does not cover by the values: bounds that move them, what no number or date stands for, long texts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from discreet.dp.grid import Grid
from discreet.gate.intervals import Interval
from discreet.gate.patterns import LONGEST_MATCHED
from discreet.gate.plan import Plan
from discreet.gate.schema import TIMES, Family
from discreet.gate.spans import as_it_is, bare, conditions_below, limits_of, span_text
from discreet.gate.tree import (
    Beginning,
    Call,
    Canonical,
    Clamp,
    Column,
    Derived,
    Elements,
    Expression,
    Join,
    KnownYears,
    Ordered,
    Output,
    Placed,
    Query,
    Released,
    Rows,
    Scalar,
    Union,
    Within,
    deciding,
    every_node,
)

EPOCH = datetime(1970, 1, 1)
FIRST, LAST = datetime.min, datetime.max
# what may be NaN, or infinite; whole numbers may not
WITHOUT_NUMBER = {Family.FLOAT: "NaN and infinity", Family.NUMERIC: "NaN and infinity"} | dict.fromkeys(
    TIMES, "infinity"
)


def clamped_values(plan: Plan) -> Iterator[str]:
    """Columns whose declared bounds move what lies outside of them, unless a condition keeps all values inside."""
    met = [*plan.conditions, *conditions_below(plan.source.rows)]
    for measurement in plan.measurements:
        subject = measurement.subject
        for added, grid in ((subject.argument, subject.grid), (subject.other, subject.other_grid)):
            value = added.argument if isinstance(added, Canonical) else added  # of DISTINCT
            if value is not None and value.raw is not None and value.interval is not None and bounds_of(value, grid):
                yield from clamp_told(value, value.interval, met)
    for node in every_node([*expressions_of(plan), *expressions_below(plan.source.rows)]):
        # the bounds of a number that is released are about what it is made of
        if isinstance(node, Clamp) and node.interval is not None and not isinstance(bare(node.argument), Released):
            yield from clamp_told(node.argument, node.interval, met)


def bounds_of(value: Expression, grid: Grid | None) -> bool:
    """Whether the declared bounds of the argument hold for it; dp_ aggregates bring bounds of their own.

    A grid ends less than a step within the bounds.
    """
    if grid is None or value.interval is None:
        return False
    return bool((grid.lower - 1) * grid.step <= value.interval.lower) and bool(
        value.interval.upper <= (grid.upper + 1) * grid.step
    )


def clamp_told(value: Expression, interval: Interval, met: list[Expression]) -> Iterator[str]:
    column = as_it_is(bare(value))
    limits = limits_of(column, met) if isinstance(column, Column) else None
    if limits is not None and is_within(limits, interval):
        return
    if value.interval is not None and is_within(value.interval, interval) and stays_inside(value, met):
        return
    lower, upper = (bound_text(end, value) for end in (interval.lower, interval.upper))
    families = {each.family for each in every_node([value]) if isinstance(each, Column)}
    without = next((words for family, words in WITHOUT_NUMBER.items() if family in families), None)
    left_out = "" if without is None or limits is not None else f" ({without} left out)"
    yield f"values {words_of(value)} clamped to {lower}..{upper}{left_out}"


def is_within(inner: Interval, outer: Interval) -> bool:
    return outer.lower <= inner.lower and inner.upper <= outer.upper


def stays_inside(value: Expression, met: list[Expression]) -> bool:
    """Whether a value of the row is computed from columns that constraints and conditions keep within their bounds.

    Then it is within the bounds that follow from these.
    """
    nodes = list(every_node([value]))
    if any(isinstance(node, Within | Placed | Scalar | Released) for node in nodes):
        return False
    columns = [node for node in nodes if isinstance(node, Column)]
    reached = [(limits_of(column, met), column.interval) for column in columns]
    return all(limits is not None and own is not None and is_within(limits, own) for limits, own in reached)


def words_of(value: Expression) -> str:
    """`of` a column as it is, or one of a subquery; or `computed from` columns."""
    inside = bare(value)
    if isinstance(as_it_is(inside), Column):
        return f"of {name_of(inside)}"
    named = isinstance(inside, Output | Scalar)
    name = inside.name if isinstance(inside, Output) else name_of(inside)
    return f"{'of' if named else 'computed from'} {name}"


def name_of(value: Expression) -> str:
    """A column's name; of what is made of several, those of all; of a number within a person, its name outside."""
    outside = [node.name for node in every_node([value]) if isinstance(node, Output)]
    asked = any(isinstance(node, Released | Scalar) for node in every_node([value]))
    otherwise = "a subquery" if asked else "a key"
    return ", ".join(dict.fromkeys(names_in(value))) or (outside or [otherwise])[0]


def names_in(value: Expression) -> Iterator[str]:
    """The columns whose values come in: those of conditions, windows and orders only decide which."""
    if isinstance(value, Column):
        yield value.name
    elif isinstance(value, Output):
        yield from names_in(value.origin)
    elif isinstance(value, Scalar):
        yield from names_in(value.result)
    elif isinstance(value, Within | Placed | Ordered):
        values = value.arguments if isinstance(value, Placed) else (value.argument,)
        for part in values:
            yield from () if part is None else names_in(part)
    else:
        for part in value.parts:
            yield from names_in(part)


def bound_text(end: Fraction, value: Expression) -> str:
    family = value.family
    if isinstance(value, Call) and value.name == "seconds":
        return span_text(end)
    if family in TIMES:
        step = timedelta(days=1) if family is Family.DATE else timedelta(seconds=1)
        first, last = Fraction((FIRST - EPOCH) // step + 1), Fraction((LAST - EPOCH) // step - 1)
        moment: datetime = EPOCH + step * float(min(max(end, first), last))
        return moment.date().isoformat() if family is Family.DATE else moment.isoformat(sep=" ", timespec="seconds")
    if end.denominator == 1:
        return str(end.numerator)
    return format(Decimal(end.numerator) / Decimal(end.denominator), "f")


def unknown_years(plan: Plan) -> Iterator[str]:
    """Dates that no date function is given: infinite ones, and those of other years than 1 to 9999."""
    met = [*plan.conditions, *conditions_below(plan.source.rows)]
    for node in every_node([*expressions_of(plan), *expressions_below(plan.source.rows)]):
        if isinstance(node, KnownYears):
            dates = [each for each in every_node([node]) if isinstance(each, Column) and each.family in TIMES]
            for name in dict.fromkeys(date.name for date in dates if limits_of(date, met) is None):
                yield f"dates of {name} outside the years 1 to 9999 taken as NULL"


def long_texts(plan: Plan) -> Iterator[str]:
    """Texts of which a pattern sees the beginning."""
    for node in every_node([*expressions_of(plan), *expressions_below(plan.source.rows)]):
        if isinstance(node, Beginning) and node.most <= LONGEST_MATCHED and is_any_text(as_it_is(bare(node.argument))):
            yield f"patterns see the first {node.most} bytes of {name_of(node.argument)}"


def is_any_text(value: Expression) -> bool:
    """A column whose texts can be long."""
    return isinstance(value, Column) and value.family is Family.TEXT and value.domain is None


# -- all expressions of a question


def expressions_of(plan: Plan) -> Iterator[Expression]:
    yield from plan.conditions
    yield from (key.value for key in plan.grouping.keys)
    for measurement in plan.measurements:
        yield from (part for part in (measurement.subject.argument, measurement.subject.condition) if part is not None)


def expressions_below(rows: Rows) -> Iterator[Expression]:
    """What decides which rows there are; columns of derived tables are found where they are used."""
    if isinstance(rows, Join):
        yield from rows.conditions
        yield from expressions_below(rows.left)
        yield from expressions_below(rows.right)
    elif isinstance(rows, Derived):
        yield from expressions_of_query(rows.query)
    elif isinstance(rows, Elements):
        yield rows.value


def expressions_of_query(query: Query) -> Iterator[Expression]:
    if isinstance(query, Union):
        yield from expressions_of_query(query.left)
        yield from expressions_of_query(query.right)
    else:
        yield from deciding(query)
        yield from expressions_below(query.rows)
