"""What clamping does to the columns of a question, for who may read them: bounds that cut much are too narrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pglast import ast

from discreet.core.quoting import identifier
from discreet.core.syntax import Node
from discreet.gate.intervals import Interval
from discreet.gate.names import column_value
from discreet.gate.parse import nodes
from discreet.gate.printer import operator, printed
from discreet.gate.schema import NUMBERS, TIMES, Column, Family, Relation, Schema
from discreet.gate.tree import Expression, Own, Type
from discreet.gate.values import clamped

TABLE = "t"


def bounded_columns(tree: Node, schema: Schema) -> Iterator[tuple[Relation, list[Column]]]:
    """The tables of a question, each with those of its columns that have bounds and whose names the question uses."""
    names = {getattr(node.fields[-1], "sval", None) for node in nodes(tree) if isinstance(node, ast.ColumnRef)}
    for relation in {(one.schema, one.name): one for one in schema.relations.values()}.values():
        used = [column for column in relation.columns.values() if column.name in names and is_clamped(column)]
        if used:
            yield relation, used


def is_clamped(column: Column) -> bool:
    bounded = column.bounds is not None and Interval(*column.bounds).usable
    return bounded and not column.hidden and column.family in NUMBERS | TIMES


def clamping_sql(relation: Relation, columns: Sequence[Column]) -> str:
    """One scan of the table, which cannot fail on any row: for each column [values, values that are cut], as JSON."""
    counted = []
    for column in columns:
        number = as_number(column_value(0, TABLE, column, relation))
        inside = printed(clamped(number, None))
        cut = operator("<>", printed(number), inside)
        counted.append(f"ARRAY[pg_catalog.count({inside}), pg_catalog.count(*) FILTER (WHERE {cut})]")
    table = f"{identifier(relation.schema)}.{identifier(relation.name)} AS {TABLE}"
    people = "" if relation.protection is None else f" WHERE {TABLE}.{identifier(relation.protection.unit)} IS NOT NULL"
    return f"SELECT pg_catalog.to_json(ARRAY[{', '.join(counted)}])::pg_catalog.text AS counts FROM {table}{people}"


def as_number(column: Expression) -> Expression:
    """Dates are days, timestamps seconds since 1970, as on the grid."""
    if column.family not in TIMES:
        return column
    days = Type(Family.INT if column.family is Family.DATE else Family.NUMERIC)
    return Own("_since_1970", (column,), type=days, interval=column.interval, raw=column.raw)
