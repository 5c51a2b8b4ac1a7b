"""Sealed columns on the database. Tables are altered in the name of who owns them; see sql/sealed/columns.sql."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

from discreet.core.curation import own_table, require_curator
from discreet.core.declarations import given
from discreet.core.errors import (
    DuplicateObjectError,
    InsufficientPrivilegeError,
    InvalidParameterError,
    UndefinedColumnError,
    UndefinedObjectError,
    WrongObjectTypeError,
)
from discreet.core.parser import load_parser
from discreet.core.quoting import identifier, literal
from discreet.core.syntax import Json
from discreet.sealed import checks
from discreet.sealed.table import ROW, Column, Table, base_name, sealed_in_place, unsealed_in_place
from discreet.server.catalog import DatabaseCatalog
from discreet.server.entry import sql_errors
from discreet.server.plpy import Plpy, Row, run

COLUMNS = """
    SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
           a.atttypid AS type_id, a.atttypmod AS typmod,
           CASE WHEN t.typtype = 'd' THEN format_type(t.typbasetype, t.typtypmod) END AS below,
           t.typnotnull AS never_null,
           CASE WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, d.adrelid) END AS value,
           a.attgenerated <> '' AS generated, a.attidentity <> '' AS identity,
           CASE WHEN a.attcollation <> t.typcollation THEN format('%I.%I', l.nspname, o.collname) END AS collation,
           coalesce(o.collisdeterministic, true) AS compares_bytes
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    LEFT JOIN pg_collation o ON o.oid = a.attcollation LEFT JOIN pg_namespace l ON l.oid = o.collnamespace
    WHERE a.attrelid = :oid::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""

# of the table, before its first column is sealed
OBSTACLES = """
    SELECT 'is partitioned' AS what, 'Seal columns of ordinary tables.' AS hint
    FROM pg_class WHERE oid = :oid::oid AND relkind = 'p'
    UNION ALL SELECT 'is a partition, or inherits', 'Detach it first.' FROM pg_inherits WHERE inhrelid = :oid::oid
    UNION ALL SELECT 'has tables that inherit from it', 'Let them not inherit first.'
    FROM pg_inherits WHERE inhparent = :oid::oid
    UNION ALL SELECT 'has row security, which the view of a sealed table would pass by',
        'Drop its policies and disable it.'
    FROM pg_class c WHERE oid = :oid::oid AND (relrowsecurity OR EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid))
    UNION ALL SELECT format('has the rule %I', rulename), 'Drop it first.' FROM pg_rewrite WHERE ev_class = :oid::oid
    UNION ALL SELECT DISTINCT format('is read by %s, which would see ciphertext', r.ev_class::regclass),
        'Drop it, and create it anew afterwards.'
    FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid AND r.ev_class <> :oid::oid
    WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = :oid::oid
    UNION ALL SELECT DISTINCT format('is used by function %s, which would see ciphertext', d.objid::regprocedure),
        'Drop it, and create it anew afterwards.'
    FROM pg_depend d
    WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = :oid::oid
    UNION ALL SELECT 'is of a composite type', 'ALTER TABLE … NOT OF first.'
    FROM pg_class WHERE oid = :oid::oid AND reloftype <> 0
    UNION ALL SELECT format('has a column %I', :row::text), 'Rename it first.' FROM pg_attribute
    WHERE attrelid = :oid::oid AND attname = :row::text AND NOT attisdropped
"""

