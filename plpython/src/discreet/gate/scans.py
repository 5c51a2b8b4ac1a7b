"""The scans of a question in a dataset with periods: what each may read, and whether periods meet within a person.

The relations of a question are walked from above, with the conditions that every row must meet to matter. Those about
the time of a dated table say which periods its scan reads; the scan is filtered to exactly these (tree.Dated), which
periods.py relies on. Conditions are those at the scan: what stands around windows, LIMIT, GROUP BY or the outer side of
a join does not narrow what they read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date
from functools import reduce
from math import floor

from discreet.core.errors import RefusedShapeError
from discreet.core.syntax import Node
from discreet.gate.names import column_value
from discreet.gate.people import has_subqueries, windows_of
from discreet.gate.periods import END, Charged, Opened
from discreet.gate.schema import Column as Declared
from discreet.gate.schema import Family, Relation
from discreet.gate.timespans import DAY, EVER, LAST, Moment, Times
from discreet.gate.tree import (
    Column,
    Dated,
    Derived,
    Either,
    Elements,
    Expression,
    Join,
    Listing,
    Map,
    Output,
    PerPerson,
    Query,
    Rows,
    Series,
    SortKey,
    Step,
    Table,
    Union,
    Window,
)

# the time of a row in a derived table, a name that no column of a question may have
TIME = "discreet time"
# bounds are days or seconds since then; days are counted from 0001-01-01
EPOCH = date(1970, 1, 1).toordinal() - 1
SECONDS_OF_DAY = 86_400

Conditions = tuple[Expression, ...]


@dataclass(frozen=True)
class Seen:
    """What a relation reads: dated tables, and `time`, that of the one dated row that each row is made of, if so;
    timeless tables, without whose rows all rows are gone, or not (`kept`).
    """

    dated: bool = False
    time: Expression | None = None
    timeless: bool = False
    kept: bool = False

    def beside(self, other: Seen) -> Seen:
        """Both, in one row."""
        time = self.time if not other.dated else other.time if not self.dated else None
        return Seen(self.dated or other.dated, time, self.timeless or other.timeless, self.kept or other.kept)

    @property
    def meeting(self) -> Seen:
        """The same, where what is made of a person's rows is made of all of them."""
        return replace(self, time=None, kept=self.kept or self.timeless)


