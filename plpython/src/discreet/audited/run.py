"""Stage run: one native statement gives the exact numbers of every group, and who is in it."""

from __future__ import annotations

from discreet.audited.question import AuditedPlan, ExactAggregate
from discreet.core.quoting import identifier, literal
from discreet.gate import printer
from discreet.gate.printer import printed, schema_qualified
from discreet.gate.schema import Family
from discreet.gate.tree import Expression

# Beyond this, NaN and the infinities, a number counts as 0: sums never fail.
LARGEST = "1e100"
# query sets of a question; one more is asked for, to know that there are
MOST_GROUPS = 1000


def statement_sql(plan: AuditedPlan, known: tuple[str, ...]) -> str:
    """One statement, so one snapshot: for each group of each grouping set, a JSON array and who is in it.

    The array: people of the table that are not known, number of the grouping set, texts of its keys, for each FILTER
    the bytes of its people, for each aggregate the text of its number.
    """
    selects = (grouping_set_sql(plan, place, keys) for place, keys in enumerate(plan.grouping.sets))
    everybody = f"pg_catalog.jsonb_build_array((SELECT pg_catalog.count(*) FROM {everybody_sql(plan, known)}))"
    return (
        f"SELECT ({everybody} OPERATOR(pg_catalog.||) t.found)::pg_catalog.text, t.people"
        f" FROM ({' UNION ALL '.join(selects)}) AS t(found, people) LIMIT {MOST_GROUPS + 1}"
    )


def everybody_sql(plan: AuditedPlan, known: tuple[str, ...]) -> str:
    """The people of the table whose values are not known."""
    relation, protection = plan.relation, plan.relation.protection
    assert protection is not None
    table = f"{identifier(relation.schema)}.{identifier(relation.name)} AS t"
    if not known:
        return table
    unit = relation.columns[protection.unit]
    listed = ", ".join(f"{literal(value)}::{schema_qualified(unit.type_name)}" for value in known)
    return f"{table} WHERE t.{identifier(unit.name)} NOT IN ({listed})"


def grouping_set_sql(plan: AuditedPlan, place: int, keys: tuple[int, ...]) -> str:
    filters = plan.filters
    columns = [f"{printed(plan.grouping.keys[key].canonical)} AS k{key}" for key in keys]
    columns += [f"{number_sql(aggregate)} AS a{n}" for n, aggregate in enumerate(plan.aggregates)]
    assert plan.source.unit is not None
    person = printed(plan.source.unit)
    columns += [f"discreet._query_set({person}){filtered(one)} AS p{n}" for n, one in enumerate(filters)]
    where = printer.where(map(printed, plan.conditions))
    by = f" GROUP BY {', '.join(str(n + 1) for n in range(len(keys)))}" if keys else ""
    grouped = f"SELECT {', '.join(columns)} FROM {printer.rows(plan.source.rows)}{where}{by}"
    people = [f"COALESCE(p{n}, ''::pg_catalog.bytea)" for n in range(len(filters))]
    items = [str(place), *(f"(k{key})::pg_catalog.text" for key in keys)]
    items += [f"pg_catalog.octet_length({some})" for some in people]
    items += [f"(a{n})::pg_catalog.text" for n in range(len(plan.aggregates))]
    parts = (items[first : first + 90] for first in range(0, len(items), 90))
    found = " OPERATOR(pg_catalog.||) ".join(f"pg_catalog.jsonb_build_array({', '.join(part)})" for part in parts)
    return f"SELECT {found}, {' OPERATOR(pg_catalog.||) '.join(people)} FROM ({grouped}) AS grouped"


def filtered(condition: Expression | None) -> str:
    return "" if condition is None else f" FILTER (WHERE {printed(condition)})"


def number_sql(aggregate: ExactAggregate) -> str:
    subject = aggregate.subject
    value = "*" if subject.value is None else printed(subject.value)
    count = f"pg_catalog.count({value}){filtered(subject.condition)}"
    if aggregate.kind == "count" or subject.value is None:
        return count
    total = f"pg_catalog.sum({finite(subject.value, subject.sensitive)}){filtered(subject.condition)}"
    if subject.value.family is not Family.INT:
        # zeros at the end tell how one of the numbers was written
        total = f"pg_catalog.trim_scale({total})"
    if aggregate.kind == "sum":
        return total
    return f"({total}::pg_catalog.numeric OPERATOR(pg_catalog./) NULLIF({count}, 0)::pg_catalog.numeric)"


def finite(value: Expression, sensitive: bool) -> str:
    """The value itself, as an exact number; of sensitive columns 0 where there is none."""
    sql, otherwise = printed(value), " ELSE 0" if sensitive else ""
    if value.family is Family.INT:
        return f"COALESCE({sql}, 0)" if sensitive else sql
    inside = f"{sql} OPERATOR(pg_catalog.>) -{LARGEST} AND {sql} OPERATOR(pg_catalog.<) {LARGEST}"
    return f"(CASE WHEN {inside} THEN {sql}{otherwise} END)::pg_catalog.numeric"
