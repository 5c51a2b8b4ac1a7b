-- discreet._ledger_describe: what a question's names mean, for the role that asks. Policy is read here, not in the asker's snapshot.
-- request: role, path (schemas), relations ([schema or null, name]), functions (names)
CREATE FUNCTION discreet._ledger_describe(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    asker name := request->>'role';
    described jsonb;
    views jsonb;
    people jsonb;
    harmless jsonb;
BEGIN
    WITH found AS (
        SELECT r.asked_schema AS schema_name, r.asked_name AS relation_name, c.oid, n.nspname, c.relname, c.relkind, c.relrowsecurity,
               n.oid AS schema_oid, n.xmin AS schema_version
        FROM discreet._named_relations(request) r JOIN pg_class c ON c.oid = r.relation JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind <> 'v' OR EXISTS (SELECT FROM discreet._protected_table p JOIN discreet._multilevel_table m USING (relation)
                                          WHERE relation = c.oid)
           OR EXISTS (SELECT FROM discreet._protected_table p WHERE p.relation = c.oid AND discreet._is_sealed_table(c.oid))),
    kept AS (
        SELECT f.*, ARRAY(SELECT u.columns[1] FROM discreet._unique_combinations(f.oid) u WHERE cardinality(u.columns) = 1) AS identifying
        FROM found f
        LEFT JOIN discreet._protected_table p ON p.relation = f.oid
        WHERE p.policy <> 'public'
           -- a part of a protected table is asked about through the whole, and a whole with protected parts is not public
           OR ((p.relation IS NOT NULL OR has_table_privilege(asker, f.oid, 'SELECT')) AND NOT EXISTS (
                   SELECT FROM discreet._protected_table q
                   WHERE q.policy <> 'public' AND q.relation = ANY (ARRAY(SELECT discreet._relation_family(f.oid))))))
    SELECT coalesce(jsonb_agg(jsonb_build_object(
        'asked_schema', k.schema_name, 'asked_name', k.relation_name, 'schema', k.nspname, 'name', k.relname,
        'multilevel', discreet._is_multilevel_table(k.oid), 'row_security', k.relrowsecurity,
        'columns', (
            SELECT jsonb_agg(jsonb_build_object(
                'name', a.attname, 'type', discreet._base_type(a.atttypid, a.attcollation),
                'lower', c.lower::text, 'upper', c.upper::text, 'categories', to_jsonb(c.categories), 'others', c.others,
                'labels', to_jsonb(w.labels), 'checks', to_jsonb(w.checks),
                -- the table that curators declared public whose key lists the values: the one that a foreign key references, or this one
                'listed_by', CASE WHEN p.policy = 'public' AND a.attname = ANY (k.identifying)
                                  THEN jsonb_build_array(k.nspname, k.relname, a.attname)
                                  ELSE (SELECT l.listed_by FROM discreet._listed_by(k.oid, a.attnum) l WHERE p.policy <> 'public') END,
                -- what is computed when it is read may fail on a row
                'hidden', coalesce(c.visibility = 'hidden', false) OR a.attgenerated = 'v', 'public', coalesce(c.visibility = 'public', false),
                'not_null', discreet._never_null(a), 'number', a.attnum,
                'identifies', a.attnum = p.unit_attnum OR a.attname = ANY (k.identifying))
                ORDER BY a.attnum)
            FROM pg_attribute a
            LEFT JOIN discreet._protected_table p ON p.relation = k.oid
            LEFT JOIN discreet._protected_column c ON c.relation = k.oid AND c.attnum = a.attnum AND c.column_name = a.attname
            LEFT JOIN discreet._constrained_columns(k.oid) w ON w.attnum = a.attnum AND p.policy <> 'public'
            WHERE a.attrelid = k.oid AND a.attnum > 0 AND NOT a.attisdropped),
        'files', discreet._files_of(k.oid),
        -- which table the name means, and its parts; a schema that was renamed and renamed back has another version
        'place', (
            WITH RECURSIVE part(relation, whole, leaving) AS (
                (SELECT k.oid, 0::oid, false
                 UNION ALL SELECT m.base::oid, 0, false FROM discreet._multilevel_table m WHERE m.relation = k.oid
                 UNION ALL SELECT t, 0, false FROM discreet._sealed_twin(k.oid) t)
                UNION SELECT h.inhrelid, h.inhparent, h.inhdetachpending FROM part p JOIN pg_inherits h ON h.inhparent = p.relation)
            SELECT format('%s %s ', k.schema_oid, k.schema_version)
                   || md5(string_agg(format('%s %s %s', relation, whole, leaving), ',' ORDER BY relation, whole))
            FROM part),
        'unique_keys', (
            SELECT coalesce(jsonb_agg((SELECT jsonb_agg(a.attname) FROM pg_attribute a
                                       WHERE a.attrelid = k.oid AND a.attnum = ANY (i.indkey::int2[]))), '[]')
            FROM pg_index i
            WHERE i.indrelid = k.oid AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indpred IS NULL
              AND i.indexprs IS NULL AND i.indnkeyatts = i.indnatts
              -- an index of a plain parent does not see the rows of tables that inherit from it
              AND (k.relkind = 'p' OR NOT EXISTS (SELECT FROM pg_inherits h WHERE h.inhparent = k.oid))),
        'combinations', (
            SELECT coalesce(jsonb_agg(jsonb_build_object('columns', u.columns, 'nulls', u.nulls) ORDER BY u.columns, u.nulls), '[]')
            FROM discreet._unique_combinations(k.oid) u),
        'protection', (
            SELECT jsonb_build_object(
                'dataset', p.dataset, 'unit', p.unit, 'policy', p.policy, 'max_groups', coalesce(p.max_groups, p.max_total_rows, 1), 'max_rows', p.max_rows,
                'max_total_rows', p.max_total_rows,
                'max_epsilon', p.max_epsilon::text, 'max_delta', p.max_delta::text,
                'single', discreet._one_row_per_person(p) AND (p.policy <> 'audited' OR discreet._keeps_versions(p.relation)),
                'may_ask', discreet._holds_budget(asker, p.dataset),
                'min_group', p.min_group, 'fallback', p.fallback, 'relation', p.relation::oid::bigint,
                'time', p.time, 'keeps_periods', p.time IS NULL OR discreet._keeps_periods(p.relation),
                'path', (
                    SELECT coalesce(jsonb_agg(jsonb_build_object('schema', n.nspname, 'name', c.relname, 'key', w.key, 'column', w.column_name)
                                              ORDER BY w.step), '[]')
                    FROM discreet._unit_path(p) w JOIN pg_class c ON c.oid = w.relation JOIN pg_namespace n ON n.oid = c.relnamespace),
                'wrong_unit', (SELECT w.problem FROM discreet._wrong_unit(p) w), 'people', discreet._people_named(p),
                -- whether an index leads from a person to all of their rows
                'indexed', EXISTS (
                    SELECT FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam
                         JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
                    WHERE i.indrelid = k.oid AND a.attname = p.unit AND m.amname = 'btree' AND i.indisvalid AND i.indpred IS NULL
                      AND (k.relkind = 'p' OR NOT EXISTS (SELECT FROM pg_inherits h WHERE h.inhparent = k.oid))))
            FROM discreet._protected_table p WHERE p.relation = k.oid AND p.policy <> 'public'))
        ORDER BY k.schema_name, k.relation_name), '[]')
    INTO described FROM kept k;

    SELECT coalesce(jsonb_agg(jsonb_build_object(
        'asked_schema', r.asked_schema, 'asked_name', r.asked_name, 'schema', n.nspname, 'name', c.relname,
        'definition', discreet._view_definition(c.oid)) ORDER BY r.asked_schema, r.asked_name), '[]')
    INTO views
    FROM discreet._named_relations(request) r JOIN pg_class c ON c.oid = r.relation JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'v' AND NOT discreet._is_multilevel_table(c.oid) AND NOT discreet._is_sealed_table(c.oid) AND n.nspname NOT IN ('pg_catalog', 'information_schema')
      AND (r.below OR has_any_column_privilege(asker, c.oid, 'SELECT'));

    SELECT coalesce(jsonb_agg(jsonb_build_object(
        'dataset', d.dataset, 'accounting', d.accounting, 'neighbours', d.neighbours, 'delta_limit', b.delta_limit::text,
        'response_quantum', extract(epoch FROM d.response_quantum), 'diagnose', d.diagnose::text,
        'period', CASE WHEN d.period IS NOT NULL THEN jsonb_build_array(
            extract(year FROM d.period) * 12 + extract(month FROM d.period), extract(day FROM d.period)) END,
        -- one, or more than one
        'tables', (SELECT count(*) FROM (SELECT FROM discreet._protected_table p
                                         WHERE p.dataset = d.dataset AND p.policy <> 'public' LIMIT 2) t))), '[]')
    INTO people
    FROM discreet._dataset d JOIN discreet._budget b ON b.dataset = d.dataset AND b.role = 0
    WHERE d.dataset IN (SELECT r->'protection'->>'dataset' FROM jsonb_array_elements(described) r);

    -- built in, looking at nothing but their arguments, whatever the types of these; or at how values are written, too
    SELECT coalesce(jsonb_agg(f), '[]') INTO harmless
    FROM jsonb_array_elements_text(request->'functions') f
    WHERE (SELECT bool_and(NOT p.proretset AND (p.provolatile = 'i' OR p.provolatile = 's' AND f IN (
               'to_char', 'to_date', 'to_timestamp', 'format', 'concat', 'concat_ws', 'quote_literal', 'quote_nullable',
               'date_trunc', 'date_part', 'extract', 'age', 'timezone', 'date', 'array_to_string', 'to_json', 'to_jsonb',
               'json_build_object', 'jsonb_build_object', 'json_build_array', 'jsonb_build_array', 'row_to_json',
               'array_to_json', 'json_agg', 'jsonb_agg', 'json_object_agg', 'jsonb_object_agg')))
           FROM pg_proc p WHERE p.proname = f AND p.pronamespace = 'pg_catalog'::regnamespace);

    RETURN jsonb_build_object('relations', described, 'views', views, 'datasets', people, 'harmless', harmless);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_describe(jsonb) IS 'What the names of a question mean, for the role that asks.';

-- discreet._listed_by: schema, name and key of the public table that a foreign key of a column references, which always holds.
CREATE FUNCTION discreet._listed_by(relation oid, column_number int2)
RETURNS TABLE (listed_by jsonb)
LANGUAGE sql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
ROWS 1
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT jsonb_build_array(n.nspname, t.relname, b.attname)
    FROM pg_constraint f JOIN discreet._protected_table q ON q.relation = f.confrelid AND q.policy = 'public'
         JOIN pg_class t ON t.oid = f.confrelid JOIN pg_namespace n ON n.oid = t.relnamespace
         JOIN pg_attribute b ON b.attrelid = f.confrelid AND b.attnum = f.confkey[1]
    WHERE f.conrelid = $1 AND f.contype = 'f' AND f.conkey = ARRAY[$2] AND f.convalidated
      AND coalesce((to_jsonb(f)->>'conenforced')::boolean, true)
      AND NOT EXISTS (SELECT FROM pg_trigger g WHERE g.tgconstraint = f.oid AND g.tgenabled NOT IN ('O', 'A'))
    ORDER BY f.oid LIMIT 1
$sql$;
COMMENT ON FUNCTION discreet._listed_by(oid, int2) IS
'Schema, name and key of the public table that a foreign key of a column references.';

-- discreet._unique_combinations: columns whose values occur in at most one row of a table, or of one of its parts.
-- Those of partial and invalid indexes too: they are unique in some rows. An expression is known when its columns are.
CREATE FUNCTION discreet._unique_combinations(relation oid)
RETURNS TABLE (columns name[], nulls boolean)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH RECURSIVE part(oid) AS (
        (SELECT $1 UNION ALL SELECT discreet._sealed_twin($1))
        UNION SELECT h.inhrelid FROM part p JOIN pg_inherits h ON h.inhparent = p.oid)
    SELECT DISTINCT array_agg(a.attname ORDER BY a.attname), i.indnullsnotdistinct
    FROM part p
    JOIN pg_index i ON i.indrelid = p.oid AND i.indisunique
    JOIN pg_attribute a ON a.attrelid = p.oid AND a.attnum > 0 AND (
        a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1])
        OR a.attnum = ANY (discreet._tree_columns(i.indexprs)) OR 0 = ANY (discreet._tree_columns(i.indexprs)))
    GROUP BY i.indexrelid, i.indnullsnotdistinct
    -- the versions of one entity are those of one person
    UNION ALL SELECT t.key, false FROM discreet._multilevel_table t WHERE t.relation = $1
    UNION ALL SELECT ARRAY['row_id'::name], false FROM discreet._multilevel_table t WHERE t.relation = $1;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._unique_combinations(oid) IS
