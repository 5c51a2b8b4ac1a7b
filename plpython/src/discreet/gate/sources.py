"""Relations: what FROM clauses and subqueries become in the typed tree. What people.py has no rule for is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from pglast import ast, enums

from discreet.core.errors import DiscreetError
from discreet.core.syntax import Node
from discreet.gate.clauses import (
    NAMELESS,
    WithQueries,
    default_name,
    equated,
    is_star,
    refuse_beyond_rows,
    split,
    with_names,
    with_queries,
)  # fmt: skip
from discreet.gate.expressions import Expressions
from discreet.gate.names import Named, Names, Source, column_names, column_value, is_hidden, same_people, unit_values
from discreet.gate.people import either, meet_in_a_cast, of_query, outward, people_of
from discreet.gate.refusal import refuse, refusing_at
from discreet.gate.schema import Relation, Schema, View
from discreet.gate.tree import BOOLEAN, UNIT, Constant, Derived, Expression, Join, Map, SamePerson, Table, Union
from discreet.personal.selection import refuse_other_tables

DEEPEST = 20
MOST_NAMES = 100


@dataclass(frozen=True)
class Mapped:
    """A subquery that only filters and maps rows; `units`: its columns that hold the person of a row."""

    query: Map | Union
    columns: Mapping[str, Expression]
    units: frozenset[str]


class Sources:
    """Compiles FROM clauses of one question; `tables`: those it names, each time that it does."""

    def __init__(
        self,
        schema: Schema,
        parameters: tuple[str | None, ...],
        seen: Callable[[Source, Relation], Source] | None = None,
    ) -> None:
        """`seen`: a protected table as its policy lets a question see it."""
        self._schema = schema
        self._seen = seen
        self.parameters = parameters
        self.tables: dict[int, Relation] = {}
        self._depth = 0
        self._names = 0

    def rows(self, select: ast.SelectStmt, outer: WithQueries) -> tuple[Source, list[Expression]]:
        """FROM and WHERE of a SELECT: its rows, and the conditions on them."""
        queries = with_queries(select, outer)
        if not select.fromClause:
            refuse("a SELECT without FROM", select)
        source, *others = (self.item(item, queries) for item in select.fromClause)
        conjuncts = list(split(select.whereClause))
        for other in others:
            links = [c for c in conjuncts if self.links_units(c, source, other)]
            for link in links:
                conjuncts.remove(link)
            on = tuple(self.same_person(link, source.names + other.names) for link in links)
            pairs = Join("INNER" if on else "CROSS", source.rows, other.rows, on)
            source = self.joined(source, other, pairs, select.fromClause[1])
        expressions = Expressions(Names(source.names, self.parameters))
        return source, [expressions.condition(conjunct) for conjunct in conjuncts]

    def item(self, node: Node, queries: WithQueries) -> Source:
        self._depth += 1
        self._names += 1
        if self._depth > DEEPEST or self._names > MOST_NAMES:
            refuse("a FROM clause nested too deeply, or with too many names", node)
        try:
            if isinstance(node, ast.RangeVar):
                if node.schemaname is None and node.relname in queries:
                    alias = node.alias.aliasname if node.alias else node.relname
                    query = queries[node.relname]
                    return self.subquery(with_names(query.select, node.alias), alias, query.known)
                view = self._schema.view(node)
                return self.table(node) if view is None else self.view(view, node)
            if isinstance(node, ast.RangeSubselect):
                if node.lateral:
                    refuse("LATERAL", node)
                if node.alias is None:
                    refuse("a subquery without a name", node.subquery)
                return self.subquery(with_names(node.subquery, node.alias), node.alias.aliasname, queries)
            if isinstance(node, ast.JoinExpr):
                return self.join(node, queries)
        finally:
            self._depth -= 1
        known = {ast.RangeFunction: "a function in FROM", ast.RangeTableSample: "TABLESAMPLE"}
        refuse(known.get(type(node), f"{type(node).__name__} in FROM"), node)

    # -- leaves

    def table(self, node: ast.RangeVar) -> Source:
        relation = self._schema.relation(node)
        alias = node.alias.aliasname if node.alias else node.relname
        place = self._names
        self.tables[place] = relation
        refuse_other_tables(self.tables.values(), node)
        called = column_names(relation, node.alias)
        columns = {
            called[column.name]: column_value(place, alias, column, relation)
            for column in relation.columns.values()
            if not column.hidden
        }
        hidden = frozenset(called[column.name] for column in relation.columns.values() if column.hidden)
        kept = relation.protection
        unit = None if kept is None else column_value(place, alias, relation.columns[kept.unit], relation)
        rows = Table(place, relation.schema, relation.name, not node.inh, alias, relation, unit)
        units = frozenset[str]() if kept is None else frozenset([called[kept.unit]])
        source = Source(rows, (Named(alias, columns, units, hidden),))
        return source if kept is None or self._seen is None else self._seen(source, relation)

    def view(self, view: View, node: ast.RangeVar) -> Source:
        """A view that filters, maps and joins; its hidden columns, which the asker has not written, are left out."""
        alias = node.alias.aliasname if node.alias else node.relname
        if not node.inh:
            refuse("ONLY before a view", node)
        with view.quoted():
            return self.subquery(with_names(view.select, node.alias), alias, {}, leave_hidden=True)

    def subquery(self, select: ast.SelectStmt, alias: str, queries: WithQueries, leave_hidden: bool = False) -> Source:
        place = self._names
        mapped = self.mapped(select, queries, leave_hidden)
        outer = {name: outward(value, place, name, alias) for name, value in mapped.columns.items()}
        left_out = frozenset(target.name for target in select.targetList or () if leave_hidden) - outer.keys()
        return Source(Derived(place, mapped.query, alias), (Named(alias, outer, mapped.units, left_out),))

    def mapped(self, select: ast.SelectStmt, queries: WithQueries, leave_hidden: bool = False) -> Mapped:
        """A subquery that only filters and maps rows."""
        refuse_beyond_rows(select)
        if select.op != enums.SetOperation.SETOP_NONE:
            return self.union(select, queries)
        source, conditions = self.rows(select, queries)
        columns = self.select_list(select, source, leave_hidden)
        query = Map(source.rows, source.with_people(conditions), tuple(columns.items()), source.unit)
        held = unit_values(source)
        return Mapped(query, columns, frozenset(name for name, value in columns.items() if value in held))

    def union(self, select: ast.SelectStmt, queries: WithQueries) -> Mapped:
        if select.op != enums.SetOperation.SETOP_UNION or not select.all:
            refuse("UNION, INTERSECT or EXCEPT other than UNION ALL", select)
        queries = with_queries(select, queries)
        left, right = self.mapped(select.larg, queries), self.mapped(select.rarg, queries)
        both = Union(left.query, right.query)
        with refusing_at(select):
            of_query(both)
        if len(left.columns) != len(right.columns):
            refuse("UNION ALL of different numbers of columns", select)
        columns: dict[str, Expression] = {}
        units = set()
        for (name, mine), (other, theirs) in zip(left.columns.items(), right.columns.items(), strict=True):
            refuse_mixed(name, [mine, theirs], select)
            if name in left.units and other in right.units:
                units.add(name)
            columns[name] = either(name, mine, theirs, name in units, select)
        return Mapped(both, columns, frozenset(units))

    def select_list(self, select: ast.SelectStmt, source: Source, leave_hidden: bool = False) -> dict[str, Expression]:
        columns: dict[str, Expression] = {}
        for target in select.targetList or ():
            if leave_hidden and is_hidden(target.val, source.names):
                continue
            for name, value in self.target(target, source):
                if name in columns and name == NAMELESS:
                    name = f"{NAMELESS}{len(columns)}"
                if name in columns:
                    refuse(f"two columns of the name {name}", target, "Give one of them another name with AS.")
                if name == UNIT:
                    refuse(f"a column of the name {name}, which the gate uses itself", target, "Name it with AS.")
                columns[name] = value
        return columns

    def target(self, target: ast.ResTarget, source: Source) -> Iterator[tuple[str, Expression]]:
        if is_star(target):
            wanted = target.val.fields[0].sval if len(target.val.fields) == 2 else None
            for named in source.names:
                if wanted in (None, named.alias):
                    yield from named.columns.items()
            return
        expressions = Expressions(Names(source.names, self.parameters))
        value = expressions.value(target.val, may_identify=isinstance(target.val, ast.ColumnRef))
        yield target.name or default_name(target.val), typed(value)

    # -- joins

    def join(self, node: ast.JoinExpr, queries: WithQueries) -> Source:
        if node.isNatural or node.alias is not None:
            refuse("NATURAL JOIN or a join with a name of its own", node)
        left, right = self.item(node.larg, queries), self.item(node.rarg, queries)
        kind = JOINS.get(node.jointype)
        if kind is None:
            refuse(
                "RIGHT or FULL JOIN, or LEFT JOIN from public rows to people",
                node,
                "Write it with the people on the left.",
            )
        names = left.names + right.names
        expressions = Expressions(Names(names, self.parameters))
        conditions = [
            self.same_person(each, names) if self.links_units(each, left, right) else expressions.condition(each)
            for each in self.join_conjuncts(node, left, right)
        ]
        if kind == "LEFT":
            right = replace(right, names=tuple(map(null_extended, right.names)))
        return self.joined(left, right, Join(kind, left.rows, right.rows, tuple(conditions)), node)

    def join_conjuncts(self, node: ast.JoinExpr, left: Source, right: Source) -> list[Node]:
        if not node.usingClause:
            return list(split(node.quals))
        conjuncts = []
        for part in node.usingClause:
            sides = []
            for source in (left, right):
                holders = [named.alias for named in source.names if part.sval in named.columns]
                if len(holders) != 1:
                    refuse(f"USING ({part.sval}) is ambiguous or unknown", node)
                sides.append(ast.ColumnRef(fields=(ast.String(sval=holders[0]), part)))
            kind = enums.A_Expr_Kind.AEXPR_OP
            conjuncts.append(ast.A_Expr(kind=kind, name=(ast.String(sval="="),), lexpr=sides[0], rexpr=sides[1]))
        return conjuncts

    def joined(self, left: Source, right: Source, pairs: Join, node: Node) -> Source:
        with refusing_at(node):
            people_of(pairs)
        names = left.names + right.names
        if len({named.alias for named in names}) != len(names):
            refuse("two tables of one name in FROM", None, "Give one of them an alias.")
        return Source(pairs, names)

    def links_units(self, conjunct: Node, left: Source, right: Source) -> bool:
        """Whether this is unit = unit, of one name on each side, and of types in which nobody equals two others."""
        sides = equated(conjunct)
        if sides is None:
            return False
        found = []
        for side in sides:
            try:
                found.append(Names(left.names + right.names, ()).find(side))
            except DiscreetError:
                return False
        if not all(column in named.unit_columns for named, column in found):
            return False
        if not same_people(*(named.columns[column] for named, column in found)):
            return False
        ends = [named for named, _ in found]
        return (ends[0] in left.names and ends[1] in right.names) or (ends[1] in left.names and ends[0] in right.names)

    def same_person(self, conjunct: Node, names: tuple[Named, ...]) -> Expression:
        scope = Names(names, ())
        sides = equated(conjunct)
        assert sides is not None
        return SamePerson(*map(scope.column, sides), type=BOOLEAN)


JOINS: dict[Node, Literal["INNER", "LEFT"]] = {enums.JoinType.JOIN_INNER: "INNER", enums.JoinType.JOIN_LEFT: "LEFT"}


def typed(value: Expression) -> Expression:
    """The column of a subquery: a literal without a type is a text there."""
    return replace(value, untyped=False) if isinstance(value, Constant) else value


def null_extended(named: Named) -> Named:
    """The right side of a LEFT JOIN, in which every column may be NULL."""
    columns = {name: replace(value, nullable=True) for name, value in named.columns.items()}
    return replace(named, columns=columns)


def refuse_mixed(name: str, values: list[Expression], node: Node) -> None:
    if meet_in_a_cast(value for value in values if not value.is_null):
        refuse(f"column {name} of several types in UNION ALL", node, "Cast it to one type in each part.")
