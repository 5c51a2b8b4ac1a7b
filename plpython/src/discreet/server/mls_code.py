"""Code that runs when a row of a multilevel table is written, compared or read, and whose it is.

The triggers of its view and the acts of officers run with the rights of the extension. So all of this code belongs to
superusers, and calls nothing that runs SQL from a string, whose names were not checked.
"""

from __future__ import annotations

from discreet.server.plpy import Plpy, Row, run
from discreet.server.rules import STABLE_BUT_HARMLESS

# beside immutable functions and those that a rule may call: they look at no table and run no SQL
HARMLESS = [
    *STABLE_BUT_HARMLESS, "nextval", "currval", "lastval", "random", "gen_random_uuid", "clock_timestamp", "timeofday",
    "current_setting", "current_database", "current_schema", "pg_backend_pid", "inet_client_addr", "inet_client_port",
    "txid_current", "pg_current_xact_id", "pg_typeof", "array_to_string", "to_json", "to_jsonb", "row_to_json",
    "array_to_json", "json_build_object", "jsonb_build_object", "json_build_array", "jsonb_build_array",
]  # fmt: skip

# Each with the CHECK, index or default through which it is reached. The first object that is not PostgreSQL's own has
# the number 16384; pg_depend does not name those that are, so their calls are read off the trees.
FOREIGN_CODE = """
    WITH RECURSIVE needed (root_class, root, class, object) AS (
        (SELECT 'pg_class'::regclass::oid, :oid::oid, 'pg_class'::regclass::oid, :oid::oid
         UNION ALL SELECT 'pg_class'::regclass, indexrelid, 'pg_class'::regclass, indexrelid
         FROM pg_index WHERE indrelid = :oid::oid
         UNION ALL SELECT 'pg_constraint'::regclass, oid, 'pg_constraint'::regclass, oid
         FROM pg_constraint WHERE conrelid = :oid::oid
         UNION ALL SELECT 'pg_attrdef'::regclass, oid, 'pg_attrdef'::regclass, oid
         FROM pg_attrdef WHERE adrelid = :oid::oid)
        UNION SELECT n.root_class, n.root, found.class, found.object
        FROM needed n CROSS JOIN LATERAL (
            SELECT d.refclassid AS class, d.refobjid AS object FROM pg_depend d
            WHERE d.classid = n.class AND d.objid = n.object
              AND d.refclassid IN ('pg_type'::regclass, 'pg_proc'::regclass, 'pg_operator'::regclass,
                                   'pg_opclass'::regclass, 'pg_opfamily'::regclass, 'pg_class'::regclass)
            -- what the catalog records the other way round: CHECKs of domains, attributes, members of operator classes
            UNION ALL SELECT 'pg_constraint'::regclass, k.oid FROM pg_constraint k
            WHERE n.class = 'pg_type'::regclass AND k.contypid = n.object
            UNION ALL SELECT 'pg_class'::regclass, t.typrelid FROM pg_type t
            WHERE n.class = 'pg_type'::regclass AND t.oid = n.object AND t.typrelid <> 0
            UNION ALL SELECT 'pg_opclass'::regclass, k.oid FROM pg_opclass k
            WHERE n.class = 'pg_type'::regclass AND k.opcintype = n.object AND k.opcdefault
            UNION ALL SELECT d.classid, d.objid FROM pg_depend d
            WHERE n.class IN ('pg_opclass'::regclass, 'pg_opfamily'::regclass)
              AND d.refclassid = n.class AND d.refobjid = n.object
              AND d.classid IN ('pg_amop'::regclass, 'pg_amproc'::regclass)
            -- of a view or table that a function reads: what it is defined by, and what planning or writing it runs
            UNION ALL SELECT 'pg_rewrite'::regclass, r.oid FROM pg_rewrite r
            WHERE n.class = 'pg_class'::regclass AND r.ev_class = n.object
            UNION ALL SELECT 'pg_class'::regclass, i.indexrelid FROM pg_index i
            WHERE n.class = 'pg_class'::regclass AND i.indrelid = n.object
            UNION ALL SELECT 'pg_constraint'::regclass, k.oid FROM pg_constraint k
            WHERE n.class = 'pg_class'::regclass AND k.conrelid = n.object
            UNION ALL SELECT 'pg_attrdef'::regclass, a.oid FROM pg_attrdef a
            WHERE n.class = 'pg_class'::regclass AND a.adrelid = n.object
            UNION ALL SELECT 'pg_trigger'::regclass, t.oid FROM pg_trigger t
            WHERE n.class = 'pg_class'::regclass AND t.tgrelid = n.object
            UNION ALL SELECT 'pg_policy'::regclass, p.oid FROM pg_policy p
            WHERE n.class = 'pg_class'::regclass AND p.polrelid = n.object
            UNION ALL SELECT 'pg_class'::regclass, i.inhrelid FROM pg_inherits i
            WHERE n.class = 'pg_class'::regclass AND i.inhparent = n.object
        ) found
        -- whatever stands on the table itself is a root, or an obstacle of its own
        WHERE NOT (n.class = 'pg_class'::regclass AND n.object = :oid::oid
                   AND found.class IN ('pg_rewrite'::regclass, 'pg_constraint'::regclass, 'pg_attrdef'::regclass,
                                       'pg_trigger'::regclass, 'pg_policy'::regclass, 'pg_class'::regclass))
          AND NOT (found.class = 'pg_class'::regclass AND found.object = :oid::oid)
    ),
    tree (root_class, root, tree) AS (
        SELECT n.root_class, n.root, t.tree FROM needed n CROSS JOIN LATERAL (
            SELECT k.conbin FROM pg_constraint k WHERE n.class = 'pg_constraint'::regclass AND k.oid = n.object
            UNION ALL SELECT d.adbin FROM pg_attrdef d WHERE n.class = 'pg_attrdef'::regclass AND d.oid = n.object
            UNION ALL SELECT v.tree FROM pg_index i, LATERAL (VALUES (i.indexprs), (i.indpred)) v(tree)
            WHERE n.class = 'pg_class'::regclass AND i.indexrelid = n.object
            UNION ALL SELECT v.tree FROM pg_proc p, LATERAL (VALUES (p.prosqlbody), (p.proargdefaults)) v(tree)
            WHERE n.class = 'pg_proc'::regclass AND p.oid = n.object
            UNION ALL SELECT t.typdefaultbin FROM pg_type t WHERE n.class = 'pg_type'::regclass AND t.oid = n.object
            UNION ALL SELECT v.tree FROM pg_rewrite r, LATERAL (VALUES (r.ev_qual), (r.ev_action)) v(tree)
            WHERE n.class = 'pg_rewrite'::regclass AND r.oid = n.object
            UNION ALL SELECT t.tgqual FROM pg_trigger t WHERE n.class = 'pg_trigger'::regclass AND t.oid = n.object
            UNION ALL SELECT v.tree FROM pg_policy p, LATERAL (VALUES (p.polqual), (p.polwithcheck)) v(tree)
            WHERE n.class = 'pg_policy'::regclass AND p.oid = n.object
        ) t(tree) WHERE n.object >= 16384
    ),
    foreign_code (root_class, root, problem, hint) AS (
        SELECT n.root_class, n.root,
            format('depends on %s, which is no superuser''s', pg_describe_object(n.class, n.object, 0)),
            'Let a superuser own it, or do without it.'
        FROM needed n
        LEFT JOIN pg_proc p ON n.class = 'pg_proc'::regclass AND p.oid = n.object
        LEFT JOIN pg_operator o ON n.class = 'pg_operator'::regclass AND o.oid = n.object
        LEFT JOIN pg_type t ON n.class = 'pg_type'::regclass AND t.oid = n.object
        -- a sequence runs no code
        LEFT JOIN pg_class c ON n.class = 'pg_class'::regclass AND c.oid = n.object AND c.relkind NOT IN ('S', 'i', 'I')
                            AND c.oid <> :oid::oid
        JOIN pg_roles r ON r.oid = coalesce(p.proowner, o.oprowner, t.typowner, c.relowner)
        WHERE NOT r.rolsuper
        UNION SELECT t.root_class, t.root,
            format('calls %s, which may run SQL of others', p.proname), 'Do without it.'
        FROM tree t CROSS JOIN LATERAL unnest(discreet._tree_calls(t.tree)) AS called(function)
        JOIN pg_proc p ON p.oid = called.function
        WHERE p.oid < 16384 AND p.provolatile <> 'i' AND p.proname <> ALL (:harmless::text[])
    )
    SELECT DISTINCT problem, hint, pg_describe_object(root_class, root, 0) AS root FROM foreign_code
    ORDER BY root, problem
"""


def foreign_code(plpy: Plpy, oid: int) -> list[Row]:
    """What is wrong with the code of a table: problem, what to do about it, and what on the table leads to it."""
    return list(run(plpy, FOREIGN_CODE, oid=oid, harmless=HARMLESS))
