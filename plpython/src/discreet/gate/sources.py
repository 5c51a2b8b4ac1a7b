"""Relations: what FROM clauses and subqueries become in the typed tree. What people.py has no rule for is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from pglast import ast, enums

from discreet.core.errors import DiscreetError
from discreet.core.syntax import Node
from discreet.gate.clauses import (
    NAMELESS,
    WithQueries,
    as_select,
    default_name,
    equated,
    is_star,
    refuse_beyond_rows,
    split,
    with_names,
    with_queries,
)  # fmt: skip
from discreet.gate.elements import MOST_ELEMENTS, elements, with_elements_in_from
from discreet.gate.expressions import Expressions
from discreet.gate.given import is_given, rows_of_function, values
from discreet.gate.joins import aliased, followed, link, merged, null_extended, shared_columns, using
from discreet.gate.names import (
    MERGED,
    Listed,
    Named,
    Names,
    Source,
    column_names,
    column_value,
    is_hidden,
    same_people,
    unit_values,
)
from discreet.gate.over_groups import (
    ALIAS,
    OverGroups,
    OverWindows,
    by_position,
    column_of_groups,
    has_more,
    has_windows,
    sorted_by,
    takes_some,
)
from discreet.gate.payers import refuse_other_tables
from discreet.gate.people import columns_of, either, is_led, meet_in_a_cast, of_query, outward, people_of
from discreet.gate.refusal import refuse, refuse_tracker, refusing_at
from discreet.gate.schema import Relation, Schema, View
from discreet.gate.subqueries import Asks, Mapped, Subquery
from discreet.gate.tree import (
    UNIT,
    Column,
    Derived,
    Expression,
    Join,
    Map,
    PerPerson,
    Query,
    SortKey,
    Step,
    Table,
    Union,
)
from discreet.gate.values import identifies, typed
from discreet.gate.within import (
    Group,
    GroupExpressions,
    RowExpressions,
    columns_used,
    is_grouped,
    is_key_of_parent,
    is_unit,
    kept_key,
    place_number,
    refuse_unordered,
)

DEEPEST = 20
MOST_NAMES = 100
APART = "GROUP BY the person too: what is computed for each person apart can be aggregated around it."
SETS = {
    enums.SetOperation.SETOP_UNION: "UNION",
    enums.SetOperation.SETOP_INTERSECT: "INTERSECT",
    enums.SetOperation.SETOP_EXCEPT: "EXCEPT",
}


class Sources:
    """Compiles FROM clauses of one question; `tables`: those it names, each time that it does."""

    def __init__(
        self,
        schema: Schema,
        parameters: tuple[str | None, ...],
        seen: Callable[[Source, Relation], Source] | None = None,
        subquestions: Asks | None = None,
    ) -> None:
        """`seen`: a protected table as its policy lets a question see it; `subquestions`: what reads those."""
        self.subquestions = subquestions
        self._schema = schema
        self._seen = seen
        self.parameters = parameters
        self.tables: dict[int, Relation] = {}
        self._without_alias: dict[str, str] = {}
        self._depth = 0
        self._names = 0
        self._subqueries: dict[int, tuple[Node, Expression]] = {}

    @property
    def constants(self) -> Expressions:
        """What reads expressions in which no column is named."""
        return Expressions(Names((), self.parameters))

    @contextmanager
    def undone(self) -> Iterator[None]:
        """What is read within, and refused, leaves no tables behind."""
        tables = dict(self.tables)
        try:
            yield
        except DiscreetError:
            self.tables.clear()
            self.tables.update(tables)
            raise

    def rows(
        self, select: ast.SelectStmt, outer: WithQueries, around: RowExpressions | None = None
    ) -> tuple[Source, list[Expression]]:
        """FROM and WHERE of a SELECT: its rows, and the conditions on them; `around`: the row it is evaluated for."""
        queries = with_queries(select, outer)
        if not select.fromClause:
            refuse("a SELECT without FROM", select)
        conjuncts = list(split(select.whereClause))
        source = self.listed(list(select.fromClause), conjuncts, queries, around)
        links = []
        for conjunct in list(conjuncts) if around is not None else ():
            assert around is not None
            found = link(conjunct, around.source.names, source.names)
            if found is not None:
                conjuncts.remove(conjunct)
                links.append(found)
                source = replace(source, rows=followed(source.rows, found, source.people))
        expressions = self.expressions(source, queries, around)
        return source, [*links, *(expressions.condition(conjunct) for conjunct in conjuncts)]

    def listed(
        self, items: list[Node], conjuncts: list[Node], queries: WithQueries, around: RowExpressions | None
    ) -> Source:
        """The items of FROM, joined by those of the conditions that equate people or keys, which are taken out."""
        first, *waiting = items
        source = self.item(first, queries, around)
        known: list[tuple[Node, Source]] = []
        for node in waiting:
            before = self.expressions(source, queries, around)
            known.append((node, self.item_after(node, queries, before, around)))
            while known:
                place = next((n for n, (_, other) in enumerate(known) if self.meets(source, other, conjuncts)), None)
                if place is None:
                    break
                node, other = known.pop(place)
                source = self.with_item(source, other, conjuncts, node)
        for node, other in known:
            source = self.with_item(source, other, conjuncts, node)
        return source

    def meets(self, source: Source, other: Source, conjuncts: list[Node]) -> bool:
        """Whether the rows of an item can be joined to those before it."""
        if source.public or other.public or other.people.led:
            return True
        if isinstance(other.rows, Derived) and other.rows.lateral:
            return True
        return any(link(conjunct, source.names, other.names) is not None for conjunct in conjuncts)

    def with_item(self, source: Source, other: Source, conjuncts: list[Node], node: Node) -> Source:
        names = source.names + other.names
        on: list[Expression] = []
        for conjunct in list(conjuncts):
            found = link(conjunct, source.names, other.names)
            if found is None and other.public and is_between(conjunct, source.names, other.names):
                found = Expressions(Names(names, self.parameters)).condition(conjunct)
            if found is not None:
                conjuncts.remove(conjunct)
                on.append(found)
        return self.joined(source, other, "INNER" if on else "CROSS", tuple(on), node)

    def expressions(self, source: Source, queries: WithQueries, around: RowExpressions | None = None) -> RowExpressions:
        """What reads expressions over these rows."""
        return RowExpressions(self.scope(source, around), source, Subquery(self, queries, self._subqueries))

    def scope(self, source: Source, around: RowExpressions | None) -> Names:
        return Names(source.names, self.parameters, around.scope if around is not None else None)

    def item_after(
        self, node: Node, queries: WithQueries, before: RowExpressions, around: RowExpressions | None
    ) -> Source:
        """An item of FROM, which may read the rows before it where it is LATERAL, or a function."""
        if isinstance(node, ast.RangeFunction) and not is_given(node):
            self._names += 1
            limits = before.source.limits
            most = MOST_ELEMENTS if before.source.public else limits.rows(limits.max_groups)
            return elements(node, self._names, before, most)
        return self.item(node, queries, before if is_lateral(node) else around)

    def item(self, node: Node, queries: WithQueries, around: RowExpressions | None = None) -> Source:
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
                if node.alias is None:
                    refuse("a subquery without a name", node.subquery)
                if node.subquery.valuesLists and not node.alias.colnames:
                    return values(node.subquery, self._names, node.alias.aliasname, self.constants)
                select = with_names(node.subquery, node.alias)
                if not node.lateral:
                    return self.subquery(select, node.alias.aliasname, queries)
                if around is None:
                    refuse("LATERAL without rows before it", node)
                return self.subquery(select, node.alias.aliasname, queries, around=around)
            if isinstance(node, ast.JoinExpr):
                return self.join(node, queries)
            if is_given(node):
                return rows_of_function(node, self._names, self.constants)
            if isinstance(node, ast.RangeFunction) and around is not None:
                return elements(node, self._names, around, MOST_ELEMENTS)
        finally:
            self._depth -= 1
        known = {ast.RangeFunction: "a function in FROM", ast.RangeTableSample: "TABLESAMPLE"}
        refuse(known.get(type(node), f"{type(node).__name__} in FROM"), node)

    # -- leaves

    def table(self, node: ast.RangeVar) -> Source:
        relation = self._schema.relation(node)
        called_by = node.alias.aliasname if node.alias else node.relname
        place = self._names
        alias = self.told_apart(called_by, relation) if node.alias is None else called_by
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
        unit: Expression | None = None
        path: tuple[Step, ...] = ()
        if kept is not None:
            unit = column_value(place, alias, relation.columns[kept.unit], relation)
            path = self.path(relation, unit, node)
            unit = unit if not path else self.last(path[-1], kept.path[-1].column)
        rows = Table(place, relation.schema, relation.name, not node.inh, alias, relation, unit, path)
        units = frozenset[str]() if kept is None or path else frozenset([called[kept.unit]])
        parents = {called[name]: parent for name, parent in parents_of(relation).items()}
        full_name = (relation.schema, relation.name) if node.alias is None else None
        source = Source(rows, (Named(called_by, columns, units, hidden, parents, relation=full_name),))
        return source if kept is None or self._seen is None else self._seen(source, relation)

    def told_apart(self, name: str, relation: Relation | View) -> str:
        """What is without an alias is called in SQL: tables of one name in several schemas have several names."""
        schema = self._without_alias.setdefault(name, relation.schema)
        return name if schema == relation.schema else f"discreet {self._names}"

    def path(self, relation: Relation, held: Expression, node: Node) -> tuple[Step, ...]:
        """The parents over which a row of a table has its person."""
        assert relation.protection is not None
        steps: list[Step] = []
        for step in relation.protection.path:
            parent = self._schema.relations.get((step.schema, step.name))
            if parent is None or frozenset([step.key]) not in parent.unique_keys:
                refuse(
                    f"the people of {relation.name} are not known: {step.name}.{step.key} is no longer unique",
                    node,
                    f"A curator has to protect {relation.schema}.{relation.name} anew.",
                )
            self._names += 1
            alias = f"discreet {self._names}"
            self.tables[self._names] = parent
            key = column_value(self._names, alias, parent.columns[step.key], parent)
            if not same_people(held, key):
                refuse(f"a foreign key of {relation.name} between columns of several types", node)
            steps.append(Step(step.schema, step.name, alias, held, key))
            held = column_value(self._names, alias, parent.columns[step.column], parent)
        return tuple(steps)

    def last(self, step: Step, column: str) -> Expression:
        """The column of the last parent that names the person."""
        assert isinstance(step.key, Column)
        parent = self.tables[step.key.place]
        unit = column_value(step.key.place, step.alias, parent.columns[column], parent)
        return replace(unit, identifies=True, is_unit=True)

    def view(self, view: View, node: ast.RangeVar) -> Source:
        """A view that filters, maps and joins."""
        alias = node.alias.aliasname if node.alias else node.relname
        if not node.inh:
            refuse("ONLY before a view", node)
        written = self.told_apart(alias, view) if node.alias is None else alias
        with view.quoted():
            source = self.subquery(with_names(view.select, node.alias), written, {})
        full_name = (view.schema, view.name) if node.alias is None else None
        return replace(source, names=tuple(replace(each, alias=alias, relation=full_name) for each in source.names))

    def subquery(
        self,
        select: ast.SelectStmt,
        alias: str,
        queries: WithQueries,
        around: RowExpressions | None = None,
    ) -> Source:
        """A derived table, WITH query or view; hidden columns that it lists are not there for the query around it."""
        place = self._names
        mapped = self.mapped(select, queries, True, around)
        listed = frozenset(target.name or default_name(target.val) for target in select.targetList or ())
        with refusing_at(select):
            return derived(place, alias, mapped, around is not None, listed - mapped.columns.keys())

    # -- queries

    def mapped(
        self,
        select: ast.SelectStmt,
        queries: WithQueries,
        leave_hidden: bool = False,
        around: RowExpressions | None = None,
        only_rows: bool = False,
    ) -> Mapped:
        """A subquery below the aggregation; `only_rows`: whether there are some, and not their columns, is asked."""
        if select.valuesLists:
            select = as_select(select)
        refuse_beyond_rows(select)
        select = with_elements_in_from(select)
        if select.op != enums.SetOperation.SETOP_NONE:
            return self.union(select, queries, around)
        source, conditions = self.rows(select, queries, around)
        if source.listed is not None:
            refuse(CALENDAR, select, "Ask about it in the question itself.")
        inside = with_queries(select, queries)
        if is_grouped(select):
            groups = self.groups(select, source, conditions, inside, around)
            if not has_more(select):
                return groups.mapped(select, self.select_list(select, source, groups.expressions))
            over = OverGroups(select, groups.expressions)
            around_groups = over.around()
            source, conditions = self.over(groups.mapped(select, over.columns), groups.led), []
            select = around_groups
        return self.selected(select, source, conditions, inside, leave_hidden, around, only_rows)

    def over(self, mapped: Mapped, led: bool) -> Source:
        """Groups as the rows of the SELECT around them."""
        self._names += 1
        found = derived(self._names, f"discreet {self._names}", mapped, led)
        return replace(found, names=tuple(replace(named, alias=ALIAS) for named in found.names))

    def selected(
        self,
        select: ast.SelectStmt,
        source: Source,
        conditions: list[Expression],
        queries: WithQueries,
        leave_hidden: bool,
        around: RowExpressions | None,
        only_rows: bool,
    ) -> Mapped:
        """A SELECT that does not group, over its rows."""
        if takes_some(select) and has_windows(select):
            return self.taken(select, source, conditions, queries, around)
        scope = self.scope(source, around)
        windows = {window.name: window for window in select.windowClause or ()}
        expressions = RowExpressions(
            scope, source, Subquery(self, queries, self._subqueries), windows,
            lambda: columns_used(select.targetList, scope, source),
        )  # fmt: skip
        plain = only_rows and not (select.distinctClause or select.limitCount or select.limitOffset)
        # DISTINCT compares all columns, so none of them can be left out
        unused = leave_hidden and select.distinctClause != (None,)
        columns = {} if plain else self.select_list(select, source, expressions, unused)
        rows = Map(source.rows, source.with_people(conditions), tuple(columns.items()), source.unit)
        query: Map | PerPerson = rows
        if select.distinctClause == (None,):
            query = self.distinct(select, rows, columns)
            columns = dict(query.columns)
        elif select.distinctClause or select.limitCount or select.limitOffset:
            query = self.first(select, rows, expressions)
        return known(source, query, columns)

    def taken(
        self,
        select: ast.SelectStmt,
        source: Source,
        conditions: list[Expression],
        queries: WithQueries,
        around: RowExpressions | None,
    ) -> Mapped:
        """DISTINCT or LIMIT over the rows that window functions have given their values."""
        over = OverWindows(select)
        inside, rest = over.divided()
        mapped = self.selected(inside, source, conditions, queries, False, around, False)
        rows = self.over(mapped, around is not None and is_led(mapped.query))
        sorts = {target.name for target in over.sorts}
        targets = tuple(
            ast.ResTarget(name=name, val=column_of_groups(name)) for name in mapped.columns if name not in sorts
        )
        return self.selected(ast.SelectStmt(targetList=targets, **rest), rows, [], queries, False, around, False)

    def distinct(self, select: ast.SelectStmt, query: Map, columns: Mapping[str, Expression]) -> Map | PerPerson:
        """SELECT DISTINCT: a row of each person for each value of the columns; of constants alone, one row or none."""
        if select.limitCount or select.limitOffset:
            refuse("LIMIT below the aggregation", select)
        if query.unit is not None and query.unit not in columns.values():
            refuse(
                "DISTINCT below the aggregation without the person",
                select,
                "Count different values by count(DISTINCT value), or select the person, too.",
            )
        kept = {name: value if value == query.unit else kept_key(value, select) for name, value in columns.items()}
        keys = tuple(dict.fromkeys(value for value in kept.values() if value != query.unit and not value.constant))
        for key in keys:
            refuse_unordered(key, select)
        if not keys and query.unit is None:
            return replace(query, most=1)
        return PerPerson(query.rows, query.conditions, query.unit, keys, (), (), tuple(kept.items()))

    def first(self, select: ast.SelectStmt, query: Map, expressions: RowExpressions) -> Map:
        """DISTINCT ON or LIMIT: which rows come first is decided by ORDER BY, and then by all columns that are used."""
        first = tuple(expressions.of_person(sorted_by(node, select)) for node in select.distinctClause or ())
        for value in first:
            refuse_unordered(value, select)
        listed = [*(select.targetList or ()), *(select.sortClause or ()), *(select.distinctClause or ())]
        return replace(
            query,
            first=first,
            order=tuple(self.sort_key(each, select, expressions) for each in select.sortClause or ()),
            ties=columns_used(listed, expressions.scope, expressions.source),
            most=None if select.limitCount is None else self.number(select.limitCount, expressions),
            skip=0 if select.limitOffset is None else self.number(select.limitOffset, expressions),
        )

    def sort_key(self, written: ast.SortBy, select: ast.SelectStmt, expressions: RowExpressions) -> SortKey:
        """ORDER BY a position, a name of the select list, or an expression."""
        return expressions.sort_key(written, expressions.of_person(sorted_by(written.node, select)))

    def number(self, node: Node, expressions: RowExpressions) -> int:
        return place_number(expressions.value(node), 0, node)

    def groups(
        self,
        select: ast.SelectStmt,
        source: Source,
        conditions: list[Expression],
        queries: WithQueries,
        around: RowExpressions | None,
    ) -> Groups:
        """GROUP BY the person, or aggregates of rows that are all of one person."""
        rows = self.expressions(source, queries, around)
        by_person, keys = False, dict[Expression, Expression]()
        for item in select.groupClause or ():
            if isinstance(item, ast.GroupingSet):
                refuse("grouping sets below the aggregation", item)
            node = meant(item, select, rows)
            by_person |= is_unit(node, rows) or is_key_of_parent(node, rows)
            if not is_unit(node, rows):
                value = rows.value(node, may_identify=True)
                if value.constant:
                    refuse("a constant in GROUP BY", item)
                keys[value] = kept_key(value, item)
                refuse_unordered(keys[value], item)
        led = around is not None and is_led(Map(source.rows, tuple(conditions), (), None))
        if not source.public and not by_person and not led:
            construct = "GROUP BY below the aggregation" if select.groupClause else "an aggregate in a subquery"
            refuse(f"{construct} without the person", select, APART)
        expressions = GroupExpressions(rows, Group(keys, by_person))
        return Groups(source, tuple(conditions), expressions, by_person, led)

    def union(self, select: ast.SelectStmt, queries: WithQueries, around: RowExpressions | None = None) -> Mapped:
        word = SETS[select.op] + (" ALL" if select.all else "")
        if select.limitCount or select.limitOffset:
            refuse("LIMIT below the aggregation", select)
        queries = with_queries(select, queries)
        left, right = (self.mapped(side, queries, around=around) for side in (select.larg, select.rarg))
        if len(left.columns) != len(right.columns):
            refuse(f"{word} of different numbers of columns", select)
        if word != "UNION ALL":
            left, right = with_one_spelling(left, select), with_one_spelling(right, select)
        both = Union(left.query, right.query, word)  # type: ignore[arg-type]
        columns: dict[str, Expression] = {}
        units = set()
        for (name, mine), (other, theirs) in zip(left.columns.items(), right.columns.items(), strict=True):
            refuse_mixed(name, [mine, theirs], select)
            if identifies(mine) != identifies(theirs):
                refuse_tracker(f"comparing column {name if identifies(mine) else other} with other values", select)
            if name in left.units and other in right.units:
                units.add(name)
            columns[name] = either(name, mine, theirs, name in units, select)
        with refusing_at(select):
            of_query(both)
        parents = {name: left.parents[name] for name in left.parents if left.parents[name] == right.parents.get(name)}
        return Mapped(both, columns, frozenset(units), parents)

    def select_list(
        self, select: ast.SelectStmt, source: Source, expressions: RowExpressions, leave_hidden: bool = False
    ) -> dict[str, Expression]:
        columns: dict[str, Expression] = {}
        for target in select.targetList or ():
            if leave_hidden and is_hidden(target.val, source.names):
                continue
            for name, value in self.target(target, source, expressions):
                if name in columns and name == NAMELESS:
                    name = f"{NAMELESS}{len(columns)}"
                if name in columns:
                    refuse(f"two columns of the name {name}", target, "Give one of them another name with AS.")
                if name == UNIT:
                    refuse(f"a column of the name {name}, which the gate uses itself", target, "Name it with AS.")
                columns[name] = value
        return columns

    def target(
        self, target: ast.ResTarget, source: Source, expressions: RowExpressions
    ) -> Iterator[tuple[str, Expression]]:
        if is_star(target):
            if isinstance(expressions, GroupExpressions):
                refuse("* beside GROUP BY", target)
            yield from starred(source.names, [part.sval for part in target.val.fields[:-1]])
            return
        may_identify = isinstance(target.val, ast.ColumnRef)
        value = (expressions.of_person if may_identify else expressions.value)(target.val, may_identify)
        yield target.name or default_name(target.val), typed(value)

    # -- joins

    def join(self, node: ast.JoinExpr, queries: WithQueries) -> Source:
        left = self.item(node.larg, queries)
        right = self.item_after(node.rarg, queries, self.expressions(left, queries), None)
        kind = JOINS.get(node.jointype)
        if kind is None:
            refuse("a join of this kind", node)
        names = left.names + right.names
        columns = shared_columns(left, right, node) if node.isNatural else [n.sval for n in node.usingClause or ()]
        conjuncts = [using(column, left, right, node) for column in columns] or list(split(node.quals))
        expressions = Expressions(Names(names, self.parameters))
        conditions = []
        for each in conjuncts:
            found = link(each, left.names, right.names)
            conditions.append(expressions.condition(each) if found is None else found)
        if is_calendar(kind, left, right):
            public, people = (left, right) if kind == "LEFT" else (right, left)
            return self.calendar(public, people, tuple(conditions), columns, node)
        source = self.joined(left, right, kind, tuple(conditions), node)
        lost = {"LEFT": (right,), "RIGHT": (left,), "FULL": (left, right)}.get(kind, ())
        kept_names = tuple(
            null_extended(named) if any(named in side.names for side in lost) else named for named in source.names
        )
        source = replace(source, names=kept_names)
        if columns:
            source = merged(source, left, right, kind, columns)
        return source if node.alias is None else aliased(source, node.alias)

    def calendar(
        self, public: Source, people: Source, conditions: tuple[Expression, ...], columns: list[str], node: Node
    ) -> Source:
        """Public rows LEFT JOIN people: people's rows are those of an INNER JOIN, and all public rows give groups."""
        source = self.joined(people, public, "INNER", conditions, node)
        source = replace(source, names=public.names + people.names)
        if columns:
            source = merged(source, public, people, "LEFT", columns)
        if node.alias is not None:
            refuse("a name for a LEFT JOIN from public rows to people", node)
        names = tuple(null_extended(named) if named in people.names else named for named in source.names)
        return replace(source, names=names, listed=Listed(public.rows))

    def joined(
        self,
        left: Source,
        right: Source,
        kind: Literal["INNER", "LEFT", "RIGHT", "FULL", "CROSS"],
        conditions: tuple[Expression, ...],
        node: Node,
    ) -> Source:
        if left.listed is not None or right.listed is not None:
            refuse(CALENDAR, node, "Join the people in a subquery, and the public rows with it.")
        sides = [left.rows, right.rows]
        for condition in conditions:
            if kind in ("INNER", "LEFT") and (rows := followed(right.rows, condition, right.people)) != right.rows:
                sides[1] = rows
                break
            if kind == "INNER" and (rows := followed(left.rows, condition, left.people)) != left.rows:
                sides[0] = rows
                break
        pairs = Join(kind, sides[0], sides[1], conditions)
        with refusing_at(node):
            people_of(pairs)
        names = left.names + right.names
        refuse_same_names(names)
        return Source(pairs, names)


