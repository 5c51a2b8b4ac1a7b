-- The catalog follows ALTER TABLE and DROP: no stale row is left, and nothing protected falls out of protection.

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

-- discreet._follow_parts: a detached partition, or a child that no longer inherits, is protected as its whole was.
CREATE FUNCTION discreet._follow_parts()
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    WITH RECURSIVE part(relation, whole) AS (
        SELECT i.inhrelid, p.relation::oid FROM discreet._protected_table p JOIN pg_inherits i ON i.inhparent = p.relation
        UNION SELECT i.inhrelid, part.whole FROM part JOIN pg_inherits i ON i.inhparent = part.relation),
    gone AS (
        DELETE FROM discreet._protected_part p
        WHERE NOT EXISTS (SELECT FROM part WHERE part.relation = p.relation AND part.whole = p.whole)
        RETURNING p.relation, p.whole),
    kept AS (
        INSERT INTO discreet._protected_table (relation, dataset, unit, policy, max_groups, max_rows, max_epsilon, max_delta,
                                               unit_epsilon, min_group, fallback, max_total_rows)
        SELECT g.relation, w.dataset, w.unit, w.policy, w.max_groups, w.max_rows, w.max_epsilon, w.max_delta,
               w.unit_epsilon, w.min_group, w.fallback, w.max_total_rows
        FROM gone g JOIN discreet._protected_table w ON w.relation = g.whole JOIN pg_class c ON c.oid = g.relation
        ON CONFLICT (relation) DO NOTHING
        RETURNING relation),
    past AS (
        INSERT INTO discreet._past_protection (relation, dataset, unit)
        SELECT g.relation, w.dataset, CASE WHEN w.policy = 'personal' THEN w.unit END FROM gone g JOIN discreet._protected_table w ON w.relation = g.whole
        WHERE w.dataset IS NOT NULL
        ON CONFLICT (relation) DO NOTHING)
    INSERT INTO discreet._protected_column (relation, column_name, lower, upper, categories, visibility)
    SELECT g.relation, c.column_name, c.lower, c.upper, c.categories, c.visibility
    FROM gone g JOIN kept USING (relation) JOIN discreet._protected_column c ON c.relation = g.whole;

    WITH RECURSIVE part(relation, whole) AS (
        SELECT i.inhrelid, p.relation::oid FROM discreet._protected_table p JOIN pg_inherits i ON i.inhparent = p.relation
        UNION SELECT i.inhrelid, part.whole FROM part JOIN pg_inherits i ON i.inhparent = part.relation)
    INSERT INTO discreet._protected_part (relation, whole)
    SELECT DISTINCT ON (part.relation) part.relation, part.whole FROM part
    WHERE NOT EXISTS (SELECT FROM discreet._protected_part known WHERE known.relation = part.relation)
    ORDER BY part.relation, part.whole
    ON CONFLICT (relation) DO NOTHING;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._follow_parts() IS
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
        PERFORM discreet._follow_parts();
    END IF;
    RETURN NULL;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._find_parts() IS 'Remembers the parts of a table that is protected.';

CREATE TRIGGER _find_parts AFTER INSERT ON discreet._protected_table
FOR EACH STATEMENT EXECUTE FUNCTION discreet._find_parts();

-- discreet._follow_audits: histories know the names of their tables and columns.
CREATE FUNCTION discreet._follow_audits()
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
    WHERE a.attrelid = h.relation AND a.attnum = h.unit_attnum AND a.attname <> h.unit AND NOT a.attisdropped;
    UPDATE discreet._audit_column c SET column_name = a.attname
    FROM pg_attribute a
    WHERE a.attrelid = c.relation AND a.attnum = c.attnum AND a.attname <> c.column_name AND NOT a.attisdropped;
    INSERT INTO discreet._audit_column (relation, number, column_name)
    SELECT h.relation, row_number() OVER (PARTITION BY h.relation ORDER BY a.attnum)
        + coalesce((SELECT max(c.number) FROM discreet._audit_column c WHERE c.relation = h.relation), 0), a.attname
    FROM discreet._audit h JOIN pg_attribute a ON a.attrelid = h.relation AND a.attnum > 0 AND NOT a.attisdropped
    WHERE NOT EXISTS (SELECT FROM discreet._audit_column c WHERE c.relation = h.relation AND c.attnum = a.attnum);
    INSERT INTO discreet._audit_name (schema_name, table_name, relation, dataset)
    SELECT s.nspname, c.relname, o.relation, min(o.dataset)
    FROM discreet._audit_name o JOIN pg_class c ON c.oid = o.relation JOIN pg_namespace s ON s.oid = c.relnamespace
    GROUP BY 1, 2, 3
    ON CONFLICT DO NOTHING;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._follow_audits() IS 'Histories of audited tables know the names of their tables and columns.';

