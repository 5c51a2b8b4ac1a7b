"""What an answer does not cover by what stands around it: HAVING, LIMIT, windows, and SELECTs over the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pglast import ast

from discreet.core.syntax import Node
from discreet.gate.aggregates import is_aggregate
from discreet.gate.levels import Level
from discreet.gate.parse import nodes
from discreet.gate.plan import Plan
from discreet.gate.propagation import dependence


def rows_chosen_by_noise(plan: Plan) -> Iterator[str]:
    """Clauses that let noisy numbers decide which rows are shown, or which of them a sum or a rank is over."""
    clauses = []
    for place, level in enumerate(plan.levels):
        select, exact = level.select, exactly(level)
        if select.whereClause is not None and not exact(select.whereClause):
            clauses.append("HAVING" if place == 0 else "WHERE")
        if select.havingClause is not None and not exact(select.havingClause):
            clauses.append("HAVING")
        limited = select.limitCount is not None or select.limitOffset is not None
        if limited and not all(exact(sorted_by(item, select)) for item in select.sortClause or ()):
            clauses.append("ORDER BY … LIMIT")
    if clauses:
        yield f"rows chosen by noisy numbers: {', '.join(dict.fromkeys(clauses))}"


def exactly(level: Level) -> Callable[[Node], bool]:
    """Whether an expression of a SELECT depends on no noise."""

    def exact(node: Node) -> bool:
        return level.columns is not None and dependence(node, level.columns).exact

    return exact


def sorted_by(item: ast.SortBy, select: ast.SelectStmt) -> Node:
    """The expression that an item of ORDER BY means: a column of the select list by its place or name, or itself."""
    node = item.node
    held = node.val if isinstance(node, ast.A_Const) else None
    if isinstance(held, ast.Integer) and 1 <= held.ival <= len(select.targetList):
        return select.targetList[held.ival - 1].val
    if isinstance(node, ast.ColumnRef) and len(node.fields) == 1:
        named = [target.val for target in select.targetList if target.name == getattr(node.fields[0], "sval", None)]
        return named[0] if len(named) == 1 else node
    return node


def groups_without_people(plan: Plan) -> Iterator[str]:
    """Known groups are rows of the answer, with or without people: PostgreSQL has no row for those without."""
    known = any(plan.grouping.keys[key].domain is not None for some in plan.grouping.sets for key in some)
    calls = (
        (place, node)
        for place, level in enumerate(plan.levels)
        for node in nodes(level.select)
        if isinstance(node, ast.FuncCall)
    )
    if known and any(call.over is not None or (place > 0 and is_aggregate(call)) for place, call in calls):
        yield "groups without people counted among the rows of the answer"
