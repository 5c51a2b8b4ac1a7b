"""Multilevel tables on the database: what the functions mls_* call."""

from __future__ import annotations

import json

from discreet.core.curation import Relation, own_table, require_curator
from discreet.core.declarations import document, given
from discreet.core.errors import (
    InsufficientPrivilegeError,
    InvalidParameterError,
    UndefinedColumnError,
    UndefinedObjectError,
    WrongObjectTypeError,
)
from discreet.core.syntax import Json, SqlValue
from discreet.mls import classification, conversion, exchange, triggers, view
from discreet.mls.conversion import OldTable
from discreet.mls.labels import Group, Lattice, dominates, tree
from discreet.mls.table import VIEWS, Table, identifier
from discreet.server.catalog import DatabaseCatalog
from discreet.server.entry import sql_errors
from discreet.server.mls_catalog import multilevel_table, read_table
from discreet.server.mls_expressions import label_rule
from discreet.server.plpy import Plpy, run

# keys of rows that an error names
MOST_NAMED = 3
GRANTED = ("SELECT", "INSERT", "UPDATE", "DELETE")

# schemas in which a role may create tables; temporary ones end with the session, which cannot go down
CREATES = """
    SELECT n.nspname AS schema FROM pg_namespace n
    WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      AND has_schema_privilege(:role::regrole::oid, n.oid, 'CREATE')
    ORDER BY 1
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


def log(plpy: Plpy, act: str, relation: str | None, **details: SqlValue) -> None:
    """Written on the ledger's connection before anything is done, so it stays whatever becomes of the transaction."""
    run(
        plpy, "SELECT discreet._label_log(:act::text, :relation::text, :details::jsonb)",
        act=act, relation=relation, details=json.dumps(details),
    )  # fmt: skip


def lattice(plpy: Plpy) -> Lattice | None:
    rows = run(plpy, "SELECT is_level, name FROM discreet._label_part ORDER BY position")
    if not rows:
        return None
    groups = run(plpy, "SELECT name, parent FROM discreet._label_group ORDER BY position")
    return Lattice(
        tuple(row["name"] for row in rows if row["is_level"]),
        tuple(row["name"] for row in rows if not row["is_level"]),
        tuple(Group(row["name"], row["parent"]) for row in groups),
    )


@sql_errors
def define(plpy: Plpy, levels: list[str] | None, compartments: list[str] | None, groups: str | None = None) -> None:
    """Groups that are not given stay as they are."""
    require_curator(DatabaseCatalog(plpy))
    plpy.execute("LOCK TABLE discreet._label_part IN SHARE ROW EXCLUSIVE MODE")
    old = lattice(plpy)
    kept = () if old is None else old.groups
    wished = Lattice(
        tuple(given("levels", levels)),
        tuple(given("compartments", compartments)),
        kept if groups is None else tree(document("groups", groups)),
    )
    in_use = run(plpy, "SELECT FROM discreet._multilevel_table UNION ALL SELECT FROM discreet._clearance")
    if old is not None and len(in_use) > 0 and not wished.extends(old):
        raise InvalidParameterError(
            "the labels in use would change their meaning",
            "Name the old levels and compartments in their order, and new ones after them. Groups cannot be changed.",
        )
    told = {} if not wished.groups else {"groups": [[group.name, group.parent] for group in wished.groups]}
    log(plpy, "mls_define", None, levels=wished.levels, compartments=wished.compartments, **told)
    plpy.execute("DELETE FROM discreet._label_part")
    for is_level, names in ((True, wished.levels), (False, wished.compartments)):
        for position, name in enumerate(names):
            run(
                plpy, "INSERT INTO discreet._label_part VALUES (:is_level::boolean, :position::int2, :name::text)",
                is_level=is_level, position=position, name=name,
            )  # fmt: skip
    plpy.execute("DELETE FROM discreet._label_group")
    for position, group in enumerate(wished.groups):
        run(
            plpy, "INSERT INTO discreet._label_group VALUES (:position::int2, :name::text, :parent::int2)",
            position=position, name=group.name, parent=group.parent,
        )  # fmt: skip


def known_lattice(plpy: Plpy) -> Lattice:
    found = lattice(plpy)
    if found is None:
        raise UndefinedObjectError("there are no levels", "Name them with discreet.mls_define(ARRAY['U', 'C', 'S']).")
    return found


