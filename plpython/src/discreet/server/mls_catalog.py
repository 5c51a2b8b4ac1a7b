"""What the catalog knows of a table that becomes, or is, a multilevel one."""

from __future__ import annotations

import json

from discreet.core.curation import Relation
from discreet.core.syntax import Json
from discreet.core.verdicts import judges
from discreet.mls.conversion import OldColumn, OldTable
from discreet.mls.table import Check, Child, Column, Generated, LabelRule, Reference, Table, identifier
from discreet.server.mls_code import foreign_code
from discreet.server.plpy import Plpy, run

# equality as the default B-tree operator class of the type has it; with pg_catalog alone in the search path, a type
# from elsewhere might be compared as something it can be cast to
COLUMNS = """
    SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS not_null,
           format_type(a.atttypid, -1) AS bare_type, a.attlen = -1 AS long, a.attidentity <> '' AS identity,
           CASE WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, d.adrelid) END AS value,
           CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid) END AS generated,
           EXISTS (SELECT FROM pg_depend p JOIN pg_class s ON s.oid = p.refobjid AND s.relkind = 'S'
                   WHERE p.classid = 'pg_attrdef'::regclass AND p.objid = d.oid
                     AND p.refclassid = 'pg_class'::regclass) AS counted,
           ARRAY(SELECT b.attname::text FROM pg_depend p JOIN pg_attribute b
                 ON b.attrelid = p.refobjid AND b.attnum = p.refobjsubid
                 WHERE p.classid = 'pg_class'::regclass AND p.objid = a.attrelid AND p.objsubid = a.attnum
                   AND p.refclassid = 'pg_class'::regclass AND p.refobjid = a.attrelid AND a.attgenerated <> ''
                   AND p.refobjsubid <> 0 AND p.deptype = 'a'
                 UNION
                 SELECT b.attname::text FROM pg_depend p JOIN pg_attribute b
                 ON b.attrelid = p.refobjid AND b.attnum = p.refobjsubid
                 WHERE p.classid = 'pg_attrdef'::regclass AND p.objid = d.oid AND a.attgenerated <> ''
                   AND p.refclassid = 'pg_class'::regclass AND p.refobjid = a.attrelid
                   AND p.refobjsubid <> a.attnum) AS sources,
           (SELECT CASE n.nspname WHEN 'pg_catalog' THEN '=' ELSE format('OPERATOR(%I.%s)', n.nspname, o.oprname) END
            FROM pg_opclass k JOIN pg_am m ON m.oid = k.opcmethod AND m.amname = 'btree'
            JOIN pg_amop s ON s.amopfamily = k.opcfamily AND s.amopstrategy = 3
                          AND s.amoplefttype = k.opcintype AND s.amoprighttype = k.opcintype
            JOIN pg_operator o ON o.oid = s.amopopr JOIN pg_namespace n ON n.oid = o.oprnamespace
            WHERE k.opcdefault AND k.opcintype = (
                SELECT coalesce(NULLIF(t.typbasetype, 0), t.oid) FROM pg_type t WHERE t.oid = a.atttypid)) AS equals
    FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attrelid = :oid::oid AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum
"""

