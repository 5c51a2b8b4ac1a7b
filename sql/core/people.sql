-- Who the people of a table are, as foreign keys and references of multilevel tables show it. Keys that are not validated count:
-- what a column is meant to name does not depend on its rows.

-- discreet._unit_path: the way from a row of a protected table to its person: the parents, by the key that the row before
-- holds, and the column that leads on. `holds`: the foreign key is validated and enforced, and the parent is one of its people.
CREATE FUNCTION discreet._unit_path(protected discreet._protected_table)
RETURNS TABLE (step int, relation oid, key name, column_name name, holds boolean)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
ROWS 1
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    IF protected.parent IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH RECURSIVE way(step, child, held, parent, key, key_attnum, seen) AS (
        SELECT 1, protected.relation::oid, protected.unit_attnum, protected.parent::oid, protected.parent_key,
               protected.parent_key_attnum, ARRAY[protected.relation::oid]
        UNION ALL
        SELECT w.step + 1, p.relation::oid, p.unit_attnum, p.parent::oid, p.parent_key, p.parent_key_attnum, w.seen || p.relation::oid
        FROM way w JOIN discreet._protected_table p ON p.relation = w.parent
        WHERE p.parent IS NOT NULL AND p.relation <> ALL (w.seen))
    SELECT w.step, w.parent, w.key, p.unit,
           p.relation IS NOT NULL AND p.dataset = protected.dataset AND p.relation <> ALL (w.seen) AND EXISTS (
               SELECT FROM pg_constraint k
               WHERE k.contype = 'f' AND k.conrelid = w.child AND k.confrelid = w.parent AND k.conkey = ARRAY[w.held]
                 AND k.confkey = ARRAY[w.key_attnum] AND k.convalidated AND NOT k.condeferrable
                 AND NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgconstraint = k.oid AND t.tgenabled NOT IN ('O', 'A')))
    FROM way w LEFT JOIN discreet._protected_table p ON p.relation = w.parent AND p.policy = 'noisy'
    ORDER BY w.step;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._unit_path(discreet._protected_table) IS
'The parents over which a row of a protected table has its person.';

-- discreet._unit_text: the unit of a protected table, as protect() takes it.
CREATE FUNCTION discreet._unit_text(relation oid)
RETURNS text
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN (
        SELECT CASE WHEN p.parent IS NULL THEN p.unit::text
               ELSE quote_ident(p.unit) || (
                   SELECT string_agg(format(' -> %I.%I.%I', n.nspname, c.relname, w.column_name), '' ORDER BY w.step)
                   FROM discreet._unit_path(p) w JOIN pg_class c ON c.oid = w.relation JOIN pg_namespace n ON n.oid = c.relnamespace)
               END
        FROM discreet._protected_table p WHERE p.relation = $1);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._unit_text(oid) IS 'The unit of a protected table, as protect() takes it.';

-- discreet._columns_named: the column, and those of other tables whose values it holds: what its keys reference, and so on.
CREATE FUNCTION discreet._columns_named(holder oid, held name)
RETURNS TABLE (relation oid, column_name name)
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
ROWS 5
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    -- every charge comes here: most tables reference no other
    IF NOT EXISTS (SELECT FROM discreet._relation_family(holder) part, LATERAL (
                       SELECT FROM pg_constraint k WHERE k.conrelid = part AND k.contype = 'f' OFFSET 0) k)
       AND NOT EXISTS (SELECT FROM discreet._multilevel_reference r WHERE r.child = holder) THEN
        RETURN QUERY SELECT holder, held;
        RETURN;
    END IF;
    RETURN QUERY
    WITH RECURSIVE named(relation, column_name) AS (
        SELECT holder, held
        UNION
        SELECT step.relation, step.column_name FROM named n, LATERAL (
            SELECT k.confrelid AS relation, theirs.attname AS column_name
            FROM discreet._relation_family(n.relation) part
            JOIN pg_constraint k ON k.conrelid = part AND k.contype = 'f',
            unnest(k.conkey, k.confkey) AS pair(mine, theirs)
            JOIN pg_attribute mine ON mine.attnum = pair.mine
            JOIN pg_attribute theirs ON theirs.attnum = pair.theirs
            WHERE mine.attrelid = k.conrelid AND mine.attname = n.column_name AND theirs.attrelid = k.confrelid
            UNION ALL
            SELECT r.parent::oid, pair.theirs
            FROM discreet._multilevel_reference r JOIN discreet._multilevel_table t ON t.relation = r.parent,
            unnest(r.columns, t.key) AS pair(mine, theirs)
            WHERE r.child = n.relation AND pair.mine = n.column_name) step)
    SELECT n.relation, n.column_name FROM named n;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._columns_named(oid, name) IS