'Columns whose values occur in at most one row of a table, or of one of its parts.';

-- discreet._named_relations: the tables and views that a question names, and those that are below its views; of the latter,
-- which definitions name with their schema, the asker need not have the right to name them.
CREATE FUNCTION discreet._named_relations(request jsonb)
RETURNS TABLE (asked_schema text, asked_name text, relation oid, below boolean)
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
ROWS 5
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH RECURSIVE asked AS (
        SELECT DISTINCT r->>0 AS schema_name, r->>1 AS relation_name FROM jsonb_array_elements(request->'relations') r),
    found AS (
        SELECT DISTINCT ON (a.schema_name, a.relation_name) a.schema_name, a.relation_name, c.oid
        FROM asked a
        JOIN pg_class c ON c.relname = a.relation_name AND c.relkind IN ('r', 'p', 'v') AND c.relpersistence <> 't'
        JOIN pg_namespace n ON n.oid = c.relnamespace
        LEFT JOIN jsonb_array_elements_text(request->'path') WITH ORDINALITY AS path(schema_name, place)
               ON path.schema_name = n.nspname
        WHERE n.nspname = a.schema_name OR (a.schema_name IS NULL AND path.place IS NOT NULL)
        ORDER BY a.schema_name, a.relation_name, path.place),
    inside(oid) AS (
        SELECT b FROM found f, discreet._relations_below(f.oid) b
        UNION SELECT b FROM inside i, discreet._relations_below(i.oid) b)
    SELECT f.schema_name, f.relation_name, f.oid, false FROM found f
    UNION ALL
    SELECT n.nspname, c.relname, c.oid, true
    FROM inside i JOIN pg_class c ON c.oid = i.oid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v') AND c.relpersistence <> 't'
      AND NOT EXISTS (SELECT FROM found f WHERE f.oid = i.oid AND f.schema_name = n.nspname);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._named_relations(jsonb) IS
