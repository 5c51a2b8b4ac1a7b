"""Stage plan: a checked tree becomes measurements and a shape for the answer. Looks at text and catalog only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from fractions import Fraction

from pglast import ast, enums

from discreet.core.errors import DiscreetError
from discreet.core.syntax import Node
from discreet.gate.aggregates import Aggregate, compile_aggregate, is_aggregate
from discreet.gate.answer import Level, answer_sql, answer_with_errors, errors_of
from discreet.gate.clauses import WithQueries, is_star, with_names, with_queries
from discreet.gate.expressions import Expressions, function_name
from discreet.gate.grouping import Grouping, group_by
from discreet.gate.keys import key_of
from discreet.gate.measurements import Measurement, Quantity, Subject
from discreet.gate.names import Names, Source
from discreet.gate.people import compared_in
from discreet.gate.post import MEASURED, PostProcessing, measured_column
from discreet.gate.presence import counts_everybody, of_everybody
from discreet.gate.propagation import Dependence, released_aggregate, released_key
from discreet.gate.refusal import refuse
from discreet.gate.schema import Dataset, Schema, View
from discreet.gate.sources import Sources
from discreet.gate.totality import expressions_of, is_total
from discreet.gate.traces import Comparison, all_comparisons, trace
from discreet.gate.trackers import fixed_columns, refuse_trackers
from discreet.gate.tree import Expression
from discreet.personal.selection import Personal, paid, paid_personally


@dataclass(frozen=True)
class Plan:
    """A question that can be answered: what is measured about whom, and what is made of it.

    `fixed_columns`: those that the conditions of an aggregate compare by value, of the one that compares most.
    `personal`: people pay for it themselves.
    """

    source: Source
    conditions: tuple[Expression, ...]
    grouping: Grouping
    measurements: tuple[Measurement, ...]
    aggregates: tuple[Aggregate, ...]
    dataset: Dataset
    answer_sql: str
    output: tuple[str, ...]
    levels: tuple[Level, ...] = field(compare=False)
    fixed_columns: tuple[str, ...] = ()
    personal: Personal | None = None

    @property
    def thresholds(self) -> bool:
        """Whether keys are unknown, and shown only when many people share them."""
        return any(key.domain is None for key in self.grouping.keys)

    @property
    def sharing(self) -> int:
        """How many measurements share the epsilon of the question; the others have one of their own."""
        return sum(measurement.own is None for measurement in self.measurements)

    @property
    def own_epsilon(self) -> Fraction:
        """What the measurements with an epsilon of their own cost together, per grouping set."""
        return sum((m.own.worth for m in self.measurements if m.own), Fraction(0))

    @property
    def own_amount(self) -> Fraction:
        """The same in the currency of the dataset."""
        return sum((m.own.price(self.dataset.accounting).amount for m in self.measurements if m.own), Fraction(0))

    @property
    def answer_columns(self) -> list[tuple[str, str]]:
        """The columns of the measured table: keys, aggregates, errors."""
        keys = [(f"k{n}", key.native_type) for n, key in enumerate(self.grouping.keys)]
        numbers = [(f"a{n}", aggregate.result_type) for n, aggregate in enumerate(self.aggregates)]
        return keys + numbers + [(f"e{n}", "numeric") for n in range(len(self.errors))]

    @property
    def columns(self) -> list[tuple[str, Dependence]]:
        """The columns of the answer, errors aside, and what each depends on."""
        top = self.levels[-1]
        return list(zip(top.names, top.dependences, strict=True))

    @property
    def errors(self) -> tuple[Dependence, ...]:
        """What the half-widths in the measured table are of."""
        return errors_of(self.levels)

    def key(self) -> str:
        """The canonical key of what is measured, and at whose expense: the same for all questions that measure it."""
        payers = None if self.personal is None else (self.personal.schema, self.personal.table, self.personal.most)
        return key_of(
            self.source, self.conditions, self.grouping, self.measurements, self.aggregates, self.dataset.name,
            self.dataset.accounting, self.dataset.neighbours, payers,
        )  # fmt: skip

    def with_errors(self) -> Plan:
        """The same question, answered with a column <name>_error beside each noisy one."""
        sql, names = answer_with_errors(self.levels)
        return replace(self, answer_sql=sql, output=names)


def plan(
    select: ast.SelectStmt,
    schema: Schema,
    harmless: frozenset[str],
    parameters: tuple[str | None, ...] = (),
) -> Plan:
    try:
        return Planner(schema, harmless, parameters).plan(select, {})
    except RecursionError:
        refuse("a question nested too deeply", None, "Write it with fewer levels.")


class Planner:
    def __init__(self, schema: Schema, harmless: frozenset[str], parameters: tuple[str | None, ...]) -> None:
        self._schema = schema
        self._harmless = harmless
        self._parameters = parameters

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
        aliases = {target.name for target in select.targetList if target.name}
        post = PostProcessing(self._harmless, self._parameters, released_columns(set(below.output), aliases))
        outer = post.select(select, released_table(alias), post.rewrite(select.whereClause))
        outer.groupClause = post.rewrite(select.groupClause)
        outer.havingClause = post.rewrite(select.havingClause)
        top = Level.of(outer, alias, below.levels[-1].column)
        levels = (*below.levels, top)
        return replace(below, answer_sql=answer_sql(levels), output=top.names, levels=levels)

    def core(self, select: ast.SelectStmt, outer: WithQueries) -> Plan:
        """The SELECT that aggregates people's rows."""
        select = with_groups(select)
        sources = Sources(self._schema, self._parameters)
        source, conditions = sources.rows(select, outer)
        if source.unit is None or source.dataset is None:
            refuse("a question without people", select, "It reads public tables only: ask PostgreSQL directly.")
        scope = Names(source.names, self._parameters)
        expressions = Expressions(scope)
        grouping = group_by(select, expressions)
        calls = list(aggregate_calls(select))
        several = any(function_name(call) == "avg" for call in calls)
        everybody = counts_everybody(source, conditions, grouping, self._schema.datasets[source.dataset])
        aggregates: dict[Aggregate, int] = {}
        compared_rows = compared_in(source.rows) | all_comparisons(conditions)
        conditions_met = [compared_rows]

        def column_of(node: Node) -> Node:
            if is_aggregate(node):
                aggregate = about_people(compile_aggregate(node, expressions, several), source)
                aggregate = of_everybody(aggregate) if everybody else aggregate
                conditions_met.append(compared_rows | all_comparisons(parts_of(aggregate)))
                return measured_column(f"a{aggregates.setdefault(aggregate, len(aggregates))}")
            return key_column(node, expressions, grouping)

        post = PostProcessing(self._harmless, self._parameters, column_of)
        answer = post.select(select, released_table(MEASURED), post.rewrite(select.havingClause))
        if not aggregates and not grouping.keys:
            refuse("a question for single rows", select, "Ask for counts, sums or averages, or GROUP BY.")
        keys = [key.value for key in grouping.keys]
        compared = all_comparisons(keys)
        groups = [compared | {Comparison(trace(keys[place]).items) for place in places} for places in grouping.sets]
        refuse_trackers(conditions_met, groups, sources.tables)
        asked = counted_once(list(aggregates))
        refuse_partial([*conditions, *keys, *(part for one in asked for part in parts_of(one))], source)
        measurements = list(dict.fromkeys(m for aggregate in asked for m in aggregate.measurements))
        if any(key.domain is None for key in grouping.keys) or not measurements:
            people = Measurement(Quantity.PEOPLE, Subject())
            measurements = [people, *(m for m in measurements if not same_number(m, source))]
        released = {f"a{n}": released_aggregate(n, one.result_type) for n, one in enumerate(asked)}
        released |= {f"k{n}": released_key(n, key.native_type) for n, key in enumerate(grouping.keys)}
        level = Level.of(answer, MEASURED, lambda column: released[column.fields[-1].sval])
        fixed = max((fixed_columns(met, sources.tables) for met in dict.fromkeys(conditions_met)), key=len)
        dataset = self._schema.datasets[source.dataset]
        personal = paid_personally(source, conditions, grouping, dataset, sources.tables.values())
        if personal is not None:
            conditions = [*conditions, paid(source)]
        return Plan(
            source, tuple(conditions), grouping, tuple(measurements), tuple(asked), dataset, answer_sql((level,)),
            level.names, (level,), fixed, personal,
        )  # fmt: skip


