"""Stage plan: a checked tree becomes measurements and a shape for the answer. Looks at text and catalog only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from pglast import ast, enums
from pglast.stream import RawStream

from discreet.core.errors import DiscreetError
from discreet.gate.aggregates import Aggregate, compile_aggregate, is_aggregate
from discreet.gate.expressions import Expressions, function_name
from discreet.gate.grouping import Grouping, group_by
from discreet.gate.measurements import Measurement, Quantity, Subject
from discreet.gate.post import MEASURED, PostProcessing, measured_column
from discreet.gate.refusal import refuse
from discreet.gate.schema import Dataset, Schema, View
from discreet.gate.sources import Names, Source, Sources, WithQueries, with_names, with_queries


@dataclass(frozen=True)
class Plan:
    """A question that can be answered: what is measured about whom, and what is made of it."""

    source: Source
    conditions: tuple[str, ...]
    grouping: Grouping
    measurements: tuple[Measurement, ...]
    aggregates: tuple[Aggregate, ...]
    dataset: Dataset
    answer_sql: str
    output: tuple[str, ...]

    @property
    def thresholds(self) -> bool:
        """Whether keys are unknown, and shown only when many people share them."""
        return any(key.domain is None for key in self.grouping.keys)

    @property
    def answer_columns(self) -> list[tuple[str, str]]:
        """The columns of the measured table: keys, aggregates, and the half-width of each aggregate."""
        keys = [(f"k{n}", key.native_type) for n, key in enumerate(self.grouping.keys)]
        numbers = [(f"a{n}", aggregate.result_type) for n, aggregate in enumerate(self.aggregates)]
        return keys + numbers + [(f"e{n}", "numeric") for n in range(len(self.aggregates))]


def plan(
    select: ast.SelectStmt,
    schema: Schema,
    harmless: frozenset[str],
    parameters: tuple[str | None, ...] = (),
    with_error: bool = False,
) -> Plan:
    """`with_error`: a column <name>_error beside each column that is an aggregate as it was released."""
    try:
        return Planner(schema, harmless, parameters, with_error).plan(select, {})
    except RecursionError:
        refuse("a question nested too deeply", None, "Write it with fewer levels.")


class Planner:
    def __init__(
        self, schema: Schema, harmless: frozenset[str], parameters: tuple[str | None, ...], with_error: bool
    ) -> None:
        self._schema = schema
        self._harmless = harmless
        self._parameters = parameters
        self._with_error = with_error

    def plan(self, select: ast.SelectStmt, outer: WithQueries) -> Plan:
        refuse_unknown_clauses(select)
        queries = with_queries(select, outer)
        inner = aggregated_subquery(select, queries, self._schema)
        if inner is None:
            return self.core(select, outer)
        below, known, alias, view = inner
        with nullcontext() if view is None else view.quoted():
            plan = self.plan(below, known)
        return self.around(select, plan, alias)

    def around(self, select: ast.SelectStmt, below: Plan, alias: str) -> Plan:
        """A SELECT over an aggregated subquery: post-processing of what that releases."""
        select = with_stars_expanded(select, alias, below.output)
        post = PostProcessing(self._harmless, self._parameters, released_column)
        inner = ast.RangeSubselect(lateral=False, subquery=parsed(below.answer_sql), alias=ast.Alias(aliasname=alias))
        outer = post.select(select, inner, post.rewrite(select.whereClause))
        if self._with_error:
            outer.targetList = tuple(with_errors(outer.targetList, errors_below(alias, below.output)))
        outer.groupClause = post.rewrite(select.groupClause)
        outer.havingClause = post.rewrite(select.havingClause)
        return replace(below, answer_sql=RawStream()(outer), output=output_names(outer))

    def core(self, select: ast.SelectStmt, outer: WithQueries) -> Plan:
        """The SELECT that aggregates people's rows."""
        sources = Sources(self._schema, self._parameters)
        source, conditions = sources.rows(select, outer)
        if source.unit is None or source.dataset is None:
            refuse("a question without people", select, "It reads public tables only: ask PostgreSQL directly.")
        expressions = Expressions(Names(source.names, self._parameters))
        grouping = group_by(select, expressions)
        calls = list(aggregate_calls(select))
        several = any(function_name(call) == "avg" for call in calls)
        aggregates: dict[Aggregate, int] = {}

        def column_of(node: Any) -> Any:
            if is_aggregate(node):
                aggregate = about_people(compile_aggregate(node, expressions, several), source)
                return measured_column(f"a{aggregates.setdefault(aggregate, len(aggregates))}")
            return key_column(node, expressions, grouping)

        post = PostProcessing(self._harmless, self._parameters, column_of)
        measured = ast.RangeVar(relname=MEASURED, inh=True, relpersistence="p")
        answer = post.select(select, measured, post.rewrite(select.havingClause))
        if self._with_error:
            answer.targetList = tuple(with_errors(answer.targetList, error_of_aggregate))
        if not aggregates and not grouping.keys:
            refuse("a question for single rows", select, "Ask for counts, sums or averages, or GROUP BY.")
        asked = counted_once(list(aggregates))
        measurements = list(dict.fromkeys(m for aggregate in asked for m in aggregate.measurements))
        if any(key.domain is None for key in grouping.keys) or not measurements:
            people = Measurement(Quantity.PEOPLE, Subject())
            measurements = [people, *(m for m in measurements if not same_number(m, source))]
        return Plan(
            source, tuple(conditions), grouping, tuple(measurements), tuple(asked),
            self._schema.datasets[source.dataset], RawStream()(answer), output_names(answer),
        )  # fmt: skip