'The tables and views that a question names, and those that are below its views.';

-- discreet._relations_below: the relations that a view reads, and the parents over which rows of a table have their person.
CREATE FUNCTION discreet._relations_below(relation oid)
RETURNS SETOF oid
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
ROWS 1
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    IF NOT (discreet._is_multilevel_table($1) OR discreet._is_sealed_table($1)) THEN
        RETURN QUERY SELECT v::oid FROM discreet._relations_of_view($1) v;
    END IF;
    RETURN QUERY SELECT p.parent::oid FROM discreet._protected_table p WHERE p.relation = $1 AND p.parent IS NOT NULL;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._relations_below(oid) IS
'The relations that a view reads, and the parents over which rows of a table have their person.';

-- discreet._is_multilevel_table: whether this is the view of a multilevel table, which the gate reads as a table.
CREATE FUNCTION discreet._is_multilevel_table(relation oid)
RETURNS boolean
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN EXISTS (SELECT FROM discreet._multilevel_table t WHERE t.relation = $1);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._is_multilevel_table(oid) IS
'Whether this is the view of a multilevel table, which the gate reads as a table.';

-- discreet._base_type: the type below all domains; text that cannot be compared byte by byte is a type of its own.
CREATE FUNCTION discreet._base_type(type oid, collation_oid oid)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    base oid := $1;
    below oid;