def label_of_sessions(known: Lattice, label: str) -> int:
    bits = known.bits(label)
    known.one_group(label, bits)
    return bits


@sql_errors
def clear(plpy: Plpy, role: str | None, label: str | None, write_from: str | None = None) -> None:
    require_curator(DatabaseCatalog(plpy))
    name = given("role", role)
    if not run(plpy, "SELECT FROM pg_roles WHERE oid = :role::regrole", role=name):
        raise UndefinedObjectError(f"there is no role {name}", "Make it first, with CREATE ROLE.")
    bits = None if label is None else label_of_sessions(known_lattice(plpy), label)
    lowest = 0 if write_from is None else known_lattice(plpy).bits(write_from)
    if not dominates(bits or 0, lowest):
        raise InvalidParameterError(
            f"label {write_from} is not dominated by the clearance", "Sessions of the role could write nowhere."
        )
    log(plpy, "mls_clear", None, role=name, clearance=label, write_from=write_from)
    if bits is None:
        run(plpy, "DELETE FROM discreet._clearance WHERE role = :role::regrole", role=name)
        return
    run(
        plpy, "INSERT INTO discreet._clearance VALUES (:role::regrole, :label::bigint, :lowest::bigint)"
              " ON CONFLICT (role) DO UPDATE SET label = excluded.label, write_from = excluded.write_from",
        role=name, label=bits, lowest=lowest,
    )  # fmt: skip
    schemas = [row["schema"] for row in run(plpy, CREATES, role=name)]
    if schemas:
        plpy.warning(
            f"role {name} may create tables, in which what it sees has no label",
            hint=f"REVOKE CREATE ON SCHEMA {', '.join(schemas)} FROM {name}, or from the group that holds it.",
        )


@sql_errors
def import_label(plpy: Plpy, label: str, form: str) -> str:
    return exchange.imported(known_lattice(plpy), label, form)


@sql_errors
def export_label(plpy: Plpy, label: str, form: str) -> str:
    return exchange.exported(known_lattice(plpy), label, form)


def refuse_sealed(catalog: DatabaseCatalog, name: str | None) -> None:
    """A version of a row has a number of its own, to which no value of another version is bound."""
    found = catalog.relation(given("relation", name))
    if found.sealed or found.sealed_rows_of is not None:
        shown = found.sealed_rows_of or found.quoted_name
        raise WrongObjectTypeError(
            f"{shown} has sealed columns, which a multilevel table cannot have",
            f"First SELECT discreet.unseal_column('{shown}', …) for each of them.",
        )


@sql_errors
def make_multilevel(
    plpy: Plpy, relation: str | None, key: list[str] | None, columns: list[str] | None, labels: str | None = None
) -> None:
    known = known_lattice(plpy)
    catalog = DatabaseCatalog(plpy)
    refuse_sealed(catalog, relation)
    source = own_table(catalog, relation)
    plpy.execute(f"LOCK TABLE ONLY {source.quoted_name} IN ACCESS EXCLUSIVE MODE")
    old, constraints, former = read_table(plpy, source)
    table = conversion.multilevel(old, key, columns, conversion.base_name(source.name, taken_names(plpy, source)))
    privileges = list(run(plpy, PRIVILEGES, oid=source.oid))
    refuse_nulls(plpy, source, table)
    wanted = None if labels is None else classified(plpy, source, old, table, document("labels", labels), known)
    log(plpy, "mls_table", source.quoted_name, key=key, labels=None if labels is None else json.loads(labels))
    try:
        for statement in conversion.changes(old, table, constraints, wanted):
            plpy.execute(statement)
    except plpy.SPIError as error:
        if getattr(error, "sqlstate", None) == "23505":
            raise InvalidParameterError(
                f"the key is not unique in {source.quoted_name}",
                "Name columns that together are, or remove duplicates.",
            ) from None
        raise
    create(plpy, table, source.oid)
    grant(plpy, table, privileges)
    run(
        plpy, "INSERT INTO discreet._multilevel_table (relation, base, key, cells, checks, generated, former)"
              " VALUES (to_regclass(:view::text), :base::oid, :key::name[], :cells::name[], :checks::jsonb,"
              " :generated::jsonb, :former::jsonb)",
        view=table.view, base=source.oid, key=[each.name for each in table.key],
        cells=[each.name for each in table.cells],
        checks=json.dumps([{"name": each.name, "expression": each.expression} for each in table.checks]),
        generated=json.dumps([
            {"name": each.column.name, "type": each.column.type_name, "expression": each.expression,
             "sources": each.sources} for each in table.generated]),
        former=json.dumps(former),
    )  # fmt: skip
    for act in triggers.ACTS:
        run(
            plpy, "INSERT INTO discreet._multilevel_trigger (relation, name, function)"
                  " VALUES (to_regclass(:view::text), :name::name, :function::name)",
            view=table.view, name=triggers.trigger_name(act), function=f"{table.base_name}_{act}",
        )  # fmt: skip
    keep(plpy, table)


