-- The catalog follows ALTER TABLE and DROP: no stale row is left, and nothing protected falls out of protection.
-- extension/core_follow.c hears of every relation that is altered or dropped, and calls _follow for those that are known here.

-- discreet._find_columns: a row that comes with names only, as from a restored dump, gets its column numbers.
CREATE FUNCTION discreet._find_columns()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    IF TG_TABLE_NAME NOT IN ('_protected_column', '_audit_column') THEN
        NEW.unit_attnum := (SELECT attnum FROM pg_attribute
                            WHERE attrelid = NEW.relation AND attname = NEW.unit AND attnum > 0 AND NOT attisdropped);
        IF TG_TABLE_NAME = '_protected_table' THEN
            NEW.parent_key_attnum := (SELECT attnum FROM pg_attribute
                                      WHERE attrelid = NEW.parent AND attname = NEW.parent_key AND attnum > 0 AND NOT attisdropped);
        END IF;
        IF TG_TABLE_NAME IN ('_protected_table', '_past_protection') THEN
            NEW.time_attnum := (SELECT attnum FROM pg_attribute
                                WHERE attrelid = NEW.relation AND attname = NEW.time AND attnum > 0 AND NOT attisdropped);
        END IF;
    ELSE
        NEW.attnum := (SELECT attnum FROM pg_attribute
                       WHERE attrelid = NEW.relation AND attname = NEW.column_name AND attnum > 0 AND NOT attisdropped);
    END IF;
    RETURN NEW;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._find_columns() IS 'Finds the column numbers of a row that comes with names only.';

CREATE TRIGGER _find_columns BEFORE INSERT ON discreet._protected_table
FOR EACH ROW EXECUTE FUNCTION discreet._find_columns();
CREATE TRIGGER _find_columns BEFORE INSERT ON discreet._protected_column
FOR EACH ROW EXECUTE FUNCTION discreet._find_columns();
CREATE TRIGGER _find_columns BEFORE INSERT ON discreet._past_protection
FOR EACH ROW EXECUTE FUNCTION discreet._find_columns();
CREATE TRIGGER _find_columns BEFORE INSERT ON discreet._audit
FOR EACH ROW EXECUTE FUNCTION discreet._find_columns();
CREATE TRIGGER _find_columns BEFORE INSERT ON discreet._audit_column
FOR EACH ROW EXECUTE FUNCTION discreet._find_columns();

-- discreet._follow_parts: a detached partition, or a child that no longer inherits, is protected as its whole was; of these
-- relations and what inherits from them.
CREATE FUNCTION discreet._follow_parts(relations oid[])
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
DECLARE
    members oid[] := ARRAY(
        WITH RECURSIVE member(relation) AS (
            SELECT unnest($1) UNION SELECT i.inhrelid FROM member m JOIN pg_inherits i ON i.inhparent = m.relation)
        SELECT relation FROM member);
BEGIN
    -- tables ON COMMIT DROP go when nothing can be followed any more
    DELETE FROM discreet._protected_part p
    WHERE p.whole = ANY ($1) AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = p.relation);

    WITH RECURSIVE above(relation, whole) AS (
        SELECT i.inhrelid, i.inhparent FROM pg_inherits i WHERE i.inhrelid = ANY (members)
        UNION SELECT above.relation, i.inhparent FROM above JOIN pg_inherits i ON i.inhrelid = above.whole),
    gone AS (
        DELETE FROM discreet._protected_part p
        WHERE p.relation = ANY (members)
          AND NOT EXISTS (SELECT FROM above WHERE above.relation = p.relation AND above.whole = p.whole)
        RETURNING p.relation, p.whole),
    kept AS (
        INSERT INTO discreet._protected_table (relation, dataset, unit, parent, parent_key, policy, max_groups, max_rows, max_epsilon, max_delta,
                                               unit_epsilon, min_group, fallback, max_total_rows, "time")
        SELECT g.relation, w.dataset, w.unit, w.parent, w.parent_key, w.policy, w.max_groups, w.max_rows, w.max_epsilon, w.max_delta,
               w.unit_epsilon, w.min_group, w.fallback, w.max_total_rows, w.time
        FROM gone g JOIN discreet._protected_table w ON w.relation = g.whole JOIN pg_class c ON c.oid = g.relation
        ON CONFLICT (relation) DO NOTHING
        RETURNING relation),
    past AS (
        INSERT INTO discreet._past_protection (relation, dataset, unit, "time")
        SELECT g.relation, w.dataset, CASE WHEN w.policy = 'personal' THEN w.unit END, w.time FROM gone g JOIN discreet._protected_table w ON w.relation = g.whole
        WHERE w.dataset IS NOT NULL
        ON CONFLICT (relation) DO NOTHING)
    INSERT INTO discreet._protected_column (relation, column_name, lower, upper, categories, others, visibility)
    SELECT g.relation, c.column_name, c.lower, c.upper, c.categories, c.others, c.visibility
    FROM gone g JOIN kept USING (relation) JOIN discreet._protected_column c ON c.relation = g.whole;

    WITH RECURSIVE above(relation, whole) AS (
        SELECT i.inhrelid, i.inhparent FROM pg_inherits i WHERE i.inhrelid = ANY (members)
        UNION SELECT above.relation, i.inhparent FROM above JOIN pg_inherits i ON i.inhrelid = above.whole)
    INSERT INTO discreet._protected_part (relation, whole)
    SELECT DISTINCT ON (above.relation) above.relation, above.whole
    FROM above JOIN discreet._protected_table p ON p.relation = above.whole
    WHERE NOT EXISTS (SELECT FROM discreet._protected_part known WHERE known.relation = above.relation)
    ORDER BY above.relation, above.whole
    ON CONFLICT (relation) DO NOTHING;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._follow_parts(oid[]) IS