# each with what to do about it
OBSTACLES = """
    -- the view's triggers and the acts of officers run with the rights of the extension, and the owner's code within
    SELECT format('belongs to %s, who is no superuser', c.relowner::regrole) AS what,
        'Let a superuser own it; its grants decide who may use it.' AS hint
    FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner WHERE c.oid = :oid::oid AND NOT r.rolsuper
    UNION ALL SELECT 'is partitioned' AS what, 'Make each partition a table of its own.' AS hint
    FROM pg_class WHERE oid = :oid::oid AND relkind = 'p'
    UNION ALL SELECT 'is a partition, or inherits', 'Detach it first.' FROM pg_inherits WHERE inhrelid = :oid::oid
    UNION ALL SELECT 'has tables that inherit from it', 'Let them not inherit first.'
    FROM pg_inherits WHERE inhparent = :oid::oid
    UNION ALL SELECT 'has row security, of which labels take the place', 'Drop its policies and disable it.'
    FROM pg_class c WHERE oid = :oid::oid AND (relrowsecurity OR EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid))
    UNION ALL SELECT format('has the trigger %I, which would see rows of all labels', tgname), 'Drop it first.'
    FROM pg_trigger WHERE tgrelid = :oid::oid AND NOT tgisinternal
    UNION ALL SELECT format('has the rule %I', rulename), 'Drop it first.' FROM pg_rewrite WHERE ev_class = :oid::oid
    UNION ALL SELECT DISTINCT format('is read by %s, which would see rows of all labels', r.ev_class::regclass),
        'Drop it, and create it anew afterwards.'
    FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid AND r.ev_class <> :oid::oid
    WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = :oid::oid
    UNION ALL SELECT DISTINCT
        format('is used by function %s, which would see rows of all labels', d.objid::regprocedure),
        'Drop it, and create it anew afterwards.'
    FROM pg_depend d
    WHERE d.classid = 'pg_proc'::regclass
      AND (d.refclassid = 'pg_class'::regclass AND d.refobjid = :oid::oid
           OR d.refclassid = 'pg_type'::regclass
              AND d.refobjid IN (SELECT t.oid FROM pg_type t JOIN pg_class c ON t.oid = c.reltype
                                 WHERE c.oid = :oid::oid
                                 UNION SELECT t.typarray FROM pg_type t JOIN pg_class c ON t.oid = c.reltype
                                 WHERE c.oid = :oid::oid))
    UNION ALL SELECT format('has the foreign key %I, whose checks would tell of rows of all labels', conname),
        'Drop it; discreet.mls_reference() takes its place between multilevel tables.'
    FROM pg_constraint WHERE conrelid = :oid::oid AND contype = 'f'
    UNION ALL SELECT format('is named by the foreign key %I of %s', conname, conrelid::regclass),
        'Drop it; discreet.mls_reference() takes its place between multilevel tables.'
    FROM pg_constraint WHERE confrelid = :oid::oid AND contype = 'f' AND conrelid <> :oid::oid
    UNION ALL SELECT format('has the exclusion constraint %I, which would tell of rows of all labels', conname),
        'Drop it first.'
    FROM pg_constraint WHERE conrelid = :oid::oid AND contype = 'x'
    UNION ALL SELECT 'is protected', 'Call discreet.unprotect() first.'
    FROM discreet._protected_table WHERE relation = :oid::oid
    UNION ALL SELECT 'is the hidden table of a multilevel one', 'Name the view.'
    FROM discreet._multilevel_table WHERE base = :oid::oid
    UNION ALL SELECT 'is of a composite type', 'ALTER TABLE … NOT OF first.'
    FROM pg_class WHERE oid = :oid::oid AND reloftype <> 0
    UNION ALL SELECT format('is published by %I, which would replicate rows of all labels', p.pubname),
        'Take it out of the publication first.'
    FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid WHERE r.prrelid = :oid::oid
"""

# unique indexes; those with expressions or predicates have no set of columns
KEYS = """
    SELECT i.indexrelid::regclass::text AS name, c.conname, c.contype = 'p' AS is_primary,
           i.indexrelid::regclass::text AS index,
           CASE WHEN i.indexprs IS NULL AND i.indpred IS NULL THEN
               ARRAY(SELECT a.attname::text FROM pg_attribute a
                     WHERE a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey[0:i.indnkeyatts - 1])) END AS columns
    FROM pg_index i LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid AND c.conrelid = i.indrelid
                                             AND c.contype IN ('p', 'u')
    WHERE i.indrelid = :oid::oid AND i.indisunique
"""

CHECKS = """
    SELECT conname AS name, pg_get_expr(conbin, conrelid) AS expression FROM pg_constraint
    WHERE conrelid = :oid::oid AND contype = 'c' ORDER BY conname
"""


def is_ordered(plpy: Plpy, type_name: str) -> bool:
    try:
        plpy.execute(f"SELECT FROM (SELECT NULL::{type_name} AS value) v WHERE value = value ORDER BY value")
    except plpy.SPIError as error:
        if not judges(error):
            raise
        return False
    return True


