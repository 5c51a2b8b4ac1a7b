"""Post-processing: everything around the aggregates works on numbers that are already released.

The select list, HAVING, ORDER BY and LIMIT are kept, with each aggregate and each group key replaced by its column of
the measured table. An outer SELECT over an aggregated subquery is kept as it is. All names are written with their
schema; functions are built in and immutable; a division by zero has no value instead of an error.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation

from pglast import ast, enums

from discreet.core.syntax import Node
from discreet.gate.arithmetic import CAST_TARGETS
from discreet.gate.clauses import default_name
from discreet.gate.expressions import describe, function_name, operator_name
from discreet.gate.parse import nodes
from discreet.gate.refusal import refuse

MEASURED = "measured"
# the column of the measured table that says which grouping set a row belongs to
SET = "s"

ALLOWED = (
    ast.A_Const, ast.A_Expr, ast.BoolExpr, ast.NullTest, ast.BooleanTest, ast.CaseExpr, ast.CaseWhen, ast.CoalesceExpr,
    ast.MinMaxExpr, ast.FuncCall, ast.TypeCast, ast.TypeName, ast.SortBy, ast.WindowDef, ast.ColumnRef, ast.ParamRef,
    ast.String, ast.Integer, ast.Float, ast.Boolean, ast.A_ArrayExpr, ast.ResTarget,
)  # fmt: skip

TYPES = frozenset([*CAST_TARGETS, "interval", "time", "jsonb"])

KINDS = (
    enums.A_Expr_Kind.AEXPR_OP, enums.A_Expr_Kind.AEXPR_OP_ANY, enums.A_Expr_Kind.AEXPR_OP_ALL,
    enums.A_Expr_Kind.AEXPR_IN, enums.A_Expr_Kind.AEXPR_LIKE, enums.A_Expr_Kind.AEXPR_ILIKE,
    enums.A_Expr_Kind.AEXPR_BETWEEN, enums.A_Expr_Kind.AEXPR_NOT_BETWEEN, enums.A_Expr_Kind.AEXPR_DISTINCT,
    enums.A_Expr_Kind.AEXPR_NOT_DISTINCT, enums.A_Expr_Kind.AEXPR_NULLIF,
)  # fmt: skip

Replacement = Callable[[Node], Node]


class PostProcessing:
    """Checks and rewrites trees that see released numbers only."""

    def __init__(self, harmless: frozenset[str], parameters: tuple[str | None, ...], replaced: Replacement) -> None:
        self._harmless = harmless
        self._parameters = parameters
        self._replaced = replaced

    def rewrite(self, node: Node) -> Node:
        if node is None or isinstance(node, str | int | bool | float):
            return node
        if isinstance(node, tuple | list):
            return tuple(self.rewrite(part) for part in node)
        replacement = self._replaced(node)
        if replacement is not None:
            return replacement
        if not isinstance(node, ALLOWED):
            if isinstance(node, ast.Node):
                refuse(f"{describe(node)} around the answer", node)
            return node
        if isinstance(node, ast.ParamRef):
            return self.parameter(node)
        if isinstance(node, ast.FuncCall):
            self.check_function(node)
        if isinstance(node, ast.A_Expr) and node.kind not in KINDS:
            kind = (
                enums.A_Expr_Kind(node.kind).name.removeprefix("AEXPR_").replace("_SYM", " SYMMETRIC").replace("_", " ")
            )
            refuse(f"{kind} around the answer", node)
        if isinstance(node, ast.SortBy) and node.useOp:
            refuse("ORDER BY … USING", node)
        changed = type(node)(**{slot: self.rewrite(getattr(node, slot)) for slot in node})
        if isinstance(node, ast.A_Expr):
            self.qualify(changed, node)
        if isinstance(node, ast.TypeName):
            changed.names = self.type_names(node)
        if isinstance(node, ast.FuncCall):
            changed.funcname = (ast.String(sval="pg_catalog"), ast.String(sval=function_name(node)))
        return changed

    def parameter(self, node: ast.ParamRef) -> ast.A_Const:
        if not 1 <= node.number <= len(self._parameters):
            refuse(f"parameter ${node.number} has no value", node, "Give the values in params => ARRAY[…].")
        text = self._parameters[node.number - 1]
        return ast.A_Const(isnull=True) if text is None else ast.A_Const(isnull=False, val=ast.String(sval=text))

    def check_function(self, node: ast.FuncCall) -> None:
        name = function_name(node)
        if name not in self._harmless:
            refuse(f"function {name}() around the answer", node)

    def type_names(self, node: ast.TypeName) -> tuple[ast.String, ast.String]:
        """A name without a schema could be that of a temporary domain, with a CHECK of the asker's own."""
        name = node.names[-1].sval
        if len(node.names) > 2 or node.names[0].sval not in ("pg_catalog", name) or name not in TYPES or node.setof:
            refuse(f"a cast to {name} around the answer", node)
        return ast.String(sval="pg_catalog"), ast.String(sval=name)

    def qualify(self, changed: ast.A_Expr, node: ast.A_Expr) -> None:
        name = operator_name(node)
        if node.kind != enums.A_Expr_Kind.AEXPR_OP:
            changed.name = (ast.String(sval=node.name[-1].sval),)
            return
        changed.name = (ast.String(sval="pg_catalog"), ast.String(sval=name))
        if name in ("/", "%"):
            changed.rexpr = unless_zero(changed.rexpr)

    def select(self, select: ast.SelectStmt, source: Node, where: Node) -> ast.SelectStmt:
        """The SELECT over `source`, with conditions `where` already rewritten."""
        aliases = {target.name for target in select.targetList if target.name}
        return ast.SelectStmt(
            targetList=tuple(
                ast.ResTarget(name=target.name or default_name(target.val), val=self.rewrite(target.val))
                for target in select.targetList
            ),
            fromClause=(source,),
            whereClause=where,
            distinctClause=None if select.distinctClause is None else self.distinct(select.distinctClause),
            sortClause=tuple(self.sort(item, aliases) for item in select.sortClause or ()) or None,
            limitCount=self.rewrite(select.limitCount),
            limitOffset=self.rewrite(select.limitOffset),
            limitOption=select.limitOption,
            windowClause=self.rewrite(select.windowClause),
            op=enums.SetOperation.SETOP_NONE,
            all=False,
        )

    def distinct(self, clause: Node) -> Node:
        if any(part is not None for part in clause):
            refuse("DISTINCT ON")
        return clause

    def sort(self, item: ast.SortBy, aliases: set[str]) -> ast.SortBy:
        named = (
            isinstance(item.node, ast.ColumnRef) and len(item.node.fields) == 1 and item.node.fields[0].sval in aliases
        )
        ordinal = isinstance(item.node, ast.A_Const)
        node = item.node if named or ordinal else self.rewrite(item.node)
        if item.useOp:
            refuse("ORDER BY … USING", item)
        return ast.SortBy(node=node, sortby_dir=item.sortby_dir, sortby_nulls=item.sortby_nulls)


