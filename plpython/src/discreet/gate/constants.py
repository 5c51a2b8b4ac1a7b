"""Constants of a question that is given as a text: what says nothing of a row, and is computed by PostgreSQL.

These are the largest expressions without columns, parameters, aggregates and subqueries that call a function, or
compute with typed literals. PostgreSQL computes those that call only what is its own (extension/gate_constants.c); the
others stay as they are, and the gate judges them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pglast import ast, enums
from pglast.visitors import Visitor

from discreet.core.errors import DiscreetError
from discreet.core.printing import printed
from discreet.core.syntax import Node
from discreet.gate.aggregates import AGGREGATES, REFUSED
from discreet.gate.clauses import default_name
from discreet.gate.parse import nodes

CLOSED = (
    ast.A_Const, ast.TypeCast, ast.TypeName, ast.A_Expr, ast.FuncCall, ast.BoolExpr, ast.CaseExpr, ast.CaseWhen,
    ast.CoalesceExpr, ast.MinMaxExpr, ast.A_ArrayExpr, ast.NullTest, ast.String, ast.Integer, ast.Float, ast.Boolean,
    ast.NamedArgExpr,
)  # fmt: skip
COMPUTED = (ast.A_Expr, ast.FuncCall, ast.CaseExpr, ast.CoalesceExpr, ast.MinMaxExpr, ast.TypeCast)

# expressions, as SQL; of each the type and the text of its value, or no type where it is no constant
Compute = Callable[[Sequence[str]], Sequence[tuple[str | None, str | None]]]


def with_constants(tree: Node, compute: Compute) -> Node:
    """The question with literals in place of expressions that are constants."""
    found = list(constants(tree))
    texts = {id(node): text for node, text in ((node, written(node)) for node in found) if text is not None}
    if not texts:
        return tree
    values = dict(zip(texts, compute(list(texts.values())), strict=True))

    class Constants(Visitor):  # type: ignore[misc]
        def visit_ResTarget(self, ancestors: Node, node: ast.ResTarget) -> None:  # noqa: N802
            if node.name is None and id(node.val) in values:
                node.name = default_name(node.val)

        def visit(self, ancestors: Node, node: Node) -> Node:
            kind, text = values.get(id(node), (None, None))
            return None if kind is None else literal_of_type(kind, text)

    return Constants()(tree)


def constants(tree: Node) -> list[Node]:
    """The largest expressions that are closed and compute something."""
    found: list[Node] = []
    waiting: list[Node] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple | list):
            waiting.extend(node)
        elif isinstance(node, COMPUTED) and is_closed(node):
            if computes(node):
                found.append(node)
        elif isinstance(node, ast.Node):
            waiting.extend(getattr(node, slot) for slot in node)
    return found


def is_closed(node: ast.Node) -> bool:
    return all(isinstance(part, CLOSED) and not is_open_call(part) for part in nodes(node))


def is_open_call(node: Node) -> bool:
    """A call of an aggregate, or of what may be one."""
    if not isinstance(node, ast.FuncCall):
        return False
    name = str(node.funcname[-1].sval)
    plain = not (node.agg_star or node.agg_order or node.agg_filter or node.agg_distinct or node.over)
    return not plain or name in AGGREGATES or name in REFUSED or name == "bucket"


def computes(node: ast.Node) -> bool:
    """Calls of functions, and arithmetic with typed literals: the gate reads other constants itself."""
    parts = list(nodes(node))
    typed = any(isinstance(part, ast.TypeCast) for part in parts)
    operated = any(isinstance(part, ast.A_Expr) and part.kind == enums.A_Expr_Kind.AEXPR_OP for part in parts)
    modified = any(isinstance(part, ast.TypeName) and part.typmods for part in parts)
    return any(isinstance(part, ast.FuncCall) for part in parts) or (typed and operated) or modified


def written(node: ast.Node) -> str | None:
    """Its SQL; None where it has none that means the same."""
    try:
        return printed(node)
    except DiscreetError:
        return None


def literal_of_type(kind: str, text: str | None) -> ast.TypeCast:
    """A literal of a type, by the name that format_type() gives it."""
    name = kind.removesuffix("[]")
    schema, _, plain = name.rpartition(".")
    names = tuple(ast.String(sval=part) for part in ((schema or "pg_catalog"), TYPE_NAMES.get(plain, plain)))
    bounds = (ast.Integer(ival=-1),) if kind.endswith("[]") else None
    value = ast.A_Const(isnull=True) if text is None else ast.A_Const(isnull=False, val=ast.String(sval=text))
    return ast.TypeCast(arg=value, typeName=ast.TypeName(names=names, typemod=-1, arrayBounds=bounds))


TYPE_NAMES = {
    "smallint": "int2", "integer": "int4", "bigint": "int8", "real": "float4", "double precision": "float8",
    "boolean": "bool", "character varying": "varchar", "character": "bpchar",
    "timestamp without time zone": "timestamp",
    "timestamp with time zone": "timestamptz", "time without time zone": "time", "time with time zone": "timetz",
}  # fmt: skip
