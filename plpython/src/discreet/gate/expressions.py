"""Row expressions: each type of node of a question that is let in, and the typed tree that it becomes. Everything else
is refused.

What comes out cannot raise an error on any row: numbers are clamped to declared bounds before arithmetic, divisors are
tested, dates are kept within the years 1 to 9999, texts are cut. Whether it fails is thus no oracle.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Literal, Protocol
from uuid import UUID

from pglast import ast, enums

from discreet.core.syntax import Node
from discreet.gate.arithmetic import CAST_TARGETS, arithmetic, cast, signed
from discreet.gate.ends import interval_of
from discreet.gate.functions import FUNCTIONS
from discreet.gate.moments import as_interval, is_interval
from discreet.gate.numbers import as_double, as_numeric, floating, is_real, of_one_float_type
from discreet.gate.refusal import refuse, refuse_tracker
from discreet.gate.schema import NUMBERS, TIMES, Family
from discreet.gate.texts import among, at_path, found_element, is_array, matched, member
from discreet.gate.times import duration
from discreet.gate.traces import trace
from discreet.gate.tree import (
    BLANK_PADDED,
    BOOLEAN,
    INTERVAL,
    REAL,
    TEXT,
    Case,
    Choice,
    Compare,
    Concatenation,
    Constant,
    Conversion,
    Distinct,
    Expression,
    Like,
    Logic,
    NullIf,
    NullTest,
    TruthTest,
    Type,
    size,
)
from discreet.gate.values import (
    LONGEST_TEXT,
    NULL,
    as_family,
    beginning,
    boolean_constant,
    clamped,
    content,
    guarded_time,
    identifier,
    identifies,
    is_untyped,
    known_values,
    literal,
    number_constant,
    same_family,
    typed_literal,
    untyped,
)

COMPARISONS = {"=", "<>", "<", "<=", ">", ">="}
LIKES = {"~~", "!~~", "~~*", "!~~*"}
MATCHES = {"~", "!~", "~*", "!~*"}
MEMBERS = {"->", "->>"}
PATHS = {"#>", "#>>"}
ARITHMETIC = {"+", "-", "*", "/", "%", "^"}
# of an array in its text form: quoted, or plain, and what follows
ELEMENT = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^\s{},"\\](?:[^{},"\\]*[^\s{},"\\])?))\s*(,|$)', re.DOTALL)
# types whose name the catalog writes out
LONG_NAMES = {"time": "time without time zone", "timetz": "time with time zone", "varbit": "bit varying"}
CLOCK = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?", re.ASCII)
LONGEST_LIST = 1000
# each is a call inside a call, as deep as the text of the row lets it be: the stack would end at some rows only
MOST_WILDCARDS = 100
MOST_DIGITS = 60
LARGEST = 8_000  # nodes
DEEPEST = 200


TRUE_OR_FALSE = (boolean_constant(True), boolean_constant(False))


class Scope(Protocol):
    """What a name means here."""

    def column(self, node: ast.ColumnRef) -> Expression: ...
    def parameter(self, number: int, node: Node) -> str | None: ...


class Expressions:
    """Reads expressions over one scope."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._depth = 0

    def value(self, node: Node, may_identify: bool = False) -> Expression:
        """The expression as a typed tree; a column that names people is refused unless it is only counted."""
        handler = HANDLERS.get(type(node))
        if handler is None:
            refuse(f"{describe(node)} in an expression", node)
        if self._depth >= DEEPEST:
            refuse("an expression nested too deeply", node)
        self._depth += 1
        try:
            found = handler(self, node)
        finally:
            self._depth -= 1
        if identifies(found) and not may_identify:
            refuse_tracker(f"using column {found.raw}", node)
        if size(found) > LARGEST:
            refuse("an expression that grows too long", node)
        return found

    def condition(self, node: Node) -> Expression:
        """A boolean expression."""
        found = as_family(self.value(node), Family.BOOL, node)
        if found.family is not Family.BOOL and not found.is_null:
            refuse("a condition that is not true or false", node)
        return found

    # -- leaves

    def constant(self, node: ast.A_Const) -> Expression:
        if node.isnull:
            return NULL
        held = node.val
        if isinstance(held, ast.Integer):
            return number_constant(held.ival, Family.INT)
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

    def column(self, node: ast.ColumnRef) -> Expression:
        return self._scope.column(node)

    def parameter(self, node: ast.ParamRef) -> Expression:
        text = self._scope.parameter(node.number, node)
        return NULL if text is None else untyped(text)

    # -- logic

    def boolean(self, node: ast.BoolExpr) -> Expression:
        parts = [self.condition(part) for part in node.args]
        if node.boolop == enums.BoolExprType.NOT_EXPR:
            return logic("NOT", parts)
        return logic("AND" if node.boolop == enums.BoolExprType.AND_EXPR else "OR", parts)

    def null_test(self, node: ast.NullTest) -> Expression:
        negated = node.nulltesttype == enums.NullTestType.IS_NOT_NULL
        return NullTest(self.value(node.arg), negated, type=BOOLEAN, domain=TRUE_OR_FALSE, nullable=False)

    def boolean_test(self, node: ast.BooleanTest) -> Expression:
        words = enums.BoolTestType(node.booltesttype).name.replace("_", " ")
        return TruthTest(self.condition(node.arg), words, type=BOOLEAN, domain=TRUE_OR_FALSE, nullable=False)

    # -- operators

    def operation(self, node: ast.A_Expr) -> Expression:
        handler = OPERATIONS.get(node.kind)
        if handler is None:
            refuse(f"{enums.A_Expr_Kind(node.kind).name.removeprefix('AEXPR_').replace('_', ' ')}", node)
        return handler(self, node)

    def simple_operation(self, node: ast.A_Expr) -> Expression:
        name = operator_name(node)
        if isinstance(node.lexpr, ast.RowExpr) and isinstance(node.rexpr, ast.RowExpr):
            return self.row_comparison(name, node)
        if name in LIKES:
            return self.like(name, self.value(node.lexpr), self.value(node.rexpr), node)
        if name in MATCHES:
            return matched(name, self.value(node.lexpr), self.value(node.rexpr), node)
        if name in MEMBERS:
            return member(name, self.value(node.lexpr), self.value(node.rexpr), node)
        if name in PATHS:
            return at_path(name, self.value(node.lexpr), self.elements(node.rexpr), node)
        if name in COMPARISONS:
            return self.comparison(name, self.value(node.lexpr), self.value(node.rexpr), node)
        if name in ARITHMETIC:
            right = self.value(node.rexpr)
            if node.lexpr is None:
                return signed(name, right, node)
            return arithmetic(name, self.value(node.lexpr), right, node)
        if name == "||":
            _, sides = same_family([self.value(node.lexpr), self.value(node.rexpr)], node)
            if any(side.family is not Family.TEXT for side in sides if not side.is_null):
                refuse("|| on something that is not text", node)
            return Concatenation(*sides, type=TEXT)
        refuse(f"operator {name}", node)

    def comparison(self, name: str, left: Expression, right: Expression, node: Node) -> Expression:
        left, right = beside_text(left, right), beside_text(right, left)
        if left.is_null or right.is_null:
            return Compare(name, left, right, type=BOOLEAN, domain=TRUE_OR_FALSE)
        if intervals(left, right):
            left, right = as_interval(left, node), as_interval(right, node)
        elif Family.OTHER in (left.family, right.family):  # enum, uuid …: by their text, for equality only
            if not (is_text_of(left, right) or is_text_of(right, left)):
                refuse("comparing values of this type", node)
            if name not in ("=", "<>"):
                refuse("ordering values of this type", node)
            left, right = compared_as_others(left, right, node)
        else:
            left, right = comparable(*same_family([left, right], node)[1])
        return Compare(name, left, right, type=BOOLEAN, domain=TRUE_OR_FALSE)

    def row_comparison(self, name: str, node: ast.A_Expr) -> Expression:
        pairs = list(zip(node.lexpr.args, node.rexpr.args, strict=False))
        if name != "=" or len(node.lexpr.args) != len(node.rexpr.args):
            refuse("comparing rows other than by =", node)
        return logic("AND", [self.comparison("=", self.value(left), self.value(right), node) for left, right in pairs])

    def membership(self, node: ast.A_Expr) -> Expression:
        name = operator_name(node)
        left = self.value(node.lexpr)
        items = [self.value(item) for item in self.list_of(node.rexpr, node)]
        constants = [item for item in items if not trace(item).items]
        if left.family not in NUMBERS | TIMES or len(constants) < 2:
            return self.compared_with_each(name, left, items, name == "=", node)
        # PostgreSQL brings several constants, and what is compared with them, to one type
        alike, *constants = of_one_type([left, *constants], node)
        parts = [self.compared_with_each(name, alike, constants, name == "=", node)]
        columns = [item for item in items if trace(item).items]
        if columns:
            parts.append(self.compared_with_each(name, left, columns, name == "=", node))
        return logic("OR" if name == "=" else "AND", parts)

    def any_or_all(self, node: ast.A_Expr) -> Expression:
        any_one = node.kind == enums.A_Expr_Kind.AEXPR_OP_ANY
        if isinstance(node.rexpr, ast.ColumnRef) and is_array(array := self.value(node.rexpr)):
            return among(operator_name(node), self.value(node.lexpr), array, any_one, node)
        items = self.elements(node.rexpr)
        return self.compared_with_each(operator_name(node), self.value(node.lexpr), items, any_one, node)

    def compared_with_each(
        self, name: str, left: Expression, items: list[Expression], any_one: bool, node: Node
    ) -> Expression:
        if name not in COMPARISONS | LIKES:
            refuse(f"operator {name}", node)
        if len(items) * size(left) > LARGEST:
            refuse("an expression that grows too long", node)
        compare = self.like if name in LIKES else self.comparison
        if not items:
            return boolean_constant(not any_one)
        return logic("OR" if any_one else "AND", [compare(name, left, item, node) for item in items])

    def elements(self, node: Node) -> list[Expression]:
        """The elements of a constant array: ARRAY[…], '{…}', a parameter, each perhaps with a type."""
        if isinstance(node, ast.A_ArrayExpr):
            return of_one_type([self.value(item) for item in self.list_of(node.elements or (), node)], node)
        if isinstance(node, ast.TypeCast) and node.typeName.arrayBounds:
            return [self.converted(item, node.typeName, node) for item in self.elements(node.arg)]
        if not isinstance(node, ast.A_Const | ast.ParamRef):
            refuse("ANY or ALL of something other than a list of constants", node)
        held = self.value(node)
        if not is_untyped(held):
            return [NULL] if held.is_null else refuse("ANY or ALL of something other than a list", node)
        texts = self.list_of(array_elements(content(held) or "", node), node)
        return [NULL if text is None else untyped(text) for text in texts]

    def list_of(self, items: Node, node: Node) -> Node:
        if not isinstance(items, tuple | list) or len(items) > LONGEST_LIST:
            refuse(f"a list of more than {LONGEST_LIST} values", node)
        return items

    def between(self, node: ast.A_Expr) -> Expression:
        value = self.value(node.lexpr)
        low, high = (self.value(end) for end in node.rexpr)
        inside = logic("AND", [self.comparison(">=", value, low, node), self.comparison("<=", value, high, node)])
        return logic("NOT", [inside]) if node.kind == enums.A_Expr_Kind.AEXPR_NOT_BETWEEN else inside

    def like_operation(self, node: ast.A_Expr) -> Expression:
        return self.like(operator_name(node), self.value(node.lexpr), self.value(node.rexpr), node)

    def like(self, name: str, value: Expression, pattern: Expression, node: Node) -> Expression:
        text = content(pattern)
        if value.family is not Family.TEXT or text is None:
            refuse("LIKE other than of text with a constant pattern", node)
        if (len(text) - len(text.rstrip("\\"))) % 2:
            refuse("a LIKE pattern that ends with its escape character", node)
        if len(re.findall("%+", re.sub(r"\\.", "", text, flags=re.DOTALL))) > MOST_WILDCARDS:
            refuse(f"a LIKE pattern with more than {MOST_WILDCARDS} wildcards", node)
        start = beginning(value, LONGEST_TEXT, padded=value.type.name == BLANK_PADDED)
        return Like(name, start, text, type=BOOLEAN, domain=TRUE_OR_FALSE)

    def distinctness(self, node: ast.A_Expr) -> Expression:
        left, right = self.value(node.lexpr), self.value(node.rexpr)
        negated = node.kind != enums.A_Expr_Kind.AEXPR_DISTINCT
        if is_text_of(left, right) or is_text_of(right, left):
            left, right = compared_as_others(left, right, node)
        else:
            _, (left, right) = same_family([left, right], node)
            if Family.OTHER in (left.family, right.family) and not (left.is_null or right.is_null):
                refuse("comparing values of this type", node)
            left, right = comparable(left, right)
        return Distinct(left, right, negated, type=BOOLEAN, domain=TRUE_OR_FALSE, nullable=False)

    def null_if(self, node: ast.A_Expr) -> Expression:
        left, right = self.value(node.lexpr), self.value(node.rexpr)
        same = self.comparison("=", left, right, node)
        if Family.OTHER not in (left.family, right.family):
            _, (left, right) = same_family([left, right], node)
            left = compared_type(left, right)
        return NullIf(same, left, type=left.type, interval=left.interval, domain=known_values(left), raw=left.raw)

    # -- choices

    def case(self, node: ast.CaseExpr) -> Expression:
        conditions = []
        for when in node.args:
            if node.arg is None:
                conditions.append(self.condition(when.expr))
            else:
                conditions.append(self.comparison("=", self.value(node.arg), self.value(when.expr), when))
        results = [self.value(when.result) for when in node.args]
        results.append(NULL if node.defresult is None else self.value(node.defresult))
        family, results = unified(results, node)
        return chosen(Case(tuple(conditions), tuple(results), type=Type(family)), results)

    def coalesce(self, node: ast.CoalesceExpr) -> Expression:
        family, values = unified([self.value(part) for part in node.args], node)
        return chosen(Choice("COALESCE", tuple(values), type=Type(family)), values)

    def extreme(self, node: ast.MinMaxExpr) -> Expression:
        word: Literal["GREATEST", "LEAST"] = "GREATEST" if node.op == enums.MinMaxOp.IS_GREATEST else "LEAST"
        given = [self.value(part) for part in node.args]
        if any(map(is_interval, given)) and all(is_interval(one) or is_untyped(one) for one in given):
            given = [as_interval(one, node) for one in given]
            lengths = interval_of(word, given)
            return Choice(
                word, tuple(given), type=INTERVAL, interval=lengths, nullable=all(one.nullable for one in given)
            )
        family, values = unified(given, node)
        if family is Family.OTHER:
            refuse(f"{word} of values of this type", node)
        return extreme(word, family, given, values, node)

    # -- functions and casts

    def call(self, node: ast.FuncCall) -> Expression:
        name = function_name(node)
        rule = FUNCTIONS.get(name)
        if rule is None:
            refuse(f"function {name}()", node)
        plain = not (node.agg_order or node.agg_filter or node.over or node.agg_distinct or node.func_variadic)
        if not plain or node.agg_star:
            refuse(f"{name}() called as an aggregate", node)
        return rule.compile([self.value(argument) for argument in node.args or ()], node)

    def element(self, node: ast.A_Indirection) -> Expression:
        """(regexp_match(text, 'pattern'))[n]."""
        call, places = node.arg, node.indirection
        plain = isinstance(call, ast.FuncCall) and call.over is None and not (call.agg_filter or call.func_variadic)
        subscript = len(places) == 1 and isinstance(places[0], ast.A_Indices) and not places[0].is_slice
        if not plain or not subscript:
            refuse(describe(node), node)
        arguments = [self.value(argument) for argument in call.args or ()]
        return found_element(function_name(call), arguments, self.value(places[0].uidx), node)

    def cast(self, node: ast.TypeCast) -> Expression:
        if node.typeName.arrayBounds:
            refuse("a cast to an array", node)
        return self.converted(self.value(node.arg), node.typeName, node)

    def converted(self, value: Expression, type_name: ast.TypeName, node: Node) -> Expression:
        """value::type, of an element where the type is that of an array."""
        names = type_names(type_name, node)
        text = content(value)
        if len(names) == 1 and names[0] in CAST_TARGETS:
            of_other = value.family is Family.OTHER and text is not None
            limited = bool(getattr(node.typeName, "typmods", None))
            return cast(untyped(text or "") if of_other else value, names[0], limited, node)
        if value.is_null:
            return NULL
        if is_untyped(value) and not type_name.typmods:
            return other_constant(text or "", names)
        if value.family is not Family.OTHER or value.type.names != names:
            refuse(f"a cast to {names[-1]}", node)
        return value