# of the column
COLUMN_OBSTACLES = """
    SELECT format('is part of the foreign key %I of %s', k.conname, k.conrelid::regclass) AS what,
        'Foreign keys cannot compare sealed values: drop the constraint first.' AS hint
    FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = :oid::oid AND a.attname = :column::name
    WHERE k.contype = 'f' AND (k.conrelid = :oid::oid AND a.attnum = ANY (k.conkey)
                               OR k.confrelid = :oid::oid AND a.attnum = ANY (k.confkey))
    UNION ALL SELECT format('is part of the exclusion constraint %I', k.conname), 'Drop it first.'
    FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = :oid::oid AND a.attname = :column::name
    WHERE k.contype = 'x' AND k.conrelid = :oid::oid AND a.attnum = ANY (k.conkey)
    UNION ALL SELECT format('is used by index %s in a way that ciphertext cannot be', i.indexrelid::regclass),
        'Only B-tree and hash indexes on the column itself stay, of a searchable column. Drop this one first.'
    FROM pg_depend d JOIN pg_index i ON i.indexrelid = d.objid JOIN pg_class x ON x.oid = i.indexrelid
    JOIN pg_am m ON m.oid = x.relam
    JOIN pg_attribute a ON a.attrelid = :oid::oid AND a.attname = :column::name AND a.attnum = d.refobjsubid
    WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = :oid::oid
      AND (m.amname NOT IN ('btree', 'hash') OR i.indexprs IS NOT NULL OR i.indpred IS NOT NULL
           OR EXISTS (SELECT FROM unnest(i.indclass) c(class) JOIN pg_opclass p ON p.oid = c.class
                      WHERE NOT p.opcdefault))
    UNION ALL SELECT format('has index %s, which needs equal ciphertext for equal values', i.indexrelid::regclass),
        'Seal the column with searchable => true, or drop the index.'
    FROM pg_index i JOIN pg_attribute a ON a.attrelid = :oid::oid AND a.attname = :column::name
    WHERE i.indrelid = :oid::oid AND a.attnum = ANY (i.indkey) AND NOT :searchable::boolean
    UNION ALL SELECT format('is used by generated column %I', g.attname), 'Drop the generated column first.'
    FROM pg_depend d JOIN pg_attrdef e ON e.oid = d.objid AND d.classid = 'pg_attrdef'::regclass
    JOIN pg_attribute g ON g.attrelid = e.adrelid AND g.attnum = e.adnum AND g.attgenerated <> ''
    JOIN pg_attribute a ON a.attrelid = :oid::oid AND a.attname = :column::name AND a.attnum = d.refobjsubid
    WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = :oid::oid AND e.adrelid = :oid::oid
      AND g.attname <> a.attname
    UNION ALL SELECT format('is named by trigger %I, which would see ciphertext', t.tgname), 'Drop it first.'
    FROM pg_depend d JOIN pg_trigger t ON t.oid = d.objid AND t.tgrelid = :oid::oid AND NOT t.tgisinternal
    JOIN pg_attribute a ON a.attrelid = :oid::oid AND a.attname = :column::name AND a.attnum = d.refobjsubid
    WHERE d.classid = 'pg_trigger'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = :oid::oid
    UNION ALL SELECT format('is used by extended statistics %I', s.stxname), 'Drop them first.'
    FROM pg_statistic_ext s JOIN pg_attribute a ON a.attrelid = :oid::oid AND a.attname = :column::name
    WHERE s.stxrelid = :oid::oid AND a.attnum = ANY (s.stxkeys)
"""

CHECKS = """
    SELECT k.conname AS name, pg_get_expr(k.conbin, k.conrelid) AS expression FROM pg_constraint k
    JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attname = :column::name AND a.attnum = ANY (k.conkey)
    WHERE k.conrelid = :oid::oid AND k.contype = 'c' ORDER BY k.conname
"""

SEALED = """
    SELECT s.id, s.base::oid AS base, s.key, s.searchable, s.version, s.former, n.nspname AS schema,
           b.relname AS base_name, v.relname AS name, v.relnamespace <> b.relnamespace AS apart
    FROM discreet._sealed_column s JOIN pg_class v ON v.oid = s.relation JOIN pg_class b ON b.oid = s.base
    JOIN pg_namespace n ON n.oid = b.relnamespace
    WHERE s.relation = :oid::oid OR s.base = :oid::oid ORDER BY s.number
"""

# relation: the base table until there is a view
BEGUN = """
    INSERT INTO discreet._sealed_column (relation, base, table_id, number, column_name, key, searchable, former)
    SELECT :base::oid, :base::oid, coalesce(min(c.table_id::text)::uuid, gen_random_uuid()),
           coalesce(max(c.number), 0) + 1,
           :name::name, :key::text, :searchable::boolean, :former::jsonb
    FROM discreet._sealed_column c WHERE c.base = :base::oid RETURNING id
"""

PRIVILEGES = """
    SELECT NULL::text AS name, a.privilege_type AS privilege, a.is_grantable AS grantable,
           CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee
    FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = :oid::oid AND a.grantee <> c.relowner
    UNION ALL
    SELECT t.attname, a.privilege_type, a.is_grantable,
           CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
    FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid AND t.attnum > 0, aclexplode(t.attacl) a
    WHERE c.oid = :oid::oid AND a.grantee <> c.relowner
"""
# what a view has no meaning for stays behind
GRANTED = ("SELECT", "INSERT", "UPDATE", "DELETE", "REFERENCES", "TRIGGER")


