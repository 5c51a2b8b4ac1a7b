"""Windows, DISTINCT and LIMIT beside GROUP BY in a subquery work on its groups, as DISTINCT and LIMIT do on windows.

    SELECT person, kind, row_number() OVER (PARTITION BY person ORDER BY count(*) DESC) FROM t GROUP BY person, kind

is the same as a SELECT without groups over a subquery that groups, whose columns are the keys and aggregates:

    SELECT person, kind, row_number() OVER (PARTITION BY person ORDER BY n DESC)
    FROM (SELECT person, kind, count(*) AS n FROM t GROUP BY person, kind) AS groups

That is how PostgreSQL computes it, too. So it needs no rules of its own: both are 1-stable in people (people.py). Rows
that DISTINCT ON or LIMIT take are then chosen by what the windows gave them, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pglast import ast

from discreet.core.syntax import Node
from discreet.gate.clauses import default_name, is_star
from discreet.gate.refusal import refuse
from discreet.gate.tree import Expression
from discreet.gate.values import typed
from discreet.gate.within import GroupExpressions, is_within

ALIAS = "groups"


def has_more(select: ast.SelectStmt) -> bool:
    """Whether something beside GROUP BY works on the groups."""
    return takes_some(select) or has_windows(select)


def takes_some(select: ast.SelectStmt) -> bool:
    return bool(select.distinctClause or select.limitCount or select.limitOffset)


def has_windows(select: ast.SelectStmt) -> bool:
    return any(isinstance(node, ast.FuncCall) and node.over is not None for node in of_this_select(select.targetList))


def of_this_select(node: Node) -> Iterator[Node]:
    """The nodes of an expression or a list of them, those of subqueries aside."""
    waiting: list[Node] = [node]
    while waiting:
        found = waiting.pop()
        if isinstance(found, tuple | list):
            waiting.extend(found)
        elif isinstance(found, ast.Node) and not isinstance(found, ast.SelectStmt):
            yield found
            waiting.extend(getattr(found, slot) for slot in found)


def taken(select: ast.SelectStmt, change: Callable[[Node], Node]) -> dict[str, Node]:
    """DISTINCT, ORDER BY and LIMIT, with their expressions changed."""

    def sorting(written: ast.SortBy) -> ast.SortBy:
        return ast.SortBy(**{slot: getattr(written, slot) for slot in written} | {"node": change(written.node)})

    distinct = select.distinctClause
    return {
        "distinctClause": distinct if distinct in (None, (None,)) else tuple(map(change, distinct)),
        "sortClause": select.sortClause and tuple(map(sorting, select.sortClause)),
        "limitCount": select.limitCount,
        "limitOffset": select.limitOffset,
        "limitOption": select.limitOption,
        "op": select.op,
    }


def column_of_groups(name: str) -> ast.ColumnRef:
    return ast.ColumnRef(fields=(ast.String(sval=ALIAS), ast.String(sval=name)))


def sorted_by(node: Node, select: ast.SelectStmt) -> Node:
    """What an item of ORDER BY or DISTINCT ON means: by position, by the name in the select list, or by column."""
    if not isinstance(node, ast.ColumnRef) or len(node.fields) != 1:
        return by_position(node, select)
    name = getattr(node.fields[0], "sval", None)
    named = [t.val for t in select.targetList or () if not is_star(t) and (t.name or default_name(t.val)) == name]
    return named[0] if len(named) == 1 else node


def by_position(node: Node, select: ast.SelectStmt) -> Node:
    if not isinstance(node, ast.A_Const) or not isinstance(node.val, ast.Integer):
        return node
    if not 1 <= node.val.ival <= len(select.targetList):
        refuse(f"{node.val.ival} is no position of the select list", node)
    return select.targetList[node.val.ival - 1].val


class OverWindows:
    """Divides a SELECT with windows; `sorts`: what its rows are told apart by, or sorted, and is no column of it."""

    def __init__(self, select: ast.SelectStmt) -> None:
        self._select = select
        self.sorts: list[ast.ResTarget] = []

    def divided(self) -> tuple[ast.SelectStmt, dict[str, Node]]:
        """The SELECT with windows, and DISTINCT, ORDER BY and LIMIT over it."""
        select, rest = self._select, taken(self._select, self.named)
        targets = (*(select.targetList or ()), *self.sorts)
        return ast.SelectStmt(targetList=targets, windowClause=select.windowClause, op=select.op), rest

    def named(self, node: Node) -> ast.ColumnRef:
        """The column of the SELECT with windows that an item of ORDER BY or DISTINCT ON means."""
        meant = sorted_by(node, self._select)
        for target in self._select.targetList or ():
            if target.val is meant:
                return column_of_groups(target.name or default_name(meant))
        name = f"discreet sort {len(self.sorts)}"
        self.sorts.append(ast.ResTarget(name=name, val=meant))
        return column_of_groups(name)


class OverGroups:
    """Divides a SELECT; `columns`: of the groups, those that what is around them uses, by name."""

    def __init__(self, select: ast.SelectStmt, groups: GroupExpressions) -> None:
        self._select = select
        self._groups = groups
        self.columns: dict[str, Expression] = {}

    def around(self) -> ast.SelectStmt:
        """The SELECT over the groups, which stand in its place of FROM."""
        select = self._select
        if any(is_star(target) for target in select.targetList or ()):
            refuse("* beside GROUP BY", select)
        targets = tuple(
            ast.ResTarget(
                name=target.name or default_name(target.val), val=self.over(target.val), location=target.location
            )
            for target in select.targetList or ()
        )
        return ast.SelectStmt(
            targetList=targets,
            windowClause=self.over(select.windowClause),
            **taken(select, lambda node: self.over(sorted_by(node, select))),
        )

    def over(self, node: Node) -> Node:
        """An expression with columns of the groups in place of keys and aggregates."""
        if isinstance(node, tuple | list):
            return tuple(map(self.over, node))
        if not isinstance(node, ast.Node) or isinstance(node, ast.A_Const):
            return node
        if isinstance(node, ast.SubLink):
            self._groups.value(node)  # it is a number of its own, which is the same for all groups, or refused
            return node
        if is_within(node) or isinstance(node, ast.ColumnRef):
            return self.column(node, self._groups.of_person(node))
        if not isinstance(node, ast.ParamRef | ast.SortBy | ast.WindowDef | ast.TypeName):
            found = self._groups.key(node, may_identify=True)
            if found is not None:
                return self.column(node, found)
        return type(node)(**{slot: self.over(getattr(node, slot)) for slot in node})

    def column(self, node: Node, value: Expression) -> ast.ColumnRef:
        value = typed(value)
        name = next((name for name, held in self.columns.items() if held == value), None)
        if name is None:
            wanted = name = default_name(node)
            while name in self.columns:
                name = f"{wanted} {len(self.columns)}"
            self.columns[name] = value
        return column_of_groups(name)