def refuse_same_names(names: tuple[Named, ...]) -> None:
    """Two items of FROM have two names; tables of two schemas, without aliases, are told apart by their schemas."""
    seen: dict[str, list[Named]] = {}
    for named in names:
        others = seen.setdefault(named.alias, [])
        if named.alias != MERGED and any(
            None in (named.relation, other.relation) or named.relation == other.relation for other in others
        ):
            refuse("two tables of one name in FROM", None, "Give one of them an alias.")
        others.append(named)


def known(source: Source, query: Query, columns: Mapping[str, Expression]) -> Mapped:
    held = unit_values(source) | ({source.unit} if source.unit is not None else set())
    units = frozenset(name for name, value in columns.items() if value in held)
    tokens = {
        named.columns[column]: parent
        for named in source.names
        for column, parent in named.parents.items()
        if column in named.columns and not named.extended
    }
    parents = {name: tokens[value] for name, value in columns.items() if value in tokens}
    return Mapped(query, columns, units, parents)


def derived(place: int, alias: str, mapped: Mapped, lateral: bool, left_out: frozenset[str] = frozenset()) -> Source:
    """A subquery as rows; `left_out`: its hidden columns."""
    outer = {name: outward(value, place, name, alias) for name, value in mapped.columns.items()}
    rows = Derived(place, mapped.query, alias, lateral)
    people_of(rows)
    return Source(rows, (Named(alias, outer, mapped.units, left_out, mapped.parents),))


