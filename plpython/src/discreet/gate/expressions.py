"""Row expressions: each node type that is let in, and what it becomes. Everything else is refused.

What comes out is native SQL that cannot raise an error on any row: numbers are clamped to declared bounds before
arithmetic, divisors are tested, dates are kept within the years 1 to 9999, texts are cut. Whether it fails is thus no
oracle.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol
from uuid import UUID

from pglast import ast, enums

from discreet.gate.arithmetic import CAST_TARGETS, arithmetic, cast, signed
from discreet.gate.functions import FUNCTIONS
from discreet.gate.numbers import as_double, as_numeric, floating, is_real, of_one_float_type
from discreet.gate.refusal import refuse, refuse_tracker
from discreet.gate.schema import NUMBERS, TIMES, Family
from discreet.gate.times import INTERVAL, duration
from discreet.gate.traces import Comparison, compared, compared_inside, matched, passed_on, tested_for_null
from discreet.gate.values import (
    BLANK_PADDED,
    LONGEST_KEY,
    LONGEST_TEXT,
    NULL,
    REAL,
    Value,
    boolean_constant,
    clamped,
    cut,
    guarded_time,
    identifier,
    literal,
    number_constant,
    operator,
    output_text,
    padded,
    same_family,
    typed_literal,
)

COMPARISONS = {"=", "<>", "<", "<=", ">", ">="}
LIKES = {"~~", "!~~", "~~*", "!~~*"}
ARITHMETIC = {"+", "-", "*", "/", "%"}
# of an array in its text form: quoted, or plain, and what follows
ELEMENT = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^\s{},"\\](?:[^{},"\\]*[^\s{},"\\])?))\s*(,|$)', re.DOTALL)
# types whose name the catalog writes out
LONG_NAMES = {"time": "time without time zone", "timetz": "time with time zone", "varbit": "bit varying"}
CLOCK = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?", re.ASCII)
LONGEST_LIST = 1000
# each is a call inside a call, as deep as the text of the row lets it be: the stack would end at some rows only
MOST_WILDCARDS = 100
MOST_DIGITS = 60
# Whatever is written once may be needed often, below each other exponentially so.
LONGEST_SQL = 100_000
DEEPEST = 200


class Scope(Protocol):
    """What a name means here."""

    def column(self, node: ast.ColumnRef) -> Value: ...
    def parameter(self, number: int, node: Any) -> str | None: ...
    def weight(self, sql: str) -> int: ...


class Expressions:
    """Compiles expressions over one scope, and keeps what they compare."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._depth = 0
        self.compared: set[Comparison] = set()

    def value(self, node: Any, may_identify: bool = False) -> Value:
        """The expression as native SQL; a column that names people is refused unless it is only counted."""
        handler = HANDLERS.get(type(node))
        if handler is None:
            refuse(f"{describe(node)} in an expression", node)
        if self._depth >= DEEPEST:
            refuse("an expression nested too deeply", node)
        self._depth += 1
        try:
            compiled = handler(self, node)
        finally:
            self._depth -= 1
        if compiled.identifies and not may_identify:
            refuse_tracker(f"using column {compiled.column}", node)
        if self._depth == 0:
            compiled = replace(compiled, weight=self._scope.weight(compiled.sql))
        if max(compiled.weight, len(compiled.sql)) > LONGEST_SQL:
            refuse("an expression that grows too long", node)
        return compiled

    def condition(self, node: Any) -> str:
        """A boolean expression as native SQL."""
        compiled = self.value(node)
        if compiled.untyped is not None:
            compiled = typed_literal(compiled.untyped, Family.BOOL, node)
        if compiled.family is not Family.BOOL and not compiled.is_null:
            refuse("a condition that is not true or false", node)
        return compiled.sql

    # -- leaves

    def constant(self, node: ast.A_Const) -> Value:
        if node.isnull:
            return NULL
        held = node.val
        if isinstance(held, ast.Integer):
            return number_constant(Fraction(held.ival), Family.INT)
        if isinstance(held, ast.Float):
            if abs(Decimal(held.fval).adjusted()) > MOST_DIGITS:
                refuse(f"a number of more than {MOST_DIGITS} digits", node)
            number = Decimal(held.fval)
            # what has no point and fits 64 bits is a bigint
            if held.fval.lstrip("-").isdigit() and -(2**63) <= number < 2**63:
                return number_constant(Fraction(number), Family.INT)
            return number_constant(number, Family.NUMERIC)
        if isinstance(held, ast.Boolean):
            return boolean_constant(held.boolval)
        if isinstance(held, ast.String):
            return untyped(held.sval)
        refuse("a constant of this kind", node)

    def column(self, node: ast.ColumnRef) -> Value:
        value = self._scope.column(node)
        self.compared |= value.trace.comparisons
        if value.family is Family.BOOL:  # wherever it stands, it may decide
            self.compared.add(Comparison(value.trace.items))
        return value

    def parameter(self, node: ast.ParamRef) -> Value:
        text = self._scope.parameter(node.number, node)
        return NULL if text is None else untyped(text)

    # -- logic

    def boolean(self, node: ast.BoolExpr) -> Value:
        parts = [self.condition(part) for part in node.args]
        if node.boolop == enums.BoolExprType.NOT_EXPR:
            return logical(f"(NOT {parts[0]})")
        word = " AND " if node.boolop == enums.BoolExprType.AND_EXPR else " OR "
        return logical("(" + word.join(parts) + ")")

    def null_test(self, node: ast.NullTest) -> Value:
        negated = node.nulltesttype == enums.NullTestType.IS_NOT_NULL
        value = self.value(node.arg)
        self.compared.add(tested_for_null(value))
        return logical(f"({value.sql} IS {'NOT ' if negated else ''}NULL)")

    def boolean_test(self, node: ast.BooleanTest) -> Value:
        word = enums.BoolTestType(node.booltesttype).name.replace("_", " ")
        return logical(f"({self.condition(node.arg)} {word})")

    # -- operators

    def operation(self, node: ast.A_Expr) -> Value:
        handler = OPERATIONS.get(node.kind)
        if handler is None:
            refuse(f"{enums.A_Expr_Kind(node.kind).name.removeprefix('AEXPR_').replace('_', ' ')}", node)
        return handler(self, node)

    def simple_operation(self, node: ast.A_Expr) -> Value:
        name = operator_name(node)
        if isinstance(node.lexpr, ast.RowExpr) and isinstance(node.rexpr, ast.RowExpr):
            return self.row_comparison(name, node)
        if name in LIKES:
            return self.like(name, self.value(node.lexpr), self.value(node.rexpr), node)
        if name in COMPARISONS:
            return self.comparison(name, self.value(node.lexpr), self.value(node.rexpr), node)
        if name in ARITHMETIC:
            right = self.value(node.rexpr)
            if node.lexpr is None:
                zero = number_constant(Fraction(0), Family.INT)
                return self.traced(name, signed(name, right, node), [zero, right])
            left = self.value(node.lexpr)
            return self.traced(name, arithmetic(name, left, right, node), [left, right])
        if name == "||":
            _, sides = same_family([self.value(node.lexpr), self.value(node.rexpr)], node)
            if any(side.family is not Family.TEXT for side in sides if not side.is_null):
                refuse("|| on something that is not text", node)
            texts = (cut(side.sql, LONGEST_KEY) for side in sides)
            return self.traced(name, Value(operator("||", *texts), Family.TEXT), sides)
        refuse(f"operator {name}", node)

    def comparison(self, name: str, left: Value, right: Value, node: Any) -> Value:
        if left.is_null or right.is_null:
            return logical("NULL::pg_catalog.bool")
        if Family.OTHER in (left.family, right.family):  # enum, uuid …: by their text, for equality only
            if not (is_text_of(left, right) or is_text_of(right, left)):
                refuse("comparing values of this type", node)
            if name not in ("=", "<>"):
                refuse("ordering values of this type", node)
            self.compared.update(compared(name, left, right))
            return logical(operator(name, *compared_as_others(left, right, node)))
        _, (left, right) = same_family([left, right], node)
        self.compared.update(compared(name, left, right))
        return logical(operator(name, *comparable(left, right)))

    def row_comparison(self, name: str, node: ast.A_Expr) -> Value:
        pairs = list(zip(node.lexpr.args, node.rexpr.args, strict=False))
        if name != "=" or len(node.lexpr.args) != len(node.rexpr.args):
            refuse("comparing rows other than by =", node)
        parts = [self.comparison("=", self.value(left), self.value(right), node).sql for left, right in pairs]
        return logical("(" + " AND ".join(parts) + ")")

    def membership(self, node: ast.A_Expr) -> Value:
        name = operator_name(node)
        left = self.value(node.lexpr)
        items = [self.value(item) for item in self.list_of(node.rexpr, node)]
        constants = [item for item in items if not item.trace.items]
        if left.family not in NUMBERS | TIMES or len(constants) < 2:
            return self.compared_with_each(name, left, items, name == "=", node)
        # PostgreSQL brings several constants, and what is compared with them, to one type
        alike, *constants = of_one_type([left, *constants], node)
        parts = [self.compared_with_each(name, alike, constants, name == "=", node)]
        columns = [item for item in items if item.trace.items]
        if columns:
            parts.append(self.compared_with_each(name, left, columns, name == "=", node))
        return logical("(" + (" OR " if name == "=" else " AND ").join(part.sql for part in parts) + ")")

    def any_or_all(self, node: ast.A_Expr) -> Value:
        any_one = node.kind == enums.A_Expr_Kind.AEXPR_OP_ANY
        items = self.elements(node.rexpr)
        return self.compared_with_each(operator_name(node), self.value(node.lexpr), items, any_one, node)

    def compared_with_each(self, name: str, left: Value, items: list[Value], any_one: bool, node: Any) -> Value:
        if name not in COMPARISONS | LIKES:
            refuse(f"operator {name}", node)
        if len(items) * len(left.sql) > LONGEST_SQL:
            refuse("an expression that grows too long", node)
        compare = self.like if name in LIKES else self.comparison
        parts = [compare(name, left, item, node).sql for item in items]
        if not parts:
            return logical("false" if any_one else "true")
        return logical("(" + (" OR " if any_one else " AND ").join(parts) + ")")

    def elements(self, node: Any) -> list[Value]:
        """The elements of a constant array: ARRAY[…], '{…}', a parameter, each perhaps with a type."""
        if isinstance(node, ast.A_ArrayExpr):
            return of_one_type([self.value(item) for item in self.list_of(node.elements or (), node)], node)
        if isinstance(node, ast.TypeCast) and node.typeName.arrayBounds:
            return [self.converted(item, node.typeName, node) for item in self.elements(node.arg)]
        if not isinstance(node, ast.A_Const | ast.ParamRef):
            refuse("ANY or ALL of something other than a list of constants", node)
        held = self.value(node)
        if held.untyped is None:
            return [NULL] if held.is_null else refuse("ANY or ALL of something other than a list", node)
        texts = self.list_of(array_elements(held.untyped, node), node)
        return [NULL if text is None else untyped(text) for text in texts]

    def list_of(self, items: Any, node: Any) -> Any:
        if not isinstance(items, tuple | list) or len(items) > LONGEST_LIST:
            refuse(f"a list of more than {LONGEST_LIST} values", node)
        return items

    def between(self, node: ast.A_Expr) -> Value:
        value = self.value(node.lexpr)
        low, high = (self.value(end) for end in node.rexpr)
        above = self.comparison(">=", value, low, node).sql
        below = self.comparison("<=", value, high, node).sql
        negated = node.kind == enums.A_Expr_Kind.AEXPR_NOT_BETWEEN
        return logical(f"({'NOT ' if negated else ''}({above} AND {below}))")

    def like_operation(self, node: ast.A_Expr) -> Value:
        return self.like(operator_name(node), self.value(node.lexpr), self.value(node.rexpr), node)

    def like(self, name: str, value: Value, pattern: Value, node: Any) -> Value:
        if value.family is not Family.TEXT or pattern.content is None:
            refuse("LIKE other than of text with a constant pattern", node)
        if (len(pattern.content) - len(pattern.content.rstrip("\\"))) % 2:
            refuse("a LIKE pattern that ends with its escape character", node)
        if len(re.findall("%+", re.sub(r"\\.", "", pattern.content, flags=re.DOTALL))) > MOST_WILDCARDS:
            refuse(f"a LIKE pattern with more than {MOST_WILDCARDS} wildcards", node)
        self.compared.add(matched(value, pattern.content))
        beginning = (padded if value.type_name == BLANK_PADDED else cut)(value.sql, LONGEST_TEXT)
        return logical(operator(name, beginning, f"{literal(pattern.content)}::pg_catalog.text"))

    def distinctness(self, node: ast.A_Expr) -> Value:
        left, right = self.value(node.lexpr), self.value(node.rexpr)
        word = "IS DISTINCT FROM" if node.kind == enums.A_Expr_Kind.AEXPR_DISTINCT else "IS NOT DISTINCT FROM"
        if is_text_of(left, right) or is_text_of(right, left):
            self.compared.update(compared("=", left, right))
            return logical(f"({f' {word} '.join(compared_as_others(left, right, node))})")
        _, (left, right) = same_family([left, right], node)
        if Family.OTHER in (left.family, right.family) and not (left.is_null or right.is_null):
            refuse("comparing values of this type", node)
        if left.is_null or right.is_null:
            self.compared.update(map(tested_for_null, (left, right)))
        else:
            self.compared.update(compared("=", left, right))
        return logical(f"({f' {word} '.join(comparable(left, right))})")

    def null_if(self, node: ast.A_Expr) -> Value:
        left, right = self.value(node.lexpr), self.value(node.rexpr)
        same = self.comparison("=", left, right, node).sql
        if Family.OTHER not in (left.family, right.family):
            _, (left, right) = same_family([left, right], node)
            left = compared_type(left, right)
        return replace(left, sql=f"(CASE WHEN {same} THEN NULL ELSE {left.sql} END)", constant=False, content=None)

    # -- choices

    def case(self, node: ast.CaseExpr) -> Value:
        conditions = []
        for when in node.args:
            if node.arg is None:
                conditions.append(self.condition(when.expr))
            else:
                conditions.append(self.comparison("=", self.value(node.arg), self.value(when.expr), when).sql)
        results = [self.value(when.result) for when in node.args]
        results.append(NULL if node.defresult is None else self.value(node.defresult))
        family, results = unified(results, node)
        branches = " ".join(f"WHEN {c} THEN {r.sql}" for c, r in zip(conditions, results, strict=False))
        return chosen(f"(CASE {branches} ELSE {results[-1].sql} END)", family, results)

    def coalesce(self, node: ast.CoalesceExpr) -> Value:
        family, values = unified([self.value(part) for part in node.args], node)
        return chosen(f"COALESCE({', '.join(value.sql for value in values)})", family, values)

    def extreme(self, node: ast.MinMaxExpr) -> Value:
        word = "GREATEST" if node.op == enums.MinMaxOp.IS_GREATEST else "LEAST"
        family, values = unified([self.value(part) for part in node.args], node)
        if family is Family.OTHER:
            refuse(f"{word} of values of this type", node)
        self.compared.update(compared_inside("extreme", values))
        return chosen(f"{word}({', '.join(value.sql for value in values)})", family, values)

    # -- functions and casts

    def call(self, node: ast.FuncCall) -> Value:
        name = function_name(node)
        rule = FUNCTIONS.get(name)
        if rule is None:
            refuse(f"function {name}()", node)
        plain = not (node.agg_order or node.agg_filter or node.over or node.agg_distinct or node.func_variadic)
        if not plain or node.agg_star:
            refuse(f"{name}() called as an aggregate", node)
        arguments = [self.value(argument) for argument in node.args or ()]
        return self.traced(name, rule.compile(arguments, node), arguments)

    def cast(self, node: ast.TypeCast) -> Value:
        if node.typeName.arrayBounds:
            refuse("a cast to an array", node)
        value = self.value(node.arg)
        result = self.converted(value, node.typeName, node)
        if result.family is Family.BOOL:
            self.compared.update(compared_inside("bool", [value]))
        return self.traced("cast", result, [value])

    def traced(self, name: str, result: Value, arguments: list[Value]) -> Value:
        self.compared.update(compared_inside(name, arguments))
        return replace(result, trace=passed_on(name, result, arguments))

    def converted(self, value: Value, type_name: ast.TypeName, node: Any) -> Value:
        """value::type, of an element where the type is that of an array."""
        names = type_names(type_name, node)
        if len(names) == 1 and names[0] in CAST_TARGETS:
            domain = value.family is Family.OTHER and value.content is not None
            return cast(untyped(value.content or "") if domain else value, names[0], node)
        if value.is_null:
            return NULL
        if value.untyped is not None and not type_name.typmods:
            return other_constant(value.untyped, names)
        if value.family is not Family.OTHER or value.other_type != names:
            refuse(f"a cast to {names[-1]}", node)
        return value


