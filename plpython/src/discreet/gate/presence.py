"""Sums to which every person adds a value, whatever the own row says.

Under bounded neighbours one person's row is changed into any other. In general that is a removal plus an addition: the
row may leave a group, fail a condition or lose its value. It is less where the person adds a value in any case.

Theorem. Let a question read one protected table that holds exactly one row of each person and is the only table of its
dataset, without WHERE, GROUP BY and FILTER; personal budgets there are none under bounded neighbours. Let every row add
g, a whole number between lower and upper, to a sum. Then databases that differ in one row have sums that differ by at
most upper - lower: all other terms are the same, and both g lie in that interval. Likewise a sum of
(2 g - lower - upper)² differs by at most (upper - lower)², between which and 0 each term lies.

That every row adds such a g holds by construction: the native SQL takes `lower` for what has no place on the grid
(`Subject.everybody`). The catalog does not enter the proof: that a column is NOT NULL says only that this changes no
answer, but for NaN and the infinities, which count as `lower`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from discreet.dp.sensitivity import Neighbours
from discreet.gate.aggregates import Aggregate
from discreet.gate.grouping import Grouping
from discreet.gate.names import Source
from discreet.gate.schema import Dataset
from discreet.gate.tree import Column, Expression


def counts_everybody(source: Source, conditions: Sequence[Expression], grouping: Grouping, dataset: Dataset) -> bool:
    """Whether rows of the source are those of one table, one for each person of the dataset, and all of them count."""
    return (
        dataset.neighbours == Neighbours.BOUNDED
        and dataset.has_one_table
        and source.is_whole_table
        and source.single
        and not conditions
        and not grouping.keys
    )


def of_everybody(aggregate: Aggregate) -> Aggregate:
    """The aggregate of a column that is never NULL, without FILTER: one to which every person adds a value."""
    subject = aggregate.measurements[0].subject
    column = subject.argument
    if aggregate.grid is None or subject.condition is not None or not isinstance(column, Column) or column.nullable:
        return aggregate
    subjects = (replace(m, subject=replace(m.subject, everybody=True)) for m in aggregate.measurements)
    return replace(aggregate, measurements=tuple(subjects))
