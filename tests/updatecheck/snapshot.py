"""All that an extension puts into a database, as text that does not depend on the way it came there."""

from __future__ import annotations

from tests.databases import Connection

# Each query gives an identity and a definition. Object numbers and the order of a table's columns, which an
# upgrade cannot choose, are left out; grants are listed one by one, for they come in the order of statements.
QUERIES = {
    "members": """
        SELECT i.type || ' ' || i.identity,
               coalesce(obj_description(d.objid, d.classid::regclass::text), 'no comment')
        FROM pg_depend d, pg_identify_object(d.classid, d.objid, d.objsubid) i
        WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
          AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'discreet')
    """,
    "functions": """
        SELECT oid::regprocedure::text, pg_get_functiondef(oid) FROM pg_proc
        WHERE pronamespace = 'discreet'::regnamespace AND prokind <> 'a'
    """,
    "aggregates": """
        SELECT p.oid::regprocedure::text,
               concat_ws(' ', to_jsonb(a) - 'aggfnoid', p.proparallel, p.provolatile, p.proisstrict)
        FROM pg_aggregate a JOIN pg_proc p ON p.oid = a.aggfnoid
        WHERE p.pronamespace = 'discreet'::regnamespace
    """,
    "columns": """
        SELECT a.attrelid::regclass || '.' || a.attname,
               concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
                         a.attgenerated, pg_get_expr(d.adbin, d.adrelid),
                         col_description(a.attrelid, a.attnum),
                         CASE WHEN c.relkind = 'v' THEN a.attnum END)
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE c.relnamespace = 'discreet'::regnamespace AND c.relkind IN ('r', 'v', 'm', 'p') AND a.attnum > 0
          AND NOT a.attisdropped
    """,
    "relations": """
        SELECT oid::regclass::text, concat_ws(' ', relkind, relpersistence, relrowsecurity, reloptions,
               CASE WHEN relkind IN ('v', 'm') THEN pg_get_viewdef(oid) END)
        FROM pg_class WHERE relnamespace = 'discreet'::regnamespace
    """,
    "constraints": """
        SELECT conrelid::regclass || ': ' || pg_get_constraintdef(oid), convalidated::text FROM pg_constraint
        WHERE connamespace = 'discreet'::regnamespace
    """,
    "indexes": """
        SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) FROM pg_index i
        JOIN pg_class c ON c.oid = i.indrelid WHERE c.relnamespace = 'discreet'::regnamespace
    """,
    "triggers": """
        SELECT t.tgrelid::regclass || '.' || t.tgname, concat_ws(' ', pg_get_triggerdef(t.oid), t.tgenabled)
        FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
        WHERE c.relnamespace = 'discreet'::regnamespace AND NOT t.tgisinternal
    """,
    "event triggers": """
        SELECT evtname, concat_ws(' ', evtevent, evtenabled, evttags, evtfoid::regproc) FROM pg_event_trigger
    """,
    "languages": """
        SELECT lanname, concat_ws(' ', lanpltrusted, lanplcallfoid::regproc, laninline::regproc,
                                  lanvalidator::regproc)
        FROM pg_language
    """,
    "grants": """
        SELECT concat_ws(' ', kind, name, grantee, privilege_type), is_grantable::text
        FROM (SELECT 'function' AS kind, oid::regprocedure::text AS name,
                     coalesce(proacl, acldefault('f', proowner)) AS acl
              FROM pg_proc WHERE pronamespace = 'discreet'::regnamespace
              UNION ALL
              SELECT 'relation', oid::regclass::text, coalesce(relacl, acldefault('r', relowner))
              FROM pg_class
              WHERE relnamespace = 'discreet'::regnamespace AND relkind IN ('r', 'v', 'm', 'p', 'S')
              UNION ALL
              SELECT 'schema', nspname, coalesce(nspacl, acldefault('n', nspowner)) FROM pg_namespace
              WHERE nspname = 'discreet'
              UNION ALL
              SELECT 'language', lanname, coalesce(lanacl, acldefault('l', lanowner))
              FROM pg_language) object,
             LATERAL (SELECT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS grantee,
                             privilege_type, is_grantable FROM aclexplode(acl)) granted
    """,
    "grants that a dump leaves out": """
        SELECT concat_ws(' ', o.name, grantee, privilege_type), is_grantable::text
        FROM (SELECT i.initprivs, CASE i.classoid WHEN 'pg_proc'::regclass THEN i.objoid::regprocedure::text
                                          ELSE i.objoid::regclass::text END
              FROM pg_init_privs i
              JOIN pg_depend d ON d.classid = i.classoid AND d.objid = i.objoid AND d.deptype = 'e'
                  AND d.refclassid = 'pg_extension'::regclass
              WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'discreet')
                AND i.classoid IN ('pg_proc'::regclass, 'pg_class'::regclass)) o(initprivs, name),
             LATERAL (SELECT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS grantee,
                             privilege_type, is_grantable FROM aclexplode(o.initprivs)) granted
    """,
    "what a dump saves": """
        SELECT c.oid::regclass::text, x.condition
        FROM pg_extension e, unnest(e.extconfig, e.extcondition) x(relation, condition)
        JOIN pg_class c ON c.oid = x.relation WHERE e.extname = 'discreet'
    """,
    "version": "SELECT extname, extversion FROM pg_extension",
}


def snapshot(connection: Connection) -> dict[str, str]:
    """Identity and definition of everything, so that two installs can be compared as dictionaries."""
    found: dict[str, str] = {}
    for kind, query in QUERIES.items():
        for identity, definition in connection.execute(query).fetchall():
            assert f"{kind}: {identity}" not in found, f"{kind}: {identity} is not an identity"
            found[f"{kind}: {identity}"] = str(definition)
    return found