def untyped(text: str) -> Value:
    sql = f"{literal(text)}::pg_catalog.text"
    return Value(sql, Family.TEXT, domain=(literal(text),), constant=True, content=text, untyped=text)


def other_constant(text: str, names: tuple[str, ...]) -> Value:
    """A constant of an enum, a uuid …: its text, which can be compared with that of a column of the same type.

    The type's own input function is never called: it might be anybody's.
    """
    written = ".".join(map(identifier, names))
    return Value(f"{literal(text)}::pg_catalog.text", Family.OTHER, constant=True, content=text, type_name=written)


def is_text_of(constant: Value, value: Value) -> bool:
    if constant.content is None or value.family is not Family.OTHER:
        return False
    return constant.untyped is not None or constant.other_type == value.other_type


def array_elements(text: str, node: Any) -> list[str | None]:
    """The elements of '{a,"b c",NULL}'."""
    held = text.strip()
    inside = held[1:-1].strip()
    found: list[str | None] = []
    place = 0
    if held[:1] != "{" or held[-1:] != "}":
        refuse(f"{literal(text)} is no list", node, "Lists are written {1,2,3}.")
    while inside:
        element = ELEMENT.match(inside, place)
        if element is None:
            refuse(f"{literal(text)} is no list", node, "Lists are written {1,2,3}.")
        quoted, plain, comma = element.groups()
        said = plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)
        found.append(None if quoted is None and plain.upper() == "NULL" else said)
        place = element.end()
        if not comma:
            break
    return found


