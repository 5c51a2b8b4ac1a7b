"""Functions in FROM that give the elements of a value of the row before them: of arrays, and of jsonb."""

from __future__ import annotations

from copy import copy

from pglast import ast

from discreet.core.syntax import Node
from discreet.gate.expressions import function_name
from discreet.gate.names import Named, Source, column_value
from discreet.gate.parse import nodes
from discreet.gate.refusal import refuse
from discreet.gate.schema import NUMBERS, TIMES, Column, Family, Relation
from discreet.gate.texts import is_array
from discreet.gate.tree import Elements, Expression, Output
from discreet.gate.within import RowExpressions

# of a value in a subquery about one row, or of a public one
MOST_ELEMENTS = 10_000
# the type of an element; that of an array says its own
TYPES = {"jsonb_array_elements": "jsonb", "jsonb_array_elements_text": "text", "jsonb_object_keys": "text"}
# what PostgreSQL calls the column of functions that name their result
RESULTS = {"jsonb_array_elements": "value", "jsonb_array_elements_text": "value"}


def elements(node: ast.RangeFunction, place: int, before: RowExpressions, most: int) -> Source:
    """The elements as rows, of which at most so many are taken."""
    call = called(node)
    name = function_name(call)
    if name not in ("unnest", *TYPES) or len(call.args or ()) != 1:
        refuse(f"function {name}() in FROM", node)
    value = before.value(call.args[0])
    kind = element_type(name, value, node)
    alias = node.alias.aliasname if node.alias is not None else name
    given = [part.sval for part in (node.alias.colnames if node.alias is not None else None) or ()]
    if len(given) > 1:
        refuse(f"several columns of {name}()", node)
    column = given[0] if given else RESULTS.get(name, alias)
    like = column_value(place, alias, Column(column, kind), NOWHERE)
    raw = column if like.family in NUMBERS | TIMES else None
    one = Output(place, column, alias, value, type=like.type, domain=like.domain, raw=raw)
    rows = Elements(place, name, value, column, most, alias, like.family is Family.TEXT)  # type: ignore[arg-type]
    return Source(rows, (Named(alias, {column: one}),))


NOWHERE = Relation("", "", {})
ALIAS, ELEMENT = "discreet elements", "discreet element"


def with_elements_in_from(select: ast.SelectStmt) -> ast.SelectStmt:
    """SELECT unnest(a) FROM t as SELECT e FROM t, LATERAL unnest(a) AS e: PostgreSQL gives the same rows.

    That is so for one such function, which stands alone in the list of a SELECT that neither groups, nor sorts, nor has
    windows, and whose FROM is one item. Others stay as they are, and are refused as functions of a row.
    """
    found = [target for target in select.targetList or () if is_of_elements(target.val)]
    plain = not (select.groupClause or select.havingClause or select.sortClause or select.windowClause)
    windows = any(isinstance(node, ast.FuncCall) and node.over is not None for node in nodes(select.targetList))
    if len(found) != 1 or not plain or windows or len(select.fromClause or ()) != 1:
        return select
    (target,) = found
    name = target.name or function_name(target.val)
    row = ast.RangeFunction(
        lateral=True, ordinality=False, is_rowsfrom=False, functions=((target.val, None),),
        alias=ast.Alias(aliasname=ALIAS, colnames=(ast.String(sval=ELEMENT),)),
    )  # fmt: skip
    column = ast.ColumnRef(fields=(ast.String(sval=ALIAS), ast.String(sval=ELEMENT)), location=target.location)
    changed = copy(select)
    changed.targetList = tuple(
        ast.ResTarget(name=name, val=column, location=each.location) if each is target else each
        for each in select.targetList
    )
    changed.fromClause = (*select.fromClause, row)
    return changed


def is_of_elements(node: Node) -> bool:
    if not isinstance(node, ast.FuncCall) or node.over is not None or node.agg_order or node.agg_filter:
        return False
    return [part.sval for part in node.funcname][-1] in ("unnest", *TYPES)


def called(node: ast.RangeFunction) -> ast.FuncCall:
    """The one call of the item."""
    if node.ordinality or node.is_rowsfrom or node.coldeflist or len(node.functions) != 1:
        refuse("WITH ORDINALITY, ROWS FROM or column definitions of a function in FROM", node)
    call, definitions = node.functions[0]
    plain = isinstance(call, ast.FuncCall) and not (
        call.agg_star or call.agg_order or call.agg_filter or call.agg_distinct or call.func_variadic or call.over
    )
    if not plain or definitions:
        refuse("a function in FROM", node)
    return call


def element_type(name: str, value: Expression, node: Node) -> str:
    """Arrays of composite types, of which unnest() makes several columns, are not among those that are known."""
    if name == "unnest" and is_array(value) and value.type.element is not None:
        return value.type.element
    if name != "unnest" and value.type.name == "jsonb":
        return TYPES[name]
    refuse(f"{name}() of something other than {'an array' if name == 'unnest' else 'jsonb'} of the row", node)
