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
from discreet.gate.aggregates import fractions_of, is_aggregate, refuse_showing, refuse_unknown_aggregate
from discreet.gate.answer import answer_sql
from discreet.gate.clauses import WithQueries, is_star, with_names, with_queries
from discreet.gate.expressions import Expressions
from discreet.gate.grouping import Grouping, Key, group_by
from discreet.gate.levels import Level
from discreet.gate.names import Listed, Source
from discreet.gate.people import has_subqueries, places_of
from discreet.gate.post import MEASURED, PostProcessing, grouping_mask, measured_column
from discreet.gate.propagation import Dependence
from discreet.gate.refusal import refuse
from discreet.gate.schema import NUMBERS, Dataset, Relation, Schema, View
from discreet.gate.sources import Sources, meant
from discreet.gate.subqueries import Asks
from discreet.gate.subquestions import as_subquery
from discreet.gate.traces import Item
from discreet.gate.tree import Column, Expression, Output
from discreet.gate.within import is_key_of_parent, is_unit


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
    """What a question is read with: the catalog, functions that are harmless on released numbers, parameters.

    `subquestions`: what reads subqueries that are questions of their own; None where there are none.
    """

    schema: Schema
    harmless: frozenset[str]
    parameters: tuple[str | None, ...] = ()
    subquestions: Asks | None = None


@dataclass(frozen=True)
class Question:
    """A SELECT that aggregates rows, read: the rows, the conditions on them, the groups; `tables` by their places."""

    select: ast.SelectStmt
    context: Context
    source: Source
    conditions: tuple[Expression, ...]
    grouping: Grouping
    tables: Mapping[int, Relation]
    expressions: Expressions = field(compare=False, repr=False)
    queries: WithQueries = field(compare=False, repr=False)

    def answer(self, number_of: Callable[[ast.FuncCall], int]) -> ast.SelectStmt:
        """The SELECT over measured numbers; `number_of` tells which of them an aggregate is."""
        expressions, sets = self.expressions, self.grouping.sets

        def column_of(node: Node) -> Node:
            refuse_showing(node)
            if isinstance(node, ast.SubLink) and (number := released_number(node, self.context, self.queries)):
                return number
            if is_aggregate(node):
                several = fractions_of(node, expressions)
                if several is not None:
                    return ast.A_ArrayExpr(elements=tuple(measured_column(f"a{number_of(one)}") for one in several))
                return measured_column(f"a{number_of(node)}")
            if isinstance(node, ast.GroupingFunc):
                return grouping_mask([key_position(arg, expressions, self.grouping) for arg in node.args], sets)
            column = key_column(node, expressions, self.grouping)
            if column is None:
                refuse_unknown_aggregate(node, self.context.harmless, is_no_key)
            return column

        def is_no_key(column: ast.ColumnRef) -> bool:
            value = expressions.value(column, may_identify=True)
            return all(key.value != value for key in self.grouping.keys)

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


def shaped(
    select: ast.SelectStmt, context: Context, policy: Policy[Planned], queries: WithQueries | None = None
) -> Planned:
    """The plan of a question under a policy; `queries`: the WITH queries around it."""
    try:
        return Shaper(context, policy).shaped(select, queries or {})
    except RecursionError:
        refuse("a question nested too deeply", None, "Write it with fewer levels.")