def logical(sql: str) -> Value:
    return Value(sql, Family.BOOL, domain=("true", "false"))


def unified(values: list[Value], node: Any) -> tuple[Family, list[Value]]:
    """Branches of one choice: of one family; numbers clamped where they are bounded, times within the years known."""
    family, values = same_family(values, node)
    if family in TIMES:
        values = [value if value.is_null else guarded_time(value, node) for value in values]
    if family in NUMBERS:
        bounded = [value.column is not None and value.interval is not None for value in values]
        values = [clamped(value, node) if wanted else value for value, wanted in zip(values, bounded, strict=True)]
    return family, of_one_float_type(values) if family is Family.FLOAT else values


def of_one_type(values: list[Value], node: Any) -> list[Value]:
    """Elements of one list: numbers and times of one type, as PostgreSQL makes them."""
    if not values or any(
        value.family not in NUMBERS | TIMES for value in values if not (value.untyped or value.is_null)
    ):
        return values
    if all(value.untyped is not None or value.is_null for value in values):
        return values
    family, values = same_family(values, node)
    return of_one_float_type(values) if family is Family.FLOAT else values


def comparable(left: Value, right: Value) -> tuple[str, str]:
    """Both sides of a comparison; where one is floating, and not both are real, they are compared as doubles."""
    families = {left.family, right.family}
    if Family.FLOAT not in families or (is_real(left) and is_real(right)) or not families <= NUMBERS:
        return left.sql, right.sql
    return as_double(left), as_double(right)