@dataclass(frozen=True)
class Groups:
    """The groups of a SELECT; `led`: of rows that are all of the person of a row around them."""

    source: Source
    conditions: tuple[Expression, ...]
    expressions: GroupExpressions
    by_person: bool
    led: bool

    def mapped(self, select: ast.SelectStmt, columns: Mapping[str, Expression]) -> Mapped:
        """These columns of the groups; whatever they need has been read."""
        having = tuple(self.expressions.condition(part) for part in split(select.havingClause))
        source, keys = self.source, self.expressions.keys
        query = PerPerson(
            source.rows, source.with_people(self.conditions), source.unit if self.by_person else None, keys,
            tuple(self.expressions.fixed), having, tuple(columns.items()),
        )  # fmt: skip
        with refusing_at(select):
            of_query(query)
        return known(source, query, columns)


CALENDAR = "a LEFT JOIN from public rows to people, and more around it"


def is_calendar(kind: str, left: Source, right: Source) -> bool:
    """Whether public rows are kept and people are joined to them."""
    kept, joined = (left, right) if kind == "LEFT" else (right, left)
    return kind in ("LEFT", "RIGHT") and kept.public and not joined.public


JOINS: dict[Node, Literal["INNER", "LEFT", "RIGHT", "FULL"]] = {
    enums.JoinType.JOIN_INNER: "INNER",
    enums.JoinType.JOIN_LEFT: "LEFT",
    enums.JoinType.JOIN_RIGHT: "RIGHT",
    enums.JoinType.JOIN_FULL: "FULL",
}