'A detached partition, or a child that no longer inherits, is protected as its whole was.';

-- discreet._find_parts: the parts of a table that is protected, by a curator or by a restored dump, are remembered.
CREATE FUNCTION discreet._find_parts()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    -- _follow_parts protects tables, too
    IF pg_trigger_depth() = 1 THEN
        PERFORM discreet._follow_parts(ARRAY(SELECT a.relation::oid FROM added a));
    END IF;
    RETURN NULL;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._find_parts() IS 'Remembers the parts of a table that is protected.';

CREATE TRIGGER _find_parts AFTER INSERT ON discreet._protected_table REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION discreet._find_parts();

-- discreet._follow_audits: histories know the names of their tables and columns.
CREATE FUNCTION discreet._follow_audits(relations oid[])
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    UPDATE discreet._audit h SET unit = a.attname
    FROM pg_attribute a
    WHERE h.relation = ANY ($1)
      AND a.attrelid = h.relation AND a.attnum = h.unit_attnum AND a.attname <> h.unit AND NOT a.attisdropped;
    UPDATE discreet._audit_column c SET column_name = a.attname
    FROM pg_attribute a
    WHERE c.relation = ANY ($1)
      AND a.attrelid = c.relation AND a.attnum = c.attnum AND a.attname <> c.column_name AND NOT a.attisdropped;
    INSERT INTO discreet._audit_column (relation, number, column_name)
    SELECT h.relation, row_number() OVER (PARTITION BY h.relation ORDER BY a.attnum)
        + coalesce((SELECT max(c.number) FROM discreet._audit_column c WHERE c.relation = h.relation), 0), a.attname
    FROM discreet._audit h JOIN pg_attribute a ON a.attrelid = h.relation AND a.attnum > 0 AND NOT a.attisdropped
    WHERE h.relation = ANY ($1)
      AND NOT EXISTS (SELECT FROM discreet._audit_column c WHERE c.relation = h.relation AND c.attnum = a.attnum);
    INSERT INTO discreet._audit_name (schema_name, table_name, relation, dataset)
    SELECT s.nspname, c.relname, o.relation, min(o.dataset)
    FROM discreet._audit_name o JOIN pg_class c ON c.oid = o.relation JOIN pg_namespace s ON s.oid = c.relnamespace
    WHERE o.relation = ANY ($1)
    GROUP BY 1, 2, 3
    ON CONFLICT DO NOTHING;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._follow_audits(oid[]) IS 'Histories of audited tables know the names of their tables and columns.';