'The column, and those of other tables whose values it holds by foreign keys.';

-- discreet._people_above: the protected tables that rows of a table reference, by whatever column and over whatever tables.
CREATE FUNCTION discreet._people_above(relation oid)
RETURNS SETOF discreet._protected_table
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
ROWS 5
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH RECURSIVE above(relation) AS (
        SELECT $1
        UNION
        SELECT step.relation FROM above a, LATERAL (
            SELECT k.confrelid AS relation FROM discreet._relation_family(a.relation) part
            JOIN pg_constraint k ON k.conrelid = part AND k.contype = 'f'
            UNION ALL SELECT r.parent::oid FROM discreet._multilevel_reference r WHERE r.child = a.relation) step),
    part(relation) AS (SELECT f FROM above a, discreet._relation_family(a.relation) f)
    SELECT p.* FROM discreet._protected_table p
    WHERE p.policy <> 'public' AND p.relation IN (SELECT part.relation FROM part)
      AND p.relation NOT IN (SELECT discreet._relation_family($1))
    ORDER BY p.relation;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._people_above(oid) IS 'The protected tables that rows of a table reference, directly or not.';

-- discreet._wrong_unit: why the unit of a protected table does not name people, if foreign keys show that it names something else:
-- rows of a table whose people are named by another column, or of one without a declaration that references people.
CREATE FUNCTION discreet._wrong_unit(protected discreet._protected_table)
RETURNS TABLE (problem text, hint text)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
ROWS 1
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
DECLARE
    parent regclass;
    people regclass;
    person name;
    own name;
    start text;
BEGIN
    IF protected.parent IS NOT NULL THEN
        RETURN QUERY
        SELECT format('the people of %s are not known: its way to them is broken at %s', protected.relation, coalesce(w.relation::regclass::text, '?')),
               format('The foreign key must be validated, enforced and not deferrable, and %s protected in dataset %I.',
                      w.relation::regclass, protected.dataset)
        FROM discreet._unit_path(protected) w WHERE NOT w.holds ORDER BY w.step LIMIT 1;
        RETURN;
    END IF;
    IF protected.policy = 'public' OR (SELECT count(*) = 1 FROM discreet._columns_named(protected.relation, protected.unit)) THEN
        RETURN;
    END IF;
    start := format('column %I of %s does not name people: it references ', protected.unit, protected.relation);
    SELECT n.relation, p.relation, p.unit INTO parent, people, person
    FROM discreet._columns_named(protected.relation, protected.unit) n, discreet._relation_family(n.relation) f
    JOIN discreet._protected_table p ON p.relation = f AND p.policy <> 'public'
    WHERE (n.relation, n.column_name) <> (protected.relation::oid, protected.unit) AND n.column_name <> p.unit
    ORDER BY p.relation = protected.relation, p.relation LIMIT 1;
    IF people = protected.relation THEN
        RETURN QUERY SELECT start || format('another column of %s', parent),
                            'Take the column that is referenced, if it names the person of each row.';
        RETURN;
    ELSIF FOUND THEN
        -- a column that carries the person already, by its name or by a key of its own
        SELECT a.attname INTO own FROM pg_attribute a
        WHERE a.attrelid = protected.relation AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> protected.unit
          AND (a.attname = person OR EXISTS (
                  SELECT n.relation, n.column_name FROM discreet._columns_named(people, person) n
                  INTERSECT SELECT n.relation, n.column_name FROM discreet._columns_named(protected.relation, a.attname) n))
        ORDER BY a.attname <> person, a.attnum LIMIT 1;
        RETURN QUERY SELECT
            start || format('%s, whose people are named by %I', people, person),
            CASE WHEN own IS NOT NULL THEN format('Give unit => %L, if that column names the person of each row.', own)
            ELSE format('Give the way to the person: unit => %L.', quote_ident(protected.unit)
                        || format(' -> %I.%I.%I', n.nspname, c.relname, person)
                        || coalesce(substring(discreet._unit_text(q.relation) FROM ' -> .*'), '')) END
        FROM discreet._protected_table q JOIN pg_class c ON c.oid = q.relation JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE q.relation = people;
        RETURN;
    END IF;
    SELECT n.relation, p.relation INTO parent, people
    FROM discreet._columns_named(protected.relation, protected.unit) n, discreet._people_above(n.relation) p
    WHERE n.relation NOT IN (SELECT discreet._relation_family(protected.relation))
      AND NOT EXISTS (SELECT FROM discreet._protected_table q
                      WHERE q.policy <> 'public' AND q.relation IN (SELECT discreet._relation_family(n.relation)))
      -- the column names people after all, or those above are named by it
      AND NOT EXISTS (SELECT FROM discreet._columns_named(n.relation, n.column_name) t, discreet._relation_family(t.relation) f
                      JOIN discreet._protected_table q ON q.relation = f WHERE q.policy <> 'public' AND q.unit = t.column_name)
      AND NOT EXISTS (SELECT FROM discreet._columns_named(p.relation, p.unit) t
                      WHERE (t.relation, t.column_name) = (n.relation, n.column_name))
    ORDER BY n.relation, p.relation LIMIT 1;
    IF FOUND THEN
        RETURN QUERY SELECT
            start || format('%s, which is not protected and references people of %s', parent, people),
            format('Protect %s first, by the column that names its people.', parent);
    END IF;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._wrong_unit(discreet._protected_table) IS
