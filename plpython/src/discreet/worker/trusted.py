"""Which relations of a question can run no code of people who are not trusted.

Native SQL runs as the owner of the extension, and reading a table may run code of who owns it or its schema: in
predicates of its indexes, in casts of its types, in a view that was put in its place within the asker's own
transaction, which the ledger does not see. So a table is protected or declared public, or it and its schema
belong to curators and all roles see the same rows of it; and neither belongs to the asker. The view of a
multilevel table belongs to a superuser. That of a table with sealed columns is looked at before it is run: see
require_sealed_view() in extension/sealed_statements.c.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from discreet.core.syntax import Json
from discreet.server.plpy import Row
from discreet.worker.session import Statement

# to_regclass looks a name up as the planner will; pg_class is read as this transaction sees it
TRUSTED = """
    SELECT asked.schema, asked.name,
           -- which parts there are, the planner and pg_partition_tree see without a snapshot
           c.relkind = 'r' AND EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE h.inhparent = c.oid)
           OR EXISTS (SELECT FROM pg_catalog.pg_partition_tree(c.oid) t
                      WHERE t.relid <> c.oid AND NOT EXISTS (
                          SELECT FROM pg_catalog.pg_inherits h
                          WHERE h.inhrelid = t.relid AND h.inhparent = t.parentrelid)) AS has_other_parts,
           ARRAY(SELECT a.attname::pg_catalog.text FROM pg_catalog.pg_attribute a
                 WHERE a.attrelid = c.oid AND a.attnum > 0 AND discreet._never_null(a)) AS never_null,
           c.relrowsecurity AS row_security, discreet._files_of(c.oid) AS files,
           ARRAY(SELECT (SELECT pg_catalog.jsonb_agg(a.attname)::text FROM pg_catalog.pg_attribute a
                         WHERE a.attrelid = c.oid AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1]))
                 FROM pg_catalog.pg_index i
                 WHERE i.indrelid = c.oid AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indpred IS NULL
                   AND i.indexprs IS NULL) AS unique_keys
    FROM ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2)) AS asked(schema, name)
    JOIN pg_catalog.pg_class c ON c.oid = pg_catalog.to_regclass(pg_catalog.format('%I.%I', asked.schema, asked.name))
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_roles r ON r.oid = c.relowner
    CROSS JOIN LATERAL (
        SELECT pg_catalog.bool_and(o.owner = 'pg_database_owner'::pg_catalog.regrole
                                   OR pg_catalog.pg_has_role(o.owner, 'discreet_curator', 'MEMBER')) AS of_curators,
               pg_catalog.bool_or(pg_catalog.pg_has_role(session_user, o.owner, 'MEMBER')) AS of_asker
        FROM (VALUES (c.relowner), (n.nspowner)) AS o(owner)) AS owners
    WHERE (c.relkind IN ('r', 'p')
           OR c.relkind = 'v' AND r.rolsuper
              AND EXISTS (SELECT FROM discreet._multilevel_table m WHERE m.relation = c.oid)
           OR c.relkind = 'v' AND discreet._is_sealed_table(c.oid))
      AND (owners.of_curators AND NOT c.relrowsecurity
           OR EXISTS (SELECT FROM discreet._protected_table p WHERE p.relation = c.oid))
      AND (NOT owners.of_asker OR pg_catalog.pg_has_role(session_user, 'discreet_curator', 'MEMBER'))
"""


def look(relations: list[dict[str, Json]]) -> tuple[Statement, list[list[str]]]:
    """What the session is asked about the relations."""
    names = [[relation["schema"] for relation in relations], [relation["name"] for relation in relations]]
    return Statement(TRUSTED, ("text[]", "text[]")), names


def trusted(relations: list[dict[str, Json]], rows: Iterable[Row]) -> list[dict[str, Json]]:
    """Those of the relations that are trusted, as the asker's own transaction sees them: rows of look()."""
    found = {(row["schema"], row["name"]): row for row in rows}
    named = ((relation, found.get((relation["schema"], relation["name"]))) for relation in relations)
    return [as_seen(relation, row) for relation, row in named if row is not None]


def as_seen(relation: dict[str, Json], row: Row) -> dict[str, Json]:
    """What is unique, and never NULL, in the asker's snapshot too: an older one may hold rows from before that was so.

    An index of a plain parent does not see the rows of tables that inherit from it, nor did one see those of a
    partition that has been attached since. Rows of COPY FREEZE are in new files, and an older snapshot sees them, too.
    """
    same_files = row["files"] == relation["files"]
    held = same_files and not row["has_other_parts"]
    unique = {frozenset(json.loads(key)) for key in row["unique_keys"]} if held else set()
    never_null = row["never_null"] if same_files else []
    kept = [key for key in relation["unique_keys"] if frozenset(key) in unique]
    protection = relation["protection"]
    if protection is not None:
        unit = protection["unit"]
        single = protection["single"] and frozenset([unit]) in unique and unit in never_null
        protection = protection | {"single": single}
    columns = [
        column | {"not_null": column["not_null"] and column["name"] in never_null} for column in relation["columns"]
    ]
    hides_rows = relation["row_security"] or row["row_security"]
    # what is described is part of the key of a stored answer, which no version of the data is
    known = {name: value for name, value in relation.items() if name not in ("files", "place")}
    return known | {
        "unique_keys": kept, "protection": protection, "columns": columns, "row_security": hides_rows,
    }  # fmt: skip