-- discreet._forget: dropped tables and views take along what was declared of them.
CREATE FUNCTION discreet._forget(dropped oid[])
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    DELETE FROM discreet._protected_column c WHERE c.relation = ANY ($1);
    DELETE FROM discreet._protected_part p WHERE p.relation = ANY ($1) OR p.whole = ANY ($1);
    DELETE FROM discreet._past_protection p WHERE p.relation = ANY ($1);
    DELETE FROM discreet._limit_turn t WHERE t.relation = ANY ($1);
    DELETE FROM discreet._exempt_view v WHERE v.view = ANY ($1);
    DELETE FROM discreet._response r USING discreet._response_column c WHERE c.relation = ANY ($1) AND r.id = c.id;
    DELETE FROM discreet._response_column c WHERE c.relation = ANY ($1);
    DELETE FROM discreet._audit_column c WHERE c.relation = ANY ($1);
    WITH gone AS (DELETE FROM discreet._audit_name n WHERE n.relation = ANY ($1) RETURNING n.*)
    INSERT INTO discreet._audit_name (schema_name, table_name, relation, dataset)
    SELECT g.schema_name, g.table_name, 0, g.dataset FROM gone g
    WHERE EXISTS (SELECT FROM discreet._audit_event e WHERE e.relation = g.relation)
    ON CONFLICT DO NOTHING;
    DELETE FROM discreet._audit a WHERE a.relation = ANY ($1);
    DELETE FROM discreet._audit_event e WHERE e.relation = ANY ($1);
    DELETE FROM discreet._audit_base b WHERE b.relation = ANY ($1);
    DELETE FROM discreet._audit_known k WHERE k.relation = ANY ($1);
    DELETE FROM discreet._protected_table p WHERE p.relation = ANY ($1);
    DELETE FROM discreet._multilevel_reference r WHERE r.child = ANY ($1) OR r.parent = ANY ($1);
    DELETE FROM discreet._multilevel_trigger t WHERE t.relation = ANY ($1);
    DELETE FROM discreet._multilevel_table t WHERE t.relation = ANY ($1);
    DELETE FROM discreet._data_key k USING discreet._sealed_column c WHERE c.base = ANY ($1) AND k.owner = c.id;
    DELETE FROM discreet._sealed_column c WHERE c.base = ANY ($1);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._forget(oid[]) IS 'Dropped tables and views take along what was declared of them.';

-- discreet._follow: what is declared of these relations follows what PostgreSQL's catalog says of them now. It does not matter
-- what happened to them, nor whether something did. A unit cannot be dropped, nor can rows come into two datasets.
CREATE FUNCTION discreet._follow(relations oid[])
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    dropped oid[] := ARRAY(SELECT r FROM unnest($1) r WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = r));
    dropped_unit record;
    divided record;
BEGIN
    SELECT p.relation, p.unit INTO dropped_unit
    FROM discreet._protected_table p JOIN pg_attribute a ON a.attrelid = p.relation AND a.attnum = p.unit_attnum
    WHERE p.relation = ANY ($1) AND a.attisdropped
    UNION ALL
    SELECT p.relation, p.time
    FROM discreet._protected_table p JOIN pg_attribute a ON a.attrelid = p.relation AND a.attnum = p.time_attnum
    WHERE p.relation = ANY ($1) AND a.attisdropped
    UNION ALL
    SELECT p.parent, p.parent_key
    FROM discreet._protected_table p JOIN pg_attribute a ON a.attrelid = p.parent AND a.attnum = p.parent_key_attnum
    WHERE p.parent = ANY ($1) AND a.attisdropped;
    IF FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'dependent_objects_still_exist',
            MESSAGE = format('column %I of %s names the people of a protected table, or the time of its rows', dropped_unit.unit, dropped_unit.relation),
            HINT = format('First call discreet.unprotect(%L).', dropped_unit.relation::text);
    END IF;
    -- a part that has left is protected as its whole was, which may be dropped
    PERFORM discreet._follow_parts($1);
    IF cardinality(dropped) > 0 THEN
        PERFORM discreet._forget(dropped);
    END IF;
    DELETE FROM discreet._protected_column c USING pg_attribute a
    WHERE c.relation = ANY ($1) AND a.attrelid = c.relation AND a.attnum = c.attnum AND a.attisdropped;

    UPDATE discreet._protected_table p SET unit = a.attname
    FROM pg_attribute a
    WHERE p.relation = ANY ($1) AND a.attrelid = p.relation AND a.attnum = p.unit_attnum AND a.attname <> p.unit;
    UPDATE discreet._protected_table p SET parent_key = a.attname
    FROM pg_attribute a
    WHERE p.parent = ANY ($1) AND a.attrelid = p.parent AND a.attnum = p.parent_key_attnum AND a.attname <> p.parent_key;
    UPDATE discreet._protected_table p SET "time" = a.attname
    FROM pg_attribute a
    WHERE p.relation = ANY ($1) AND a.attrelid = p.relation AND a.attnum = p.time_attnum AND a.attname <> p.time AND NOT a.attisdropped;
    UPDATE discreet._past_protection p SET "time" = a.attname
    FROM pg_attribute a
    WHERE p.relation = ANY ($1) AND a.attrelid = p.relation AND a.attnum = p.time_attnum AND a.attname <> p.time AND NOT a.attisdropped;
    UPDATE discreet._past_protection p SET unit = a.attname
    FROM pg_attribute a
    WHERE p.relation = ANY ($1)
      AND a.attrelid = p.relation AND a.attnum = p.unit_attnum AND a.attname <> p.unit AND NOT a.attisdropped;
    UPDATE discreet._protected_column c SET column_name = a.attname
    FROM pg_attribute a
    WHERE c.relation = ANY ($1) AND a.attrelid = c.relation AND a.attnum = c.attnum AND a.attname <> c.column_name;
    PERFORM discreet._follow_audits($1);

    -- rows that are asked about through several tables are paid from one budget
    WITH RECURSIVE member(relation) AS (
        SELECT unnest($1) UNION SELECT i.inhrelid FROM member m JOIN pg_inherits i ON i.inhparent = m.relation),
    above(relation, whole) AS (
        SELECT m.relation, m.relation FROM member m
        UNION SELECT a.relation, i.inhparent FROM above a JOIN pg_inherits i ON i.inhrelid = a.whole)
    SELECT a.relation::regclass AS part, string_agg(format('%s (dataset %I)', p.relation, p.dataset), ', ' ORDER BY p.relation::text) AS wholes
    INTO divided
    FROM above a JOIN discreet._protected_table p ON p.relation = a.whole AND p.policy <> 'public'
    GROUP BY a.relation HAVING count(DISTINCT p.dataset) > 1
    ORDER BY a.relation LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = format('the people of %s would have two budgets: its rows are rows of %s', divided.part, divided.wholes),
            HINT = 'First call discreet.unprotect() for one of them.';
    END IF;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._follow(oid[]) IS
