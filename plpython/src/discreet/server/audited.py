"""What a curator does with tables under audit: say what is known of a person anyway, and begin anew."""

from __future__ import annotations

import json

from discreet.core import curation
from discreet.core.declarations import given
from discreet.core.errors import DiscreetError, InvalidParameterError, UndefinedObjectError
from discreet.core.syntax import SqlValue
from discreet.server.catalog import DatabaseCatalog
from discreet.server.entry import sql_errors
from discreet.server.plpy import Plpy, run


def audited_relation(plpy: Plpy, table: curation.Relation) -> SqlValue:
    """The protection of a table that is under audit."""
    rows = run(
        plpy,
        "SELECT p.unit, p.dataset, a.seed FROM discreet._protected_table p JOIN discreet._audit a USING (relation)"
        " WHERE p.relation = :oid::oid AND p.policy = 'audited'",
        oid=table.oid,
    )
    if not len(rows):
        raise not_audited(table.quoted_name)
    return rows[0]


def not_audited(name: str) -> DiscreetError:
    return UndefinedObjectError(f"{name} is not under policy 'audited'", "Call discreet.protect() first.")


@sql_errors
def audit_known(plpy: Plpy, relation: str | None, unit_value: str | None) -> None:
    catalog = DatabaseCatalog(plpy)
    table = curation.own_table(catalog, relation)
    protection = audited_relation(plpy, table)
    unit = curation.existing_column(catalog, table, protection["unit"])
    value = given("unit_value", unit_value)
    if not unit.built_in or not catalog.accepts(unit, value):
        raise InvalidParameterError(
            f"'{value}' is no value of column \"{unit.name}\", which is of type {unit.base_type}",
            "Write it as that type is written; the type must be built in.",
        )
    collate = "" if unit.collation is None else f" COLLATE {unit.collation}"
    row = run(
        plpy,
        f"SELECT discreet._written(CAST(:value::text AS {unit.base_type})) AS written,"
        f" discreet._person(CAST(:value::text AS {unit.base_type}){collate}, 0::oid, '0'::xid, '(0,0)'::tid,"
        " :seed::bigint)::text AS person",
        value=value,
        seed=protection["seed"],
    )[0]
    person = int.from_bytes(bytes.fromhex(row["person"].replace("-", ""))[:8], "little", signed=True)
    run(
        plpy,
        "INSERT INTO discreet._audit_known (relation, unit_value, person)"
        " VALUES (:oid::oid, :value::text, :person::bigint) ON CONFLICT DO NOTHING",
        oid=table.oid, value=row["written"], person=person,
    )  # fmt: skip
    run(plpy, "UPDATE discreet._audit SET position = position + 1 WHERE relation = :oid::oid", oid=table.oid)


def dataset_of_answers(plpy: Plpy, catalog: DatabaseCatalog, table: curation.Relation) -> str:
    """Where it is logged what becomes of answers about a table, or about one of its name before."""
    rows = run(
        plpy,
        "SELECT coalesce(p.dataset, past.dataset) AS dataset FROM discreet._audit a"
        " LEFT JOIN discreet._protected_table p ON p.relation = a.relation"
        " LEFT JOIN discreet._past_protection past ON past.relation = a.relation WHERE a.relation = :oid::oid",
        oid=table.oid,
    )
    dataset = rows[0]["dataset"] if len(rows) else catalog.audited_before(table)
    if dataset is None:
        raise not_audited(table.quoted_name)
    return str(dataset)


@sql_errors
def audit_reset(plpy: Plpy, relation: str | None, reason: str | None) -> None:
    catalog = DatabaseCatalog(plpy)
    table = curation.own_table(catalog, relation)
    dataset = dataset_of_answers(plpy, catalog, table)
    if given("reason", reason).strip() == "":
        raise InvalidParameterError("the reason is empty", "Say why what was answered can no longer be put together.")
    run(
        plpy,
        "UPDATE discreet._audit a SET position = a.position + 1, floor = a.position + 1, unit = u.attname,"
        " unit_attnum = u.attnum, unit_type = format_type(u.atttypid, NULL)"
        " FROM (SELECT :oid::oid AS relation) t"
        " LEFT JOIN discreet._protected_table p ON p.relation = t.relation AND p.policy = 'audited'"
        " LEFT JOIN pg_attribute u ON u.attrelid = p.relation AND u.attnum = p.unit_attnum"
        " WHERE a.relation = t.relation",
        oid=table.oid,
    )
    run(
        plpy,
        "DELETE FROM discreet._audit_name WHERE schema_name = :schema::name AND table_name = :name::name"
        " AND relation <> :oid::oid",
        oid=table.oid, schema=table.schema, name=table.name,
    )  # fmt: skip
    for name in ("_audit_event", "_audit_base", "_audit_known"):
        run(plpy, f"DELETE FROM discreet.{name} WHERE relation = :oid::oid", oid=table.oid)
    run(
        plpy,
        "SELECT discreet._charge(:dataset::text, :role::name, 0, 0, 0, :question::text, :details::jsonb)",
        dataset=dataset,
        role=catalog.caller().name,
        question=f"discreet.audit_reset('{table.quoted_name}')",
        details=json.dumps({"policy": "audited", "audit_reset": reason}),
    )