def act(plpy: Plpy, oid: int, statement: str) -> int:
    """Runs a statement as the owner of the table: it may call functions of any role."""
    return int(
        run(plpy, "SELECT discreet._as_owner(:oid::oid, :statement::text) AS rows", oid=oid, statement=statement)[0][
            "rows"
        ]
    )


def new_data_key(plpy: Plpy, column_id: str, version: int, key: str) -> None:
    run(
        plpy, "SELECT discreet._new_data_key(:id::uuid, :version::int2, :key::text)",
        id=column_id, version=version, key=key,
    )  # fmt: skip


@dataclass(frozen=True)
class Sealed:
    """A sealed column, as discreet's catalog knows it; `former`: what it was before."""

    id: str
    column: Column
    key: str
    searchable: bool
    version: int
    former: dict[str, Json]


@dataclass(frozen=True)
class Known:
    """A table with or without sealed columns. `oid` is that of what holds the rows."""

    oid: int
    table: Table
    sealed: tuple[Sealed, ...]
    rows: dict[str, Row]


# ---- keys


def owned_key(plpy: Plpy, name: str | None) -> str:
    wanted = given("name", name)
    rows = run(
        plpy, "SELECT owner, pg_has_role(discreet._caller(), r.oid, 'USAGE') OR u.rolsuper AS owned"
              " FROM discreet._key k LEFT JOIN pg_roles r ON r.rolname = k.owner"
              " JOIN pg_roles u ON u.oid = discreet._caller() WHERE k.name = :name::text",
        name=wanted,
    )  # fmt: skip
    if not rows:
        raise UndefinedObjectError(f'there is no key "{wanted}"', "A curator makes one with discreet.create_key().")
    if not rows[0]["owned"]:
        raise InsufficientPrivilegeError(
            f'the caller does not own key "{wanted}"', f"Its owner, {rows[0]['owner']}, or a superuser can do this."
        )
    return wanted


@sql_errors
def grant_key(plpy: Plpy, name: str | None, role: str | None) -> None:
    require_curator(DatabaseCatalog(plpy))
    run(
        plpy, "INSERT INTO discreet._key_holder VALUES (:name::text, :role::regrole) ON CONFLICT DO NOTHING",
        name=owned_key(plpy, name), role=given("role", role),
    )  # fmt: skip


@sql_errors
def revoke_key(plpy: Plpy, name: str | None, role: str | None) -> None:
    require_curator(DatabaseCatalog(plpy))
    run(
        plpy, "DELETE FROM discreet._key_holder WHERE key = :name::text AND role = :role::regrole",
        name=owned_key(plpy, name), role=given("role", role),
    )  # fmt: skip


# ---- tables


def known(plpy: Plpy, relation: str | None) -> Known:
    """The table of that name, if the caller is a curator who owns it, or a superuser.

    A statement that seals two columns names the table before its first one: that is the base table then.
    """
    catalog = DatabaseCatalog(plpy)
    require_curator(catalog)
    found = catalog.relation(given("relation", relation))
    if found.key is not None or found.rows_of is not None:
        raise WrongObjectTypeError(
            f"{found.rows_of or found.quoted_name} is a multilevel table, whose columns cannot be sealed",
            "Seal columns of ordinary tables.",
        )
    former = list(run(plpy, SEALED, oid=found.oid))
    if not former:
        source = own_table(catalog, relation)
        rows = {row["name"]: row for row in run(plpy, COLUMNS, oid=source.oid)}
        return Known(
            source.oid, Table(source.schema, source.name, source.name, tuple(map(column, rows.values()))), (), rows
        )
    base = former[0]
    if not (found.owned_by_caller or catalog.caller().superuser):
        raise InsufficientPrivilegeError(
            f"{catalog.caller().name} does not own {found.quoted_name}",
            "Its owner, being a curator, or a superuser can do this.",
        )
    if base["apart"]:
        raise WrongObjectTypeError(
            f"{found.quoted_name} and {identifier(base['base_name'])}, which holds its rows, are in different schemas",
            f"ALTER TABLE {found.quoted_name} SET SCHEMA {identifier(base['schema'])}.",
        )
    rows = {row["name"]: row for row in run(plpy, COLUMNS, oid=base["base"]) if row["name"] != ROW}
    sealed = tuple(
        Sealed(row["id"], as_column(json.loads(row["former"])["column"], row["id"]), row["key"], row["searchable"],
               row["version"], json.loads(row["former"]))
        for row in former
    )  # fmt: skip
    by_name = {each.column.name: each.column for each in sealed}
    shown = tuple(by_name.get(name) or column(row) for name, row in rows.items())
    return Known(base["base"], Table(base["schema"], base["name"], base["base_name"], shown), sealed, rows)