'Why the unit of a protected table does not name people, if foreign keys show that it names something else.';

-- discreet._people_named: the columns by which the people of a protected table are known; NULL where no key tells, so that the
-- declaration of the dataset alone says who they are. Tables without a column in common are about different people.
CREATE FUNCTION discreet._people_named(protected discreet._protected_table)
RETURNS text[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
DECLARE
    named text[];
    references_some boolean;
BEGIN
    IF protected.parent IS NOT NULL THEN
        RETURN (SELECT discreet._people_named(p) FROM discreet._protected_table p
                WHERE p.relation = protected.parent AND p.relation <> protected.relation);
    END IF;
    -- a table holds the people of those that inherit from it, and a partition those of its whole
    WITH column_named AS MATERIALIZED (SELECT * FROM discreet._columns_named(protected.relation, protected.unit))
    SELECT array_agg(DISTINCT format('%s.%I', part.relation::regclass, n.column_name)), (SELECT count(*) > 1 FROM column_named)
    INTO named, references_some
    FROM column_named n, LATERAL (
        WITH RECURSIVE part(relation) AS (
            SELECT coalesce(pg_partition_root(n.relation)::oid, n.relation)
            UNION SELECT i.inhrelid FROM part p JOIN pg_inherits i ON i.inhparent = p.relation
                  JOIN pg_class c ON c.oid = i.inhrelid AND NOT c.relispartition)
        SELECT part.relation FROM part) part;
    IF references_some
       -- pg_constraint has no index for what is referenced
       OR EXISTS (SELECT FROM discreet._relation_family(protected.relation) f
                  JOIN pg_attribute a ON a.attrelid = f AND a.attname = protected.unit
                  JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = f AND d.refobjsubid = a.attnum
                       AND d.classid = 'pg_constraint'::regclass
                  JOIN pg_constraint k ON k.oid = d.objid AND k.contype = 'f' AND k.confrelid = f AND a.attnum = ANY (k.confkey))
       OR EXISTS (SELECT FROM discreet._multilevel_reference r JOIN discreet._multilevel_table t ON t.relation = r.parent
                  WHERE r.parent = protected.relation AND protected.unit = ANY (t.key))
       OR discreet._references_others(protected) THEN
        RETURN named;
    END IF;
    RETURN NULL;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._people_named(discreet._protected_table) IS
'The columns by which the people of a protected table are known; NULL where no key tells.';

-- discreet._references_others: whether rows of a protected table reference people whom its unit does not name.
CREATE FUNCTION discreet._references_others(protected discreet._protected_table)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN protected.parent IS NULL AND EXISTS (
        SELECT FROM discreet._people_above(protected.relation) p
        WHERE NOT EXISTS (
            SELECT n.relation, n.column_name FROM discreet._columns_named(protected.relation, protected.unit) n
            INTERSECT SELECT n.relation, n.column_name FROM discreet._columns_named(p.relation, p.unit) n));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._references_others(discreet._protected_table) IS
'Whether rows of a protected table reference people whom its unit does not name.';