def is_lateral(node: Node) -> bool:
    return isinstance(node, ast.RangeSubselect) and bool(node.lateral)


def is_between(conjunct: Node, left: tuple[Named, ...], right: tuple[Named, ...]) -> bool:
    """Whether this equates a column of one side with one of the other, none of which names people."""
    sides = equated(conjunct)
    if sides is None:
        return False
    scope, found = Names(left + right, ()), []
    try:
        found = [scope.find(side)[0] for side in sides]
    except DiscreetError:
        return False
    return (found[0] in left and found[1] in right) or (found[1] in left and found[0] in right)


def meant(node: Node, select: ast.SelectStmt, expressions: RowExpressions) -> Node:
    """What an item of GROUP BY means: by position, by column, or by the name it has in the select list."""
    node = by_position(node, select)
    if isinstance(node, ast.ColumnRef) and len(node.fields) == 1:
        try:
            expressions.scope.find(node)
        except DiscreetError:
            named = [target.val for target in select.targetList if target.name == node.fields[0].sval]
            return named[0] if len(named) == 1 else node
    return node


def parents_of(relation: Relation) -> dict[str, str]:
    """The columns that tell to which row of a protected table a row belongs, and which column is that row's key."""
    kept = relation.protection
    if kept is None:
        return {}
    own = f"{relation.schema}.{relation.name}."
    found = {column: own + column for key in relation.unique_keys if len(key) == 1 for column in key}
    if kept.path:
        found[kept.unit] = f"{kept.path[0].schema}.{kept.path[0].name}.{kept.path[0].key}"
    return found


