"""Which questions people can pay for themselves, and the native SQL that finds out whose rows take part.

A question must be filter and map over one table, so that what a person pays and adds depends on the own rows alone: a
join lets a row of one person decide about those of another, and the noisy threshold for unknown groups would need a
delta of everybody.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from discreet.core.declarations import PERSONAL_UNITS
from discreet.gate.refusal import refuse
from discreet.gate.schema import Relation
from discreet.gate.values import identifier

if TYPE_CHECKING:
    from discreet.gate.plan import Plan

INTEGERS = frozenset(["smallint", "integer", "bigint"])


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


def refuse_other_tables(named: Collection[Relation], node: Any) -> None:
    """Tables that a question has named so far: one, if the people of one pay for themselves."""
    if len(named) > 1 and any(map(is_personal, named)):
        refuse(
            "a second table beside one of policy 'personal'",
            node,
            "What people pay for themselves may depend on their own rows only: ask about one table, without joins.",
        )


def paid_personally(plan: Plan, named: Collection[Relation]) -> Plan:
    """The plan of a question about these tables: as it is, or over the rows of those who have paid for themselves."""
    if not any(map(is_personal, named)):
        return plan
    (relation,) = named
    assert relation.protection is not None
    assert plan.source.unit is not None
    if plan.thresholds:
        refuse(
            "groups that are not known beforehand, under policy 'personal'",
            hint="A curator declares the categories with discreet.describe_column().",
        )
    if plan.dataset.accounting != "pure" or plan.dataset.neighbours != "unbounded":
        refuse(
            f"policy 'personal' in dataset {plan.dataset.name}",
            hint="Its accounting must be 'pure' and its neighbours 'unbounded'.",
        )
    unit = relation.columns[relation.protection.unit]
    if unit.type_name not in PERSONAL_UNITS:
        refuse(f"people who are named by a column of type {unit.type_name}, under policy 'personal'")
    limits = plan.source.limits
    most = 1 if plan.source.single else limits.max_rows * (limits.max_groups if plan.grouping.keys else 1)
    key = key_sql(plan.source.unit, unit.type_name)
    personal = Personal(
        relation.schema,
        relation.name,
        unit.type_name in INTEGERS,
        selection_sql(plan, key, relation, key_sql(f"base.{identifier(unit.name)}", unit.type_name)),
        min(most, 2**31 - 1),
    )
    paid = f"discreet._personal_paid({key})"
    return replace(plan, personal=personal, conditions=(*plan.conditions, paid))


def key_sql(unit: str, type_name: str) -> str:
    """What names a person: a bigint, or a text that is the same for all that are equal."""
    if type_name in INTEGERS:
        return f"({unit})::pg_catalog.int8"
    return f"({f'pg_catalog.trim_scale({unit})' if type_name == 'numeric' else unit})::pg_catalog.text"


def selection_sql(plan: Plan, key: str, relation: Relation, base_key: str) -> str:
    """Looks at every row of the table, whether it takes part or not.

    So everybody gets a number in the ledger, whom the question selects or not, and what is written tells nothing about
    whom it does.
    """
    takes_part = " AND ".join(plan.conditions + groups_sql(plan)) or "true"
    if not plan.source.sql.startswith("("):
        return f"SELECT discreet._personal_count({key}, ({takes_part})) FROM {plan.source.sql}"
    base = f"{identifier(relation.schema)}.{identifier(relation.name)}"
    return (
        f"SELECT discreet._personal_count(u, takes_part) FROM (SELECT {key} AS u, ({takes_part}) AS takes_part"
        f" FROM {plan.source.sql} UNION ALL SELECT {base_key}, false FROM {base} AS base) AS rows"
    )


def groups_sql(plan: Plan) -> tuple[str, ...]:
    """Whether a row is in a group of one of the grouping sets."""
    sets = []
    for keys in plan.grouping.sets:
        known = [(plan.grouping.keys[key].sql, plan.grouping.keys[key].domain or ()) for key in keys]
        sets.append(" AND ".join(f"({sql} IN ({', '.join(domain)}))" for sql, domain in known))
    return () if "" in sets else (f"({' OR '.join(f'({some})' for some in sets)})",)
