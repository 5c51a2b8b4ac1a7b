"""Aggregates of the rows of one person that go by an order: quantiles, the most frequent value, texts in a row.

Each is a function of the set of rows: values that are equal are written alike, so it does not matter which of them
comes first, and where sort keys are equal the value itself decides. So a computation with them treats each person apart
(people.py).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

from pglast import ast

from discreet.core.syntax import Node
from discreet.gate.expressions import function_name
from discreet.gate.numbers import as_double
from discreet.gate.refusal import refuse
from discreet.gate.schema import NUMBERS, TIMES, Family
from discreet.gate.tree import BLANK_PADDED, TEXT, Constant, Expression, Ordered, SortKey, Type
from discreet.gate.values import LONGEST_TEXT, as_family, beginning, content

OF_ONE_VALUE = frozenset(["percentile_cont", "percentile_disc", "mode"])
ORDERED = OF_ONE_VALUE | {"string_agg"}
LONGEST_SEPARATOR = 100


class Reader(Protocol):
    """What reads expressions over the rows of a person (within.py)."""

    def value(self, node: Node, may_identify: bool = False) -> Expression: ...

    def sort_key(self, written: ast.SortBy, value: Expression | None = None) -> SortKey: ...


def ordered(node: ast.FuncCall, rows: Reader, condition: Expression | None) -> Ordered:
    if function_name(node) == "string_agg":
        return joined(node, rows, condition)
    return chosen(node, rows, condition)


def chosen(node: ast.FuncCall, rows: Reader, condition: Expression | None) -> Ordered:
    """A quantile, or the most frequent value; of those that are equally frequent the first."""
    name = function_name(node)
    number = 0 if name == "mode" else 1
    if not node.agg_within_group or len(node.args or ()) != number or len(node.agg_order) != 1:
        call = "mode()" if name == "mode" else f"{name}(fraction)"
        refuse(f"a call that is not {call} WITHIN GROUP (ORDER BY value)", node)
    fraction = fraction_of(rows.value(node.args[0]), node) if number else None
    # the result is one of the values, so these may not name people, as they may where they order others
    value = rows.value(node.agg_order[0].node)
    key = rows.sort_key(node.agg_order[0], value)
    orderable = NUMBERS | TIMES | {Family.TEXT, Family.BOOL}
    if value.family not in (NUMBERS if name == "percentile_cont" else orderable) or value.type.name == BLANK_PADDED:
        refuse(f"{name}() of {value.kind_name}", node)
    if name == "percentile_cont":
        value = as_double(value)
    return Ordered(
        name, value, (SortKey(value, key.descending, key.nulls_first),), fraction, condition=condition,
        type=value.type, interval=value.interval, domain=None if name == "percentile_cont" else value.domain,
        raw=value.raw or f"{name}(…)",
    )  # fmt: skip


def fraction_of(value: Expression, node: Node) -> Fraction:
    number = as_family(value, Family.FLOAT, node)
    held = number.interval
    if not isinstance(number, Constant) or held is None or not 0 <= held.lower == held.upper <= 1:
        refuse("a fraction that is not a constant from 0 to 1", node, "0.5 is the median.")
    return held.lower


def joined(node: ast.FuncCall, rows: Reader, condition: Expression | None) -> Ordered:
    """Texts one after another, the first bytes of them; NULL is left out."""
    if node.func_variadic or node.agg_star or len(node.args or ()) != 2:
        refuse("string_agg() with other than 2 arguments", node)
    value, separator = (as_family(rows.value(each), Family.TEXT, node) for each in node.args)
    between = content(separator)
    if value.family is not Family.TEXT or value.type.name == BLANK_PADDED:
        refuse(f"string_agg() of {value.kind_name}", node, "Cast it to text: value::text.")
    if between is None or len(between) > LONGEST_SEPARATOR:
        refuse("string_agg() with a separator that is no short constant", node, "Write string_agg(value, ',').")
    keys = tuple(rows.sort_key(each) for each in node.agg_order or ())
    if node.agg_distinct and (len(keys) > 1 or any(key.value != value for key in keys)):
        refuse("string_agg(DISTINCT …) in an order other than by its value", node)
    if not keys and not node.agg_distinct:
        refuse("string_agg() without an order", node, "Write string_agg(value, ',' ORDER BY …).")
    text = beginning(value, LONGEST_TEXT)
    keys = tuple(SortKey(text, key.descending, key.nulls_first) if key.value == value else key for key in keys)
    return Ordered(
        "string_agg", text, keys or (SortKey(text),), None, between, condition, node.agg_distinct,
        type=Type(TEXT.family, "text"),
    )  # fmt: skip