def locked(plpy: Plpy, relation: str | None) -> Known:
    """The table, locked against changes of its definition. Its view is locked first, as by writers."""
    found = known(plpy, relation)
    act(plpy, found.oid, f"LOCK TABLE {found.table.view} IN ACCESS EXCLUSIVE MODE")
    found = known(plpy, relation)
    refuse_known_otherwise(plpy, found)
    return found


def column(row: Row) -> Column:
    return Column(row["name"], row["type"], row["value"], row["collation"], row["below"])


def as_column(former: dict[str, Json], sealed: str) -> Column:
    return Column(former["name"], former["type"], former["default"], former["collation"], former["below"], sealed)


def taken_names(plpy: Plpy, schema: str) -> frozenset[str]:
    rows = run(
        plpy, "SELECT relname AS name FROM pg_class WHERE relnamespace = :schema::regnamespace UNION"
              " SELECT typname FROM pg_type WHERE typnamespace = :schema::regnamespace",
        schema=identifier(schema),
    )  # fmt: skip
    return frozenset(row["name"] for row in rows)


def refuse(what: str, obstacles: Iterable[Row]) -> None:
    for each in obstacles:
        raise WrongObjectTypeError(f"{what} {each['what']}", each["hint"])


def refuse_known_otherwise(plpy: Plpy, found: Known) -> None:
    rows = run(
        plpy, "SELECT 'is protected' AS what,"
              " 'Call discreet.unprotect() first, and discreet.protect() afterwards.' AS hint"
              " FROM discreet._protected_table"
              " WHERE relation = :oid::oid OR relation IN (SELECT discreet._sealed_twin(:oid::oid))",
        oid=found.oid,
    )  # fmt: skip
    refuse(found.table.view, rows)


@sql_errors
def seal_column(plpy: Plpy, relation: str | None, name: str | None, key: str | None, searchable: bool | None) -> None:
    load_parser()
    found = locked(plpy, relation)
    wanted, under, search = given("column_name", name), given("key", key), given("searchable", searchable)
    if wanted not in found.rows:
        raise UndefinedColumnError(
            f'{found.table.view} has no column "{wanted}"', f"Its columns are: {', '.join(found.rows)}."
        )
    if any(each.column.name == wanted for each in found.sealed):
        raise DuplicateObjectError(f'column "{wanted}" is sealed already', "discreet.unseal_column() undoes that.")
    if not run(plpy, "SELECT FROM discreet.keys WHERE name = :key::text", key=under):
        raise UndefinedObjectError(f'there is no key "{under}"', "A curator makes one with discreet.create_key().")
    refuse_column(plpy, found, wanted, search)
    plpy.execute("SELECT discreet._let_spill(true)")
    if not found.sealed:
        found = begun(plpy, found)
    else:
        act(plpy, found.oid, found.table.hollow_view())
    constraints = list(run(plpy, CHECKS, oid=found.oid, column=wanted))
    old = next(each for each in found.table.columns if each.name == wanted)
    former: dict[str, dict[str, str | None]] = {
        "column": {"name": old.name, "type": old.type_name, "default": old.default, "collation": old.collation,
                   "below": old.below},
        "checks": {each["name"]: original(found, each) for each in constraints},
    }  # fmt: skip
    identity = run(
        plpy, BEGUN, base=found.oid, name=wanted, key=under, searchable=search, former=json.dumps(former)
    )[0]["id"]  # fmt: skip
    if not search:
        new_data_key(plpy, identity, 1, under)
    sealed = replace(old, sealed=identity)
    table = replace(found.table, columns=tuple(sealed if each.name == wanted else each for each in found.table.columns))
    for each in constraints:
        act(plpy, found.oid, f"ALTER TABLE {table.base} DROP CONSTRAINT {identifier(each['name'])}")
    for statement in sealed_in_place(table, sealed, search):
        act(plpy, found.oid, statement)
    for check, expression in former["checks"].items():
        add_check(plpy, found.oid, table, str(check), str(expression))
    shown(plpy, found, table)
    plpy.execute("SELECT discreet._let_spill(false)")