class Shaper(Generic[Planned]):
    def __init__(self, context: Context, policy: Policy[Planned]) -> None:
        self._context = context
        self._policy = policy

    def shaped(self, select: ast.SelectStmt, outer: WithQueries) -> Planned:
        refuse_unknown_clauses(select)
        queries = with_queries(select, outer)
        inner = self.aggregated_subquery(select, queries)
        if inner is None:
            return self._policy.planned(self.question(select, outer))
        below, known, alias, view = inner
        with nullcontext() if view is None else view.quoted():
            plan = self.shaped(below, known)
        without_alias = view is not None and select.fromClause[0].alias is None
        relation = (view.schema, view.name) if view is not None and without_alias else None
        return self.around(select, plan, alias, queries, relation)

    def question(self, select: ast.SelectStmt, outer: WithQueries) -> Question:
        """The SELECT that aggregates people's rows."""
        if self._policy.groups_distinct:
            select = with_groups(select)
        sources = self.sources()
        source, conditions = sources.rows(select, outer)
        if source.unit is None:
            refuse("a question without people", select, "It reads public tables only: ask PostgreSQL directly.")
        queries = with_queries(select, outer)
        expressions = sources.expressions(source, queries)
        grouping = group_by(select, expressions)
        if source.listed is not None:
            grouping = listed_groups(grouping, source.listed, conditions, select)
        return Question(
            select, self._context, source, tuple(conditions), grouping, sources.tables, expressions, queries
        )

    def sources(self) -> Sources:
        context = self._context
        return Sources(context.schema, context.parameters, self._policy.seen, context.subquestions)

    def aggregated_subquery(
        self, select: ast.SelectStmt, queries: WithQueries
    ) -> tuple[ast.SelectStmt, WithQueries, str, View | None] | None:
        """The aggregated subquery, WITH query or view that is all of FROM, if it is one and its groups are released.

        One that groups by the person is a relation of people instead, which the question aggregates.
        """
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
        elif isinstance(item, ast.RangeVar) and (view := self._context.schema.view(item)) is not None:
            found, known, alias = view.select, {}, item.alias.aliasname if item.alias else item.relname
        else:
            return None
        if not isinstance(found, ast.SelectStmt) or found.op != enums.SetOperation.SETOP_NONE:
            return None
        aggregated = bool(found.groupClause) or any(True for _ in aggregate_calls(found))
        if aggregated and self.groups_by_person(found, known):
            return None
        if not aggregated and self.aggregated_subquery(found, with_queries(found, known)) is None:
            return None
        return with_names(found, item.alias), known, alias, view

    def groups_by_person(self, select: ast.SelectStmt, queries: WithQueries) -> bool:
        """Whether a SELECT groups rows of each person apart."""
        if not select.groupClause:
            return False
        sources = self.sources()
        try:
            source, _ = sources.rows(select, queries)
        except DiscreetError:
            return False
        rows = sources.expressions(source, with_queries(select, queries))
        keys = [meant(item, select, rows) for item in select.groupClause if not isinstance(item, ast.GroupingSet)]
        return any(is_unit(key, rows) or is_key_of_parent(key, rows) for key in keys)

    def around(
        self,
        select: ast.SelectStmt,
        below: Planned,
        alias: str,
        queries: WithQueries,
        relation: tuple[str, ...] | None,
    ) -> Planned:
        """A SELECT over an aggregated subquery: post-processing of what that releases; `relation`: a view's name."""
        select = with_stars_expanded(select, alias, below.output)
        aliases = {target.name for target in select.targetList if target.name}
        columns = released_columns(set(below.output), aliases, relation)

        def column_of(node: Node) -> Node:
            number = isinstance(node, ast.SubLink)
            return released_number(node, self._context, queries) if number else columns(node)

        post = PostProcessing(self._context.harmless, self._context.parameters, column_of)
        outer = post.select(select, released_table(alias), post.rewrite(select.whereClause))
        outer.groupClause = post.rewrite(select.groupClause)
        outer.havingClause = post.rewrite(select.havingClause)
        top = Level.of(outer, alias, below.levels[-1].column)
        levels = (*below.levels, top)
        return replace(below, answer_sql=answer_sql(levels), output=top.names, levels=levels)


def released_number(node: ast.SubLink, context: Context, queries: WithQueries) -> Node:
    """What a subquery around the answer is replaced by: its own answer; None where it is no question of its own."""
    found = None if context.subquestions is None else context.subquestions.released(node, queries)
    return None if found is None else as_subquery(found)


def listed_groups(grouping: Grouping, public: Listed, conditions: list[Expression], select: ast.SelectStmt) -> Grouping:
    """The groups of public rows to which people were joined: all of them, by what is public alone.

    A condition on the people's side would let groups appear or not by whether there are people in them.
    """
    inside = places_of(public.rows)
    used = [*conditions, *(key.value for key in grouping.keys)]
    if any(item.row not in inside for value in used for item in columns_in(value)) or has_subqueries(used):
        refuse(
            "a condition or key on the people's side of a LEFT JOIN from public rows",
            select,
            "Put the condition into ON, or into FILTER.",
        )
    listed = replace(public, conditions=tuple(conditions))
    # the public rows say which groups there are, whatever categories are declared
    values = (replace(key.value, domain=None, others=None) for key in grouping.keys)
    return replace(grouping, keys=tuple(Key(value, listed) for value in values))


def columns_in(value: Expression) -> Iterator[Item]:
    """The columns that an expression names."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Column | Output):
            yield Item(node.place, node.name)
        waiting.extend(node.parts)


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
        name = node.fields[-1].sval
        averaged = f"avg({name}) or " if value.family in NUMBERS else ""
        hint = f"Aggregate it, for example by {averaged}count(DISTINCT {name}), or add it to GROUP BY."
        refuse(f"column {name} is neither in GROUP BY nor in an aggregate", node, hint)
    return None


def key_position(node: Node, expressions: Expressions, grouping: Grouping) -> int:
    """Which key an argument of GROUPING() is."""
    value = expressions.value(node)
    for position, key in enumerate(grouping.keys):
        if key.value == value:
            return position
    refuse("GROUPING() of something that is not in GROUP BY", node)


def released_columns(known: set[str], aliases: set[str], relation: tuple[str, ...] | None) -> Callable[[Node], Node]:
    """In an outer SELECT, columns are those of the released table; table.name of another name would call a function.

    A column of a view may be written with its schema, which the released table has not.
    """

    def released(node: Node) -> Node:
        if not isinstance(node, ast.ColumnRef):
            return None
        *called, name = (getattr(part, "sval", None) for part in node.fields)
        found = name in known or (not called and name in aliases)
        if not found or (len(called) > 1 and tuple(called) != relation):
            refuse(f"there is no column {'.'.join(map(str, (*called, name)))} in the subquery", node)
        return node if len(called) < 2 else ast.ColumnRef(fields=node.fields[-2:])

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