def columns(plpy: Plpy, oid: int) -> list[OldColumn]:
    found = []
    for row in run(plpy, COLUMNS, oid=oid):
        ordered = is_ordered(plpy, row["bare_type"])
        found.append(OldColumn(
            row["name"], row["type"], row["equals"] or ("=" if ordered else None), ordered, row["value"],
            row["not_null"], row["counted"] or row["identity"], row["generated"], tuple(row["sources"]),
            row["long"],
        ))  # fmt: skip
    return found


def read_table(plpy: Plpy, source: Relation) -> tuple[OldTable, list[str], dict[str, Json]]:
    """The table, the constraints that view and triggers take the place of, and what mls_plain shall know of it."""
    oid = source.oid
    keys = list(run(plpy, KEYS, oid=oid))
    checks = [Check(row["name"], row["expression"]) for row in run(plpy, CHECKS, oid=oid)]
    every = columns(plpy, oid)
    old = OldTable(
        source.schema, source.name, tuple(every), tuple(checks),
        tuple((row["name"], frozenset(row["columns"] or ())) for row in keys),
        (
            *((row["what"], row["hint"]) for row in run(plpy, OBSTACLES, oid=oid)),
            *dict.fromkeys((row["problem"], row["hint"]) for row in foreign_code(plpy, oid)),
        ),
    )  # fmt: skip
    constraints = [check.name for check in checks] + [row["conname"] for row in keys if row["conname"] is not None]
    former = {
        "primary": any(row["is_primary"] for row in keys),
        "not_null": [column.name for column in every if column.not_null],
        "defaults": {column.name: column.default for column in every if column.default is not None},
        "identity": [column.name for column in every if column.counted and column.default is None],
        "unique": [row["index"] for row in keys if row["conname"] is None],
    }
    return old, constraints, former


def description(plpy: Plpy, view: int) -> dict[str, Json] | None:
    found = run(plpy, "SELECT discreet._multilevel_description(:oid::oid) AS text", oid=view)[0]["text"]
    return None if found is None else dict(json.loads(found))


def quoted(plpy: Plpy, oid: int) -> str:
    return str(
        run(
            plpy, "SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c"
                  " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = :oid::oid",
            oid=oid,
        )[0]["name"]
    )  # fmt: skip


def multilevel_table(plpy: Plpy, view: int) -> Table | None:
    """A multilevel table by the number of its view."""
    known = description(plpy, view)
    if known is None:
        return None
    by_name = {
        each.name: Column(each.name, each.type_name, each.equals, long=each.long)
        for each in columns(plpy, known["base"])
    }
    references = []
    for each in known["references"] or ():
        parent = multilevel_table_without_links(plpy, each["parent"])
        references.append(Reference(tuple(map(identifier, each["columns"])), quoted(plpy, each["parent"]), parent.key))
    children = tuple(
        Child(quoted(plpy, each["child"]), tuple(map(identifier, each["columns"]))) for each in known["children"] or ()
    )
    return Table(
        known["schema"], known["name"], known["base_name"],
        tuple(by_name[name] for name in known["key"]), tuple(by_name[name] for name in known["cells"]),
        tuple(Check(each["name"], each["expression"]) for each in known["checks"]),
        tuple(
            Generated(Column(each["name"], each["type"], "="), each["expression"], tuple(each["sources"]))
            for each in known["generated"]
        ),
        tuple(references), children,
        tuple(LabelRule(by_name[each["column"]], each["sql"]) for each in known["rules"] or ()),
    )  # fmt: skip


def multilevel_table_without_links(plpy: Plpy, view: int) -> Table:
    known = description(plpy, view)
    assert known is not None
    by_name = {
        each.name: Column(each.name, each.type_name, each.equals, long=each.long)
        for each in columns(plpy, known["base"])
    }
    return Table(
        known["schema"], known["name"], known["base_name"],
        tuple(by_name[name] for name in known["key"]), tuple(by_name[name] for name in known["cells"]),
    )  # fmt: skip