def classified(
    plpy: Plpy, source: Relation, old: OldTable, table: Table, labels: Json, known: Lattice
) -> classification.Labels | None:
    """The labels of the rows that are there; None where all of them stay at the lowest level."""
    wanted = classification.given_labels(table, labels, known)
    if wanted.lowest:
        return None
    names = [column.name for column in old.columns]
    wanted = wanted.with_rules({
        rule: label_rule(plpy, source.quoted_name, source.oid, names, rule).sql for rule in wanted.rules
    })  # fmt: skip
    rows = f"ONLY {source.quoted_name}"
    counts = plpy.execute(classification.wrong_counts(table, wanted, rows))[0]["counts"]
    for (wrong, condition), count in zip(classification.wrong_rows(table), counts, strict=True):
        if count:
            some = plpy.execute(classification.wrong_keys(table, wanted, rows, condition, MOST_NAMED))
            keys = ", ".join(row["key"] for row in some) + (", …" if count > MOST_NAMED else "")
            raise InvalidParameterError(
                f"{wrong} in {count} rows of {source.quoted_name}: {keys}",
                "Every cell has a label, which dominates that of the key: change the labels, or these rows.",
            )
    return wanted


def taken_names(plpy: Plpy, source: Relation) -> frozenset[str]:
    rows = run(
        plpy, "SELECT relname AS name FROM pg_class WHERE relnamespace = :schema::regnamespace UNION"
              " SELECT typname FROM pg_type WHERE typnamespace = :schema::regnamespace UNION"
              " SELECT proname FROM pg_proc WHERE pronamespace = :schema::regnamespace",
        schema=identifier(source.schema),
    )  # fmt: skip
    return frozenset(row["name"] for row in rows)


def refuse_nulls(plpy: Plpy, source: Relation, table: Table) -> None:
    for key in table.key:
        if len(plpy.execute(f"SELECT FROM ONLY {source.quoted_name} WHERE {key.quoted} IS NULL LIMIT 1")) > 0:
            raise InvalidParameterError(
                f'column "{key.name}" holds NULLs', "A key names an entity: give these rows a value, or delete them."
            )


def create(plpy: Plpy, table: Table, base: int) -> None:
    """View, triggers and their functions, all of them the property of who owns the table."""
    owner = run(plpy, "SELECT relowner::regrole::text AS name FROM pg_class WHERE oid = :oid::oid", oid=base)[0]["name"]
    for name, statement in view.create_views(table).items():
        plpy.execute(statement)
        plpy.execute(f"ALTER VIEW {name} OWNER TO {owner}")
    for statement in view.defaults(table):
        plpy.execute(statement)
    create_functions(plpy, table, owner, "CREATE")
    for statement in triggers.create_triggers(table):
        plpy.execute(statement)


def create_functions(plpy: Plpy, table: Table, owner: str, create: str) -> None:
    """`create`: CREATE, which fails where a planted function has that name, or CREATE OR REPLACE."""
    # the bodies of functions are theirs to check when they run
    for statement in triggers.functions(table):
        plpy.execute(f"{create} {statement}")
    for act in triggers.ACTS:
        plpy.execute(f"ALTER FUNCTION {table.part(act)}() OWNER TO {owner}")
        plpy.execute(f"REVOKE ALL ON FUNCTION {table.part(act)}() FROM PUBLIC")
    plpy.execute(f"ALTER FUNCTION {table.part('load')}({table.view}) OWNER TO {owner}")
    plpy.execute(f"REVOKE ALL ON FUNCTION {table.part('load')}({table.view}) FROM PUBLIC")