'What is declared of these relations follows what the catalog says of them now; a unit column cannot be dropped.';

-- discreet._declarations_changed: what gate workers and sessions have kept of declarations is read again.
CREATE FUNCTION discreet._declarations_changed()
RETURNS trigger
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_declarations_changed';
COMMENT ON FUNCTION discreet._declarations_changed() IS 'Lets gate workers and sessions read declarations again.';

DO $plpgsql$
DECLARE
    source text;
BEGIN
    -- charges write to _budget as well, but only what is spent
    FOREACH source IN ARRAY ARRAY['UPDATE ON discreet._dataset', 'UPDATE ON discreet._protected_table',
            'UPDATE ON discreet._protected_column', 'UPDATE ON discreet._multilevel_table', 'UPDATE ON discreet._multilevel_reference',
            'UPDATE OF dataset, role, granted, epsilon_limit, delta_limit, amount_limit ON discreet._budget'] LOOP
        EXECUTE pg_catalog.format(
            'CREATE TRIGGER _declarations_changed AFTER INSERT OR DELETE OR TRUNCATE OR %s
             FOR EACH STATEMENT EXECUTE FUNCTION discreet._declarations_changed()', source);
        EXECUTE pg_catalog.format('ALTER TABLE %s ENABLE ALWAYS TRIGGER _declarations_changed',
                                  pg_catalog.split_part(source, ' ON ', 2));
    END LOOP;
END
$plpgsql$;

-- discreet._known_tables_changed: lets all sessions read again of which relations something is known.
CREATE FUNCTION discreet._known_tables_changed()
RETURNS trigger
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_known_tables_changed';
COMMENT ON FUNCTION discreet._known_tables_changed() IS 'Lets all sessions read again of which relations something is known.';

-- the tables of extension/core_follow.c; always, since rows also come by a restore that switches triggers off
DO $plpgsql$
DECLARE
    source text;
BEGIN
    FOREACH source IN ARRAY ARRAY['_protected_table', '_protected_part', '_past_protection', '_exempt_view', '_limit_turn',
                                  '_response_column', '_multilevel_table', '_multilevel_reference', '_audit', '_audit_name',
                                  '_sealed_column']
    LOOP
        EXECUTE pg_catalog.format(
            'CREATE TRIGGER _known_tables_changed AFTER INSERT ON discreet.%I
             FOR EACH ROW EXECUTE FUNCTION discreet._known_tables_changed()', source);
        EXECUTE pg_catalog.format('ALTER TABLE discreet.%I ENABLE ALWAYS TRIGGER _known_tables_changed', source);
    END LOOP;
END
$plpgsql$;

-- discreet._load_before_ddl: loads the library into a session that began without it, before a command that must be followed.
CREATE FUNCTION discreet._load_before_ddl()
RETURNS event_trigger
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_load_before_ddl';
COMMENT ON FUNCTION discreet._load_before_ddl() IS
'Loads the library into a session that began without it, before a command that must be followed.';

CREATE EVENT TRIGGER discreet_load_before_ddl ON ddl_command_start
EXECUTE FUNCTION discreet._load_before_ddl();
ALTER EVENT TRIGGER discreet_load_before_ddl ENABLE ALWAYS;