def logic(word: Literal["AND", "OR", "NOT"], conditions: Sequence[Expression]) -> Expression:
    return Logic(word, tuple(conditions), type=BOOLEAN, domain=TRUE_OR_FALSE)


def other_constant(text: str, names: tuple[str, ...]) -> Expression:
    """A constant of an enum, a uuid …: its text, which can be compared with that of a column of the same type.

    The type's own input function is never called: it might be any user's.
    """
    written = ".".join(map(identifier, names))
    return Constant(text, type=Type(Family.OTHER, written), nullable=False)


def beside_text(value: Expression, other: Expression) -> Expression:
    """A constant of type name, as current_user is, beside a text."""
    named = value.family is Family.OTHER and value.type.names == ("name",) and other.family is Family.TEXT
    return typed_literal(content(value) or "", Family.TEXT, None) if named and content(value) is not None else value


def intervals(left: Expression, right: Expression) -> bool:
    """Whether intervals are compared, one of which may be a literal without a type."""
    return any(map(is_interval, (left, right))) and all(is_interval(side) or is_untyped(side) for side in (left, right))


def is_text_of(constant: Expression, value: Expression) -> bool:
    if content(constant) is None or value.family is not Family.OTHER:
        return False
    return is_untyped(constant) or constant.type.names == value.type.names


