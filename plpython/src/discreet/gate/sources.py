"""Unit propagation: what a FROM clause yields, who the person of each row is, and how often one person may appear.

The rules, by what stands in FROM (u: carries a unit, with at most one row per person if *single*):

    protected table                   u, single when its unit is unique and NOT NULL
    public table                      no unit
    u ⋈ u on both units               u; single when both are; INNER, or LEFT keeping the left side's unit;
                                      foreign keys must not show that the units name different people
    u ⋈ public, any condition         u; single when u is and the public side is matched on a unique key
    SELECT … FROM u WHERE …           u, as single as before: rows are only dropped and mapped; a view likewise
    u UNION ALL u of one dataset      u, not single; foreign keys likewise

Every rule keeps: adding or removing one person changes only rows that carry this person's unit (induction over the
tree: each row of the result is made from rows of one person and of public tables). All else is refused. What a person
may then change in the answer is bounded by the plan, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
from discreet.gate.names import (
    Limits,
    Named,
    Names,
    Source,
    column_names,
    column_value,
    is_hidden,
    matched_columns,
    people_of_both,
    same_people,
    unit_values,
)  # fmt: skip
from discreet.gate.refusal import refuse
from discreet.gate.schema import Family, Relation, Schema, View
from discreet.gate.traces import all_comparisons
from discreet.gate.tree import (
    BOOLEAN,
    UNIT,
    Constant,
    Derived,
    Either,
    Expression,
    Join,
    Map,
    Output,
    SamePerson,
    Table,
    Type,
    Union,
)
from discreet.gate.values import identifies, known_values, same_family
from discreet.personal.selection import refuse_other_tables

DEEPEST = 20
MOST_NAMES = 100


@dataclass(frozen=True)
class Mapped:
    """A subquery that only filters and maps rows; `units`: its columns that hold the person of a row."""

    query: Map | Union
    columns: Mapping[str, Expression]
    units: frozenset[str]
    source: Source


class Sources:
    """Compiles FROM clauses of one question; `tables`: those it names, each time that it does."""

    def __init__(self, schema: Schema, parameters: tuple[str | None, ...]) -> None:
        self._schema = schema
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
        units: list[Expression] = []
        for other in others:
            names = source.names + other.names
            links = [c for c in conjuncts if self.links_units(c, source, other)]
            if source.unit is not None and other.unit is not None and not links:
                refuse_unlinked(select.fromClause[1])
            for link in links:
                conjuncts.remove(link)
                units.append(self.same_person(link, names))
            pairs = Join("CROSS", source.rows, other.rows)
            source = self.joined(source, other, pairs, bool(links), frozenset(), select.fromClause[1])
        expressions = Expressions(Names(source.names, self.parameters))
        conditions = units + [expressions.condition(conjunct) for conjunct in conjuncts]
        compared = source.compared | all_comparisons(conditions)
        return replace(source, filtered=source.filtered or bool(conditions), compared=compared), conditions

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
        rows = Table(place, relation.schema, relation.name, not node.inh, alias)
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
        if kept is None:
            keys = tuple(frozenset(called[column] for column in key) for key in relation.unique_keys)
            named = Named(alias, columns, unique_keys=keys, hidden=hidden)
            return Source(rows, (named,), None, None, False)
        unit = column_value(place, alias, relation.columns[kept.unit], relation)
        named = Named(alias, columns, frozenset([called[kept.unit]]), hidden=hidden)
        total = kept.max_total_rows
        if total is None and kept.single:  # what is joined to it keeps its own bound
            total = kept.max_groups * kept.max_rows
        limits = Limits(kept.max_groups, kept.max_rows, kept.max_epsilon, kept.max_delta, total)
        # single needs a unit that is NOT NULL in every part
        return Source(
            rows, (named,), unit, kept.dataset, kept.single, limits,
            owned=kept.single, people=kept.people, whole_table=node.inh and not relation.row_security,
        )  # fmt: skip

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
        source, columns = mapped.source, mapped.columns
        outer = {name: outward(value, place, name, alias) for name, value in columns.items()}
        unit = None if source.unit is None else outward(source.unit, place, UNIT, alias)
        left_out = frozenset(target.name for target in select.targetList or () if leave_hidden) - columns.keys()
        entry = Named(alias, outer, mapped.units, hidden=left_out)
        rows = Derived(place, mapped.query, alias)
        return replace(source, rows=rows, names=(entry,), unit=unit, whole_table=False)

    def mapped(self, select: ast.SelectStmt, queries: WithQueries, leave_hidden: bool = False) -> Mapped:
        """A subquery that only filters and maps rows."""
        refuse_beyond_rows(select)
        if select.op != enums.SetOperation.SETOP_NONE:
            return self.union(select, queries)
        source, conditions = self.rows(select, queries)
        columns = self.select_list(select, source, leave_hidden)
        query = Map(source.rows, source.with_people(conditions), tuple(columns.items()), source.unit)
        held = unit_values(source)
        units = frozenset(name for name, value in columns.items() if value in held)
        return Mapped(query, columns, units, replace(source, owned=source.unit is not None))

    def union(self, select: ast.SelectStmt, queries: WithQueries) -> Mapped:
        if select.op != enums.SetOperation.SETOP_UNION or not select.all:
            refuse("UNION, INTERSECT or EXCEPT other than UNION ALL", select)
        queries = with_queries(select, queries)
        left, right = self.mapped(select.larg, queries), self.mapped(select.rarg, queries)
        first, second = left.source, right.source
        if first.dataset != second.dataset:
            refuse("UNION ALL of people of several datasets, or of people and public rows", select)
        if meet_in_a_cast([side.unit for side in (first, second)]):
            refuse("UNION ALL of people who are named by values of several types", select)
        if len(left.columns) != len(right.columns):
            refuse("UNION ALL of different numbers of columns", select)
        columns: dict[str, Expression] = {}
        units = set()
        for (name, mine), (other, theirs) in zip(left.columns.items(), right.columns.items(), strict=True):
            refuse_mixed(name, [mine, theirs], select)
            if name in left.units and other in right.units:
                units.add(name)
            columns[name] = either(name, mine, theirs, name in units, select)
        joined = replace(
            first,
            single=False,
            limits=first.limits | second.limits,
            filtered=True,
            compared=first.compared | second.compared,
            people=people_of_both(first, second, select),
        )
        if first.unit is not None and second.unit is not None:
            joined = replace(joined, unit=either(UNIT, first.unit, second.unit, True, select))
        return Mapped(Union(left.query, right.query), columns, frozenset(units), joined)

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
        if kind is None or (kind == "LEFT" and left.unit is None and right.unit is not None):
            refuse(
                "RIGHT or FULL JOIN, or LEFT JOIN from public rows to people",
                node,
                "Write it with the people on the left.",
            )
        names = left.names + right.names
        expressions = Expressions(Names(names, self.parameters))
        conditions: list[Expression] = []
        linked, matched = False, set[tuple[str, str]]()
        for conjunct in self.join_conjuncts(node, left, right):
            if self.links_units(conjunct, left, right):
                linked = True
                conditions.append(self.same_person(conjunct, names))
            else:
                conditions.append(expressions.condition(conjunct))
            matched |= matched_columns(conjunct, right.names)
        if left.unit is not None and right.unit is not None and not linked:
            refuse_unlinked(node)
        if kind == "LEFT":
            right = replace(right, names=tuple(map(null_extended, right.names)))
        pairs = Join(kind, left.rows, right.rows, tuple(conditions))
        joined = self.joined(left, right, pairs, linked, frozenset(matched), node)
        return replace(joined, compared=joined.compared | all_comparisons(conditions))

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

    def joined(
        self, left: Source, right: Source, pairs: Join, linked: bool, matched: frozenset[tuple[str, str]], node: Node
    ) -> Source:
        aliases = [named.alias for named in left.names + right.names]
        if len(set(aliases)) != len(aliases):
            refuse("two tables of one name in FROM", None, "Give one of them an alias.")
        names, compared = left.names + right.names, left.compared | right.compared
        if left.unit is not None and right.unit is not None:
            if left.dataset != right.dataset:
                refuse("a join of people of several datasets")
            limits = left.limits | right.limits
            single = linked and left.single and right.single
            people = people_of_both(left, right, node)
            return Source(pairs, names, left.unit, left.dataset, single, limits, True, compared, people=people)
        owners, public = (left, right) if left.unit is not None else (right, left)
        once = any(
            {(named.alias, column) for column in key} <= matched for named in public.names for key in named.unique_keys
        )
        single = owners.single and once and len(public.names) == 1
        return replace(owners, rows=pairs, names=names, single=single, filtered=True, compared=compared, owned=False)

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


def outward(value: Expression, place: int, name: str, alias: str) -> Output:
    """A column of a subquery, seen from outside; one that was taken over as it is, is still to be clamped."""
    return Output(
        place,
        name,
        alias,
        value,
        identifies=identifies(value),
        type=value.type,
        interval=value.interval,
        domain=known_values(value),
        nullable=value.nullable,
        raw=name if value.raw else None,
    )


def typed(value: Expression) -> Expression:
    """The column of a subquery: a literal without a type is a text there."""
    return replace(value, untyped=False) if isinstance(value, Constant) else value


def either(name: str, mine: Expression, theirs: Expression, units: bool, node: Node) -> Either:
    """A column of UNION ALL. What holds of both sides holds of it."""
    family, _ = same_family([mine, theirs], node)
    interval = None
    if mine.interval is not None and theirs.interval is not None:
        interval = mine.interval | theirs.interval
    return Either(
        mine,
        theirs,
        identifies=identifies(mine) or identifies(theirs),
        type=Type(family, mine.type.name if units and mine.type.name == theirs.type.name else None),
        interval=interval,
        nullable=mine.nullable or theirs.nullable,
        raw=name if mine.raw or theirs.raw else None,
    )


def null_extended(named: Named) -> Named:
    """The right side of a LEFT JOIN, in which every column may be NULL."""
    columns = {name: replace(value, nullable=True) for name, value in named.columns.items()}
    return replace(named, columns=columns)


def meet_in_a_cast(values: Iterable[Expression | None]) -> bool:
    """Whether PostgreSQL would cast one kind of number, or of time, to the other, which could fail, or make two one."""
    families = {value and value.family for value in values}
    return len(families) > 1 and families != {Family.INT, Family.NUMERIC}


def refuse_mixed(name: str, values: list[Expression], node: Node) -> None:
    if meet_in_a_cast(value for value in values if not value.is_null):
        refuse(f"column {name} of several types in UNION ALL", node, "Cast it to one type in each part.")


def refuse_unlinked(node: Node) -> None:
    refuse(
        "a join of people that is not on the person",
        node,
        "Join protected tables on their units: a.person = b.person.",
    )
