"""What types and CHECK constraints say about a column: bounds, or all values that it can have.

Conditions come as PostgreSQL prints them, about VALUE (discreet._tree_conditions). Only those with constants count:
comparisons, lists, and AND and OR of these. What is read here is declared, as by a curator, and never taken for a
fact: values are still clamped and filtered. So a constraint that is read wrongly, or is added or dropped later, costs
accuracy and reveals nothing.

PostgreSQL prints operators of other schemas as OPERATOR(schema.name), when the search_path is pg_catalog alone; these
have two names here, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, reduce

from discreet.core.declarations import LONGEST_CATEGORY, bound_of
from discreet.core.errors import InvalidParameterError
from discreet.core.parser import load_parser
from discreet.core.syntax import Node

MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
# a list that is longer is no list of groups
MOST_CATEGORIES = 1000
WHOLE_NUMBERS = {"smallint": 2**15, "integer": 2**31, "bigint": 2**63}
NUMBERS = frozenset([*WHOLE_NUMBERS, "numeric", "real", "double precision"])
TIMES = frozenset(["date", "timestamp without time zone", "timestamp with time zone"])
TEXTS = frozenset(["text", "character varying", "character", "bpchar", "name"])
# casts that leave values of some types apart, and as they are
KEEPS_APART = {
    "numeric": NUMBERS, "float8": NUMBERS, **dict.fromkeys(("int2", "int4", "int8"), frozenset(WHOLE_NUMBERS)),
    "text": TEXTS, "varchar": TEXTS, "bpchar": frozenset(["character", "bpchar"]), "date": frozenset(["date"]),
    "timestamp": frozenset(["timestamp without time zone"]), "timestamptz": frozenset(["timestamp with time zone"]),
}  # fmt: skip


@dataclass(frozen=True)
class Known:
    """Bounds as text, of one or both sides, and all values that are allowed."""

    lower: str | None = None
    upper: str | None = None
    values: tuple[str, ...] | None = None

    def bounds(self, type_name: str) -> tuple[Decimal | None, Decimal | None]:
        """As numbers, as ColumnDescription has them; what is no finite value of the type is no bound."""
        return number(self.lower, type_name), number(self.upper, type_name)


@dataclass(frozen=True)
class Implied:
    """What a column declares by itself: bounds on both sides, and all values that it can have."""

    bounds: tuple[Decimal, Decimal] | None = None
    categories: tuple[str, ...] | None = None


SAYS_NOTHING = Implied()


@lru_cache(maxsize=1000)
def implied(type_name: str, labels: tuple[str, ...] | None, checks: tuple[str, ...]) -> Implied:
    """Of a column of this type: below all domains, with the labels of an enum; other types of users say nothing."""
    if (labels is None) is not (type_name in NUMBERS | TIMES | TEXTS):
        return SAYS_NOTHING
    known = known_by(checks, type_name)
    lower, upper = known.bounds(type_name)
    allowed = categories(type_name, labels, known)
    if allowed is not None and type_name in NUMBERS:
        values = [Decimal(value) for value in allowed]
        lower, upper = min(values), max(values)
    bounded = type_name in NUMBERS | TIMES and lower is not None and upper is not None and lower <= upper
    return Implied((lower, upper) if bounded else None, allowed)  # type: ignore[arg-type]


def categories(type_name: str, labels: tuple[str, ...] | None, known: Known) -> tuple[str, ...] | None:
    """The values that a column can have; those of booleans are known anyway, and dates are no list of groups."""
    if labels is not None:
        listed = labels if known.values is None else tuple(label for label in labels if label in known.values)
        return listed or None if len(listed) <= MOST_CATEGORIES else None
    if known.values is None or type_name not in NUMBERS | TEXTS:
        return None
    if type_name in TEXTS:
        padded = type_name in ("character", "bpchar")
        listed = tuple(dict.fromkeys(value.rstrip(" ") if padded else value for value in known.values))
        return listed if listed and all(len(value.encode()) <= LONGEST_CATEGORY for value in listed) else None
    numbers = list(dict.fromkeys(number(value, type_name) for value in known.values))
    if not numbers or any(value is None or not fits(value, type_name) for value in numbers):
        return None
    return tuple(f"{value:f}" for value in numbers)


def fits(value: Decimal, type_name: str) -> bool:
    most = WHOLE_NUMBERS.get(type_name)
    return most is None or (value == value.to_integral_value() and -most <= value < most)


def number(text: str | None, type_name: str) -> Decimal | None:
    try:
        bound = bound_of("lower", text, type_name)
    except InvalidParameterError:
        return None
    return bound if bound is None or bound.is_finite() else None


def known_by(checks: Iterable[str], type_name: str) -> Known:
    """What all conditions together say."""
    load_parser()
    from pglast import parse_sql
    from pglast.parser import ParseError

    known = Known()
    for check in checks:
        try:
            condition = parse_sql(f"SELECT ({check})")[0].stmt.targetList[0].val
        except ParseError:
            continue
        known = both(known, said(condition, type_name), type_name)
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


def said(node: Node, type_name: str) -> Known:
    """What one condition says of the value."""
    from pglast import ast, enums

    if isinstance(node, ast.BoolExpr) and node.boolop == enums.BoolExprType.AND_EXPR:
        return reduce(lambda one, part: both(one, said(part, type_name), type_name), node.args, Known())
    if isinstance(node, ast.BoolExpr) and node.boolop == enums.BoolExprType.OR_EXPR:
        return either([part for part in node.args if not is_null_test(part, type_name)], type_name)
    if isinstance(node, ast.A_Expr) and len(node.name) == 1:
        return compared(node, type_name)
    return Known()


def either(parts: list[Node], type_name: str) -> Known:
    """One of several: a NULL is allowed by every CHECK, so `IS NULL OR` says nothing."""
    if len(parts) == 1:
        return said(parts[0], type_name)
    lists = [said(part, type_name).values for part in parts]
    values = tuple(value for each in lists for value in each or ())
    return Known(values=values) if lists and all(each is not None for each in lists) else Known()


def compared(node: Node, type_name: str) -> Known:
    from pglast import enums

    operator = node.name[0].sval
    if node.kind == enums.A_Expr_Kind.AEXPR_OP_ANY and operator == "=" and is_value(node.lexpr, type_name):
        values = elements(node.rexpr)
        return Known(values=tuple(dict.fromkeys(values))) if values else Known()
    if node.kind != enums.A_Expr_Kind.AEXPR_OP or operator not in MIRRORED:
        return Known()
    value = constant(node.rexpr)
    if is_value(node.rexpr, type_name):
        operator, value = MIRRORED[operator], constant(node.lexpr)
    elif not is_value(node.lexpr, type_name):
        return Known()
    if value is None:
        return Known()
    if operator == "=":
        return Known(values=(value,))
    return Known(lower=value) if operator in (">", ">=") else Known(upper=value)


def is_value(node: Node, type_name: str) -> bool:
    from pglast import ast

    while isinstance(node, ast.TypeCast) and type_name in KEEPS_APART.get(node.typeName.names[-1].sval, ()):
        node = node.arg
    return (
        isinstance(node, ast.ColumnRef) and len(node.fields) == 1 and getattr(node.fields[0], "sval", None) == "value"
    )


def is_null_test(node: Node, type_name: str) -> bool:
    from pglast import ast, enums

    is_null = isinstance(node, ast.NullTest) and node.nulltesttype == enums.NullTestType.IS_NULL
    return is_null and is_value(node.arg, type_name)


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