def refuse_column(plpy: Plpy, found: Known, name: str, searchable: bool) -> None:
    row = found.rows[name]
    what = f'column "{name}"'
    if not found.sealed:
        refuse(found.table.view, run(plpy, OBSTACLES, oid=found.oid, row=ROW))
    if row["generated"] or row["identity"]:
        raise WrongObjectTypeError(f"{what} is generated", "Seal columns that are written.")
    if row["never_null"]:
        raise WrongObjectTypeError(
            f"{what} is of a domain that is NOT NULL", "Sessions without the key read NULL: put NOT NULL on the column."
        )
    compares = run(
        plpy, "SELECT discreet._seals_type(:type::oid::regtype, :typmod::int) AS searchable",
        type=row["type_id"], typmod=row["typmod"],
    )[0]["searchable"]  # fmt: skip
    if searchable and not (compares and row["compares_bytes"]):
        raise InvalidParameterError(
            f"{what} cannot be searchable: equal values of {row['type']} may differ in their bytes",
            "Give a numeric its scale, as numeric(10, 2); text a deterministic collation. Or leave searchable out.",
        )
    refuse(what, run(plpy, COLUMN_OBSTACLES, oid=found.oid, column=name, searchable=searchable))


def begun(plpy: Plpy, found: Known) -> Known:
    """The table steps behind its view."""
    old = found.table
    table = replace(old, base_name=base_name(old.name, taken_names(plpy, old.schema)))
    act(plpy, found.oid, f"ALTER TABLE {old.view} RENAME TO {identifier(table.base_name)}")
    act(plpy, found.oid, f"ALTER TABLE {table.base} ADD COLUMN {ROW} bigint NOT NULL DEFAULT discreet._sealed_row()")
    return replace(found, table=table)


def original(found: Known, check: Row) -> str:
    """The CHECK as it was before any of its columns was sealed."""
    for each in found.sealed:
        if check["name"] in each.former["checks"]:
            return str(each.former["checks"][check["name"]])
    return str(check["expression"])


def add_check(plpy: Plpy, oid: int, table: Table, name: str, expression: str) -> None:
    values = {each.name: each.unsealed() for each in table.columns if each.sealed is not None}
    identities = tuple(each.sealed for each in table.columns if each.sealed is not None)
    text = checks.unsealed(expression, values, identities)
    act(plpy, oid, f"ALTER TABLE {table.base} ADD CONSTRAINT {identifier(name)} CHECK ({text})")


def shown(plpy: Plpy, before: Known, table: Table) -> None:
    """The view, its owner, its defaults and, where it is new, its trigger and the grants of the table."""
    act(plpy, before.oid, table.create_view())
    if not before.sealed:
        for statement in table.defaults():
            act(plpy, before.oid, statement)
        act(plpy, before.oid, table.create_trigger())
        view = run(plpy, "SELECT :view::text::regclass::oid AS oid", view=table.view)[0]["oid"]
        # those of ALTER DEFAULT PRIVILEGES: the table may have had fewer
        for each in list(run(plpy, PRIVILEGES, oid=view)):
            act(plpy, before.oid, f"REVOKE ALL ON {table.view} FROM {each['grantee']} CASCADE")
        move_grants(plpy, before.oid, before.oid, table.base, table.view)
    run(
        plpy, "UPDATE discreet._sealed_column SET relation = :view::text::regclass WHERE base = :base::oid",
        base=before.oid, view=table.view,
    )  # fmt: skip


def move_grants(plpy: Plpy, oid: int, source: int, from_name: str, to_name: str) -> None:
    for each in list(run(plpy, PRIVILEGES, oid=source)):
        columns = "" if each["name"] is None else f" ({identifier(each['name'])})"
        act(plpy, oid, f"REVOKE ALL{columns} ON {from_name} FROM {each['grantee']} CASCADE")
        if each["privilege"] in GRANTED and each["name"] != ROW:
            option = " WITH GRANT OPTION" if each["grantable"] else ""
            act(plpy, oid, f"GRANT {each['privilege']}{columns} ON {to_name} TO {each['grantee']}{option}")