def grouping_mask(positions: list[int], sets: tuple[tuple[int, ...], ...]) -> ast.Node:
    """GROUPING() of these keys: a bit for each, the first the highest, which is set where the row is not grouped by it.

    What it is depends on the grouping set of the row alone.
    """
    masks = [sum(1 << place for place, key in enumerate(reversed(positions)) if key not in keys) for keys in sets]
    if len(set(masks)) == 1:
        return whole_constant(masks[0])
    whens = (
        ast.CaseWhen(expr=whole_constant(number), result=whole_constant(mask)) for number, mask in enumerate(masks)
    )
    return ast.CaseExpr(arg=measured_column(SET), args=tuple(whens))


def tells_set(select: ast.SelectStmt) -> bool:
    """Whether the lowest SELECT of an answer asks for the grouping set of a row."""
    columns = (node.fields for node in nodes(select) if isinstance(node, ast.ColumnRef))
    return any([getattr(part, "sval", None) for part in fields] == [MEASURED, SET] for fields in columns)


def whole_constant(number: int) -> ast.A_Const:
    return ast.A_Const(isnull=False, val=ast.Integer(ival=number))


def measured_column(name: str) -> ast.ColumnRef:
    return ast.ColumnRef(fields=(ast.String(sval=MEASURED), ast.String(sval=name)))


def unless_zero(divisor: Node) -> ast.Node:
    """A divisor that is NULL where it is 0; a literal without a type keeps none, to become what is divided."""
    if isinstance(divisor, ast.A_Const) and (divisor.isnull or isinstance(divisor.val, ast.String)):
        return divisor if divisor.isnull or not is_zero(divisor.val.sval) else ast.A_Const(isnull=True)
    kind = enums.A_Expr_Kind.AEXPR_NULLIF
    return ast.A_Expr(kind=kind, name=(ast.String(sval="="),), lexpr=divisor, rexpr=whole_constant(0))


def is_zero(text: str) -> bool:
    try:
        return Decimal(text.strip()) == 0
    except InvalidOperation:
        return False