def history_number(plpy: Plpy, table: Table) -> str:
    return str(
        run(
            plpy, "SELECT history::text FROM discreet._multilevel_table WHERE relation = to_regclass(:view::text)",
            view=table.view,
        )[0]["history"]
    )  # fmt: skip


def history_is_kept(plpy: Plpy, table: Table) -> bool:
    found = run(
        plpy, "SELECT FROM pg_trigger WHERE tgrelid = to_regclass(:base::text) AND tgname = :name::name",
        base=table.base, name=triggers.HISTORY,
    )  # fmt: skip
    return len(found) > 0


def keep(plpy: Plpy, table: Table) -> None:
    """From now on it is written down who writes which version."""
    plpy.execute(triggers.history_trigger(table, history_number(plpy, table)))


def grant(plpy: Plpy, table: Table, privileges: list[SqlValue]) -> None:
    """The view gets the grants of the table, and the table loses them. A role that reads a column reads its labels."""
    plpy.execute(f"REVOKE ALL ON {table.base} FROM PUBLIC")
    for each in privileges:
        plpy.execute(f"REVOKE ALL ON {table.base} FROM {each['grantee']}")
        name = each["name"]
        if each["privilege"] not in GRANTED:
            continue
        columns = ""
        if name is not None:
            shown = [name, f"{name}_label"] if each["privilege"] == "SELECT" else [name]
            columns = f" ({', '.join(map(identifier, shown))})"
        option = " WITH GRANT OPTION" if each["grantable"] else ""
        plpy.execute(f"GRANT {each['privilege']}{columns} ON {table.view} TO {each['grantee']}{option}")


def named_table(plpy: Plpy, relation: str | None) -> Table:
    rows = run(plpy, "SELECT to_regclass(:name::text)::oid AS oid", name=given("relation", relation))
    table = None if rows[0]["oid"] is None else multilevel_table(plpy, rows[0]["oid"])
    if table is None:
        raise WrongObjectTypeError(f"{relation} is no multilevel table", "discreet.mls_table() makes one of a table.")
    return table


def owned_table(plpy: Plpy, relation: str | None) -> tuple[Table, SqlValue]:
    """A multilevel table that the caller, a curator, owns; for a superuser, any."""
    caller = require_curator(DatabaseCatalog(plpy))
    table = named_table(plpy, relation)
    row = run(
        plpy, "SELECT t.relation::oid AS view, t.base::oid AS base, t.former, c.relowner::regrole::text AS owner,"
              " pg_has_role(discreet._caller(), c.relowner, 'USAGE') AS owned"
              " FROM discreet._multilevel_table t JOIN pg_class c ON c.oid = t.relation"
              " WHERE t.relation = to_regclass(:view::text)",
        view=table.view,
    )[0]  # fmt: skip
    if not (row["owned"] or caller.superuser):
        raise InsufficientPrivilegeError(
            f"{caller.name} does not own {table.view}", "Its owner, being a curator, or a superuser can do this."
        )
    return table, row


def refuse_linked(plpy: Plpy, table: Table) -> None:
    if table.children:
        raise InvalidParameterError(
            f"rows of {table.children[0].name} name rows of {table.view}", "Drop that multilevel table first."
        )


def refuse_protected(plpy: Plpy, table: Table, view: int) -> None:
    if run(plpy, "SELECT FROM discreet._protected_table WHERE relation = :oid::oid", oid=view):
        raise InvalidParameterError(
            f"{table.view} is protected",
            "Call discreet.unprotect() first, and then protect the ordinary table in the same dataset.",
        )


def drop_view(plpy: Plpy, table: Table, view: int) -> None:
    # functions of triggers go with the view that they were made for
    made = run(
        plpy, "SELECT DISTINCT function AS name FROM discreet._multilevel_trigger WHERE relation = :oid::oid", oid=view
    )
    run(plpy, "DELETE FROM discreet._multilevel_reference WHERE child = :oid::oid", oid=view)
    run(plpy, "DELETE FROM discreet._multilevel_table WHERE relation = :oid::oid", oid=view)
    plpy.execute(f"DROP FUNCTION {table.part('load')}({table.view})")
    plpy.execute(f"DROP VIEW {table.view}")
    for part in VIEWS:
        plpy.execute(f"DROP VIEW IF EXISTS {table.part(part)}")
    for function in made:
        plpy.execute(f"DROP FUNCTION {identifier(table.schema)}.{identifier(function['name'])}()")
    for reference in table.references:
        rebuild(plpy, reference.parent)