class Scans:
    """Those of one question; `numbers`, `undated`: the periods that they read."""

    def __init__(self, opened: Opened, tables: Mapping[int, Relation]) -> None:
        self._opened = opened
        self._tables = tables
        self.numbers: set[int] = set()
        self.undated = False
        self.clipped = False
        self._read: dict[int, tuple[Expression, Expression, Seen]] = {}

    # -- relations

    def rows(self, rows: Rows, conditions: Conditions) -> tuple[Rows, Seen]:
        """A relation with filtered scans; `conditions`: those that each of its rows must meet to matter."""
        if isinstance(rows, Table):
            return self.table(rows, conditions)
        if isinstance(rows, Derived):
            query, seen = self.query(rows.query, conditions)
            if seen.time is None:
                return replace(rows, query=query), seen
            time = Output(rows.place, TIME, rows.alias, seen.time, type=seen.time.type, nullable=seen.time.nullable)
            return replace(rows, query=with_time(query, seen.time)), replace(seen, time=time)
        if isinstance(rows, Listing | Series):
            return rows, Seen()
        if isinstance(rows, Elements):
            value, seen = self.expressions([rows.value])
            return replace(rows, value=value[0]), seen
        if isinstance(rows, Join):
            return self.join(rows, conditions)
        raise TypeError(type(rows).__name__)

    def join(self, join: Join, conditions: Conditions) -> tuple[Rows, Seen]:
        on, seen_on = self.expressions(join.conditions)
        both = (*conditions, *join.conditions)
        of_left = {"LEFT": conditions, "RIGHT": join.conditions, "FULL": ()}.get(join.kind, both)
        of_right = {"LEFT": join.conditions, "RIGHT": conditions, "FULL": ()}.get(join.kind, both)
        left, seen_left = self.rows(join.left, of_left)
        right, seen_right = self.rows(join.right, of_right)
        seen = seen_left.beside(seen_right)
        lost = {"LEFT": (seen_right,), "RIGHT": (seen_left,), "FULL": (seen_left, seen_right)}.get(join.kind, ())
        for side in lost:  # without the rows of this side, those of the other are still there
            seen = replace(seen, time=None if side.dated else seen.time, kept=seen.kept or side.timeless)
        return replace(join, left=left, right=right, conditions=on), seen.beside(seen_on)

    def table(self, table: Table, conditions: Conditions) -> tuple[Rows, Seen]:
        """A scan, and those of the parents over which its rows have their person, of which conditions say nothing."""
        kept = table.relation.protection
        if kept is None:
            return table, Seen()
        seen = Seen(timeless=True)
        if kept.time is not None:
            column = table.relation.columns[kept.time]
            time = column_value(table.place, table.alias, column, table.relation)
            table = replace(table, dated=self.dated(time, conditions, column))
            seen = Seen(dated=True, time=time)
        path = []
        for step in () if table.led else table.path:
            read, seen_parent = self.parent(step)
            path.append(read)
            seen = seen.beside(seen_parent)
        return replace(table, path=tuple(path) or table.path), seen

    def parent(self, step: Step) -> tuple[Step, Seen]:
        assert isinstance(step.key, Column)
        relation = self._tables[step.key.place]
        kept = relation.protection
        if kept is None or kept.time is None:
            return step, Seen(timeless=True)
        column = relation.columns[kept.time]
        time = column_value(step.key.place, step.alias, column, relation)
        return replace(step, dated=self.dated(time, (), column)), Seen(dated=True, time=time)

    def dated(self, time: Expression, conditions: Conditions, column: Declared) -> Dated:
        """The filter of a scan."""
        assert isinstance(time, Column)
        moment = Moment(time.place, time.name)
        found: Times = reduce(lambda held, one: held & moment.when(one), conditions, EVER)
        numbers: set[int] = set()
        declared = self.declared(column)
        for low, high in found.spans:
            ends = None if low == 0 else low // DAY, None if high == LAST else (high - 1) // DAY
            if declared is None:
                self._opened.refuse_far(ends)
            within = self._opened.within(*ends, declared)
            self.clipped |= None in ends or self._leaves_out(ends, within)
            numbers.update(within)
        self._opened.refuse_too_many(numbers)
        self.numbers |= numbers
        self.undated |= found.undated
        return Dated(time, self._opened.calendar.spans(numbers), found.undated)

    def _leaves_out(self, ends: tuple[int | None, int | None], within: range) -> bool:
        """Whether days between these lie in periods that are not read."""
        number = self._opened.calendar.number
        low, high = ends
        return not within or (low is not None and number(low) < within[0]) or (
            high is not None and number(high) > within[-1]
        )  # fmt: skip

    def declared(self, column: Declared) -> range | None:
        """The periods in which the declared bounds of a time lie."""
        if column.bounds is None:
            return None
        low, high = (
            min(max(EPOCH + floor(bound if column.family is Family.DATE else bound / SECONDS_OF_DAY), 0), END - 1)
            for bound in column.bounds
        )
        return range(self._opened.calendar.number(low), self._opened.calendar.number(high) + 1)

    # -- queries

    def query(self, query: Query, conditions: Conditions) -> tuple[Query, Seen]:
        if isinstance(query, Union):
            return self.union(query, conditions)
        if isinstance(query, PerPerson):
            return self.groups(query)
        values = [value for _, value in query.columns]
        sorting = [*query.first, *(key.value for key in query.order)]
        placed = bool(query.first) or query.most is not None or query.skip > 0
        apart = not placed and not any(windows_of([*values, *sorting]))
        rows, seen = self.rows(query.rows, (*(conditions if apart else ()), *query.conditions))
        read, of_values = self.expressions([*query.conditions, *values, *sorting])
        where, rest = read[: len(query.conditions)], read[len(query.conditions) :]
        columns = tuple((name, value) for (name, _), value in zip(query.columns, rest, strict=False))
        keys = rest[len(values) :]
        first, order = keys[: len(query.first)], keys[len(query.first) :]
        found = replace(
            query, rows=rows, conditions=where, columns=columns, first=first,
            order=tuple(replace(key, value=value) for key, value in zip(query.order, order, strict=True)),
        )  # fmt: skip
        seen = seen.beside(of_values)
        return found, seen if apart else seen.meeting

    def groups(self, query: PerPerson) -> tuple[Query, Seen]:
        rows, seen = self.rows(query.rows, query.conditions)
        parts = (query.conditions, query.keys, query.fixed, query.having, tuple(v for _, v in query.columns))
        found, of_values = [], Seen()
        for part in parts:
            read, seen_part = self.expressions(part)
            found.append(read)
            of_values = of_values.beside(seen_part)
        where, keys, fixed, having, values = found
        columns = tuple((name, value) for (name, _), value in zip(query.columns, values, strict=True))
        new = replace(query, rows=rows, conditions=where, keys=keys, fixed=fixed, having=having, columns=columns)
        return new, seen.beside(of_values).meeting

    def union(self, union: Union, conditions: Conditions) -> tuple[Query, Seen]:
        """Rows of one side or the other; of other set operations, rows of both sides are compared."""
        plain = union.word == "UNION ALL"
        (left, one), (right, other) = (
            self.query(side, conditions if plain else ()) for side in (union.left, union.right)
        )
        both = one.beside(other)
        time = None
        if plain and one.time is not None and other.time is not None and one.time.family is other.time.family:
            time = Either(one.time, other.time, type=one.time.type, nullable=True)
        # without timeless rows, rows of a side that reads none are still there
        kept = both.kept or one.timeless != other.timeless or (both.timeless and not plain)
        return replace(union, left=left, right=right), replace(both, time=time, kept=kept)

    # -- expressions

    def expressions(self, values: Iterable[Expression]) -> tuple[tuple[Expression, ...], Seen]:
        """Expressions with filtered scans in their subqueries, each of which looks at all rows of the person."""
        found, seen = [], Seen()
        for value in values:
            read, of_value = self.expression(value)
            found.append(read)
            seen = seen.beside(of_value)
        return tuple(found), seen.meeting if reads(seen) else seen

    def expression(self, value: Expression) -> tuple[Expression, Seen]:
        if not has_subqueries([value]):
            return value, Seen()
        if id(value) not in self._read:
            inside: list[Seen] = []
            rebuilt = self.rebuilt(value, inside)
            assert isinstance(rebuilt, Expression)
            self._read[id(value)] = value, rebuilt, reduce(Seen.beside, inside, Seen())
        _, rebuilt, seen = self._read[id(value)]
        return rebuilt, seen

    def rebuilt(self, thing: Node, inside: list[Seen]) -> Node:
        """A node with its parts rebuilt, down to the subqueries."""
        if isinstance(thing, Map | PerPerson | Union):
            query, seen = self.query(thing, ())
            inside.append(seen)
            return query
        if isinstance(thing, Expression) and not has_subqueries([thing]):
            return thing
        if isinstance(thing, tuple):
            return tuple(self.rebuilt(part, inside) for part in thing)
        if is_dataclass(thing) and isinstance(thing, Expression | Window | SortKey):
            return replace(
                thing, **{each.name: self.rebuilt(getattr(thing, each.name), inside) for each in fields(thing)}
            )
        return thing


