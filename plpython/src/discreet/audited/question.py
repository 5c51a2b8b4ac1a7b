"""The questions that can be answered exactly: sums, averages and counts of people chosen by public columns.

An argument is a bare column. An expression would let one sum encode the values of all, and of a column with few values
a sum at the end of its range tells them all. Nullness would be such a column: so only columns that are NOT NULL are
counted or averaged, and in a sum NULL is 0, whatever the other rows are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from pglast import ast

from discreet.core.errors import NamingColumnError, RefusedShapeError
from discreet.gate.answer import answer_sql
from discreet.gate.expressions import Expressions, function_name
from discreet.gate.names import Source
from discreet.gate.people import has_subqueries, is_row_by_row
from discreet.gate.propagation import released_key
from discreet.gate.question import Answered, Context, Question, shaped
from discreet.gate.refusal import refuse
from discreet.gate.schema import NUMBERS, Column, Family, Relation, Schema
from discreet.gate.totality import refuse_partial
from discreet.gate.traces import trace
from discreet.gate.tree import Column as ColumnOf
from discreet.gate.tree import Expression, Own, SystemColumn, Table, Type
from discreet.gate.values import number_constant

# A column of fewer possible values has no secret that a sum keeps.
FEWEST_VALUES = 100
INTEGERS = ("smallint", "integer")
VERSION = Type(Family.OTHER)


@dataclass(frozen=True)
class Subject:
    """What is added up: a column of the table (0: rows are counted), about people under a FILTER."""

    column: int
    sensitive: bool
    value: Expression | None
    condition: Expression | None


@dataclass(frozen=True)
class ExactAggregate:
    """`kind`: count, sum or avg."""

    kind: str
    subject: Subject
    result_type: str


@dataclass(frozen=True)
class AuditedPlan(Answered):
    """A question that can be answered exactly, if the audit allows."""

    relation: Relation
    aggregates: tuple[ExactAggregate, ...]

    @property
    def answer_columns(self) -> list[tuple[str, str]]:
        """The columns of the table of exact numbers: keys, aggregates."""
        keys = [(f"k{n}", key.native_type) for n, key in enumerate(self.grouping.keys)]
        return keys + [(f"a{n}", aggregate.result_type) for n, aggregate in enumerate(self.aggregates)]

    @property
    def filters(self) -> tuple[Expression | None, ...]:
        """The FILTERs of aggregates, each of which makes query sets of its own; None: no FILTER."""
        return tuple(dict.fromkeys(aggregate.subject.condition for aggregate in self.aggregates)) or (None,)

    def columns(self, condition: Expression | None) -> tuple[int, ...]:
        """The sensitive columns whose sums are asked for under a FILTER."""
        subjects = [one.subject for one in self.aggregates if one.kind != "count"]
        return tuple(dict.fromkeys(s.column for s in subjects if s.sensitive and s.condition == condition))


@dataclass(frozen=True)
class Audited:
    """Policy 'audited': exact numbers of one table. `seed`: the secret by which people are hashed."""

    seed: int
    groups_distinct: bool = False

    def seen(self, source: Source, relation: Relation) -> Source:
        """With a person and a version of the row as its unit; sensitive columns stay bare."""
        (named,) = source.names
        assert isinstance(source.unit, ColumnOf)
        assert isinstance(source.rows, Table)
        # what may not be used but as it is, the gate knows as columns that name people
        columns = {
            name: replace(value, identifies=not relation.columns[value.name].public)
            for name, value in named.columns.items()
            if isinstance(value, ColumnOf)
        }
        place, alias = source.rows.place, source.rows.alias
        system: list[Expression] = [
            SystemColumn(place, "tableoid", alias, type=VERSION),
            SystemColumn(place, "xmin", alias, type=VERSION),
            SystemColumn(place, "ctid", alias, type=VERSION),
        ]
        secret = number_constant(self.seed, Family.INT)
        unit = Own("_person", (source.unit, *system, secret), type=VERSION)
        return Source(replace(source.rows, unit=unit), (replace(named, columns=columns),))

    def planned(self, question: Question) -> AuditedPlan:
        source, grouping, select = question.source, question.grouping, question.select
        people = [table for table in question.tables.values() if table.protection is not None]
        if len(people) != 1 or source.dataset is None:
            refuse("a question that names an audited table more than once", select, "Ask about it alone.")
        if not source.single:
            refuse(
                "people with several rows",
                select,
                "The unit of an audited table must be unique, and a public table joined on its key.",
            )
        aggregates: dict[ExactAggregate, int] = {}

        def number_of(node: ast.FuncCall) -> int:
            aggregate = exact_aggregate(node, question.expressions, question.tables)
            return aggregates.setdefault(aggregate, len(aggregates))

        answer = question.answer(number_of)
        if not aggregates and not grouping.keys:
            refuse("a question for single rows", select, "Ask for counts, sums or averages, or GROUP BY.")
        subjects = (one.subject for one in aggregates)
        parts = [part for subject in subjects for part in (subject.value, subject.condition) if part is not None]
        evaluated = [*question.conditions, *(key.value for key in grouping.keys), *parts]
        refuse_partial(evaluated, source.rows)
        if not is_row_by_row(source.rows) or has_subqueries(evaluated):
            refuse(
                "what is computed from several rows of an audited table", select, "Filter its rows, and add them up."
            )
        exact = {f"k{n}": released_key(n, key.native_type) for n, key in enumerate(grouping.keys)}
        exact |= {f"a{n}": released_key(n, one.result_type) for one, n in aggregates.items()}
        level = question.level(answer, exact)
        return AuditedPlan(
            source, question.conditions, grouping, question.context.schema.datasets[source.dataset],
            answer_sql((level,)), level.names, (level,), people[0], tuple(aggregates),
        )  # fmt: skip


def audited_plan(
    select: ast.SelectStmt, schema: Schema, harmless: frozenset[str], parameters: tuple[str | None, ...], seed: int
) -> AuditedPlan:
    try:
        return shaped(select, Context(schema, harmless, parameters), Audited(seed))
    except NamingColumnError as error:
        changed = RefusedShapeError(
            f"{error.construct} in a condition, a group or an expression: it is not public",
            "Sensitive columns stand alone in sum, avg and count; a curator may declare others with"
            " discreet.describe_column(table, column, visibility => 'public').",
        )
        changed.location = error.location
        raise changed from None


def base_column(value: Expression, tables: Mapping[int, Relation]) -> Column:
    """The column of a table that a value is, as it is."""
    (item,) = trace(value).items
    return tables[item.row].columns[item.column]


def exact_aggregate(node: ast.FuncCall, expressions: Expressions, tables: Mapping[int, Relation]) -> ExactAggregate:
    name = function_name(node)
    if name not in ("count", "sum", "avg"):
        refuse(f"aggregate {name}() of an audited table", node, "Exact answers are sums, averages and counts.")
    if node.agg_distinct or node.agg_order or node.agg_within_group or node.func_variadic or node.over is not None:
        refuse("DISTINCT, ORDER BY, VARIADIC or OVER in an aggregate", node)
    condition = None if node.agg_filter is None else expressions.condition(node.agg_filter)
    if node.agg_star or not node.args:
        if name != "count":
            refuse(f"{name}(*)", node)
        return ExactAggregate("count", Subject(0, False, None, condition), "int8")
    if len(node.args) != 1 or not isinstance(node.args[0], ast.ColumnRef):
        refuse(
            f"{name}() of an expression",
            node,
            "One sum could encode the values of all people: exact answers are about bare columns.",
        )
    value = expressions.value(node.args[0], may_identify=True)
    if value.raw is None or len(trace(value).items) != 1:
        refuse(f"{name}() of an expression", node, "Exact answers are about bare columns.")
    (item,) = trace(value).items
    protected = tables[item.row].protection is not None
    column = base_column(value, tables)
    sensitive = protected and not column.public
    if sensitive and not column.not_null and name != "sum":
        refuse(
            f"{name}() of column {column.name}, in which NULL is possible",
            node,
            "How many have a value is a secret too: the column must be NOT NULL.",
        )
    if name == "count":
        return ExactAggregate("count", Subject(0, False, value, condition), "int8")
    if column.family not in NUMBERS:
        refuse(f"{name}() of {column.family.value}", node)
    if sensitive:
        refuse_few_values(column, node)
    subject = Subject(column.number, sensitive, value, condition)
    return ExactAggregate(name, subject, result_type(name, column))


def refuse_few_values(column: Column, node: object) -> None:
    """By what is declared, never by what the column holds."""
    few = column.categories is not None
    if column.bounds is not None:
        lower, upper = column.bounds
        few |= upper - lower < (FEWEST_VALUES - 1 if column.family is Family.INT else Fraction(1, 10**6))
    if few:
        refuse(
            f"column {column.name}, which has few values",
            node,
            f"A sum at the end of its range would tell them all: it must have at least {FEWEST_VALUES}.",
        )


def result_type(name: str, column: Column) -> str:
    if column.family is Family.FLOAT:
        return "float8"
    return "int8" if name == "sum" and column.type_name in INTEGERS else "numeric"
