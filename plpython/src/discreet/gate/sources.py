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

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pglast import ast, enums

from discreet.core.errors import DiscreetError
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
    unit_sqls,
)  # fmt: skip
from discreet.gate.refusal import refuse
from discreet.gate.schema import Family, Relation, Schema, View
from discreet.gate.traces import Trace
from discreet.gate.values import Value, collated, identifier, operator, same_family
from discreet.personal.selection import refuse_other_tables

UNIT = '"discreet unit"'
DEEPEST = 20
MOST_NAMES = 100


class Sources:
    """Compiles FROM clauses of one question; `tables`: those it names, each time that it does."""

    def __init__(self, schema: Schema, parameters: tuple[str | None, ...]) -> None:
        self._schema = schema
        self.parameters = parameters
        self.tables: dict[int, Relation] = {}
        self._depth = 0
        self._names = 0

    def rows(self, select: ast.SelectStmt, outer: WithQueries) -> tuple[Source, list[str]]:
        """FROM and WHERE of a SELECT: its rows, and the native conditions on them."""
        queries = with_queries(select, outer)
        if not select.fromClause:
            refuse("a SELECT without FROM", select)
        source, *others = (self.item(item, queries) for item in select.fromClause)
        conjuncts = list(split(select.whereClause))
        units: list[str] = []
        for other in others:
            names = source.names + other.names
            links = [c for c in conjuncts if self.links_units(c, source, other)]
            if source.unit is not None and other.unit is not None and not links:
                refuse_unlinked(select.fromClause[1])
            for link in links:
                conjuncts.remove(link)
                units.append(self.unit_equality(link, names))
            sql = f"{source.sql} CROSS JOIN {other.sql}"
            source = self.joined(source, other, sql, bool(links), frozenset(), select.fromClause[1])
        expressions = Expressions(Names(source.names, self.parameters))
        conditions = units + [expressions.condition(conjunct) for conjunct in conjuncts]
        filtered, compared = source.filtered or bool(conditions), source.compared | expressions.compared
        return replace(source, filtered=filtered, compared=compared), conditions

    def item(self, node: Any, queries: WithQueries) -> Source:
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
        only = "" if node.inh else "ONLY "
        sql = f"{only}{identifier(relation.schema)}.{identifier(relation.name)} AS {identifier(alias)}"
        self.tables[self._names] = relation
        refuse_other_tables(self.tables.values(), node)
        called = column_names(relation, node.alias)
        columns = {
            called[column.name]: replace(
                column_value(alias, column, relation),
                trace=Trace.of_column(self._names, column.name, column.family),
            )
            for column in relation.columns.values()
            if not column.hidden
        }
        hidden = frozenset(called[column.name] for column in relation.columns.values() if column.hidden)
        kept = relation.protection
        if kept is None:
            keys = tuple(frozenset(called[column] for column in key) for key in relation.unique_keys)
            named = Named(alias, columns, unique_keys=keys, hidden=hidden)
            return Source(sql, (named,), None, None, False)
        unit = f"{identifier(alias)}.{identifier(kept.unit)}"
        never_null = frozenset(called[column.name] for column in relation.columns.values() if column.not_null)
        named = Named(alias, columns, unit, frozenset([called[kept.unit]]), hidden=hidden, never_null=never_null)
        total = kept.max_total_rows
        if total is None and kept.single:  # what is joined to it keeps its own bound
            total = kept.max_groups * kept.max_rows
        limits = Limits(kept.max_groups, kept.max_rows, kept.max_epsilon, kept.max_delta, total)
        # single needs a unit that is NOT NULL in every part
        family = relation.columns[kept.unit].family
        return Source(
            sql, (named,), unit, kept.dataset, kept.single, limits,
            owned=kept.single, family=family, people=kept.people, whole_table=node.inh and not relation.row_security,
        )  # fmt: skip

    def view(self, view: View, node: ast.RangeVar) -> Source:
        """A view that filters, maps and joins; its hidden columns, which the asker has not written, are left out."""
        alias = node.alias.aliasname if node.alias else node.relname
        if not node.inh:
            refuse("ONLY before a view", node)
        with view.quoted():
            return self.subquery(with_names(view.select, node.alias), alias, {}, leave_hidden=True)

    def subquery(self, select: ast.SelectStmt, alias: str, queries: WithQueries, leave_hidden: bool = False) -> Source:
        sql, columns, source = self.mapped(select, queries, leave_hidden)
        outer = {
            name: outward(value, f"{identifier(alias)}.{identifier(name)}", name) for name, value in columns.items()
        }
        unit = None if source.unit is None else f"{identifier(alias)}.{UNIT}"
        units = frozenset(name for name, value in columns.items() if value.sql in unit_sqls(source))
        left_out = frozenset(target.name for target in select.targetList or () if leave_hidden) - columns.keys()
        entry = Named(alias, outer, unit, units, hidden=left_out)
        return replace(source, sql=f"({sql}) AS {identifier(alias)}", names=(entry,), unit=unit, whole_table=False)

    def mapped(
        self, select: ast.SelectStmt, queries: WithQueries, leave_hidden: bool = False
    ) -> tuple[str, dict[str, Value], Source]:
        """A subquery that only filters and maps rows: its SQL, its columns, and the source they come from."""
        refuse_beyond_rows(select)
        if select.op != enums.SetOperation.SETOP_NONE:
            return self.union(select, queries)
        source, conditions = self.rows(select, queries)
        columns = self.select_list(select, source, leave_hidden)
        sql = row_sql(source, columns, source.with_people(conditions))
        return sql, columns, replace(source, owned=source.unit is not None)

    def union(self, select: ast.SelectStmt, queries: WithQueries) -> tuple[str, dict[str, Value], Source]:
        if select.op != enums.SetOperation.SETOP_UNION or not select.all:
            refuse("UNION, INTERSECT or EXCEPT other than UNION ALL", select)
        queries = with_queries(select, queries)
        left_sql, left, first = self.mapped(select.larg, queries)
        right_sql, right, second = self.mapped(select.rarg, queries)
        if first.dataset != second.dataset:
            refuse("UNION ALL of people of several datasets, or of people and public rows", select)
        if meet_in_a_cast({first.family, second.family}):
            refuse("UNION ALL of people who are named by values of several types", select)
        if len(left) != len(right):
            refuse("UNION ALL of different numbers of columns", select)
        columns: dict[str, Value] = {}
        for (name, mine), theirs in zip(left.items(), right.values(), strict=True):
            refuse_mixed(name, [mine, theirs], select)
            family, _ = same_family([mine, theirs], select)
            both = mine.interval is not None and theirs.interval is not None
            raw = name if mine.column or theirs.column else None
            units = mine.sql in unit_sqls(first) and theirs.sql in unit_sqls(second)
            columns[name] = Value(
                mine.sql if units else f"{mine.sql} or {theirs.sql}",
                family,
                mine.interval | theirs.interval if both else None,  # type: ignore[operator]
                column=raw,
                identifies=mine.identifies or theirs.identifies,
                type_name=mine.type_name if units and mine.type_name == theirs.type_name else None,
                weight=max(mine.weight, theirs.weight),
                trace=mine.trace | theirs.trace,
            )
        joined = replace(
            first,
            single=False,
            limits=first.limits | second.limits,
            filtered=True,
            compared=first.compared | second.compared,
            people=people_of_both(first, second, select),
        )
        return f"{left_sql} UNION ALL {right_sql}", columns, joined

    def select_list(self, select: ast.SelectStmt, source: Source, leave_hidden: bool = False) -> dict[str, Value]:
        columns: dict[str, Value] = {}
        for target in select.targetList or ():
            if leave_hidden and is_hidden(target.val, source.names):
                continue
            for name, value in self.target(target, source):
                if name in columns and name == NAMELESS:
                    name = f"{NAMELESS}{len(columns)}"
                if name in columns:
                    refuse(f"two columns of the name {name}", target, "Give one of them another name with AS.")
                if identifier(name) == UNIT:
                    refuse(f"a column of the name {name}, which the gate uses itself", target, "Name it with AS.")
                columns[name] = value
        return columns

    def target(self, target: ast.ResTarget, source: Source) -> Iterator[tuple[str, Value]]:
        if is_star(target):
            wanted = target.val.fields[0].sval if len(target.val.fields) == 2 else None
            for named in source.names:
                if wanted in (None, named.alias):
                    yield from named.columns.items()
            return
        expressions = Expressions(Names(source.names, self.parameters))
        value = expressions.value(target.val, may_identify=isinstance(target.val, ast.ColumnRef))
        trace = replace(value.trace, comparisons=frozenset(expressions.compared))
        value = replace(value, untyped=None, trace=trace)
        yield target.name or default_name(target.val), value

    # -- joins

    def join(self, node: ast.JoinExpr, queries: WithQueries) -> Source:
        if node.isNatural or node.alias is not None:
            refuse("NATURAL JOIN or a join with a name of its own", node)
        left, right = self.item(node.larg, queries), self.item(node.rarg, queries)
        kind = {enums.JoinType.JOIN_INNER: "INNER", enums.JoinType.JOIN_LEFT: "LEFT"}.get(node.jointype)
        if kind is None or (kind == "LEFT" and left.unit is None and right.unit is not None):
            refuse(
                "RIGHT or FULL JOIN, or LEFT JOIN from public rows to people",
                node,
                "Write it with the people on the left.",
            )
        names = left.names + right.names
        expressions = Expressions(Names(names, self.parameters))
        conditions, linked, matched = [], False, set()
        for conjunct in self.join_conjuncts(node, left, right):
            if self.links_units(conjunct, left, right):
                linked = True
                conditions.append(self.unit_equality(conjunct, names))
            else:
                conditions.append(expressions.condition(conjunct))
            matched |= matched_columns(conjunct, right.names)
        if left.unit is not None and right.unit is not None and not linked:
            refuse_unlinked(node)
        on = " AND ".join(conditions) if conditions else "true"
        sql = f"({left.sql} {kind} JOIN {right.sql} ON {on})"
        joined = self.joined(left, right, sql, linked, frozenset(matched), node)
        return replace(joined, compared=joined.compared | expressions.compared)

    def join_conjuncts(self, node: ast.JoinExpr, left: Source, right: Source) -> list[Any]:
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
        self, left: Source, right: Source, sql: str, linked: bool, matched: frozenset[tuple[str, str]], node: Any
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
            return Source(
                sql, names, left.unit, left.dataset, single, limits, True, compared, family=left.family, people=people
            )
        owners, public = (left, right) if left.unit is not None else (right, left)
        once = any(
            {(named.alias, column) for column in key} <= matched for named in public.names for key in named.unique_keys
        )
        single = owners.single and once and len(public.names) == 1
        return replace(owners, sql=sql, names=names, single=single, filtered=True, compared=compared, owned=False)

    def links_units(self, conjunct: Any, left: Source, right: Source) -> bool:
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

    def unit_equality(self, conjunct: Any, names: tuple[Named, ...]) -> str:
        scope = Names(names, ())
        sides = equated(conjunct)
        assert sides is not None
        return operator("=", *(collated(scope.column(side)) for side in sides))


def outward(value: Value, sql: str, name: str) -> Value:
    """A column of a subquery, seen from outside; one that was taken over as it is, is still to be clamped."""
    return replace(value, sql=sql, column=name if value.column else None, constant=False, content=None, untyped=None)


def row_sql(source: Source, columns: Mapping[str, Value], conditions: list[str]) -> str:
    targets = [f"{value.sql} AS {identifier(name)}" for name, value in columns.items()]
    if source.unit is not None:
        targets.append(f"{source.unit} AS {UNIT}")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"SELECT {', '.join(targets)} FROM {source.sql}{where}"


def meet_in_a_cast(families: Collection[Family | None]) -> bool:
    """Whether PostgreSQL would cast one kind of number, or of time, to the other, which could fail, or make two one."""
    return len(families) > 1 and families != {Family.INT, Family.NUMERIC}


def refuse_mixed(name: str, values: list[Value], node: Any) -> None:
    if meet_in_a_cast({value.family for value in values if not value.is_null}):
        refuse(f"column {name} of several types in UNION ALL", node, "Cast it to one type in each part.")


def refuse_unlinked(node: Any) -> None:
    refuse(
        "a join of people that is not on the person",
        node,
        "Join protected tables on their units: a.person = b.person.",
    )
