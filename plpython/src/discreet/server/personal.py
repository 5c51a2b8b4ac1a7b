"""Personal budgets on the database: the run step of a question that people pay for themselves, and a curator's acts."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.core import curation
from discreet.core.declarations import given
from discreet.core.errors import InvalidParameterError, RefusedShapeError, WrongObjectTypeError
from discreet.server.catalog import DatabaseCatalog
from discreet.server.entry import sql_errors
from discreet.server.plpy import Plpy, run

if TYPE_CHECKING:
    from discreet.gate.plan import Plan
    from discreet.personal.selection import Personal
    from discreet.server.gate_totals import Found

RUN = """
    SELECT place, value FROM discreet._personal_run(
        :role::oid, :dataset::text, :by_integer::boolean, :selection::text, :terms::text, :most::int,
        :statements::text[], :places::int[])
"""
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


def refuse_other_isolation(level: str) -> None:
    """An older snapshot would let people pay who were another number of rows then."""
    if level != "read committed":
        raise RefusedShapeError(
            f"a question in a {level.upper()} transaction, about people who pay for themselves",
            "Ask in READ COMMITTED.",
        )


def totals_of_payers(plpy: Plpy, plan: Plan, epsilon: Fraction, role: int) -> list[Found]:
    """Of every grouping set, over the rows of those who have paid; selection, payment and run share a snapshot."""
    from discreet.gate.run import statements
    from discreet.personal.budgets import price_of
    from discreet.server.gate_totals import as_texts, put_row

    assert plan.personal is not None
    sets = plan.grouping.sets
    built = [(keys, one) for keys in range(len(sets)) for one in statements(plan, sets[keys], secrets.randbits(62))]
    ways = [(place, sql) for place, (_, statement) in enumerate(built) for sql in as_texts(statement)]
    terms = {"schema": plan.personal.schema, "table": plan.personal.table, "price": price_of(epsilon)}
    rows = run(
        plpy,
        RUN,
        role=role,
        dataset=plan.dataset.name,
        by_integer=plan.personal.by_integer,
        selection=plan.personal.selection,
        terms=", " + json.dumps(terms)[1:-1],
        most=plan.personal.most,
        statements=[sql for _, sql in ways],
        places=[str(place) for place, _ in ways],
    )
    found: list[Found] = [{} for _ in sets]
    for row in rows:
        keys, statement = built[row["place"]]
        put_row(found[keys], plan, statement, json.loads(row["value"]))
    return found


def told(personal: Personal) -> dict[str, Any]:
    """What explain() tells: nothing of it depends on the data."""
    return {
        "policy": "personal",
        "paid_by": "everybody who is selected and can pay: epsilon for each own row that takes part,"
        f" at most {personal.most}; who cannot pay takes no part",
    }


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
    from discreet.personal.selection import key_sql

    column = curation.existing_column(catalog, table, unit)
    if not catalog.accepts(column, value):
        raise InvalidParameterError(
            f"unit_value '{value}' is no value of column \"{unit}\", which is of type {column.base_type}",
            "Give what names one person in that column.",
        )
    typed = f":value::{column.base_type}"
    return str(run(plpy, f"SELECT ({key_sql(typed, column.base_type)})::text AS text", value=value)[0]["text"])