def reads(seen: Seen) -> bool:
    """Whether tables of people are read."""
    return seen.dated or seen.timeless


def with_time(query: Query, time: Expression) -> Query:
    """The query with the time of each row as one more column."""
    if isinstance(query, Union):
        assert isinstance(time, Either)
        return replace(query, left=with_time(query.left, time.left), right=with_time(query.right, time.right))
    return replace(query, columns=(*query.columns, (TIME, time)))


def charged_rows(
    opened: Opened, tables: Mapping[int, Relation], rows: Rows, conditions: Conditions, values: Iterable[Expression]
) -> tuple[Rows, Charged, dict[Expression, Expression]]:
    """The rows of a question with filtered scans, the periods that pay, and what becomes of its expressions.

    `values`: all that is made of a row, besides the conditions.
    """
    for relation in tables.values():
        if relation.protection is not None and relation.protection.policy != "noisy":
            raise RefusedShapeError(
                f"{relation.name} is under policy '{relation.protection.policy}', and its dataset has periods",
                "Tables of a dataset with periods are under policy 'noisy'.",
            )
    scans = Scans(opened, tables)
    found, seen = scans.rows(rows, conditions)
    every = [*conditions, *values]
    read, of_values = scans.expressions(every)
    seen = seen.beside(of_values)
    if seen.dated and not scans.numbers and not scans.undated:
        scans.numbers.add(opened.today)  # no row can meet the conditions; one period has to pay
    numbers = tuple(sorted(scans.numbers))
    charged = Charged(opened.calendar, numbers, scans.undated, timeless=seen.timeless, clipped=scans.clipped)
    time = seen.time if charged.count > 1 else None
    met = seen.dated and seen.time is None and (charged.count > 1 or seen.timeless)
    charged = replace(charged, time=time, changes=met or (seen.dated and seen.kept))
    return found, charged, dict(zip(every, read, strict=True))
