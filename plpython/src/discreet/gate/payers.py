"""Which questions people can pay for themselves, and the native SQL that finds out whose rows take part.

A question must be filter and map over one table, so that what a person pays and adds depends on the own rows alone: a
join lets a row of one person decide about those of another, and the noisy threshold for unknown groups would need a
delta of all people.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from discreet.core.declarations import PERSONAL_UNITS
from discreet.core.quoting import identifier
from discreet.gate import printer
from discreet.gate.grouping import Grouping
from discreet.gate.names import Source, column_value
from discreet.gate.people import has_subqueries, is_row_by_row
from discreet.gate.printer import WHOLE_NUMBERS, printed
from discreet.gate.printer import person_key as key_sql
from discreet.gate.refusal import refuse
from discreet.gate.schema import Dataset, Relation
from discreet.gate.tree import BOOLEAN, TEXT, Expression, Own, Table

__all__ = ["Personal", "key_sql", "paid", "paid_personally", "refuse_other_tables"]


@dataclass(frozen=True)
class Personal:
    """Whose budgets pay for a question: `selection` is native SQL that counts the rows of each that take part.

    `most`: the rows that a person pays for at most, as no more of them count.
    """

    schema: str
    table: str
    by_integer: bool
    selection: str
    most: int


def is_personal(relation: Relation) -> bool:
    return relation.protection is not None and relation.protection.policy == "personal"


def refuse_other_tables(named: Collection[Relation], node: object) -> None:
    """Tables that a question has named so far: one, if the people of one pay for themselves."""
    if len(named) > 1 and any(map(is_personal, named)):
        refuse(
            "a second table beside one of policy 'personal'",
            node,
            "What people pay for themselves may depend on their own rows only: ask about one table, without joins.",
        )


def paid_personally(
    source: Source, conditions: Sequence[Expression], grouping: Grouping, dataset: Dataset, named: Collection[Relation]
) -> Personal | None:
    """Who pays for a question about these tables themselves; None where the dataset pays."""
    if not any(map(is_personal, named)):
        return None
    (relation,) = named
    assert relation.protection is not None
    assert source.unit is not None
    values = [*conditions, *(key.value for key in grouping.keys)]
    if not is_row_by_row(source.rows) or has_subqueries(values):
        refuse(
            "what is computed from several rows, under policy 'personal'",
            hint="People pay for each of their own rows: filter and map rows, and aggregate them.",
        )
    if any(key.domain is None for key in grouping.keys):
        refuse(
            "groups that are not known beforehand, under policy 'personal'",
            hint="A curator declares the categories with discreet.describe_column().",
        )
    if dataset.accounting != "pure" or dataset.neighbours != "unbounded":
        refuse(
            f"policy 'personal' in dataset {dataset.name}",
            hint="Its accounting must be 'pure' and its neighbours 'unbounded'.",
        )
    unit = relation.columns[relation.protection.unit]
    if unit.type_name not in PERSONAL_UNITS:
        refuse(f"people who are named by a column of type {unit.type_name}, under policy 'personal'")
    most = 1 if source.single else source.limits.max_rows * (source.limits.max_groups if grouping.keys else 1)
    return Personal(
        relation.schema,
        relation.name,
        unit.type_name in WHOLE_NUMBERS,
        selection_sql(source, conditions, grouping, relation),
        min(most, 2**31 - 1),
    )


def paid(source: Source) -> Expression:
    """That the person of a row has paid."""
    assert source.unit is not None
    return Own("_personal_paid", (key_of(source.unit),), type=BOOLEAN)


def key_of(unit: Expression) -> Expression:
    """What names a person in the ledger."""
    return Own("_personal_key", (unit,), type=TEXT)


def selection_sql(source: Source, conditions: Sequence[Expression], grouping: Grouping, relation: Relation) -> str:
    """Looks at every row of the table, whether it takes part or not.

    So each person gets a number in the ledger, selected by the question or not, and what is written tells nothing about
    whom it does.
    """
    assert source.unit is not None
    assert relation.protection is not None
    takes_part = printer.both([*map(printed, conditions), *in_groups(grouping)]) or "true"
    key, rows = printed(key_of(source.unit)), printer.rows(source.rows)
    if isinstance(source.rows, Table):
        return f"SELECT discreet._personal_count({key}, ({takes_part})) FROM {rows}"
    base = f"{identifier(relation.schema)}.{identifier(relation.name)}"
    unit = key_of(column_value(0, "base", relation.columns[relation.protection.unit], relation))
    return (
        f"SELECT discreet._personal_count(u, takes_part) FROM (SELECT {key} AS u, ({takes_part}) AS takes_part"
        f" FROM {rows} UNION ALL SELECT {printed(unit)}, false FROM {base} AS base) AS rows"
    )


def in_groups(grouping: Grouping) -> list[str]:
    """Whether a row is in a group of one of the grouping sets."""
    sets = [printer.both(grouping.keys[key].in_domain for key in keys) for keys in grouping.sets]
    return [] if "" in sets else [f"({' OR '.join(f'({some})' for some in sets)})"]
