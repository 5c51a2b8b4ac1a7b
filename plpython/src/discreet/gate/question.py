"""The shape of a question: SELECTs on top of each other, the lowest of which aggregates people's rows.

What the lowest one measures is up to the policy of its tables; all that stands around it works on released numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

from pglast import ast, enums

from discreet.core.errors import DiscreetError
from discreet.core.syntax import Node
from discreet.gate.aggregates import is_aggregate
from discreet.gate.answer import Level, answer_sql
from discreet.gate.clauses import WithQueries, is_star, with_names, with_queries
from discreet.gate.expressions import Expressions
from discreet.gate.grouping import Grouping, group_by
from discreet.gate.names import Names, Source
from discreet.gate.post import MEASURED, PostProcessing, measured_column
from discreet.gate.propagation import Dependence
from discreet.gate.refusal import refuse
from discreet.gate.schema import Dataset, Relation, Schema, View
from discreet.gate.sources import Sources
from discreet.gate.tree import Expression


@dataclass(frozen=True)
class Answered:
    """What every plan has: rows of people under conditions, in groups; and the SELECT that makes an answer of numbers.

    `levels`: the SELECTs on top of each other, of which `answer_sql` is made; `output`: the names that it gives.
    """

    source: Source
    conditions: tuple[Expression, ...]
    grouping: Grouping
    dataset: Dataset
    answer_sql: str
    output: tuple[str, ...]
    levels: tuple[Level, ...] = field(compare=False)


@dataclass(frozen=True)
class Context:
    """What a question is read with: the catalog, functions that are harmless on released numbers, parameters."""

    schema: Schema
    harmless: frozenset[str]
    parameters: tuple[str | None, ...] = ()


@dataclass(frozen=True)
class Question:
    """A SELECT that aggregates rows, read: the rows, the conditions on them, the groups; `tables` by their places."""

    select: ast.SelectStmt
    context: Context
    source: Source
    conditions: tuple[Expression, ...]
    grouping: Grouping
    tables: Mapping[int, Relation]

    @property
    def expressions(self) -> Expressions:
        return Expressions(Names(self.source.names, self.context.parameters))

    def answer(self, number_of: Callable[[ast.FuncCall], int]) -> ast.SelectStmt:
        """The SELECT over measured numbers; `number_of` tells which of them an aggregate is."""
        expressions = self.expressions

        def column_of(node: Node) -> Node:
            if is_aggregate(node):
                return measured_column(f"a{number_of(node)}")
            return key_column(node, expressions, self.grouping)

        post = PostProcessing(self.context.harmless, self.context.parameters, column_of)
        return post.select(self.select, released_table(MEASURED), post.rewrite(self.select.havingClause))

    def level(self, answer: ast.SelectStmt, released: Mapping[str, Dependence]) -> Level:
        """The lowest of the SELECTs; `released`: what the columns of the measured table are."""
        return Level.of(answer, MEASURED, lambda column: released[column.fields[-1].sval])


Planned = TypeVar("Planned", bound=Answered)
Planned_co = TypeVar("Planned_co", bound=Answered, covariant=True)


class Policy(Protocol[Planned_co]):
    """What the policy of the tables makes of a question. `groups_distinct`: SELECT DISTINCT means its groups."""

    @property
    def groups_distinct(self) -> bool: ...

    def seen(self, source: Source, relation: Relation) -> Source:
        """A protected table as questions may see it."""

    def planned(self, question: Question) -> Planned_co:
        """What is measured; refuses a question that cannot be answered under this policy."""


def shaped(select: ast.SelectStmt, context: Context, policy: Policy[Planned]) -> Planned:
    """The plan of a question under a policy."""
    try:
        return Shaper(context, policy).shaped(select, {})
    except RecursionError:
        refuse("a question nested too deeply", None, "Write it with fewer levels.")


class Shaper(Generic[Planned]):
    def __init__(self, context: Context, policy: Policy[Planned]) -> None:
        self._context = context
        self._policy = policy

    def shaped(self, select: ast.SelectStmt, outer: WithQueries) -> Planned:
        refuse_unknown_clauses(select)
        queries = with_queries(select, outer)
        inner = aggregated_subquery(select, queries, self._context.schema)
        if inner is None:
            return self._policy.planned(self.question(select, outer))
        below, known, alias, view = inner
        with nullcontext() if view is None else view.quoted():
            plan = self.shaped(below, known)
        return self.around(select, plan, alias)

    def question(self, select: ast.SelectStmt, outer: WithQueries) -> Question:
        """The SELECT that aggregates people's rows."""
        if self._policy.groups_distinct:
            select = with_groups(select)
        sources = Sources(self._context.schema, self._context.parameters, self._policy.seen)
        source, conditions = sources.rows(select, outer)
        if source.unit is None:
            refuse("a question without people", select, "It reads public tables only: ask PostgreSQL directly.")
        grouping = group_by(select, Expressions(Names(source.names, self._context.parameters)))
        return Question(select, self._context, source, tuple(conditions), grouping, sources.tables)

    def around(self, select: ast.SelectStmt, below: Planned, alias: str) -> Planned:
        """A SELECT over an aggregated subquery: post-processing of what that releases."""
        select = with_stars_expanded(select, alias, below.output)
        aliases = {target.name for target in select.targetList if target.name}
        post = PostProcessing(
            self._context.harmless, self._context.parameters, released_columns(set(below.output), aliases)
        )
        outer = post.select(select, released_table(alias), post.rewrite(select.whereClause))
        outer.groupClause = post.rewrite(select.groupClause)
        outer.havingClause = post.rewrite(select.havingClause)
        top = Level.of(outer, alias, below.levels[-1].column)
        levels = (*below.levels, top)
        return replace(below, answer_sql=answer_sql(levels), output=top.names, levels=levels)


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