def sealed_one(plpy: Plpy, relation: str | None, name: str | None) -> tuple[Known, Sealed]:
    found = known(plpy, relation)
    wanted = given("column_name", name)
    for each in found.sealed:
        if each.column.name == wanted:
            require_open(plpy, each)
            return found, each
    raise UndefinedObjectError(f'column "{wanted}" is not sealed', "View discreet.sealed_columns shows what is.")


def require_open(plpy: Plpy, sealed: Sealed) -> None:
    if not run(plpy, "SELECT discreet._is_unsealed(:id::uuid) AS open", id=sealed.id)[0]["open"]:
        raise InsufficientPrivilegeError(
            f'key "{sealed.key}" is not open', f"SELECT discreet.open_key('{sealed.key}', …) first."
        )


@sql_errors
def unseal_column(plpy: Plpy, relation: str | None, name: str | None) -> None:
    load_parser()
    locked(plpy, relation)
    found, sealed = sealed_one(plpy, relation, name)
    plpy.execute("SELECT discreet._let_spill(true)")
    plain = replace(sealed.column, sealed=None)
    table = replace(
        found.table, columns=tuple(plain if each.name == plain.name else each for each in found.table.columns)
    )
    others = tuple(each for each in found.sealed if each is not sealed)
    if not others:
        privileges = list(run(plpy, "SELECT :view::text::regclass::oid AS oid", view=table.view))
        restored = privileges[0]["oid"]
        move_grants(plpy, found.oid, restored, table.view, table.base)
        act(plpy, found.oid, f"DROP VIEW {table.view}")
    there = {each["name"] for each in run(plpy, CHECKS, oid=found.oid, column=sealed.column.name)}
    constraints = {check: text for check, text in sealed.former["checks"].items() if check in there}
    for each in constraints:
        act(plpy, found.oid, f"ALTER TABLE {table.base} DROP CONSTRAINT {identifier(each)}")
    if others:
        act(plpy, found.oid, table.hollow_view())
    for statement in unsealed_in_place(found.table, sealed.column):
        act(plpy, found.oid, statement)
    run(plpy, "DELETE FROM discreet._sealed_column WHERE id = :id::uuid", id=sealed.id)
    run(plpy, "DELETE FROM discreet._data_key WHERE owner = :id::uuid", id=sealed.id)
    for check, expression in constraints.items():
        still = [each for each in others if check in each.former["checks"]]
        if still:
            add_check(plpy, found.oid, table, check, expression)
        else:
            act(plpy, found.oid, f"ALTER TABLE {table.base} ADD CONSTRAINT {identifier(check)} CHECK ({expression})")
    if others:
        shown(plpy, found, table)
    else:
        act(plpy, found.oid, f"ALTER TABLE {table.base} DROP COLUMN {ROW}")
        act(plpy, found.oid, f"ALTER TABLE {table.base} RENAME TO {identifier(table.name)}")
    plpy.execute("SELECT discreet._let_spill(false)")


@sql_errors
def renew_column_key(plpy: Plpy, relation: str | None, name: str | None) -> None:
    _, sealed = sealed_one(plpy, relation, name)
    if sealed.searchable:
        raise InvalidParameterError(
            f'column "{sealed.column.name}" shares its data key with all searchable columns under key "{sealed.key}"',
            "Unseal these columns, and seal them under another key.",
        )
    new_data_key(plpy, sealed.id, sealed.version + 1, sealed.key)
    run(plpy, "UPDATE discreet._sealed_column SET version = version + 1 WHERE id = :id::uuid", id=sealed.id)


@sql_errors
def reseal_column(plpy: Plpy, relation: str | None, name: str | None, most_rows: int | None) -> int:
    found, sealed = sealed_one(plpy, relation, name)
    most = given("most_rows", most_rows)
    if most < 1:
        raise InvalidParameterError(f"most_rows is {most}, which is no number of rows", "Give 1 or more.")
    value = sealed.column.unsealed("b")
    return act(
        plpy,
        found.oid,
        f"UPDATE {found.table.base} b"
        f" SET {sealed.column.quoted} = discreet._seal({value}, b.{ROW}, {literal(sealed.id)}::uuid)"
        f" WHERE b.ctid = ANY (ARRAY(SELECT o.ctid FROM {found.table.base} o"
        f" WHERE discreet._sealed_version(o.{sealed.column.quoted}) <> {sealed.version} LIMIT {most} FOR UPDATE))",
    )
