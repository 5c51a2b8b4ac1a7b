"""Aggregates that the gate knows: what each must measure, and how its answer is put together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from pglast import ast

from discreet.core.printing import printed
from discreet.core.syntax import Node
from discreet.dp.grid import Grid
from discreet.dp.quantile import Side
from discreet.gate import pairs
from discreet.gate.bins import EqualBins, ValueBins
from discreet.gate.bounds import asked_bounds, asked_epsilon, common_type, constant
from discreet.gate.expressions import Expressions, function_name
from discreet.gate.functions import FUNCTIONS
from discreet.gate.intervals import Interval
from discreet.gate.loose import is_loose
from discreet.gate.measurements import (
    BINS,
    PAIR_BITS,
    SQUARES_BITS,
    SUM_BITS,
    Measurement,
    OwnEpsilon,
    Quantity,
    Subject,
)
from discreet.gate.moments import is_interval, length
from discreet.gate.nullness import may_be_null
from discreet.gate.refusal import refuse
from discreet.gate.schema import NUMBERS, TIMES, Family
from discreet.gate.tree import BOOLEAN, TEXT, Call, Canonical, Constant, Expression, Logic, Together, every_node
from discreet.gate.unbounded import refuse_without_bounds
from discreet.gate.values import as_family, clamped, decimal, identifies, known_values

MOST_TOGETHER = 16
INTEGER_TYPES = ("smallint", "integer")
AVERAGED = (Quantity.VALUES, Quantity.CENTRED)
SPREAD = (Quantity.VALUES, Quantity.CENTRED, Quantity.SQUARES)


@dataclass(frozen=True)
class Aggregate:
    """An aggregate of a question: its kind, its measurements, the type of its answer."""

    kind: str
    measurements: tuple[Measurement, ...]
    result_type: str
    grid: Grid | None = None

    @property
    def unit(self) -> str | None:
        """In which unit its error is told, where the number has another type."""
        if self.result_type == "date":
            return "days"
        return "seconds" if self.result_type == "interval" or self.result_type.startswith("timestamp") else None

    @property
    def has_months(self) -> bool:
        """An interval of years, months and days, as age() makes them."""
        argument = self.measurements[0].subject.argument
        nodes = every_node([] if argument is None else [argument])
        return any(isinstance(node, Call) and node.name == "age" for node in nodes)


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


def is_aggregate(node: Node) -> bool:
    return isinstance(node, ast.FuncCall) and node.over is None and node.funcname[-1].sval in AGGREGATES


def condition_of(node: ast.FuncCall, expressions: Expressions) -> Expression | None:
    found = None if node.agg_filter is None else expressions.condition(node.agg_filter)
    return None if isinstance(found, Constant) and found.value is True else found


def argument_of(node: ast.FuncCall, expressions: Expressions, n: int = 1, may_identify: bool = False) -> Expression:
    if node.agg_star or len(node.args or ()) != n:
        refuse(f"{function_name(node)}() with other than {n} argument{'s' if n > 1 else ''}", node)
    return expressions.value(node.args[0], may_identify=may_identify)


def counting(name: str, node: ast.FuncCall, expressions: Expressions, several: bool) -> Aggregate:
    if node.agg_star or not node.args:
        return Aggregate("count", (Measurement(Quantity.ROWS, Subject(None, condition_of(node, expressions))),), "int8")
    if node.agg_distinct and len(node.args) == 1 and isinstance(node.args[0], ast.RowExpr):
        return rows_of_values(node, expressions)
    value = argument_of(node, expressions, may_identify=True)
    return count_of(value, node.agg_distinct, condition_of(node, expressions))


def rows_of_values(node: ast.FuncCall, expressions: Expressions) -> Aggregate:
    """count(DISTINCT (a, b)): of the values together, NULLs among them, as PostgreSQL counts rows."""
    items = node.args[0].args or ()
    if not 1 <= len(items) <= MOST_TOGETHER:
        refuse(f"a row of no values, or of more than {MOST_TOGETHER}", node)
    value = Together(tuple(expressions.value(item) for item in items), type=TEXT, nullable=False)
    subject = Subject(value, condition_of(node, expressions))
    return Aggregate("count", (Measurement(Quantity.DISTINCT, subject),), "int8")


def count_of(value: Expression, distinct: bool, condition: Expression | None) -> Aggregate:
    if not distinct:
        # count(1), and the count of what is never NULL, is count(*)
        counted = value if may_be_null(value) else None
        return Aggregate("count", (Measurement(Quantity.ROWS, Subject(counted, condition)),), "int8")
    one = value if identifies(value) else Canonical(value, type=value.type)
    return Aggregate("count", (Measurement(Quantity.DISTINCT, Subject(one, condition)),), "int8")


def bounded_argument(value: Expression, node: Node, bits: int) -> Grid:
    if value.family not in NUMBERS | TIMES:
        refuse(f"a sum or average of {value.kind_name}", node)
    if value.interval is None or is_loose(value):
        refuse_without_bounds(value, node)
    if not value.interval.usable:
        refuse("numbers of more than 60 digits", node)
    return Grid.fit(value.interval.lower, value.interval.upper, bits)


def is_whole(value: Expression) -> bool:
    return value.type.name in INTEGER_TYPES


def as_number(value: Expression, node: Node) -> tuple[Expression, str | None]:
    """What is added up: of an interval its seconds; and the type of the answer, where that is an interval."""
    return (length(value, node), "interval") if is_interval(value) else (value, None)


def summing(name: str, node: ast.FuncCall, expressions: Expressions, several: bool) -> Aggregate:
    value, interval = as_number(argument_of(node, expressions), node)
    if value.family in TIMES:
        refuse("a sum of dates", node)
    grid = bounded_argument(value, node, SUM_BITS)
    result = interval or ("int8" if is_whole(value) else "float8" if value.family is Family.FLOAT else "numeric")
    condition = condition_of(node, expressions)
    if node.agg_distinct:
        one = Subject(Canonical(value, type=value.type), condition, grid)
        return Aggregate("sum", (Measurement(Quantity.DISTINCT_TOTAL, one),), result, grid)
    subject = Subject(value, condition, grid, is_whole(value))
    if several:
        return Aggregate("sum_of_parts", of_each(AVERAGED, subject), result, grid)
    return Aggregate("sum", (Measurement(Quantity.TOTAL, subject),), result, grid)


def averaging(name: str, node: ast.FuncCall, expressions: Expressions, several: bool) -> Aggregate:
    refuse_distinct(node)
    value, interval = as_number(argument_of(node, expressions), node)
    if value.family in TIMES:
        refuse("an average of dates", node)
    grid = bounded_argument(value, node, SUM_BITS)
    subject = Subject(value, condition_of(node, expressions), grid, is_whole(value))
    result = interval or ("float8" if value.family is Family.FLOAT else "numeric")
    return Aggregate("avg", of_each(AVERAGED, subject), result, grid)


def spreading(name: str, node: ast.FuncCall, expressions: Expressions, several: bool) -> Aggregate:
    refuse_distinct(node)
    value = argument_of(node, expressions)
    if value.family in TIMES:
        refuse("a variance of dates", node)
    grid = bounded_argument(value, node, SQUARES_BITS)
    subject = Subject(value, condition_of(node, expressions), grid, is_whole(value))
    kind = ("stddev" if "stddev" in name else "variance") + ("_pop" if name.endswith("_pop") else "")
    return Aggregate(kind, of_each(SPREAD, subject), "float8" if value.family is Family.FLOAT else "numeric", grid)


def of_each(quantities: tuple[Quantity, ...], subject: Subject) -> tuple[Measurement, ...]:
    return tuple(Measurement(quantity, subject) for quantity in quantities)


def extreme(fraction: Fraction) -> Callable[[str, ast.FuncCall, Expressions, bool], Aggregate]:
    def build(name: str, node: ast.FuncCall, expressions: Expressions, several: bool) -> Aggregate:
        return declared_quantile(argument_of(node, expressions), fraction, node, expressions, None)

    return build


def percentile(name: str, node: ast.FuncCall, expressions: Expressions, several: bool) -> Aggregate:
    if not node.agg_within_group or len(node.args or ()) != 1 or len(node.agg_order) != 1:
        refuse(f"a call that is not {name}(fraction) WITHIN GROUP (ORDER BY value)", node)
    fraction = fraction_of(node.args[0], node, expressions)
    if node.agg_order[0].sortby_dir == 2:  # descending
        fraction = 1 - fraction
    value = expressions.value(node.agg_order[0].node)
    return declared_quantile(value, fraction, node, expressions, "float8" if name == "percentile_cont" else None)


def fraction_of(argument: Node, node: ast.FuncCall, expressions: Expressions) -> Fraction:
    fraction = constant(argument, Family.NUMERIC, "a fraction", expressions)
    if not 0 <= fraction <= 1:
        refuse("a fraction that is not from 0 to 1", node, "0.5 is the median.")
    return fraction.limit_denominator(10**4)


def declared_quantile(
    value: Expression, fraction: Fraction, node: ast.FuncCall, expressions: Expressions, result: str | None
) -> Aggregate:
    """Between the bounds that are declared."""
    value, interval = as_number(value, node)
    if value.family is Family.TEXT:
        refuse(
            f"{function_name(node)}() of text is not supported",
            node,
            "It would show a value of one person. Count the values: GROUP BY the text.",
        )
    if value.family not in NUMBERS | TIMES:
        refuse(f"{function_name(node)}() of {value.kind_name}", node, "Numbers, dates and timestamps can be ranked.")
    grid = bounded_argument(value, node, SUM_BITS)
    assert value.interval is not None
    subject = Subject(value, condition_of(node, expressions), grid, is_whole(value))
    return quantile(subject, value, value.interval, fraction, interval or result or value.native_type)


def quantile(subject: Subject, value: Expression, interval: Interval, fraction: Fraction, result: str) -> Aggregate:
    bins = EqualBins.fit(interval, value.family in (Family.INT, Family.DATE), BINS)
    kind = {Fraction(0): "min", Fraction(1): "max"}.get(fraction, "quantile")
    chosen = Measurement(Quantity.QUANTILE, subject, fraction, bins)
    # nothing but the bound is known to lie below the smallest value, or above the largest
    sides = (side for side in Side if fraction != (0 if side is Side.LOWER else 1))
    ends = (replace(chosen, side=side) for side in sides)
    return Aggregate(kind, (chosen, *ends), result, subject.grid)


def fractions_of(node: ast.FuncCall, expressions: Expressions) -> list[ast.FuncCall] | None:
    """percentile_cont(ARRAY[…]) as one call for each fraction; None where it is no such call."""
    if function_name(node) not in ("percentile_cont", "percentile_disc") or len(node.args or ()) != 1:
        return None
    (given,) = node.args
    if not (isinstance(given, ast.A_ArrayExpr) or (isinstance(given, ast.TypeCast) and given.typeName.arrayBounds)):
        return None
    calls = []
    for element in expressions.elements(given):
        held = as_family(element, Family.NUMERIC, node)
        if not held.constant or held.interval is None:
            refuse("fractions that are not constants", node)
        fraction = ast.A_Const(isnull=False, val=ast.Float(fval=format(decimal(held.interval.lower), "f")))
        calls.append(ast.FuncCall(**{slot: getattr(node, slot) for slot in node} | {"args": (fraction,)}))
    return calls


def deciding(name: str, node: ast.FuncCall, expressions: Expressions, several: bool) -> Aggregate:
    """bool_or() by the noisy number of rows that are true, bool_and() by that of rows that are false."""
    refuse_distinct(node)
    value, kind = expressions.condition(argument_node(node)), "bool_or" if name == "bool_or" else "bool_and"
    decides = value if kind == "bool_or" else Logic("NOT", (value,), type=BOOLEAN)
    condition = condition_of(node, expressions)
    both = decides if condition is None else Logic("AND", (condition, decides), type=BOOLEAN)
    return Aggregate(kind, (Measurement(Quantity.ROWS, Subject(None, both)),), "bool")


def argument_node(node: ast.FuncCall) -> Node:
    if node.agg_star or len(node.args or ()) != 1:
        refuse(f"{function_name(node)}() with other than 1 argument", node)
    return node.args[0]


def most_frequent(name: str, node: ast.FuncCall, expressions: Expressions, several: bool) -> Aggregate:
    if not node.agg_within_group or node.args or len(node.agg_order) != 1:
        refuse("a call that is not mode() WITHIN GROUP (ORDER BY value)", node)
    value = expressions.value(node.agg_order[0].node)
    values = known_values(value)
    if values is None or not 1 <= len(values) <= BINS:
        refuse(
            "mode() of values that are not declared",
            node,
            "A curator can declare them: SELECT discreet.describe_column(table, column, categories => ARRAY[…]).",
        )
    bins = ValueBins(values, value.family)
    subject = Subject(Canonical(value, type=value.type), condition_of(node, expressions))
    return Aggregate("mode", (Measurement(Quantity.QUANTILE, subject, None, bins),), value.native_type)


def pairing(name: str, node: ast.FuncCall, expressions: Expressions, several: bool) -> Aggregate:
    """corr(y, x) and the like; rows in which one of them is NULL take no part."""
    refuse_distinct(node)
    if node.agg_star or len(node.args or ()) != 2:
        refuse(f"{name}() with other than 2 arguments", node)
    y, x = (clamped(expressions.value(each), node) for each in node.args)
    for value in (y, x):
        if is_loose(value):
            refuse_without_bounds(value, node)
    grids = bounded_argument(y, node, PAIR_BITS), bounded_argument(x, node, PAIR_BITS)
    measured = pairs.measurements(y, x, grids, condition_of(node, expressions))
    return Aggregate(name, measured, "int8" if name == "regr_count" else "float8", grids[0])


def dp_counting(name: str, node: ast.FuncCall, expressions: Expressions, several: bool) -> Aggregate:
    if node.agg_star and name == "dp_count" and not node.agg_distinct:
        return counting(name, node, expressions, several)
    (argument,), epsilon = dp_arguments(name, node, 1, expressions)
    value = expressions.value(argument, may_identify=True)
    return paid(count_of(value, name == "dp_count_distinct", condition_of(node, expressions)), epsilon)


def dp_bounded(name: str, node: ast.FuncCall, expressions: Expressions, several: bool) -> Aggregate:
    """Sums, averages and spreads; those of dates are numbers of days, of timestamps numbers of seconds."""
    (argument, lower, upper), epsilon = dp_arguments(name, node, 3, expressions)
    value = expressions.value(argument)
    interval = asked_bounds(value, lower, upper, expressions)
    kind = name.removeprefix("dp_")
    quantities = {"sum": (Quantity.TOTAL,), "avg": AVERAGED}.get(kind, SPREAD)
    grid = Grid.fit(interval.lower, interval.upper, SQUARES_BITS if quantities is SPREAD else SUM_BITS)
    subject = Subject(value, condition_of(node, expressions), grid, is_whole(value))
    return paid(Aggregate(kind, of_each(quantities, subject), "numeric", grid), epsilon)


def dp_ranked(name: str, node: ast.FuncCall, expressions: Expressions, several: bool) -> Aggregate:
    of_median = name == "dp_median"
    (argument, *fractions, lower, upper), epsilon = dp_arguments(name, node, 3 if of_median else 4, expressions)
    value = expressions.value(argument)
    interval = asked_bounds(value, lower, upper, expressions)
    fraction = Fraction(1, 2) if of_median else fraction_of(fractions[0], node, expressions)
    subject = Subject(value, condition_of(node, expressions), Grid.fit(interval.lower, interval.upper, SUM_BITS))
    result = common_type(value, [lower, upper], expressions)
    return paid(quantile(subject, value, interval, fraction, result), epsilon)


def dp_arguments(
    name: str, node: ast.FuncCall, number: int, expressions: Expressions
) -> tuple[list[Node], Fraction | None]:
    """So many arguments of a dp_ aggregate, and the epsilon that may come after them."""
    arguments = list(node.args or ())
    if node.agg_distinct or node.agg_within_group or len(arguments) not in (number, number + 1):
        refuse(f"a call that is not {AGGREGATES[name].usage}", node)
    epsilon = asked_epsilon(arguments[-1], expressions) if len(arguments) > number else None
    return arguments[:number], epsilon


def paid(aggregate: Aggregate, epsilon: Fraction | None) -> Aggregate:
    """With an epsilon of its own, if it names one."""
    if epsilon is None:
        return aggregate
    own = OwnEpsilon(epsilon, len(aggregate.measurements))
    return replace(aggregate, measurements=tuple(replace(m, own=own) for m in aggregate.measurements))


def refuse_distinct(node: ast.FuncCall) -> None:
    if node.agg_distinct:
        refuse("DISTINCT in a sum or average", node)


REFUSED = {
    **dict.fromkeys(
        (
            "string_agg",
            "array_agg",
            "json_agg",
            "jsonb_agg",
            "json_object_agg",
            "jsonb_object_agg",
            "xmlagg",
            "range_agg",
        ),
        "is not supported: it would show the values of single people",
    ),
    **dict.fromkeys(("bit_and", "bit_or", "bit_xor"), "is not supported: one person can change every bit of it"),
}


def refuse_showing(node: Node) -> None:
    """Refuses aggregates that no noise makes private, and says why."""
    if not isinstance(node, ast.FuncCall) or node.over is not None:
        return
    name = str(node.funcname[-1].sval)
    if name in REFUSED:
        refuse(f"{name}() {REFUSED[name]}", node, "GROUP BY the value and count; combine the groups around the answer.")


# what other databases call an aggregate, and what to type here
INSTEAD = {
    **dict.fromkeys(("median",), "percentile_cont(0.5) WITHIN GROUP (ORDER BY {})"),
    **dict.fromkeys(
        ("percentile", "quantile", "approx_percentile", "percentile_approx"),
        "percentile_cont(0.9) WITHIN GROUP (ORDER BY {})",
    ),
    **dict.fromkeys(("approx_count_distinct", "approx_distinct", "count_distinct"), "count(DISTINCT {})"),
    **dict.fromkeys(("mean", "average"), "avg({})"),
    **dict.fromkeys(("std", "stdev"), "stddev({})"),
    **dict.fromkeys(("first", "last", "any_value"), "min({}) or max({})"),
    **dict.fromkeys(("countif", "count_if"), "count(*) FILTER (WHERE {})"),
}
USUAL = "count(*), sum({0}), avg({0}), min({0}), max({0}), or percentile_cont(0.5) WITHIN GROUP (ORDER BY {0})"


def refuse_unknown_aggregate(node: Node, harmless: frozenset[str], is_of_rows: Callable[[ast.ColumnRef], bool]) -> None:
    """Refuses a function of columns of people that is not known: what is over rows would be an aggregate."""
    if not isinstance(node, ast.FuncCall) or node.over is not None or len(node.funcname) != 1 or not node.args:
        return
    name = str(node.funcname[-1].sval)
    if name in harmless or name in FUNCTIONS or name.startswith("dp_") or not any(map(is_of_rows, row_columns(node))):
        return
    value = printed(node.args[0])
    refuse(
        f"{name}() is not an aggregate of questions about protected tables",
        node,
        f"Write {INSTEAD.get(name, USUAL).replace('{}', value).replace('{0}', value)}.",
    )


def row_columns(node: Node) -> Iterator[ast.ColumnRef]:
    """The columns below a node that are in no aggregate."""
    if isinstance(node, ast.ColumnRef):
        yield node
    elif isinstance(node, tuple | list):
        for part in node:
            yield from row_columns(part)
    elif isinstance(node, ast.Node) and not is_aggregate(node) and not isinstance(node, ast.SubLink):
        for slot in node:
            yield from row_columns(getattr(node, slot))


AGGREGATES: dict[str, AggregateRule] = {
    "count": AggregateRule("count(*), count(value), count(DISTINCT value), count(DISTINCT (value, …))", counting),
    "sum": AggregateRule("sum([DISTINCT] number)", summing),
    "avg": AggregateRule("avg(number)", averaging),
    "variance": AggregateRule("variance(number)", spreading),
    "var_samp": AggregateRule("var_samp(number)", spreading),
    "var_pop": AggregateRule("var_pop(number)", spreading),
    "stddev": AggregateRule("stddev(number)", spreading),
    "stddev_samp": AggregateRule("stddev_samp(number)", spreading),
    "stddev_pop": AggregateRule("stddev_pop(number)", spreading),
    "min": AggregateRule("min(value)", extreme(Fraction(0))),
    "max": AggregateRule("max(value)", extreme(Fraction(1))),
    "percentile_cont": AggregateRule(
        "percentile_cont(fraction or fractions) WITHIN GROUP (ORDER BY value)", percentile
    ),
    "percentile_disc": AggregateRule(
        "percentile_disc(fraction or fractions) WITHIN GROUP (ORDER BY value)", percentile
    ),
    "mode": AggregateRule("mode() WITHIN GROUP (ORDER BY value)", most_frequent),
    "bool_and": AggregateRule("bool_and(condition)", deciding),
    "bool_or": AggregateRule("bool_or(condition)", deciding),
    "every": AggregateRule("every(condition)", deciding),
    **{name: AggregateRule(f"{name}(y, x)", pairing) for name in pairs.KINDS},
    "dp_count": AggregateRule("dp_count(*), dp_count(value [, epsilon])", dp_counting),
    "dp_count_distinct": AggregateRule("dp_count_distinct(value [, epsilon])", dp_counting),
    "dp_sum": AggregateRule("dp_sum(value, lower, upper [, epsilon])", dp_bounded),
    "dp_avg": AggregateRule("dp_avg(value, lower, upper [, epsilon])", dp_bounded),
    "dp_variance": AggregateRule("dp_variance(value, lower, upper [, epsilon])", dp_bounded),
    "dp_stddev": AggregateRule("dp_stddev(value, lower, upper [, epsilon])", dp_bounded),
    "dp_median": AggregateRule("dp_median(value, lower, upper [, epsilon])", dp_ranked),
    "dp_quantile": AggregateRule("dp_quantile(value, fraction, lower, upper [, epsilon])", dp_ranked),
}
