"""What explain() tells, as text for people: what is measured, price, error, caveats, and what would make it better."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from discreet.core.quoting import literal
from discreet.core.syntax import Json
from discreet.gate.caveats_values import name_of
from discreet.gate.lint import MANY_MEASUREMENTS
from discreet.gate.measurements import Measurement, Quantity
from discreet.gate.plan import Plan
from discreet.gate.shares import favoured_aggregates
from discreet.gate.tree import Column, Derived, Expression, Join, Query, Rows, Table, Union, every_node

MEASURES = {
    Quantity.PEOPLE: "number of people",
    Quantity.ROWS: "number of rows",
    Quantity.VALUES: "number of values",
    Quantity.TOTAL: "sum",
    Quantity.CENTRED: "sum, from the middle of the bounds",
    Quantity.SQUARES: "sum of squares, from the middle of the bounds",
    Quantity.PRODUCTS: "sum of products, from the middle of the bounds",
    Quantity.DISTINCT: "number of different values",
    Quantity.DISTINCT_TOTAL: "sum of different values",
    Quantity.QUANTILE: "quantile",
}


def readable(told: Mapping[str, Json], plan: Plan | None) -> str:
    """The text of what explain() tells; `plan`: that of a question that can be answered."""
    return "\n".join(lines(told, plan))


def lines(told: Mapping[str, Json], plan: Plan | None) -> Iterator[str]:
    refused = told.get("refused")
    if refused is not None:
        yield f"Refused ({refused['code']}): {refused['message']}"
        if refused["hint"]:
            yield f"  Hint: {refused['hint']}"
    if plan is None or "outputs" not in told:
        return
    yield f"Price: {price(told)}"
    yield from listed("Measured", measured_for(told, plan))
    yield from listed("Error with 95 %", (error(column) for column in told["outputs"]))
    yield from listed("Groups", (group(some) for some in told["groups"]))
    yield from listed("Not covered", told["caveats"])
    yield from listed("Better", advice(plan, told))


def listed(title: str, items: Iterable[str]) -> Iterator[str]:
    for place, item in enumerate(items):
        if place == 0:
            yield f"{title}:"
        yield f"  {item}"


def price(told: Mapping[str, Json]) -> str:
    dataset = f"dataset {told['dataset']}"
    if told["stored"]:
        return f"nothing, {dataset}: it was measured before"
    if told["epsilon"] == "0":
        return f"nothing, {dataset}: the text of the question answers it"
    delta = "" if told["delta"] == "0" else f", delta {told['delta']}"
    periods = told.get("periods")
    if periods is None:
        return f"epsilon {told['epsilon']}{delta} of {dataset}"
    named = ", ".join(periods[:6]) + (f" and {len(periods) - 6} more" if len(periods) > 6 else "")
    lifetime = f"epsilon {told['lifetime_epsilon']} of the lifetime of {dataset}" if "lifetime_epsilon" in told else ""
    each = f"epsilon {told['epsilon']}{delta} of each of the periods {named} of {dataset}" if periods else ""
    return " and ".join(part for part in (each, lifetime) if part)


def measured_for(told: Mapping[str, Json], plan: Plan) -> Iterator[str]:
    """What is measured, with the part of the price where the parts are not even."""
    shares = {one["measures"]: one["share"] for one in told["shares"]}
    uneven = len(set(shares.values())) > 1
    for measurement in plan.measurements:
        words = measured(measurement, plan)
        share = shares.get(words) if uneven else None
        yield words if share is None else f"{words}: {100 * float(share):.3g} % of the price"


def measured(measurement: Measurement, plan: Plan) -> str:
    subject, words = measurement.subject, MEASURES[measurement.quantity]
    if measurement.fraction is not None:
        words = {"0": "smallest value", "1": "largest value"}.get(str(measurement.fraction), words)
    if measurement.side is not None:
        words = f"{measurement.side.value} end of an interval around the {words}"
    of = "" if subject.argument is None else f" of {name_of(subject.argument)}"
    where = "" if subject.condition is None else f", where {name_of(subject.condition)} is as the FILTER says"
    return f"{words}{of}{where}{' in each group' if plan.grouping.keys else ''}"


def error(column: Mapping[str, Json]) -> str:
    if column["mechanism"] == "exact":
        return f"{column['column']}: exact"
    if column["error_95"] is not None and column["mechanism"] != "threshold":
        unit = column.get("unit")
        return f"{column['column']}: ±{column['error_95']}{'' if unit is None else ' ' + unit}"
    return f"{column['column']}: {column.get('why', 'not known')}"


def group(some: Mapping[str, Json]) -> str:
    by = ", ".join(some["by"])
    return f"by {by}: {some['released']}" if by else str(some["released"])


def advice(plan: Plan, told: Mapping[str, Json]) -> Iterator[str]:
    """What the asker, or a curator, can do for a better answer."""
    for key in plan.grouping.keys:
        if not key.known:
            yield f"declare categories of {name_of(key.value)}, so that its groups need no threshold: " + declared(
                key.value, plan.source.rows
            )
    limits = plan.source.limits
    if not plan.source.single and plan.personal is None:
        tables = [table for table in tables_of(plan.source.rows) if has_several_rows(table)]
        named = literal(f"{tables[0].schema}.{tables[0].name}") if tables else "table"
        yield (
            f"max_rows is {limits.rows()}: where people have more rows, a curator can count them by "
            f"SELECT discreet.alter_protection({named}, max_rows => n); noise grows with it"
        )
    if plan.favour and not favoured_aggregates(plan):
        yield f"discreet.favour names no column or aggregate of this question: {', '.join(plan.favour)}"
    if len(plan.measurements) >= MANY_MEASUREMENTS:
        yield f"{len(plan.measurements)} numbers share the price: ask for fewer of them"
    if len(plan.grouping.sets) > 1:
        yield f"{len(plan.grouping.sets)} grouping sets are paid one by one: leave out those that are not needed"
    if not told["stored"] and told["epsilon"] != "0":
        yield "twice the epsilon halves the error: SET discreet.epsilon, or epsilon => in discreet.query()"


def has_several_rows(table: Table) -> bool:
    """Whether a person can have more than one row in a table."""
    return table.relation.protection is not None and not table.relation.protection.single


def declared(value: Expression, rows: Rows) -> str:
    """The call that declares categories of the column that a key is made of."""
    columns = [node for node in every_node([value]) if isinstance(node, Column)]
    tables = {table.place: table for table in tables_of(rows)}
    found = next((c for c in columns if c.place in tables), None)
    if found is None:
        return "SELECT discreet.describe_column(table, column, categories => ARRAY[…]);"
    table = tables[found.place]
    named = f"{literal(f'{table.schema}.{table.name}')}, {literal(found.name)}"
    return f"SELECT discreet.describe_column({named}, categories => ARRAY[…]);"


def tables_of(rows: Rows) -> Iterator[Table]:
    if isinstance(rows, Table):
        yield rows
    elif isinstance(rows, Join):
        yield from tables_of(rows.left)
        yield from tables_of(rows.right)
    elif isinstance(rows, Derived):
        yield from tables_of_query(rows.query)


def tables_of_query(query: Query) -> Iterator[Table]:
    if isinstance(query, Union):
        yield from tables_of_query(query.left)
        yield from tables_of_query(query.right)
    else:
        yield from tables_of(query.rows)