def array_elements(text: str, node: Node) -> list[str | None]:
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


def unified(values: list[Expression], node: Node) -> tuple[Family, list[Expression]]:
    """Branches of one choice: of one family; numbers clamped where they are bounded, times within the years known."""
    family, values = same_family(values, node)
    if family in TIMES:
        values = [value if value.is_null else guarded_time(value, node) for value in values]
    if family in NUMBERS:
        bounded = [value.raw is not None and value.interval is not None for value in values]
        values = [clamped(value, node) if wanted else value for value, wanted in zip(values, bounded, strict=True)]
    return family, of_one_float_type(values) if family is Family.FLOAT else values


def of_one_type(values: list[Expression], node: Node) -> list[Expression]:
    """Elements of one list: numbers and times of one type, as PostgreSQL makes them."""
    typed = [value for value in values if not (is_untyped(value) or value.is_null)]
    if not typed or any(value.family not in NUMBERS | TIMES for value in typed):
        return values
    family, values = same_family(values, node)
    return of_one_float_type(values) if family is Family.FLOAT else values


def comparable(left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """Both sides of a comparison; where one is floating, and not both are real, they are compared as doubles."""
    families = {left.family, right.family}
    if Family.FLOAT not in families or (is_real(left) and is_real(right)) or not families <= NUMBERS:
        return whole(left), whole(right)
    return as_double(left), as_double(right)


def whole(value: Expression) -> Expression:
    """A whole number that is compared is the same in all exact types: 5 and 5::numeric."""
    held = value.value if isinstance(value, Constant) else None
    if not isinstance(held, Decimal) or value.family is not Family.NUMERIC:
        return value
    sign, _, exponent = held.as_tuple()
    fits = exponent == 0 and abs(held) < 2**63 and not (sign and held == 0)
    return number_constant(held, Family.INT) if fits else value


def compared_type(left: Expression, right: Expression) -> Expression:
    """The left side in the type in which it is compared with the right one: that of NULLIF."""
    if left.family in (Family.INT, Family.NUMERIC) and right.family is Family.FLOAT:
        return floating(left, real=False)
    if left.family is Family.INT and right.family is Family.NUMERIC:
        return as_numeric(left)
    return left


def compared_as_others(left: Expression, right: Expression, node: Node) -> tuple[Expression, Expression]:
    """Values of no family by their texts, the constant's as PostgreSQL writes it; intervals by their own equality.

    No input function of a type is called on a constant, but that of intervals, on what is written here.
    """
    constant, value = (left, right) if content(left) is not None else (right, left)
    text = content(constant) or ""
    if value.type.names == INTERVAL.names:
        sides: tuple[Expression, Expression] = duration(text, node), value
    else:
        written = Constant(as_written(text, value.type.name), type=TEXT, nullable=False)
        sides = as_text(written), as_text(value)
    return sides if constant is left else (sides[1], sides[0])


def as_text(value: Expression) -> Expression:
    return Conversion(value, "text", type=TEXT)


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


def chosen(choice: Case | Choice, values: list[Expression]) -> Expression:
    """One of several values: within all their intervals, and of their domains when all are known."""
    some = [value for value in values if not value.is_null]
    interval = None
    if choice.family in NUMBERS and some and all(value.interval is not None for value in some):
        interval = some[0].interval
        for value in some[1:]:
            assert interval is not None and value.interval is not None
            interval = interval | value.interval
    domain = None
    if some and all(isinstance(value, Constant) and known_values(value) for value in some):
        domain = tuple(dict.fromkeys(entry for value in some for entry in known_values(value) or ()))
    types = {value.type.name for value in some}
    kept = types.pop() if len(types) == 1 and types <= {REAL, BLANK_PADDED} else None
    return replace(choice, type=Type(choice.family, kept), interval=interval, domain=domain)


def extreme(
    word: Literal["GREATEST", "LEAST"], family: Family, given: list[Expression], values: list[Expression], node: Node
) -> Expression:
    """GREATEST or LEAST: as they are where that keeps them within ends, else of clamped values."""
    if family not in NUMBERS:
        return chosen(Choice(word, tuple(values), type=Type(family)), values)
    bare = same_family(given, node)[1]
    bare = of_one_float_type(bare) if family is Family.FLOAT else bare
    interval = interval_of(word, bare)
    if interval is None:
        bare, interval = values, interval_of(word, values)
    found = chosen(Choice(word, tuple(bare), type=Type(family)), bare)
    return replace(found, interval=interval, nullable=all(value.nullable for value in bare))


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


def type_names(node: ast.TypeName, place: Node) -> tuple[str, ...]:
    """Schema and name of a type; those of pg_catalog have no schema."""
    names = tuple(part.sval for part in node.names)
    if len(names) == 2 and names[0] == "pg_catalog":
        names = (LONG_NAMES.get(names[1], names[1]),)
    if len(names) > 2 or node.setof or len(node.arrayBounds or ()) > 1:
        refuse("a cast to this type", place)
    return names


def describe(node: Node) -> str:
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


OPERATIONS: dict[Node, Callable[[Expressions, ast.A_Expr], Expression]] = {
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

HANDLERS: dict[type, Callable[[Expressions, Node], Expression]] = {
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
    ast.A_Indirection: Expressions.element,
    ast.TypeCast: Expressions.cast,
}
