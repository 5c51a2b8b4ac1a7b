"""Ways beside the gate, and ways that are closed before it: findings of `discreet.check_installation()`.

The hook looks through views. What runs by the rights of its owner otherwise (definer functions), and copies, can only
be told.
"""

from __future__ import annotations

from collections.abc import Iterator

from discreet.server.plpy import Plpy, run

Finding = tuple[str, str, str]
WARNING, PROBLEM = "warning", "problem"

# tables under a policy, their parts, and the views and materialized views that read them
GUARDED = """
    WITH RECURSIVE guarded(relation, people) AS (
        SELECT f, p.relation
        FROM discreet._protected_table p, discreet._relation_family(p.relation) f
        WHERE p.policy <> 'public' AND EXISTS (SELECT FROM discreet._protection_of(f))
        UNION
        SELECT r.ev_class, g.people
        FROM guarded g
        JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = g.relation
        JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND r.rulename = '_RETURN'),
    analyst AS (
        SELECT oid, rolname FROM pg_roles
        WHERE NOT rolsuper AND pg_has_role(oid, 'discreet_analyst', 'MEMBER')
          -- the group itself comes first: what it may do, all may
          AND (rolname = 'discreet_analyst' OR rolcanlogin OR EXISTS (
              SELECT FROM discreet._budget b WHERE b.role = pg_roles.oid AND b.granted)))
"""

# a body that was parsed depends on what it names; another is searched for the name
DEFINERS = f"""{GUARDED}
    SELECT f.oid::regprocedure::text AS function, f.proowner::regrole::text AS owner,
           string_agg(DISTINCT g.relation::regclass::text, ', ') AS relations,
           (SELECT string_agg(rolname, ', ' ORDER BY rolname) FROM analyst a
            WHERE has_function_privilege(a.oid, f.oid, 'EXECUTE')) AS analysts
    FROM pg_proc f JOIN guarded g ON true JOIN pg_class c ON c.oid = g.relation
    WHERE f.prosecdef AND f.pronamespace NOT IN ('pg_catalog'::regnamespace, 'discreet'::regnamespace)
      AND has_any_column_privilege(f.proowner, g.relation, 'SELECT')
      AND EXISTS (SELECT FROM analyst a WHERE has_function_privilege(a.oid, f.oid, 'EXECUTE'))
      AND (f.prosrc ~* ('\\m' || regexp_replace(c.relname, '(\\W)', '\\\1', 'g') || '\\M')
           OR EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = f.oid
                      AND d.refclassid = 'pg_class'::regclass AND d.refobjid = g.relation))
    GROUP BY f.oid, f.proowner ORDER BY 1
"""

READABLE = f"""{GUARDED}
    SELECT DISTINCT g.relation::regclass::text AS relation, e.view IS NOT NULL AS exempt,
           (SELECT string_agg(rolname, ', ' ORDER BY rolname) FROM analyst a
            WHERE has_any_column_privilege(a.oid, g.relation, 'SELECT')
              AND NOT has_any_column_privilege(a.oid, g.people, 'SELECT')) AS analysts,
           EXISTS (SELECT FROM pg_options_to_table(c.reloptions) o
                   WHERE o.option_name = 'security_barrier' AND o.option_value::boolean)
           AND NOT EXISTS (SELECT FROM pg_rewrite r
                           WHERE r.ev_class = c.oid AND r.ev_type = '1'
                             AND discreet._tree_is_union(r.ev_action)) AS barrier
    FROM guarded g JOIN pg_class c ON c.oid = g.relation LEFT JOIN discreet._exempt_view e ON e.view = g.relation
    WHERE c.relkind = 'm' OR e.view IS NOT NULL
    ORDER BY 1
"""

CLOSED = """
    SELECT b.role::regrole::text AS role, quote_ident(n.nspname) AS schema,
           string_agg(c.relname, ', ' ORDER BY c.relname) AS tables
    FROM discreet._budget b JOIN discreet._protected_table p USING (dataset)
    JOIN pg_class c ON c.oid = p.relation JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_roles r ON r.oid = b.role
    WHERE b.granted AND b.role <> 0 AND NOT has_schema_privilege(b.role, n.oid, 'USAGE')
    GROUP BY 1, 2 ORDER BY 1, 2
"""


def definer_functions(plpy: Plpy) -> Iterator[Finding]:
    for row in run(plpy, DEFINERS):
        yield (
            "definer functions",
            WARNING,
            f"{row['function']} runs as {row['owner']} and names {row['relations']}; what it gives to "
            f"{row['analysts']} is not private: revoke EXECUTE, or make it SECURITY INVOKER",
        )


def readable_views(plpy: Plpy) -> Iterator[Finding]:
    for row in run(plpy, READABLE):
        if row["analysts"] is None:
            continue
        if row["exempt"] and not row["barrier"]:
            yield (
                "exempt views",
                PROBLEM,
                f"{row['relation']} shows {row['analysts']} also the rows that it leaves out, to functions in WHERE: "
                f"ALTER VIEW {row['relation']} SET (security_barrier), and put a UNION into FROM",
            )
        elif row["exempt"]:
            yield "exempt views", WARNING, f"{row['relation']} shows rows of protected tables to {row['analysts']}"
        else:
            yield (
                "copies",
                WARNING,
                f"materialized view {row['relation']} holds rows of protected tables, which {row['analysts']} may read",
            )


def closed_schemas(plpy: Plpy) -> Iterator[Finding]:
    """A plain SELECT is first looked at by PostgreSQL, which finds no table in a schema that the role may not use."""
    for row in run(plpy, CLOSED):
        yield (
            "closed schemas",
            WARNING,
            f"{row['role']} holds a budget for {row['tables']} but cannot name it in plain SQL: "
            f"GRANT USAGE ON SCHEMA {row['schema']} TO {row['role']}",
        )