def about_people(aggregate: Aggregate, source: Source) -> Aggregate:
    """The number of distinct units is the number of people, of whom one person is one."""
    (first, *_) = aggregate.measurements
    if first.quantity is not Quantity.DISTINCT or first.subject.argument != source.unit:
        return aggregate
    people = Measurement(Quantity.PEOPLE, Subject(None, first.subject.condition))
    return replace(aggregate, measurements=(people,))


def counted_once(aggregates: list[Aggregate]) -> list[Aggregate]:
    """count(x) beside avg(x) is the number of values that the average has measured already."""
    values = {
        (m.subject.argument, m.subject.condition): m
        for aggregate in aggregates
        for m in aggregate.measurements
        if m.quantity is Quantity.VALUES
    }
    shared = []
    for aggregate in aggregates:
        first = aggregate.measurements[0]
        known = values.get((first.subject.argument, first.subject.condition))
        if known is not None and first.quantity is Quantity.ROWS:
            aggregate = replace(aggregate, measurements=(known,))
        shared.append(aggregate)
    return shared


def same_number(measurement: Measurement, source: Source) -> bool:
    """count(*) is the number of people where everybody has one row: it is measured once."""
    return source.single and measurement == Measurement(Quantity.ROWS, Subject())


def aggregated_subquery(
    select: ast.SelectStmt, queries: WithQueries, schema: Schema
) -> tuple[ast.SelectStmt, WithQueries, str, View | None] | None:
    """The aggregated subquery, WITH query or view that is all of FROM, if it is one."""
    if len(select.fromClause or ()) != 1:
        return None
    (item,) = select.fromClause
    view = None
    if isinstance(item, ast.RangeSubselect) and item.alias is not None:
        found, known, alias = item.subquery, queries, item.alias.aliasname
    elif isinstance(item, ast.RangeVar) and item.schemaname is None and item.relname in queries:
        query = queries[item.relname]
        found, known = query.select, query.known
        alias = item.alias.aliasname if item.alias else item.relname
    elif isinstance(item, ast.RangeVar) and (view := schema.view(item)) is not None:
        found, known, alias = view.select, {}, item.alias.aliasname if item.alias else item.relname
    else:
        return None
    if not isinstance(found, ast.SelectStmt) or found.op != enums.SetOperation.SETOP_NONE:
        return None
    aggregated = bool(found.groupClause) or any(True for _ in aggregate_calls(found))
    if not aggregated and aggregated_subquery(found, with_queries(found, known), schema) is None:
        return None
    return with_names(found, item.alias), known, alias, view