def compared_type(left: Value, right: Value) -> Value:
    """The left side in the type in which it is compared with the right one: that of NULLIF."""
    if left.family in (Family.INT, Family.NUMERIC) and right.family is Family.FLOAT:
        return floating(left, real=False)
    if left.family is Family.INT and right.family is Family.NUMERIC:
        return replace(left, sql=as_numeric(left), family=Family.NUMERIC, type_name=None)
    return left


def compared_as_others(left: Value, right: Value, node: Any) -> tuple[str, str]:
    """Values of no family by their texts, the constant's as PostgreSQL writes it; intervals by their own equality.

    No input function of a type is called on a constant, but that of intervals, on what is written here.
    """
    constant, value = (left, right) if left.content is not None else (right, left)
    text = constant.content or ""
    if value.other_type == INTERVAL:
        sides = duration(text, node).sql, value.sql
    else:
        sides = output_text(f"{literal(as_written(text, value.type_name))}::pg_catalog.text"), output_text(value.sql)
    return sides if constant is left else (sides[1], sides[0])


def as_written(text: str, type_name: str | None) -> str:
    """A constant as the type's output function writes it, where that is known here."""
    held = text.strip()
    digits = held.removeprefix("{").removesuffix("}").replace("-", "").lower()
    if type_name == "uuid" and re.fullmatch("[0-9a-f]{32}", digits):
        return str(UUID(hex=digits))
    if type_name == "time without time zone" and (clock := CLOCK.fullmatch(held)):
        hours, minutes, seconds, fraction = clock.groups()
        fraction = (fraction or "").rstrip("0")
        return f"{hours}:{minutes}:{seconds or '00'}" + (f".{fraction}" if fraction else "")
    return text