def about_people(aggregate: Aggregate, source: Source) -> Aggregate:
    """The number of distinct units is the number of people, of whom one person is one."""
    (first, *_) = aggregate.measurements
    if first.quantity is not Quantity.DISTINCT or first.subject.argument != source.unit:
        return aggregate
    people = replace(first, quantity=Quantity.PEOPLE, subject=Subject(None, first.subject.condition))
    return replace(aggregate, measurements=(people,))


def parts_of(aggregate: Aggregate) -> Iterator[Expression]:
    """The expressions that decide what of each row it adds up."""
    for measurement in aggregate.measurements:
        yield from (part for part in (measurement.subject.argument, measurement.subject.condition) if part is not None)


def refuse_partial(expressions: Iterable[Expression], source: Source) -> None:
    """Refuses a question of which a row could make an expression fail; none is read that way (totality.py)."""
    if not all(map(is_total, (*expressions, *expressions_of(source.rows)))):
        refuse("an expression that could fail on a row")


def counted_once(aggregates: list[Aggregate]) -> list[Aggregate]:
    """count(x) beside avg(x) is the number of values that the average has measured already, at the same expense."""
    values = {
        (m.subject.argument, m.subject.condition, m.own): m
        for aggregate in aggregates
        for m in aggregate.measurements
        if m.quantity is Quantity.VALUES
    }
    shared = []
    for aggregate in aggregates:
        first = aggregate.measurements[0]
        known = values.get((first.subject.argument, first.subject.condition, first.own))
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