-- discreet._follow_tables: after CREATE and ALTER TABLE, names and parts in the catalog follow.
CREATE FUNCTION discreet._follow_tables()
RETURNS event_trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    UPDATE discreet._protected_table p SET unit = a.attname
    FROM pg_attribute a
    WHERE a.attrelid = p.relation AND a.attnum = p.unit_attnum AND a.attname <> p.unit;
    UPDATE discreet._past_protection p SET unit = a.attname
    FROM pg_attribute a
    WHERE a.attrelid = p.relation AND a.attnum = p.unit_attnum AND a.attname <> p.unit AND NOT a.attisdropped;
    UPDATE discreet._protected_column c SET column_name = a.attname
    FROM pg_attribute a
    WHERE a.attrelid = c.relation AND a.attnum = c.attnum AND a.attname <> c.column_name;
    PERFORM discreet._follow_parts();
    PERFORM discreet._follow_audits();
END
$plpgsql$;
COMMENT ON FUNCTION discreet._follow_tables() IS 'After CREATE and ALTER TABLE: names and parts in the catalog follow.';

-- discreet._forget_dropped: a dropped table or column takes its declarations along; a unit cannot be dropped.
CREATE FUNCTION discreet._forget_dropped()
RETURNS event_trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    dropped_unit record;
BEGIN
    SELECT p.relation, p.unit INTO dropped_unit
    FROM discreet._protected_table p
    JOIN pg_event_trigger_dropped_objects() d
      ON d.classid = 'pg_class'::regclass AND d.objid = p.relation AND d.objsubid = p.unit_attnum;
    IF FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'dependent_objects_still_exist',
            MESSAGE = format('column %I of %s names the people of a protected table', dropped_unit.unit, dropped_unit.relation),
            HINT = format('First call discreet.unprotect(%L).', dropped_unit.relation::text);
    END IF;
    DELETE FROM discreet._protected_column c
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = c.relation AND d.objsubid IN (0, c.attnum);
    DELETE FROM discreet._protected_part p
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = p.relation AND d.objsubid = 0;
    DELETE FROM discreet._past_protection p
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = p.relation AND d.objsubid = 0;
    DELETE FROM discreet._limit_turn t
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = t.relation AND d.objsubid = 0;
    DELETE FROM discreet._exempt_view v
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = v.view AND d.objsubid = 0;
    DELETE FROM discreet._response r
    USING pg_event_trigger_dropped_objects() d, discreet._response_column c
    WHERE d.classid = 'pg_class'::regclass AND d.objid = c.relation AND d.objsubid = 0 AND r.id = c.id;
    DELETE FROM discreet._response_column c
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = c.relation AND d.objsubid = 0;
    DELETE FROM discreet._audit_column c
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = c.relation AND d.objsubid = 0;
    WITH gone AS (
        DELETE FROM discreet._audit_name n
        USING pg_event_trigger_dropped_objects() d
        WHERE d.classid = 'pg_class'::regclass AND d.objid = n.relation AND d.objsubid = 0
        RETURNING n.*)
    INSERT INTO discreet._audit_name (schema_name, table_name, relation, dataset)
    SELECT g.schema_name, g.table_name, 0, g.dataset FROM gone g
    WHERE EXISTS (SELECT FROM discreet._audit_event e WHERE e.relation = g.relation)
    ON CONFLICT DO NOTHING;
    DELETE FROM discreet._audit a
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = a.relation AND d.objsubid = 0;
    DELETE FROM discreet._audit_event e
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = e.relation AND d.objsubid = 0;
    DELETE FROM discreet._audit_base b
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = b.relation AND d.objsubid = 0;
    DELETE FROM discreet._audit_known k
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = k.relation AND d.objsubid = 0;
    DELETE FROM discreet._protected_table p
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = p.relation AND d.objsubid = 0;
    DELETE FROM discreet._multilevel_reference r
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid IN (r.child, r.parent) AND d.objsubid = 0;
    DELETE FROM discreet._multilevel_table t
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = t.relation AND d.objsubid = 0;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._forget_dropped() IS
'After DROP: a dropped table or column takes its declarations along; a unit column cannot be dropped.';

-- no list of tags: ALTER VIEW, ALTER MATERIALIZED VIEW and ALTER TYPE rename columns of tables too
CREATE EVENT TRIGGER discreet_follow_tables ON ddl_command_end
EXECUTE FUNCTION discreet._follow_tables();

CREATE EVENT TRIGGER discreet_forget_dropped ON sql_drop
EXECUTE FUNCTION discreet._forget_dropped();
