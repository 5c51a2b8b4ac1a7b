"""The questions behind discreet.suggest_bounds, two quantiles of a column of which nothing is known, and
discreet.suggest_rows, a quantile of the rows per person.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from pglast import ast

from discreet.gate import printer
from discreet.gate.aggregates import Aggregate
from discreet.gate.answer import answer_sql
from discreet.gate.bins import CalendarBins, LogarithmicBins
from discreet.gate.grouping import Grouping
from discreet.gate.levels import Level
from discreet.gate.measurements import Measurement, Quantity, Subject
from discreet.gate.names import Names, Source
from discreet.gate.payers import paid, paid_personally
from discreet.gate.plan import Plan
from discreet.gate.post import MEASURED, measured_column
from discreet.gate.propagation import unknown
from discreet.gate.question import released_table
from discreet.gate.refusal import refuse, refuse_tracker
from discreet.gate.schema import NUMBERS, TIMES, Column, Family, Schema
from discreet.gate.sources import Sources
from discreet.gate.values import identifies

# what lies outside is left to clamping: a hundredth of all values, and more where noise would not let them be seen
OUTSIDE = Fraction(1, 200)
NAMES = ("lower", "upper")

# so many people of a hundred keep all their rows
KEPT = Fraction(95, 100)
# numbers of rows among which one is proposed: the larger, the farther apart
STEPS = (1, 2, 3, 4, 5, 6, 8)
LIMITS = tuple(step * 10**power for power in range(6) for step in STEPS)


def bounds_plan(schema: Schema, schema_name: str, table_name: str, column_names: Sequence[str]) -> Plan:
    """A low and a high quantile of columns, among bins that are the same for all columns of a kind; at equal prices."""
    table = ast.RangeVar(schemaname=schema_name, relname=table_name, inh=True, relpersistence="p")
    sources = Sources(schema, ())
    source = sources.table(table)
    if source.unit is None or source.dataset is None:
        refuse(
            f"bounds of {schema_name}.{table_name}, which is not protected",
            hint="Protect it first with discreet.protect(), or ask PostgreSQL for min and max.",
        )
    names = Names(source.names, ())
    if not column_names:
        refuse(
            f"bounds of {schema_name}.{table_name}, where no column needs any",
            hint="Bounds are of numbers, dates and timestamps that neither name a person nor have bounds already.",
        )
    found = tuple(end for name in column_names for end in ends_of(names, name))
    measurements = tuple(m for aggregate in found for m in aggregate.measurements)
    dataset = schema.datasets[source.dataset]
    shown = NAMES if len(column_names) == 1 else tuple(f"{end} {name}" for name in column_names for end in NAMES)
    targets = tuple(ast.ResTarget(name=name, val=measured_column(f"a{n}")) for n, name in enumerate(shown))
    select = ast.SelectStmt(targetList=targets, fromClause=(released_table(MEASURED),))
    level = Level(select, MEASURED, tuple(unknown("chosen by rank") for _ in shown))
    grouping = Grouping((), ((),))
    personal = paid_personally(source, (), grouping, dataset, sources.tables.values())
    conditions = () if personal is None else (paid(source),)
    return Plan(
        source, conditions, grouping, dataset, answer_sql((level,)), shown, (level,), measurements, found, (), personal
    )


def has_unknown_bounds(column: Column) -> bool:
    """Whether a column has bounds, of which none are declared."""
    declared = column.bounds is not None or column.categories is not None
    return column.family in NUMBERS | TIMES and not (declared or column.hidden or column.identifies)


def ends_of(names: Names, column_name: str) -> tuple[Aggregate, Aggregate]:
    value = names.column(ast.ColumnRef(fields=(ast.String(sval=column_name),)))
    if identifies(value):
        refuse_tracker(f"searching column {column_name} for bounds")
    if value.family not in NUMBERS | TIMES:
        refuse(
            f"searching column {column_name} for bounds, which holds no numbers",
            hint="Only numbers, dates and timestamps have bounds.",
        )

    def bins(upper: bool) -> LogarithmicBins | CalendarBins:
        if value.family in TIMES:
            return CalendarBins(upper, seconds=value.family is not Family.DATE)
        return LogarithmicBins(upper)

    lower, upper = (
        Aggregate(kind, (Measurement(Quantity.QUANTILE, Subject(value), fraction, bins(above)),), "numeric")
        for kind, fraction, above in (("lower bound", OUTSIDE, False), ("upper bound", 1 - OUTSIDE, True))
    )
    return lower, upper


def rows_per_person_sql(source: Source) -> str:
    """How many people have no more rows than each of LIMITS, and more than the one before: bin and number, as JSON.

    Adding or removing a person changes one of these numbers by 1. Rows without a person take no part.
    """
    assert source.unit is not None
    unit = printer.printed(source.unit)
    where = printer.where([printer.printed(condition) for condition in source.with_people(())])
    ends = ", ".join(map(str, LIMITS[:-1]))
    counted = f"SELECT pg_catalog.count(*) AS n FROM {printer.rows(source.rows)}{where} GROUP BY {unit}"
    place = f"pg_catalog.width_bucket(n OPERATOR(pg_catalog.-) 1, ARRAY[{ends}]::pg_catalog.int8[])"
    binned = f"SELECT {place} AS bin, pg_catalog.count(*) AS people FROM ({counted}) AS person GROUP BY 1"
    return f"SELECT (pg_catalog.jsonb_build_array(bin, people))::pg_catalog.text FROM ({binned}) AS binned"
