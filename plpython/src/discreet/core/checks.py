"""What CHECK constraints say about a column, read from the text that PostgreSQL prints of them.

Only conditions of one column with constants count: comparisons, lists, and AND and OR of these. What is read here is
declared, as by a curator, and never taken for a fact: values are still clamped and filtered. So a constraint that is
read wrongly, or is added or dropped later, costs accuracy and reveals nothing.

PostgreSQL prints operators of other schemas as OPERATOR(schema.name), when the search_path is pg_catalog alone; these
have two names here, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce

from discreet.core.declarations import bound_of
from discreet.core.errors import InvalidParameterError
from discreet.core.parser import load_parser
from discreet.core.syntax import Node

MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
# around a column these change no value
WIDER = frozenset(["text", "bpchar", "varchar", "numeric", "float8"])
# a list that is longer is no list of groups
MOST_CATEGORIES = 1000


@dataclass(frozen=True)
class Known:
    """Bounds as text, of one or both sides, and all values that are allowed."""

    lower: str | None = None
    upper: str | None = None
    values: tuple[str, ...] | None = None

    def bounds(self, type_name: str) -> tuple[Decimal | None, Decimal | None]:
        """As numbers, as ColumnDescription has them; what is no finite value of the type is no bound."""
        return number(self.lower, type_name), number(self.upper, type_name)


def number(text: str | None, type_name: str) -> Decimal | None:
    try:
        bound = bound_of("lower", text, type_name)
    except InvalidParameterError:
        return None
    return bound if bound is None or bound.is_finite() else None


def known_by(checks: Iterable[str], column: str, type_name: str) -> Known:
    """What all constraints together say; `column` is "value" in those of domains."""
    load_parser()
    from pglast import parse_sql
    from pglast.parser import ParseError

    known = Known()
    for check in checks:
        try:
            condition = parse_sql(f"SELECT ({check})")[0].stmt.targetList[0].val
        except ParseError:
            continue
        known = both(known, said(condition, column, type_name), type_name)
    return known


def both(one: Known, other: Known, type_name: str) -> Known:
    values = one.values if other.values is None else other.values
    if one.values is not None and other.values is not None:
        values = tuple(value for value in one.values if value in other.values)
    return Known(
        tighter(one.lower, other.lower, type_name, largest=True),
        tighter(one.upper, other.upper, type_name, largest=False),
        values,
    )


def tighter(one: str | None, other: str | None, type_name: str, largest: bool) -> str | None:
    found = {text: bound for text in (one, other) if (bound := number(text, type_name)) is not None}
    if not found:
        return None
    return max(found, key=lambda text: found[text] if largest else -found[text])


def said(node: Node, column: str, type_name: str) -> Known:
    """What one condition says of the column."""
    from pglast import ast, enums

    if isinstance(node, ast.BoolExpr) and node.boolop == enums.BoolExprType.AND_EXPR:
        return reduce(lambda one, part: both(one, said(part, column, type_name), type_name), node.args, Known())
    if isinstance(node, ast.BoolExpr) and node.boolop == enums.BoolExprType.OR_EXPR:
        return either([part for part in node.args if not is_null_test(part, column)], column, type_name)
    if isinstance(node, ast.A_Expr) and len(node.name) == 1:
        return compared(node, column)
    return Known()


def either(parts: list[Node], column: str, type_name: str) -> Known:
    """One of several: a NULL is allowed by every CHECK, so `IS NULL OR` says nothing."""
    if len(parts) == 1:
        return said(parts[0], column, type_name)
    lists = [said(part, column, type_name).values for part in parts]
    values = tuple(value for each in lists for value in each or ())
    return Known(values=values) if lists and all(each is not None for each in lists) else Known()


def compared(node: Node, column: str) -> Known:
    from pglast import enums

    operator = node.name[0].sval
    if node.kind == enums.A_Expr_Kind.AEXPR_OP_ANY and operator == "=" and is_column(node.lexpr, column):
        values = elements(node.rexpr)
        return Known(values=tuple(dict.fromkeys(values))) if values else Known()
    if node.kind != enums.A_Expr_Kind.AEXPR_OP or operator not in MIRRORED:
        return Known()
    value = constant(node.rexpr)
    if is_column(node.rexpr, column):
        operator, value = MIRRORED[operator], constant(node.lexpr)
    elif not is_column(node.lexpr, column):
        return Known()
    if value is None:
        return Known()
    if operator == "=":
        return Known(values=(value,))
    return Known(lower=value) if operator in (">", ">=") else Known(upper=value)


def is_column(node: Node, column: str) -> bool:
    from pglast import ast

    while isinstance(node, ast.TypeCast) and node.typeName.names[-1].sval in WIDER:
        node = node.arg
    return isinstance(node, ast.ColumnRef) and len(node.fields) == 1 and getattr(node.fields[0], "sval", None) == column


def is_null_test(node: Node, column: str) -> bool:
    from pglast import ast, enums

    is_null = isinstance(node, ast.NullTest) and node.nulltesttype == enums.NullTestType.IS_NULL
    return is_null and is_column(node.arg, column)


def elements(node: Node) -> list[str] | None:
    """The constants of an array, or None."""
    from pglast import ast

    while isinstance(node, ast.TypeCast):
        node = node.arg
    if not isinstance(node, ast.A_ArrayExpr) or len(node.elements or ()) > MOST_CATEGORIES:
        return None
    values = [constant(element) for element in node.elements or ()]
    return [value for value in values if value is not None] if None not in values else None


def constant(node: Node) -> str | None:
    """A constant as text, whatever it is cast to."""
    from pglast import ast

    while isinstance(node, ast.TypeCast):
        node = node.arg
    if isinstance(node, ast.A_Expr) and node.lexpr is None and len(node.name) == 1 and node.name[0].sval == "-":
        value = constant(node.rexpr)
        return None if value is None else f"-{value}"
    if not isinstance(node, ast.A_Const) or node.isnull:
        return None
    value = node.val
    if isinstance(value, ast.Integer):
        return str(value.ival)
    if isinstance(value, ast.Float):
        return str(value.fval)
    return str(value.sval) if isinstance(value, ast.String) else None
