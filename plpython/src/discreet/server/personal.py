"""Personal budgets: what a curator does with them."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from discreet.core import curation
from discreet.core.declarations import given
from discreet.core.errors import InvalidParameterError, WrongObjectTypeError
from discreet.server.catalog import DatabaseCatalog
from discreet.server.entry import sql_errors
from discreet.server.plpy import Plpy, run

STATUS = """
    SELECT trim_scale(l.tenth * p.unit_epsilon / 10) AS left_from,
           CASE WHEN l.tenth < 10 THEN trim_scale((l.tenth + 1) * p.unit_epsilon / 10) END AS left_below,
           count(o.epsilon_left) AS people
    FROM discreet._protected_table p
    CROSS JOIN generate_series(0, 10) AS l(tenth)
    LEFT JOIN discreet._personal_left(:oid::oid::regclass) o
           ON l.tenth = LEAST(floor(o.epsilon_left * 10 / p.unit_epsilon), 10)
    WHERE p.relation = :oid::oid
    GROUP BY l.tenth, p.unit_epsilon ORDER BY l.tenth
"""


@sql_errors
def set_personal_budget(plpy: Plpy, relation: str | None, unit_value: str | None, epsilon: Decimal | None) -> None:
    from discreet.personal.budgets import budget_of

    catalog = DatabaseCatalog(plpy)
    table, dataset, unit = personal_table(plpy, catalog, relation)
    run(
        plpy,
        "SELECT discreet._set_personal_budget(:dataset::text, :unit::text, :budget::int)",
        dataset=dataset,
        unit=canonical(plpy, catalog, table, unit, given("unit_value", unit_value)),
        budget=budget_of(epsilon),
    )


@sql_errors
def personal_status(plpy: Plpy, relation: str | None) -> Iterable[tuple[Decimal, Decimal | None, int]]:
    table, _, _ = personal_table(plpy, DatabaseCatalog(plpy), relation)
    rows = run(plpy, STATUS, oid=table.oid)
    return [(row["left_from"], row["left_below"], row["people"]) for row in rows]


def personal_table(plpy: Plpy, catalog: DatabaseCatalog, name: str | None) -> tuple[curation.Relation, str, str]:
    """A table of the caller's, of policy 'personal'; its dataset and its unit."""
    table = curation.own_table(catalog, name)
    rows = run(
        plpy,
        "SELECT dataset, unit FROM discreet._protected_table WHERE relation = :oid::oid AND policy = 'personal'",
        oid=table.oid,
    )
    if not rows:
        raise WrongObjectTypeError(
            f"{table.quoted_name} is not protected by policy 'personal'", "Only its people have budgets of their own."
        )
    return table, rows[0]["dataset"], rows[0]["unit"]


def canonical(plpy: Plpy, catalog: DatabaseCatalog, table: curation.Relation, unit: str, value: str) -> str:
    """The text under which the ledger knows the person of this value."""
    from discreet.gate.payers import key_sql

    column = curation.existing_column(catalog, table, unit)
    if not catalog.accepts(column, value):
        raise InvalidParameterError(
            f"unit_value '{value}' is no value of column \"{unit}\", which is of type {column.base_type}",
            "Give what names one person in that column.",
        )
    typed = f":value::{column.base_type}"
    return str(run(plpy, f"SELECT ({key_sql(typed, column.base_type)})::text AS text", value=value)[0]["text"])
