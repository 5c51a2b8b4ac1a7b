-- discreet._adoptable: the tables of some schemas, or of all, as the catalog has them: columns, keys, CHECKs, what is declared.
-- Nothing of this is data. Parts of other tables, and tables that hold the rows of others, are left out.
CREATE FUNCTION discreet._adoptable(schemas text[])
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $plpgsql$
BEGIN
    RETURN (
        WITH RECURSIVE chosen AS (
            SELECT c.oid, n.nspname, c.relname, pg_has_role(discreet._caller(), c.relowner, 'USAGE') AS owned
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE c.relkind IN ('r', 'p') AND c.relpersistence <> 't' AND NOT c.relispartition AND c.oid >= 16384
              AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'discreet') AND n.nspname NOT LIKE 'pg\_%'
              AND (schemas IS NULL OR n.nspname = ANY (schemas))
              AND NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = c.oid)
              AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
              AND NOT EXISTS (SELECT FROM discreet._multilevel_table t WHERE t.base = c.oid)
              AND NOT EXISTS (SELECT FROM discreet._sealed_column s WHERE s.base = c.oid)),
        -- each type with those below it, as long as they are domains
        below(type, base) AS (
            SELECT DISTINCT a.atttypid, a.atttypid FROM chosen c JOIN pg_attribute a ON a.attrelid = c.oid
            WHERE a.attnum > 0 AND NOT a.attisdropped
            UNION
            SELECT b.type, t.typbasetype FROM below b JOIN pg_type t ON t.oid = b.base AND t.typtype = 'd'),
        typed AS (
            SELECT b.type, format_type(t.oid, -1) AS base_type, t.oid < 16384 AND t.typtype IN ('b', 'r', 'm') AS built_in
            FROM below b JOIN pg_type t ON t.oid = b.base AND t.typtype <> 'd')
        SELECT coalesce(jsonb_agg(jsonb_build_object(
            'schema', c.nspname, 'name', c.relname, 'owned', c.owned, 'comment', obj_description(c.oid, 'pg_class'),
            'columns', (
                SELECT coalesce(jsonb_agg(jsonb_build_object(
                    'name', a.attname, 'type', t.base_type, 'written_type', format_type(a.atttypid, a.atttypmod),
                    'built_in', t.built_in, 'labels', w.labels, 'checks', coalesce(w.checks, '{}'), 'not_null', discreet._never_null(a),
                    'comment', col_description(c.oid, a.attnum),
                    'declared', EXISTS (SELECT FROM discreet._protected_column p WHERE p.relation = c.oid AND p.attnum = a.attnum
                                        AND (p.visibility = 'hidden' OR p.lower IS NOT NULL OR p.categories IS NOT NULL
                                             OR p.visibility = 'public')))
                    ORDER BY a.attnum), '[]')
                FROM pg_attribute a JOIN typed t ON t.type = a.atttypid
                LEFT JOIN discreet._constrained_columns(c.oid) w ON w.attnum = a.attnum
                WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
            'unique', (
                SELECT coalesce(jsonb_agg(DISTINCT a.attname ORDER BY a.attname), '[]')
                FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
                WHERE i.indrelid = c.oid AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indpred IS NULL
                  AND i.indexprs IS NULL AND i.indnatts = 1 AND i.indkey[0] > 0
                  AND NOT EXISTS (SELECT FROM pg_inherits h JOIN pg_class w ON w.oid = h.inhparent
                                  WHERE h.inhparent = c.oid AND w.relkind <> 'p')),
            'references', (
                SELECT coalesce(jsonb_agg(jsonb_build_object(
                    'constraint', k.conname, 'schema', pn.nspname, 'name', p.relname,
                    'columns', ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS u(attnum, place)
                                     JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.attnum ORDER BY u.place),
                    'keys', ARRAY(SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY AS u(attnum, place)
                                  JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.attnum ORDER BY u.place),
                    'validated', k.convalidated, 'deferrable', k.condeferrable,
                    'enforced', coalesce((to_jsonb(k)->>'conenforced')::boolean, true) AND NOT EXISTS (
                        SELECT FROM pg_trigger t WHERE t.tgconstraint = k.oid AND t.tgenabled NOT IN ('O', 'A')))
                    ORDER BY k.conkey, k.conname), '[]')
                FROM pg_constraint k JOIN pg_class p ON p.oid = k.confrelid JOIN pg_namespace pn ON pn.oid = p.relnamespace
                WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.conparentid = 0),
            'protection', (
                SELECT jsonb_build_object('dataset', p.dataset, 'policy', p.policy, 'unit', discreet._unit_text(p.relation))
                FROM discreet._protected_table p WHERE p.relation = c.oid))
            ORDER BY c.nspname, c.relname), '[]')
        FROM chosen c);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._adoptable(text[]) IS
'The tables of some schemas as the catalog has them: columns, keys, CHECKs, and what is declared of them.';
