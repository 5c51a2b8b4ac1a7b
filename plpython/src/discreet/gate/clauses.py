"""Clauses of a SELECT as they are written: WITH queries, names of columns, conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass

from pglast import ast, enums

from discreet.core.syntax import Node
from discreet.gate.expressions import operator_name
from discreet.gate.refusal import refuse

NAMELESS = "?column?"


@dataclass(frozen=True)
class WithQuery:
    """A WITH query, and the earlier ones that it may name."""

    select: ast.SelectStmt
    known: Mapping[str, WithQuery]


WithQueries = Mapping[str, WithQuery]


def with_queries(select: ast.SelectStmt, outer: WithQueries) -> dict[str, WithQuery]:
    """The WITH queries that a SELECT sees: those around it, and its own."""
    queries = dict(outer)
    if select.withClause is None:
        return queries
    if select.withClause.recursive:
        refuse("WITH RECURSIVE", select.withClause)
    for query in select.withClause.ctes:
        if not isinstance(query.ctequery, ast.SelectStmt):
            refuse("a WITH query that is not a SELECT", query)
        select = with_column_names(query.ctequery, query.aliascolnames or ())
        queries[query.ctename] = WithQuery(select, dict(queries))
    return queries


def with_names(select: ast.SelectStmt, alias: ast.Alias | None) -> ast.SelectStmt:
    """The subquery of `(SELECT …) AS alias(names)`, with its columns named so."""
    return with_column_names(select, (alias and alias.colnames) or ())


def with_column_names(select: ast.SelectStmt, names: tuple[ast.String, ...]) -> ast.SelectStmt:
    """The SELECT with its first columns named anew."""
    if not names:
        return select
    changed = copy(select)
    if select.op != enums.SetOperation.SETOP_NONE:
        changed.larg = with_column_names(select.larg, names)
        return changed
    if select.valuesLists:
        return with_column_names(as_select(select), names)
    targets = list(select.targetList or ())
    if len(names) > len(targets) or any(is_star(target) for target in targets):
        refuse("names for columns that are not written one by one", select)
    if any(isinstance(item.node, ast.ColumnRef) for item in select.sortClause or ()):
        refuse("names for columns of a subquery with ORDER BY", select)
    for place, name in enumerate(names):
        targets[place] = ast.ResTarget(name=name.sval, val=targets[place].val, location=targets[place].location)
    changed.targetList = tuple(targets)
    return changed


def as_select(values: ast.SelectStmt) -> ast.SelectStmt:
    """VALUES, as the SELECT of its columns."""
    alias = "*VALUES*"
    columns = (f"column{place}" for place, _ in enumerate(values.valuesLists[0], start=1))
    fields = [(ast.String(sval=alias), ast.String(sval=column)) for column in columns]
    return ast.SelectStmt(
        targetList=tuple(ast.ResTarget(val=ast.ColumnRef(fields=pair)) for pair in fields),
        fromClause=(ast.RangeSubselect(subquery=values, alias=ast.Alias(aliasname=alias)),),
        op=enums.SetOperation.SETOP_NONE,
    )


def is_star(target: ast.ResTarget) -> bool:
    return isinstance(target.val, ast.ColumnRef) and isinstance(target.val.fields[-1], ast.A_Star)


def default_name(node: Node) -> str:
    """What PostgreSQL calls a column that is given no name."""
    return figured_name(node)[0] or NAMELESS


def figured_name(node: Node) -> tuple[str | None, bool]:
    """The name, and whether it is better than one that a cast or a CASE around the node would give."""
    if isinstance(node, ast.ColumnRef):
        name = getattr(node.fields[-1], "sval", None)
        return name, name is not None
    if isinstance(node, ast.FuncCall):
        return str(node.funcname[-1].sval), True
    if isinstance(node, ast.CollateClause):
        return figured_name(node.arg)
    if isinstance(node, ast.A_Indirection):
        fields = [part.sval for part in node.indirection if isinstance(part, ast.String)]
        return (fields[-1], True) if fields else figured_name(node.arg)
    if isinstance(node, ast.TypeCast):
        name, good = figured_name(node.arg)
        return (name, True) if good else (str(node.typeName.names[-1].sval), False)
    if isinstance(node, ast.CaseExpr):
        name, good = figured_name(node.defresult)
        return (name, True) if good else ("case", False)
    if isinstance(node, ast.A_Expr) and node.kind == enums.A_Expr_Kind.AEXPR_NULLIF:
        return "nullif", True
    if isinstance(node, ast.MinMaxExpr):
        return "greatest" if node.op == enums.MinMaxOp.IS_GREATEST else "least", True
    if isinstance(node, ast.SubLink) and node.subLinkType == enums.SubLinkType.EXPR_SUBLINK:
        target = node.subselect.targetList[0] if node.subselect.targetList else None
        if target is None:
            return None, False
        return (target.name, True) if target.name else figured_name(target.val)
    words = {ast.CoalesceExpr: "coalesce", ast.GroupingFunc: "grouping", ast.A_ArrayExpr: "array", ast.RowExpr: "row"}
    return words.get(type(node)), type(node) in words


def split(condition: Node) -> Iterator[Node]:
    """The parts of a condition that must all hold."""
    if condition is None:
        return
    if isinstance(condition, ast.BoolExpr) and condition.boolop == enums.BoolExprType.AND_EXPR:
        for part in condition.args:
            yield from split(part)
    else:
        yield condition


def equated(conjunct: Node) -> tuple[ast.ColumnRef, ast.ColumnRef] | None:
    if not isinstance(conjunct, ast.A_Expr) or conjunct.kind != enums.A_Expr_Kind.AEXPR_OP:
        return None
    sides = conjunct.lexpr, conjunct.rexpr
    if operator_name(conjunct) != "=" or not all(isinstance(side, ast.ColumnRef) for side in sides):
        return None
    return sides


def refuse_beyond_rows(select: ast.SelectStmt) -> None:
    beyond = {
        "FOR UPDATE": select.lockingClause,
        "VALUES": select.valuesLists,
        "SELECT INTO": select.intoClause,
        "GROUP BY DISTINCT": select.groupDistinct,
        "FETCH … WITH TIES": select.limitOption == enums.LimitOption.LIMIT_OPTION_WITH_TIES,
    }
    for construct, present in beyond.items():
        if present:
            refuse(f"{construct} below the aggregation", select)