def starred(names: tuple[Named, ...], wanted: list[str]) -> Iterator[tuple[str, Expression]]:
    """The columns that * means, after these names; those that USING has merged come first, and once."""
    shared = {name: value for named in names if named.alias == MERGED for name, value in named.columns.items()}
    if not wanted:
        yield from shared.items()
    for named in names:
        if named.alias != MERGED and named.is_called(wanted):
            for name, value in named.columns.items():
                if wanted or name not in shared:
                    yield name, value


def with_one_spelling(mapped: Mapped, node: Node) -> Mapped:
    """The sides of a set operation compare whole rows: of equal values each side has one."""
    query = spelled(mapped.query, node)
    names = zip(mapped.columns, columns_of(query), strict=True)
    return replace(mapped, query=query, columns=dict(names))


def spelled(query: Query, node: Node) -> Query:
    if isinstance(query, Union):
        return replace(query, left=spelled(query.left, node), right=spelled(query.right, node))
    columns = tuple((name, value if value == query.unit else kept_key(value, node)) for name, value in query.columns)
    for _, value in columns:
        refuse_unordered(value, node)
    return replace(query, columns=columns)


def refuse_mixed(name: str, values: list[Expression], node: Node) -> None:
    if meet_in_a_cast(value for value in values if not value.is_null):
        refuse(f"column {name} of several types in UNION ALL", node, "Cast it to one type in each part.")