def with_groups(select: ast.SelectStmt) -> ast.SelectStmt:
    """DISTINCT rows are the groups of the whole select list."""
    plain = select.distinctClause == (None,) and not select.groupClause
    if not plain or any(True for _ in aggregate_calls(select)):
        return select
    grouped = ast.SelectStmt(**{slot: getattr(select, slot) for slot in select})
    grouped.distinctClause, grouped.groupClause = None, tuple(target.val for target in select.targetList)
    return grouped


def aggregate_calls(select: ast.SelectStmt) -> Iterator[ast.FuncCall]:
    """The aggregates of this SELECT itself, not of its subqueries."""
    waiting: list[Node] = [select.targetList, select.havingClause, select.sortClause]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple | list):
            waiting.extend(node)
        elif is_aggregate(node):
            yield node
        elif isinstance(node, ast.Node) and not isinstance(node, ast.SelectStmt):
            waiting.extend(getattr(node, slot) for slot in node)


def key_column(node: Node, expressions: Expressions, grouping: Grouping) -> Node:
    """The measured column of an expression that is a group key."""
    if not isinstance(node, ast.Node) or isinstance(node, ast.ResTarget | ast.SortBy | ast.A_Const | ast.String):
        return None
    try:
        value = expressions.value(node)
    except DiscreetError:
        if isinstance(node, ast.ColumnRef):
            raise
        return None
    for position, key in enumerate(grouping.keys):
        if key.value == value:
            return measured_column(f"k{position}")
    if isinstance(node, ast.ColumnRef):
        refuse(f"column {node.fields[-1].sval} is neither in GROUP BY nor in an aggregate that is known", node)
    return None


def released_columns(known: set[str], aliases: set[str]) -> Callable[[Node], Node]:
    """In an outer SELECT, columns are those of the released table; table.name of another name would call a function."""

    def released(node: Node) -> Node:
        if not isinstance(node, ast.ColumnRef):
            return None
        name = getattr(node.fields[-1], "sval", None)
        if name not in known and not (len(node.fields) == 1 and name in aliases):
            refuse(f"there is no column {name} in the subquery", node)
        return node

    return released


def released_table(name: str) -> ast.RangeVar:
    return ast.RangeVar(relname=name, inh=True, relpersistence="p")


def with_stars_expanded(select: ast.SelectStmt, alias: str, columns: tuple[str, ...]) -> ast.SelectStmt:
    targets = []
    for target in select.targetList:
        if not is_star(target):
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