def chosen(sql: str, family: Family, values: list[Value]) -> Value:
    """One of several values: within all their intervals, and of their domains when all are known."""
    real = [value for value in values if not value.is_null]
    interval = None
    if family in NUMBERS and real and all(value.interval is not None for value in real):
        interval = real[0].interval
        for value in real[1:]:
            assert interval is not None and value.interval is not None
            interval = interval | value.interval
    domain = None
    if real and all(value.constant and value.domain for value in real):
        domain = tuple(dict.fromkeys(entry for value in real for entry in value.domain or ()))
    types = {value.type_name for value in real}
    kept = types.pop() if len(types) == 1 and types <= {REAL, BLANK_PADDED} else None
    result = Value(sql, family, interval, domain, type_name=kept)
    return replace(result, trace=passed_on("choice", result, values))


def operator_name(node: ast.A_Expr) -> str:
    names = [part.sval for part in node.name]
    if len(names) == 2 and names[0] == "pg_catalog":
        names = names[1:]
    if len(names) != 1:
        refuse("an operator of another schema", node)
    return "<>" if names[0] == "!=" else str(names[0])


def function_name(node: ast.FuncCall) -> str:
    names = [part.sval for part in node.funcname]
    ours = names[-1] == "bucket" or names[-1].startswith("dp_")
    if len(names) == 2 and names[0] == ("discreet" if ours else "pg_catalog"):
        names = names[1:]
    if len(names) != 1:
        refuse(f"function {'.'.join(names)}()", node)
    return str(names[0])


