"""Aggregates that the gate knows: what each must measure, and how its answer is put together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pglast import ast

from discreet.dp.grid import Grid
from discreet.gate.expressions import Expressions, function_name
from discreet.gate.measurements import SQUARES_BITS, SUM_BITS, Measurement, Quantity, Subject
from discreet.gate.refusal import refuse, refuse_unbounded
from discreet.gate.schema import NUMBERS, TIMES, Family
from discreet.gate.values import Value, one_of_its_equals

INTEGER_TYPES = ("smallint", "integer")


@dataclass(frozen=True)
class Aggregate:
    """An aggregate of a question: its kind, its measurements, the type of its answer."""

    kind: str
    measurements: tuple[Measurement, ...]
    result_type: str
    grid: Grid | None = None
    low: Fraction | None = None
    high: Fraction | None = None


@dataclass(frozen=True)
class AggregateRule:
    usage: str
    build: Callable[[str, ast.FuncCall, Expressions, bool], Aggregate]


def compile_aggregate(node: ast.FuncCall, expressions: Expressions, several: bool) -> Aggregate:
    """`several`: sums are asked together with averages, so that they share their measurements."""
    name = function_name(node)
    rule = AGGREGATES.get(name)
    if rule is None:
        refuse(f"aggregate {name}()", node)
    if node.over is not None:
        refuse(
            "a window function over rows",
            node,
            "Window functions work on the answer: put them around the aggregate.",
        )
    if node.func_variadic or (node.agg_order and not node.agg_within_group):
        refuse("ORDER BY or VARIADIC in an aggregate", node)
    return rule.build(name, node, expressions, several)


def is_aggregate(node: Any) -> bool:
    return isinstance(node, ast.FuncCall) and node.over is None and node.funcname[-1].sval in AGGREGATES


def condition_of(node: ast.FuncCall, expressions: Expressions) -> str | None:
    return None if node.agg_filter is None else expressions.condition(node.agg_filter)


def argument_of(node: ast.FuncCall, expressions: Expressions, n: int = 1, may_identify: bool = False) -> Value:
    if node.agg_star or len(node.args or ()) != n:
        refuse(f"{function_name(node)}() with other than {n} argument{'s' if n > 1 else ''}", node)
    return expressions.value(node.args[0], may_identify=may_identify)


def counting(name: str, node: ast.FuncCall, expressions: Expressions, several: bool) -> Aggregate:
    condition = condition_of(node, expressions)
    if node.agg_star or not node.args:
        return Aggregate("count", (Measurement(Quantity.ROWS, Subject(None, condition)),), "int8")
    value = argument_of(node, expressions, may_identify=True)
    if not node.agg_distinct:
        return Aggregate("count", (Measurement(Quantity.ROWS, Subject(value.sql, condition)),), "int8")
    distinct = value.sql if value.identifies else one_of_its_equals(value.sql, value.family)
    return Aggregate("count", (Measurement(Quantity.DISTINCT, Subject(distinct, condition)),), "int8")


def bounded_argument(value: Value, node: Any, bits: int) -> Grid:
    if value.family not in NUMBERS | TIMES:
        refuse(f"a sum or average of {value.family.value}", node)
    if value.interval is None:
        refuse_unbounded(f"column {value.column}" if value.column else "the argument", node)
    if not value.interval.usable:
        refuse("numbers of more than 60 digits", node)
    return Grid.fit(value.interval.lower, value.interval.upper, bits)


def summing(name: str, node: ast.FuncCall, expressions: Expressions, several: bool) -> Aggregate:
    refuse_distinct(node)
    value = argument_of(node, expressions)
    if value.family in TIMES:
        refuse("a sum of dates", node)
    grid = bounded_argument(value, node, SUM_BITS)
    subject = Subject(value.sql, condition_of(node, expressions), grid)
    result = "int8" if value.type_name in INTEGER_TYPES else "float8" if value.family is Family.FLOAT else "numeric"
    if several:
        parts = (Measurement(Quantity.VALUES, subject), Measurement(Quantity.CENTRED, subject))
        return Aggregate("sum_of_parts", parts, result, grid)
    return Aggregate("sum", (Measurement(Quantity.TOTAL, subject),), result, grid)


def averaging(name: str, node: ast.FuncCall, expressions: Expressions, several: bool) -> Aggregate:
    refuse_distinct(node)
    value = argument_of(node, expressions)
    if value.family in TIMES:
        refuse("an average of dates", node)
    grid = bounded_argument(value, node, SUM_BITS)
    subject = Subject(value.sql, condition_of(node, expressions), grid)
    parts = (Measurement(Quantity.VALUES, subject), Measurement(Quantity.CENTRED, subject))
    return Aggregate("avg", parts, "float8" if value.family is Family.FLOAT else "numeric", grid)


def spreading(name: str, node: ast.FuncCall, expressions: Expressions, several: bool) -> Aggregate:
    refuse_distinct(node)
    value = argument_of(node, expressions)
    if value.family in TIMES:
        refuse("a variance of dates", node)
    grid = bounded_argument(value, node, SQUARES_BITS)
    subject = Subject(value.sql, condition_of(node, expressions), grid)
    parts = tuple(Measurement(q, subject) for q in (Quantity.VALUES, Quantity.CENTRED, Quantity.SQUARES))
    kind = ("stddev" if "stddev" in name else "variance") + ("_pop" if name.endswith("_pop") else "")
    return Aggregate(kind, parts, "float8" if value.family is Family.FLOAT else "numeric", grid)


def extreme(fraction: Fraction) -> Callable[[str, ast.FuncCall, Expressions, bool], Aggregate]:
    def build(name: str, node: ast.FuncCall, expressions: Expressions, several: bool) -> Aggregate:
        return quantile(argument_of(node, expressions), fraction, node, expressions, None)

    return build


def percentile(name: str, node: ast.FuncCall, expressions: Expressions, several: bool) -> Aggregate:
    if not node.agg_within_group or len(node.args or ()) != 1 or len(node.agg_order) != 1:
        refuse(f"a call that is not {name}(fraction) WITHIN GROUP (ORDER BY value)", node)
    held = expressions.value(node.args[0])
    if not held.constant or held.interval is None or not 0 <= held.interval.lower <= 1:
        refuse("a fraction that is not a constant from 0 to 1", node)
    fraction = held.interval.lower
    if node.agg_order[0].sortby_dir == 2:  # descending
        fraction = 1 - fraction
    value = expressions.value(node.agg_order[0].node)
    return quantile(value, fraction, node, expressions, "float8" if name == "percentile_cont" else None)


def quantile(
    value: Value, fraction: Fraction, node: ast.FuncCall, expressions: Expressions, result: str | None
) -> Aggregate:
    if value.family not in NUMBERS | TIMES:
        refuse(f"a quantile of {value.family.value}", node)
    if value.interval is None:
        refuse_unbounded(f"column {value.column}" if value.column else "the argument", node)
    grid = bounded_argument(value, node, SUM_BITS)
    subject = Subject(value.sql, condition_of(node, expressions), grid)
    measurement = Measurement(Quantity.QUANTILE, subject, fraction.limit_denominator(10**4))
    interval = value.interval
    return Aggregate("quantile", (measurement,), result or value.native_type, grid, interval.lower, interval.upper)


def refuse_distinct(node: ast.FuncCall) -> None:
    if node.agg_distinct:
        refuse("DISTINCT in a sum or average", node)


AGGREGATES: dict[str, AggregateRule] = {
    "count": AggregateRule("count(*), count(value), count(DISTINCT value)", counting),
    "sum": AggregateRule("sum(number)", summing),
    "avg": AggregateRule("avg(number)", averaging),
    "variance": AggregateRule("variance(number)", spreading),
    "var_samp": AggregateRule("var_samp(number)", spreading),
    "var_pop": AggregateRule("var_pop(number)", spreading),
    "stddev": AggregateRule("stddev(number)", spreading),
    "stddev_samp": AggregateRule("stddev_samp(number)", spreading),
    "stddev_pop": AggregateRule("stddev_pop(number)", spreading),
    "min": AggregateRule("min(value)", extreme(Fraction(0))),
    "max": AggregateRule("max(value)", extreme(Fraction(1))),
    "percentile_cont": AggregateRule("percentile_cont(fraction) WITHIN GROUP (ORDER BY value)", percentile),
    "percentile_disc": AggregateRule("percentile_disc(fraction) WITHIN GROUP (ORDER BY value)", percentile),
}