BEGIN
    IF EXISTS (SELECT FROM pg_collation c WHERE c.oid = collation_oid AND NOT c.collisdeterministic) THEN
        RETURN 'nondeterministic text';
    END IF;
    LOOP
        SELECT t.typbasetype INTO below FROM pg_type t WHERE t.oid = base AND t.typtype = 'd';
        EXIT WHEN NOT FOUND;
        base := below;
    END LOOP;
    RETURN format_type(base, NULL);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._base_type(oid, oid) IS 'The type below all domains.';

-- discreet._ledger_charge_question: pays for a question of the gate; the role must hold a budget of its own or of a group.
CREATE FUNCTION discreet._ledger_charge_question(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    asker name := request->>'role';
    people text := request->>'dataset';
    refusal jsonb;
BEGIN
    IF NOT discreet._holds_budget(asker, people) THEN
        RETURN discreet._refuse(asker, 'DP004', format('%s holds no budget in dataset %I', asker, people),
            format('A curator can give one: discreet.grant_budget(%L, role, epsilon).', people), request->>'question',
            (request->>'label')::bigint);
    END IF;
    IF request->'periods' IS NULL THEN
        refusal := discreet._charge(people, asker, (request->>'epsilon')::numeric, (request->>'amount')::numeric,
                                    (request->>'delta')::numeric, request->>'question', request->'details',
                                    (request->>'label')::bigint);
    ELSE
        refusal := discreet._charge_periods(request);
    END IF;
    IF refusal IS NOT NULL THEN
        RETURN refusal;
    END IF;
    RETURN discreet._ledger_left(request);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_charge_question(jsonb) IS 'Pays for a question of the gate.';

-- discreet._ledger_charge_curation: pays for what a curator asks about a dataset of its own, out of that dataset.
CREATE FUNCTION discreet._ledger_charge_curation(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    asker name := request->>'role';
    people text := request->>'dataset';
    refusal jsonb;
BEGIN
    IF NOT EXISTS (SELECT FROM discreet._dataset d JOIN pg_roles r ON r.rolname = d.owner
                   WHERE d.dataset = people AND pg_has_role(asker, r.oid, 'USAGE')) THEN
        RETURN discreet._refuse(asker, 'DP004', format('%s does not own dataset %I', asker, people),
            'Its owner, or a superuser, can do this.', request->>'question', NULL);
    END IF;
    refusal := discreet._charge(people, asker, (request->>'epsilon')::numeric, (request->>'amount')::numeric, 0,
                                request->>'question', request->'details', (request->>'label')::bigint);
    RETURN coalesce(refusal, discreet._ledger_left(request));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_charge_curation(jsonb) IS
'Pays for what a curator asks about a dataset of its own, out of that dataset.';

-- discreet._ledger_shortage: which limit some charges together would break, if any. Nothing is charged.
-- request: role, dues: dataset, amount, delta, personal (the dataset's own cap is not touched), label, key and fresh.
-- The same question again is answered from the store, unless a fresh answer is wanted or the first may have expired by then.
CREATE FUNCTION discreet._ledger_shortage(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    payers oid[] := discreet._roles_of((request->>'role')::name);
    sums record;
    short record;
BEGIN
    FOR sums IN
        WITH paid AS (
            SELECT DISTINCT ON (d->>'key', CASE WHEN (d->>'fresh')::boolean OR s.answer_lifetime < interval '1 minute' THEN place END) d
            FROM jsonb_array_elements(request->'dues') WITH ORDINALITY AS dues(d, place)
            LEFT JOIN discreet._dataset s ON s.dataset = d->>'dataset')
        SELECT d->>'dataset' AS dataset, (d->>'label')::bigint AS label, (d->>'personal')::boolean AS personal,
               sum((d->>'amount')::numeric) AS amount, sum((d->>'delta')::numeric) AS delta,
               count(d->'periods') > 0 AS dated, jsonb_agg(d) AS dues
        FROM paid GROUP BY 1, 2, 3 ORDER BY 1, 2, 3 LOOP
        IF sums.dated THEN
            short := discreet._period_shortage(sums.dataset, payers || 0::oid, sums.dues);
        ELSE
            short := discreet._shortage(sums.dataset, CASE WHEN sums.personal THEN payers ELSE payers || 0::oid END,
                                        sums.amount, sums.delta, sums.label);
        END IF;
        IF short.message IS NOT NULL THEN
            RETURN jsonb_build_object('message', short.message, 'hint', short.hint);
        END IF;
    END LOOP;
    RETURN '{"message": null}';
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_shortage(jsonb) IS 'Which limit some charges together would break, if any.';

-- discreet._ledger_refused: writes a refusal of the gate down.
CREATE FUNCTION discreet._ledger_refused(request jsonb)
RETURNS jsonb
LANGUAGE sql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $sql$
    INSERT INTO discreet._refusal (role, code, message, question, label)
    VALUES (request->>'role', request->>'code', request->>'message', request->>'question', (request->>'label')::bigint)
    RETURNING '{}'::jsonb
$sql$;
COMMENT ON FUNCTION discreet._ledger_refused(jsonb) IS 'Writes a refusal of the gate down.';

-- discreet._ledger_left: what is left of a dataset, and for a role that holds a budget of its own or of a group there; at a
-- label, where it has some.
CREATE FUNCTION discreet._ledger_left(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
DECLARE
    payers oid[] := discreet._roles_of((request->>'role')::name);
BEGIN
    IF request->'periods' IS NOT NULL THEN
        RETURN discreet._left_in_periods(request);
    END IF;
    RETURN (
    SELECT jsonb_build_object(
        'left_for_dataset', (min(b.amount_limit - b.amount_spent - coalesce(s.amount, 0) - coalesce(k.amount, 0)) FILTER (
            WHERE b.role = 0))::text,
        'left_for_role', (min(b.amount_limit - b.amount_spent - coalesce(s.amount, 0)) FILTER (
            WHERE b.granted AND b.role = ANY (payers)))::text,
        'lines', jsonb_agg(jsonb_build_object(
            'epsilon_limit', b.epsilon_limit::text, 'spent', (b.amount_spent + coalesce(s.amount, 0))::text,
            'delta_left', (b.delta_limit / (SELECT CASE d.accounting WHEN 'zcdp' THEN 2 ELSE 1 END
                                            FROM discreet._dataset d WHERE d.dataset = b.dataset)
                           - b.delta_spent - coalesce(s.delta, 0))::text))
            FILTER (WHERE b.granted AND b.role = ANY (payers)))
    FROM discreet._budget b
    LEFT JOIN (SELECT l.role, sum(l.amount_spent) AS amount, sum(l.delta_spent) AS delta FROM discreet._label_spent l
               WHERE l.dataset = request->>'dataset' AND (request->>'label' IS NULL OR l.label = (request->>'label')::bigint)
                 AND l.role = ANY (payers || 0::oid)
               GROUP BY l.role) s USING (role)
    LEFT JOIN LATERAL discreet._kept_for_others(request->>'dataset', payers, (request->>'label')::bigint, '-infinity',
                                                b.amount_limit - b.amount_spent - coalesce(s.amount, 0), 0) k ON b.role = 0
    WHERE b.dataset = request->>'dataset' AND b.role = ANY (payers || 0::oid));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_left(jsonb) IS 'What is left of a dataset, and for a role there.';
