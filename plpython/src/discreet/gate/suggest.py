"""The questions behind discreet.suggest_bounds, two quantiles of a column of which nothing is known, and
discreet.suggest_rows, a quantile of the rows per person.
"""

from __future__ import annotations

from fractions import Fraction

from pglast import ast

from discreet.gate import printer
from discreet.gate.aggregates import Aggregate
from discreet.gate.answer import answer_sql
from discreet.gate.bins import LogarithmicBins
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
from discreet.gate.schema import NUMBERS, TIMES, Schema
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


def bounds_plan(schema: Schema, schema_name: str, table_name: str, column_name: str) -> Plan:
    """A low and a high quantile of a column, among bins that are the same for every column; half the price each."""
    table = ast.RangeVar(schemaname=schema_name, relname=table_name, inh=True, relpersistence="p")
    sources = Sources(schema, ())
    source = sources.table(table)
    if source.unit is None or source.dataset is None:
        refuse(
            f"bounds of {schema_name}.{table_name}, which is not protected",
            hint="Protect it first with discreet.protect(), or ask PostgreSQL for min and max.",
        )
    value = Names(source.names, ()).column(ast.ColumnRef(fields=(ast.String(sval=column_name),)))
    if identifies(value):
        refuse_tracker(f"searching column {column_name} for bounds")
    if value.family in TIMES:
        refuse(
            f"searching column {column_name} for bounds, which holds dates",
            hint="Declare what is known of them: discreet.describe_column(), in days or seconds since 1970.",
        )
    if value.family not in NUMBERS:
        refuse(f"searching column {column_name} for bounds, which holds no numbers", hint="Only numbers have bounds.")
    ends = (("lower bound", OUTSIDE, LogarithmicBins(False)), ("upper bound", 1 - OUTSIDE, LogarithmicBins(True)))
    found = tuple(
        Aggregate(kind, (Measurement(Quantity.QUANTILE, Subject(value), fraction, bins),), "numeric")
        for kind, fraction, bins in ends
    )
    measurements = tuple(m for aggregate in found for m in aggregate.measurements)
    dataset = schema.datasets[source.dataset]
    targets = tuple(ast.ResTarget(name=name, val=measured_column(f"a{n}")) for n, name in enumerate(NAMES))
    select = ast.SelectStmt(targetList=targets, fromClause=(released_table(MEASURED),))
    level = Level(select, MEASURED, tuple(unknown("chosen by rank") for _ in NAMES))
    grouping = Grouping((), ((),))
    personal = paid_personally(source, (), grouping, dataset, sources.tables.values())
    conditions = () if personal is None else (paid(source),)
    return Plan(
        source, conditions, grouping, dataset, answer_sql((level,)), NAMES, (level,), measurements, found, (), personal
    )


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