def type_names(node: ast.TypeName, place: Any) -> tuple[str, ...]:
    """Schema and name of a type; those of pg_catalog have no schema."""
    names = tuple(part.sval for part in node.names)
    if len(names) == 2 and names[0] == "pg_catalog":
        names = (LONG_NAMES.get(names[1], names[1]),)
    if len(names) > 2 or node.setof or len(node.arrayBounds or ()) > 1:
        refuse("a cast to this type", place)
    return names


def describe(node: Any) -> str:
    """The construct in words, for a refusal."""
    known = {
        ast.SubLink: "a subquery",
        ast.GroupingFunc: "GROUPING()",
        ast.SQLValueFunction: "a value that changes with time or user",
        ast.A_Indirection: "a field or array element",
        ast.A_ArrayExpr: "an array",
        ast.RowExpr: "a row",
        ast.XmlExpr: "XML",
        ast.CollateClause: "COLLATE",
        ast.A_Star: "*",
    }
    return known.get(type(node), type(node).__name__)


OPERATIONS: dict[Any, Callable[[Expressions, ast.A_Expr], Value]] = {
    enums.A_Expr_Kind.AEXPR_OP: Expressions.simple_operation,
    enums.A_Expr_Kind.AEXPR_OP_ANY: Expressions.any_or_all,
    enums.A_Expr_Kind.AEXPR_OP_ALL: Expressions.any_or_all,
    enums.A_Expr_Kind.AEXPR_IN: Expressions.membership,
    enums.A_Expr_Kind.AEXPR_LIKE: Expressions.like_operation,
    enums.A_Expr_Kind.AEXPR_ILIKE: Expressions.like_operation,
    enums.A_Expr_Kind.AEXPR_BETWEEN: Expressions.between,
    enums.A_Expr_Kind.AEXPR_NOT_BETWEEN: Expressions.between,
    enums.A_Expr_Kind.AEXPR_DISTINCT: Expressions.distinctness,
    enums.A_Expr_Kind.AEXPR_NOT_DISTINCT: Expressions.distinctness,
    enums.A_Expr_Kind.AEXPR_NULLIF: Expressions.null_if,
}

HANDLERS: dict[type, Callable[[Expressions, Any], Value]] = {
    ast.A_Const: Expressions.constant,
    ast.ColumnRef: Expressions.column,
    ast.ParamRef: Expressions.parameter,
    ast.BoolExpr: Expressions.boolean,
    ast.NullTest: Expressions.null_test,
    ast.BooleanTest: Expressions.boolean_test,
    ast.A_Expr: Expressions.operation,
    ast.CaseExpr: Expressions.case,
    ast.CoalesceExpr: Expressions.coalesce,
    ast.MinMaxExpr: Expressions.extreme,
    ast.FuncCall: Expressions.call,
    ast.TypeCast: Expressions.cast,
}
