"""Errors of what arithmetic, windows and outer SELECTs make of released numbers, where they are no sums with weights.

Every released number comes with its margins: the lowest and the highest that the exact number can be. Beside an answer,
the same SQL is computed on margins (sql/gate/margins.sql): a quotient of margins holds every quotient of numbers within
them, a sum over rows lies between the sums of the lower and of the upper ends, a rank is limited by how many rows lie
above and below for certain. So if all numbers are within their margins, then the column is, and its half-width is the
larger distance to an end.

All numbers that come in are within their margins with 95 %: each of the K events (a noisy number; a sum over rows, see
below) misses with no more than a K-th of 5 %, and where a column depends on several rows, a number in one of the R rows
of the answer with no more than an R-th of that. It does not matter which of them are independent.

A sum over rows of one count or sum has a narrower bound, since noise of different rows is independent. With noise X of
scale b (Laplace: E exp(tX) ≤ 1/(1 - t²b²), also on the integers, since (cosh x - 1)/x² grows with x; Gauss: ≤
exp(t²b²/2)) and t ≤ 1/(2b), E exp(tX) ≤ exp(4 t²b²/3). So with V the sum of all b², B the largest b and L = ln(2/p),
the sum is off by more than w with a probability of at most p, where w is sqrt(16 V L / 3) if V ≥ 3 L B², and otherwise
2 B L + 2 V / (3 B) (Chernoff's bound at t = sqrt(3 L / 4 V), and at t = 1/(2B)). It is about the numbers before a count
below 0 is shown as 0, so these are what is added up there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from pglast import ast, enums

from discreet.core.syntax import Node
from discreet.gate.aggregates import AGGREGATES
from discreet.gate.column_names import free_name
from discreet.gate.expressions import function_name, operator_name
from discreet.gate.levels import Level
from discreet.gate.propagation import (
    MOST_DIGITS,
    ROUNDINGS,
    Dependence,
    NumberType,
    constant,
    dependence,
    divisor,
    is_null,
)
from discreet.gate.propagation import TYPES as NUMBER_TYPES

WHOLE, FRACTIONAL = NumberType.WHOLE, NumberType.FRACTIONAL
MISSED = Fraction(5, 100)
ROWS_BY_PLACE = frozenset(["lag", "lead", "first_value", "last_value", "nth_value"])
RANKS = frozenset(["rank", "row_number", "dense_rank", "percent_rank", "cume_dist"])
# functions that grow with their one argument
GROWING = {"exp": "exp", "ln": "ln", "log": "log", "log10": "log", "sign": "sign"}
POWERS = frozenset(["power", "pow"])
MOST_POWER = 100
# NONDEFAULT, ROWS, BETWEEN, UNBOUNDED PRECEDING, UNBOUNDED FOLLOWING
ALL_ROWS = 0x1 | 0x4 | 0x10 | 0x20 | 0x100


@dataclass(frozen=True)
class Wanted:
    """What of an aggregate the measured table must tell: its margins, or how its noise adds up over rows (`sums`).

    `events`: K, among which what may miss is shared. `over_rows`: the column depends on several rows.
    """

    aggregate: int
    events: int = 1
    over_rows: bool = False
    sums: bool = False


@dataclass(frozen=True)
class Margin:
    """SQL of the margins of a number, and its type."""

    sql: Node
    type: NumberType


@dataclass
class Columns:
    """Columns that are handed on beside those of an answer: of the measured table, and of each SELECT but the last."""

    taken: set[str]
    wanted: dict[Wanted, str] = field(default_factory=dict)
    handed_on: dict[tuple[int, object], tuple[str, Node]] = field(default_factory=dict)

    def measured(self, wanted: Wanted) -> str:
        return self.wanted.setdefault(wanted, f"m{len(self.wanted)}")

    def name_of(self, at: int, what: object, value: Node) -> str:
        """The name under which the SELECT at a level hands this on."""
        if (at, what) not in self.handed_on:
            self.handed_on[at, what] = free_name(f"margin {len(self.handed_on)}", self.taken), value
        return self.handed_on[at, what][0]


def margin_errors(levels: tuple[Level, ...]) -> tuple[dict[int, Node], Columns]:
    """SQL of the error of every column of the last SELECT that needs margins, by place; and what it needs for it."""
    columns = Columns({name for level in levels for name in level.names})
    errors: dict[int, Node] = {}
    top = len(levels) - 1
    for place, (target, part) in enumerate(zip(levels[-1].select.targetList, levels[-1].dependences, strict=True)):
        if part.unknown is None or levels[-1].columns is None:
            continue
        trial = Follower(levels, Columns(set(columns.taken)))
        if trial.margin(top, target.val) is None:
            continue
        follower = Follower(levels, columns, trial.events, trial.over_rows)
        margin = follower.margin(top, target.val)
        assert margin is not None
        errors[place] = call("_margin_error", as_numeric(target.val), margin.sql)
    return errors, columns


class Follower:
    """Follows one column of an answer down to the released numbers."""

    def __init__(self, levels: tuple[Level, ...], columns: Columns, events: int = 1, over_rows: bool = False) -> None:
        self._levels = levels
        self._columns = columns
        self._events = events
        self._over_rows = over_rows
        self._aggregates: set[int] = set()
        self._sums = 0
        self.over_rows = False

    @property
    def events(self) -> int:
        """Numbers of aggregates that come in, each made of up to six measurements, which the measured table counts."""
        return max(len(self._aggregates) + self._sums, 1)

    # -- what is known below

    def exactness(self, at: int, node: Node) -> Dependence:
        columns = self._levels[at].columns
        assert columns is not None
        return dependence(node, columns)

    def is_exact(self, at: int, node: Node) -> bool:
        return node is None or self.exactness(at, node).exact

    def target_below(self, at: int, node: ast.ColumnRef) -> int | None:
        """The place of a column in the SELECT below."""
        below = self._levels[at - 1]
        found = [n for n, name in enumerate(below.names) if name == getattr(node.fields[-1], "sval", None)]
        return found[0] if len(found) == 1 and below.select.distinctClause is None else None

    def column(self, at: int, node: ast.ColumnRef) -> Margin | None:
        if at == 0:
            found = self.exactness(at, node)
            if found.type is None or found.aggregate is None:
                return None
            self._aggregates.add(found.aggregate)
            wanted = Wanted(found.aggregate, self._events, self._over_rows)
            return Margin(self.measured(self._columns.measured(wanted)), found.type)
        place = self.target_below(at, node)
        below = None if place is None else self.margin(at - 1, self._levels[at - 1].select.targetList[place].val)
        if below is None:
            return None
        what = "margin", place, self._events, self._over_rows
        return Margin(self.handed(at, self._columns.name_of(at - 1, what, below.sql)), below.type)

    def measured(self, name: str) -> Node:
        return ast.ColumnRef(fields=(ast.String(sval=self._levels[0].alias), ast.String(sval=name)))

    def handed(self, at: int, name: str) -> Node:
        return ast.ColumnRef(fields=(ast.String(sval=self._levels[at].alias), ast.String(sval=name)))

    def noise(self, at: int, node: Node) -> Node | None:
        """How the noise of a column adds up over rows, where it is one released count or sum and nothing else."""
        if not isinstance(node, ast.ColumnRef):
            return None
        if at == 0:
            found = self.exactness(at, node)
            if found.type is None or found.aggregate is None:
                return None
            return self.measured(self._columns.measured(Wanted(found.aggregate, sums=True)))
        place = self.target_below(at, node)
        below = None if place is None else self.noise(at - 1, self._levels[at - 1].select.targetList[place].val)
        return None if below is None else self.handed(at, self._columns.name_of(at - 1, ("noise", place), below))

    # -- expressions

    def margin(self, at: int, node: Node) -> Margin | None:
        """Of an expression of the SELECT at a level; None where it is no number, or not followed."""
        if self._levels[at].columns is None or (self._levels[at].select.groupClause and not self.groups_exactly(at)):
            return None
        if not isinstance(node, ast.FuncCall) or (node.over is None and function_name(node) not in AGGREGATES):
            found = self.exactness(at, node)
            if found.exact:
                return None if found.type is None else Margin(call("_margin_exact", as_numeric(node)), found.type)
        if isinstance(node, ast.ColumnRef):
            return self.column(at, node)
        if isinstance(node, ast.FuncCall):
            return self.function(at, node)
        if isinstance(node, ast.TypeCast):
            return self.cast(at, node)
        if isinstance(node, ast.CaseExpr):
            return self.case(at, node)
        if isinstance(node, ast.CoalesceExpr):
            return self.coalesced(at, node)
        if isinstance(node, ast.MinMaxExpr):
            largest = node.op == enums.MinMaxOp.IS_GREATEST
            return self.folded(at, node.args, lambda a, b: call("_margin_extreme", a, b, truth(largest)))
        if isinstance(node, ast.A_Expr) and node.kind == enums.A_Expr_Kind.AEXPR_NULLIF:
            return self.margin(at, node.lexpr)
        if isinstance(node, ast.A_Expr) and node.kind == enums.A_Expr_Kind.AEXPR_OP:
            return self.operation(at, node)
        return None

    def groups_exactly(self, at: int) -> bool:
        """Whether a SELECT that groups anew does so by what is exact."""
        select = self._levels[at].select
        by_name = {target.name: target.val for target in select.targetList}
        for item in select.groupClause:
            held = getattr(item, "val", None) if isinstance(item, ast.A_Const) else None
            if isinstance(held, ast.Integer):
                item = select.targetList[held.ival - 1].val if 1 <= held.ival <= len(select.targetList) else None
            elif isinstance(item, ast.ColumnRef) and len(item.fields) == 1:
                item = by_name.get(item.fields[0].sval, item)
            if item is None or isinstance(item, ast.GroupingSet) or not self.is_exact(at, item):
                return False
        return True

    def operation(self, at: int, node: ast.A_Expr) -> Margin | None:
        name, right = operator_name(node), self.margin(at, divisor(node))
        if name == "^" and node.lexpr is not None:
            return self.power(at, node.lexpr, node.rexpr)
        if right is None:
            return None
        if node.lexpr is None:
            zero = call("_margin_exact", number(0))
            return {"+": right, "-": Margin(call("_margin_minus", zero, right.sql), right.type)}.get(name)
        left = self.margin(at, node.lexpr)
        if left is None or name not in ("+", "-", "*", "/", "%"):
            return None
        kind = WHOLE if left.type is WHOLE and right.type is WHOLE else FRACTIONAL
        if name == "/":
            return Margin(call("_margin_over", left.sql, right.sql, truth(kind is WHOLE)), kind)
        if name == "%":
            return self.remainder(at, left, divisor(node), kind)
        named = {"+": "_margin_plus", "-": "_margin_minus", "*": "_margin_times"}[name]
        return Margin(call(named, left.sql, right.sql), kind)

    def remainder(self, at: int, left: Margin, by: Node, kind: NumberType) -> Margin | None:
        if not self.is_exact(at, by):
            return None
        return Margin(call("_margin_mod", left.sql, as_numeric(by)), kind)

    def power(self, at: int, base: Node, exponent: Node) -> Margin | None:
        """With a constant exponent."""
        found, to = self.margin(at, base), self.exactness(at, exponent).number
        if found is None or to is None or abs(to) > MOST_POWER:
            return None
        return Margin(call("_margin_power", found.sql, as_numeric(exponent)), FRACTIONAL)

    def cast(self, at: int, node: ast.TypeCast) -> Margin | None:
        name, found = node.typeName.names[-1].sval, self.margin(at, node.arg)
        kind = NUMBER_TYPES.get(name)
        if found is None or kind is None or name == "float4":
            return None
        if kind is WHOLE:
            return Margin(call("_margin_rounded", found.sql, number(0)), kind)
        limits = [constant(limit).number for limit in node.typeName.typmods or ()] if name == "numeric" else []
        if not limits:
            return Margin(found.sql, kind)
        scale = limits[1] if len(limits) > 1 else Fraction(0)
        return None if scale is None else Margin(call("_margin_rounded", found.sql, number(int(scale))), kind)

    def folded(self, at: int, nodes: tuple[Node, ...], together: object) -> Margin | None:
        """Several numbers, two by two."""
        found = [self.margin(at, node) for node in nodes if not is_null(node)]
        parts = [one for one in found if one is not None]
        if not parts or len(parts) < len(found):
            return None
        sql = parts[0].sql
        for part in parts[1:]:
            sql = together(sql, part.sql)  # type: ignore[operator]
        return Margin(sql, FRACTIONAL if any(part.type is FRACTIONAL for part in parts) else WHOLE)

    def coalesced(self, at: int, node: ast.CoalesceExpr) -> Margin | None:
        found = [self.margin(at, part) for part in node.args if not is_null(part)]
        parts = [one for one in found if one is not None]
        if not parts or len(parts) < len(found):
            return None
        kind = FRACTIONAL if any(part.type is FRACTIONAL for part in parts) else WHOLE
        return Margin(ast.CoalesceExpr(args=tuple(part.sql for part in parts)), kind)

    def case(self, at: int, node: ast.CaseExpr) -> Margin | None:
        """The same CASE over margins where its conditions are exact; else it may be any of its results."""
        conditions = [part for part in (node.arg, *(when.expr for when in node.args)) if part is not None]
        results = [part for part in (*(when.result for when in node.args), node.defresult) if part is not None]
        if not all(self.is_exact(at, part) for part in conditions):
            return self.folded(at, tuple(results), lambda a, b: call("_margin_either", a, b))
        nothing = ast.TypeCast(arg=ast.A_Const(isnull=True), typeName=type_name("numeric", array=True))
        found = {id(part): self.margin(at, part) for part in results if not is_null(part)}
        if not found or any(one is None for one in found.values()):
            return None
        sql = {key: one.sql for key, one in found.items() if one is not None}
        whens = tuple(ast.CaseWhen(expr=when.expr, result=sql.get(id(when.result), nothing)) for when in node.args)
        otherwise = None if node.defresult is None else sql.get(id(node.defresult), nothing)
        kind = FRACTIONAL if any(one is not None and one.type is FRACTIONAL for one in found.values()) else WHOLE
        return Margin(ast.CaseExpr(arg=node.arg, args=whens, defresult=otherwise), kind)

    def function(self, at: int, node: ast.FuncCall) -> Margin | None:
        name = function_name(node)
        if node.over is not None or name in AGGREGATES:
            return self.over_several(at, node, name)
        if name in ROUNDINGS and 1 <= len(node.args or ()) <= 2:
            digits = self.exactness(at, node.args[1]).number if len(node.args) > 1 else Fraction(0)
            found = self.margin(at, node.args[0])
            if found is None or digits is None or digits.denominator != 1 or abs(digits) > MOST_DIGITS:
                return None
            return Margin(call("_margin_rounded", found.sql, number(int(digits))), FRACTIONAL)
        if name in ("abs", "sqrt") and len(node.args or ()) == 1:
            found = self.margin(at, node.args[0])
            kind = FRACTIONAL if found is None or name == "sqrt" else found.type
            return None if found is None else Margin(call(f"_margin_{name}", found.sql), kind)
        if name in GROWING and len(node.args or ()) == 1:
            found = self.margin(at, node.args[0])
            return None if found is None else Margin(call(f"_margin_{GROWING[name]}", found.sql), FRACTIONAL)
        if name in POWERS and len(node.args or ()) == 2:
            return self.power(at, *node.args)
        if name == "mod" and len(node.args or ()) == 2:
            found = self.margin(at, node.args[0])
            return None if found is None else self.remainder(at, found, node.args[1], found.type)
        return None

    # -- over several rows of the answer

    def over_several(self, at: int, node: ast.FuncCall, name: str) -> Margin | None:
        window = self.window(at, node)
        if node.over is not None and window is None:
            return None
        if node.agg_distinct or node.agg_order or node.agg_within_group or not self.is_exact(at, node.agg_filter):
            return None
        partition = tuple(() if window is None else window.partitionClause or ())
        order = tuple(() if window is None else window.orderClause or ())
        if not all(self.is_exact(at, part) for part in partition):
            return None
        ordered = all(self.is_exact(at, item.node) for item in order)
        if not ordered and name in (RANKS if not node.args else ("ntile",)):
            return self.rank(at, node, name, partition, order)
        if not ordered:
            return None
        arguments: tuple[Node, ...] = tuple(node.args or ())
        if all(self.is_exact(at, argument) for argument in arguments):
            # of what is exact in each row, all is exact but sums of doubles in their last digits
            kind = WHOLE if name in ("count", "rank", "row_number", "dense_rank", "ntile") else FRACTIONAL
            known = name in ("count", "sum", "avg", "min", "max", "ntile", "cume_dist") or name in RANKS
            number_like = not arguments or self.exactness(at, arguments[0]).type is not None or name == "count"
            return Margin(call("_margin_exact", as_numeric(node)), kind) if known and number_like else None
        found = self.margin(at, arguments[0])
        if name == "count" and len(arguments) == 1 and found is not None:
            return Margin(call("_margin_exact", as_numeric(node)), WHOLE)
        if found is None or not all(self.is_exact(at, argument) for argument in arguments[1:]):
            return None
        self.over_rows = True
        lower, upper = (part(found.sql, place) for place in (1, 2))
        if name in ("min", "max") or name in ROWS_BY_PLACE:
            ends = (over_rows(node, name, (end, *arguments[1:])) for end in (lower, upper))
            return Margin(call("_margin", *ends), found.type)
        if name not in ("sum", "avg"):
            return None
        total = self.sum(at, node, arguments[0], lower, upper)
        if name == "sum":
            return Margin(total, FRACTIONAL)
        counted = call("_margin_exact", as_numeric(over_rows(node, "count", arguments)))
        return Margin(call("_margin_over", total, counted, truth(False)), FRACTIONAL)

    def sum(self, at: int, node: ast.FuncCall, argument: Node, lower: Node, upper: Node) -> Node:
        """The narrower one of two bounds, neither of which depends on noise."""
        ends = [over_rows(node, "sum", (end,)) for end in (lower, upper)]
        noise = self.noise(at, argument)
        if noise is None:
            return call("_margin", *ends)
        self._sums += 1
        told = (over_rows(node, name, (part(noise, place),)) for place, name in ((3, "sum"), (1, "sum"), (2, "max")))
        chances = math.ceil(1000 * math.log(2 * self._events / MISSED)) / 1000
        return call("_margin_sum", *ends, *told, decimal(chances))

    def window(self, at: int, node: ast.FuncCall) -> ast.WindowDef | None:
        """What a call is over, with what it takes from a window of a name; None where there is none."""
        over = node.over
        if over is None:
            return None
        wanted = over.name or over.refname
        if wanted is None:
            return over
        named = [one for one in self._levels[at].select.windowClause or () if one.name == wanted]
        if len(named) != 1 or named[0].refname is not None:
            return None
        return ast.WindowDef(
            partitionClause=named[0].partitionClause, orderClause=named[0].orderClause or over.orderClause
        )

    def rank(
        self, at: int, node: ast.FuncCall, name: str, partition: tuple[Node, ...], order: tuple[ast.SortBy, ...]
    ) -> Margin | None:
        """By how many rows lie above for certain, and by how many perhaps."""
        found = self.margin(at, order[0].node) if len(order) == 1 else None
        if found is None:
            return None
        self.over_rows = True
        descending = order[0].sortby_dir == enums.SortByDir.SORTBY_DESC
        arrays = [self.sorted_ends(part(found.sql, place), partition) for place in (1, 2)]
        everything = ast.WindowDef(partitionClause=partition or None, frameOptions=1058)
        rows = ast.FuncCall(funcname=catalog("count"), agg_star=True, over=everything)
        others = minus(rows, ast.FuncCall(funcname=catalog("cardinality"), args=(arrays[0],)))
        rank = call("_margin_rank", found.sql, *arrays, others, truth(descending))
        if name == "dense_rank":
            return Margin(call("_margin", number(1), part(rank, 2)), WHOLE)
        if name == "ntile":
            (parts,) = node.args
            if not self.is_exact(at, parts):
                return None
            return Margin(call("_margin_ntile", rank, rows, as_numeric(parts)), WHOLE)
        if name == "cume_dist":
            # as a share of all rows: the place of the last row that is equal, which lies within the same limits
            share = call("_margin_over", rank, call("_margin_exact", as_numeric(rows)), truth(False))
            return Margin(share, FRACTIONAL)
        if name != "percent_rank":
            return Margin(rank, WHOLE)
        others_than_one = ast.MinMaxExpr(op=enums.MinMaxOp.IS_GREATEST, args=(minus(rows, number(1)), number(1)))
        above = call("_margin_minus", rank, call("_margin_exact", number(1)))
        exact = call("_margin_exact", as_numeric(others_than_one))
        return Margin(call("_margin_over", above, exact, truth(False)), FRACTIONAL)

    def sorted_ends(self, end: Node, partition: tuple[Node, ...]) -> Node:
        item = ast.SortBy(
            node=end, sortby_dir=enums.SortByDir.SORTBY_DEFAULT, sortby_nulls=enums.SortByNulls.SORTBY_NULLS_DEFAULT
        )
        window = ast.WindowDef(partitionClause=partition or None, orderClause=(item,), frameOptions=ALL_ROWS)
        there = ast.NullTest(arg=end, nulltesttype=enums.NullTestType.IS_NOT_NULL, argisrow=False)
        return ast.FuncCall(funcname=catalog("array_agg"), args=(end,), agg_filter=there, over=window)


# -- pieces of SQL


def catalog(name: str, schema: str = "pg_catalog") -> tuple[ast.String, ...]:
    return ast.String(sval=schema), ast.String(sval=name)


def call(name: str, *arguments: Node) -> ast.FuncCall:
    return ast.FuncCall(funcname=catalog(name, "discreet"), args=arguments)


def over_rows(node: ast.FuncCall, name: str, arguments: tuple[Node, ...]) -> ast.FuncCall:
    """Another function over the same rows."""
    return ast.FuncCall(funcname=catalog(name), args=arguments, agg_filter=node.agg_filter, over=node.over)


def part(margin: Node, place: int) -> ast.FuncCall:
    return call("_margin_part", margin, number(place))


def minus(left: Node, right: Node) -> ast.A_Expr:
    return ast.A_Expr(kind=enums.A_Expr_Kind.AEXPR_OP, name=catalog("-"), lexpr=left, rexpr=right)


def number(value: int) -> ast.A_Const:
    return ast.A_Const(isnull=False, val=ast.Integer(ival=value))


def decimal(value: float) -> ast.A_Const:
    return ast.A_Const(isnull=False, val=ast.Float(fval=repr(value)))


def truth(value: bool) -> ast.A_Const:
    return ast.A_Const(isnull=False, val=ast.Boolean(boolval=value))


def type_name(name: str, array: bool = False) -> ast.TypeName:
    bounds = (ast.Integer(ival=-1),) if array else None
    return ast.TypeName(names=catalog(name), typemod=-1, arrayBounds=bounds)


def as_numeric(node: Node) -> ast.TypeCast:
    return ast.TypeCast(arg=node, typeName=type_name("numeric"))