def rebuild(plpy: Plpy, view: str) -> None:
    """The functions of a multilevel table after its references have changed."""
    table = named_table(plpy, view)
    owner = run(
        plpy, "SELECT relowner::regrole::text AS name FROM pg_class WHERE oid = to_regclass(:view::text)", view=view
    )[0]["name"]
    create_functions(plpy, table, owner, "CREATE OR REPLACE")


@sql_errors
def drop(plpy: Plpy, relation: str | None) -> None:
    table, row = owned_table(plpy, relation)
    refuse_linked(plpy, table)
    log(plpy, "mls_drop", table.view)
    drop_view(plpy, table, row["view"])
    plpy.execute(f"DROP TABLE {table.base}")


@sql_errors
def plain(plpy: Plpy, relation: str | None) -> None:
    table, row = owned_table(plpy, relation)
    refuse_linked(plpy, table)
    refuse_protected(plpy, table, row["view"])
    log(plpy, "mls_plain", table.view)
    former = json.loads(row["former"])
    privileges = list(run(plpy, PRIVILEGES, oid=row["view"]))
    # before rows are put back into it: triggers of others would run then, and TRUNCATE refuses them
    plpy.execute(f"LOCK TABLE ONLY {table.base} IN ACCESS EXCLUSIVE MODE")
    plpy.execute(f"DROP TRIGGER IF EXISTS {triggers.HISTORY} ON {table.base}")
    for statement in conversion.unlabelled(table):
        plpy.execute(statement)
    drop_view(plpy, table, row["view"])
    for statement in conversion.back(table, former):
        plpy.execute(statement)
    try:
        plpy.execute(conversion.key_again(table, former))
    except plpy.SPIError as error:
        if getattr(error, "sqlstate", None) != "23505":
            raise
        plpy.warning(
            f"several versions of one key are rows of {table.view} now, so its key is no longer unique",
            hint="Settle them, and add the key again.",
        )
    for each in privileges:
        if each["name"] is None:
            option = " WITH GRANT OPTION" if each["grantable"] else ""
            plpy.execute(f"GRANT {each['privilege']} ON {table.view} TO {each['grantee']}{option}")


@sql_errors
def reference(plpy: Plpy, child: str | None, columns: list[str] | None, parent: str | None) -> None:
    table, row = owned_table(plpy, child)
    above = named_table(plpy, parent)
    names = given("columns", columns)
    known = {column.name for column in (*table.key, *table.cells)}
    for name in names:
        if name not in known:
            raise UndefinedColumnError(f'{table.view} has no column "{name}"', f"It has: {', '.join(sorted(known))}.")
    if len(names) != len(above.key):
        raise InvalidParameterError(
            f"the key of {above.view} has {len(above.key)} columns", "Name as many, in the order of the key."
        )
    may = run(
        plpy, "SELECT has_table_privilege(:owner::regrole::oid, to_regclass(:parent::text), 'SELECT') AS may,"
              " pg_has_role(:owner::regrole::oid,"
              " (SELECT relowner FROM pg_class WHERE oid = to_regclass(:parent::text)), 'USAGE') AS owns",
        owner=row["owner"], parent=above.view,
    )[0]  # fmt: skip
    if not (may["may"] and may["owns"]):
        raise InsufficientPrivilegeError(
            f"{row['owner']} does not own {above.view}", "Both multilevel tables must belong to one role."
        )
    log(plpy, "mls_reference", table.view, columns=names, parent=above.view)
    run(
        plpy, "INSERT INTO discreet._multilevel_reference VALUES (:child::oid, :columns::name[],"
              " to_regclass(:parent::text)) ON CONFLICT (child, columns) DO UPDATE SET parent = excluded.parent",
        child=row["view"], columns=names, parent=above.view,
    )  # fmt: skip
    for view_name in {table.view, above.view}:
        rebuild(plpy, view_name)