def aggregate_calls(select: ast.SelectStmt) -> Iterator[ast.FuncCall]:
    """The aggregates of this SELECT itself, not of its subqueries."""
    waiting: list[Any] = [select.targetList, select.havingClause, select.sortClause]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple | list):
            waiting.extend(node)
        elif is_aggregate(node):
            yield node
        elif isinstance(node, ast.Node) and not isinstance(node, ast.SelectStmt):
            waiting.extend(getattr(node, slot) for slot in node)


def key_column(node: Any, expressions: Expressions, grouping: Grouping) -> Any:
    """The measured column of an expression that is a group key."""
    if not isinstance(node, ast.Node) or isinstance(node, ast.ResTarget | ast.SortBy | ast.A_Const | ast.String):
        return None
    try:
        sql = expressions.value(node).sql
    except DiscreetError:
        if isinstance(node, ast.ColumnRef):
            raise
        return None
    for position, key in enumerate(grouping.keys):
        if key.sql == sql:
            return measured_column(f"k{position}")
    if isinstance(node, ast.ColumnRef):
        refuse(f"column {node.fields[-1].sval} is neither in GROUP BY nor in an aggregate that is known", node)
    return None


def released_column(node: Any) -> Any:
    """In an outer SELECT, columns are those of the released table."""
    return node if isinstance(node, ast.ColumnRef) else None


def with_errors(targets: Any, error_of: Callable[[Any], Any]) -> Iterator[ast.ResTarget]:
    """The columns of an answer, each that is a released number followed by its half-width."""
    for target in targets:
        yield target
        error = error_of(target.val)
        if error is not None:
            yield ast.ResTarget(name=f"{target.name}_error", val=error)


def error_of_aggregate(value: Any) -> Any:
    if not isinstance(value, ast.ColumnRef) or not value.fields[-1].sval.startswith("a"):
        return None
    return measured_column("e" + value.fields[-1].sval[1:])


def errors_below(alias: str, columns: tuple[str, ...]) -> Callable[[Any], Any]:
    """In an outer SELECT: a column that has its error beside it below has it here too."""

    def error_of(value: Any) -> Any:
        name = f"{value.fields[-1].sval}_error" if isinstance(value, ast.ColumnRef) else None
        if name not in columns:
            return None
        return ast.ColumnRef(fields=(ast.String(sval=alias), ast.String(sval=name)))

    return error_of


def output_names(select: ast.SelectStmt) -> tuple[str, ...]:
    return tuple(target.name for target in select.targetList)


def with_stars_expanded(select: ast.SelectStmt, alias: str, columns: tuple[str, ...]) -> ast.SelectStmt:
    targets = []
    for target in select.targetList:
        if not (isinstance(target.val, ast.ColumnRef) and isinstance(target.val.fields[-1], ast.A_Star)):
            targets.append(target)
            continue
        if len(set(columns)) < len(columns):
            refuse(
                "* over columns of one name",
                target,
                "Give each column of the subquery a name of its own with AS.",
            )
        fields = [(ast.String(sval=alias), ast.String(sval=column)) for column in columns]
        targets += [ast.ResTarget(val=ast.ColumnRef(fields=pair)) for pair in fields]
    select.targetList = tuple(targets)
    return select


def parsed(sql: str) -> ast.SelectStmt:
    from pglast import parse_sql

    return parse_sql(sql)[0].stmt


def refuse_unknown_clauses(select: ast.SelectStmt) -> None:
    if select.op != enums.SetOperation.SETOP_NONE:
        refuse("UNION, INTERSECT or EXCEPT of answers", select, "Ask the questions one by one.")
    for construct, present in {
        "VALUES": select.valuesLists,
        "SELECT INTO": select.intoClause,
        "FOR UPDATE": select.lockingClause,
        "GROUP BY DISTINCT": select.groupDistinct,
    }.items():
        if present:
            refuse(construct, select)
    if not select.targetList:
        refuse("an empty select list", select, "Ask for counts, sums or averages.")
