-- What tools are told of tables that can be asked about. information_schema lists what a role holds a privilege on, and there is
-- none that would tell nothing: REFERENCES tells who is there, INSERT which keys are taken, UPDATE how many rows match. So
-- extension/gate_discovery.c reads views of ours in place of some of the catalog's, for analysts.

-- discreet._askable: the tables that the caller may ask about and holds no privilege on.
CREATE FUNCTION discreet._askable()
RETURNS TABLE (relation oid)
LANGUAGE plpgsql
STABLE
PARALLEL RESTRICTED
SECURITY DEFINER
ROWS 20
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
DECLARE
    asker oid := discreet._caller();
    asker_name name := pg_get_userbyid(asker);
    held text[] := ARRAY(SELECT d.dataset FROM discreet._dataset d WHERE discreet._holds_budget(asker_name, d.dataset));
BEGIN
    RETURN QUERY
    SELECT c.oid
    FROM discreet._protected_table p JOIN pg_class c ON c.oid = p.relation
    WHERE (p.dataset = ANY (held) OR p.policy = 'public' AND cardinality(held) > 0)
      AND has_schema_privilege(asker, c.relnamespace, 'USAGE')
      AND NOT (pg_has_role(asker, c.relowner, 'USAGE')
               OR has_table_privilege(asker, c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
               OR has_any_column_privilege(asker, c.oid, 'SELECT, INSERT, UPDATE, REFERENCES'));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._askable() IS 'The tables that the caller may ask about and holds no privilege on.';

-- discreet._askable_tables: these, as information_schema.tables would list them.
CREATE FUNCTION discreet._askable_tables()
RETURNS SETOF information_schema.tables
LANGUAGE sql
STABLE
PARALLEL RESTRICTED
SECURITY DEFINER
ROWS 20
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT t.* FROM information_schema.tables t
    WHERE (t.table_schema, t.table_name) IN (
        SELECT n.nspname, c.relname FROM discreet._askable() a JOIN pg_class c ON c.oid = a.relation
        JOIN pg_namespace n ON n.oid = c.relnamespace)
$sql$;
COMMENT ON FUNCTION discreet._askable_tables() IS
'The tables that the caller may ask about, as information_schema.tables would list them.';

-- discreet._askable_columns: their columns without the hidden ones, as information_schema.columns would list them.
CREATE FUNCTION discreet._askable_columns()
RETURNS SETOF information_schema.columns
LANGUAGE sql
STABLE
PARALLEL RESTRICTED
SECURITY DEFINER
ROWS 200
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT t.* FROM information_schema.columns t
    WHERE (t.table_schema, t.table_name, t.ordinal_position) IN (
        SELECT n.nspname, c.relname, m.attnum FROM discreet._askable() a JOIN pg_class c ON c.oid = a.relation
        JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute m ON m.attrelid = c.oid
        WHERE m.attnum > 0 AND NOT discreet._is_hidden(c.oid, m.attnum))
$sql$;
COMMENT ON FUNCTION discreet._askable_columns() IS
'Columns of the tables that the caller may ask about, as information_schema.columns would list them.';

-- discreet._information_tables: what analysts read in place of information_schema.tables, column by column the same, without our internal views.
CREATE VIEW discreet._information_tables AS
SELECT t.* FROM information_schema.tables t WHERE NOT (t.table_schema = 'discreet' AND t.table_name LIKE '\_%')
UNION ALL SELECT t.* FROM discreet._askable_tables() t;
COMMENT ON VIEW discreet._information_tables IS 'What analysts read in place of information_schema.tables.';

-- discreet._information_columns: what analysts read in place of information_schema.columns.
CREATE VIEW discreet._information_columns AS
SELECT c.* FROM information_schema.columns c WHERE NOT (c.table_schema = 'discreet' AND c.table_name LIKE '\_%')
UNION ALL SELECT c.* FROM discreet._askable_columns() c;
COMMENT ON VIEW discreet._information_columns IS 'What analysts read in place of information_schema.columns.';

-- discreet._listed_tables, discreet._listed_views: what analysts read in place of pg_tables and pg_views, without our internal ones.
CREATE VIEW discreet._listed_tables AS
SELECT t.* FROM pg_catalog.pg_tables t WHERE NOT (t.schemaname = 'discreet' AND t.tablename LIKE '\_%');
COMMENT ON VIEW discreet._listed_tables IS 'What analysts read in place of pg_tables.';
CREATE VIEW discreet._listed_views AS
SELECT v.* FROM pg_catalog.pg_views v WHERE NOT (v.schemaname = 'discreet' AND v.viewname LIKE '\_%');
COMMENT ON VIEW discreet._listed_views IS 'What analysts read in place of pg_views.';

-- discreet._asks: whether a table is listed for its reader because of what the caller may ask; asker: a role that is asked for by name.
CREATE FUNCTION discreet._asks(relation oid, privilege text, asker text)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL RESTRICTED
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN lower(btrim($2)) = 'select'
       AND EXISTS (SELECT FROM discreet._protected_table p WHERE p.relation = $1)
       AND COALESCE($3 = pg_get_userbyid(discreet._caller()), true)
       AND $1 IN (SELECT a.relation FROM discreet._askable() a);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._asks(oid, text, text) IS
'Whether listings by privilege show a table to the caller, who may ask about it.';

-- discreet._bound_text: a bound as the type of its column is written.
CREATE FUNCTION discreet._bound_text(bound numeric, type oid)
RETURNS text
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET DateStyle = 'ISO, YMD'
SET TimeZone = 'UTC'
AS $sql$
    SELECT CASE WHEN type = 'date'::regtype THEN (date '1970-01-01' + bound::int)::text
                WHEN type IN ('timestamp'::regtype, 'timestamptz'::regtype) THEN (timestamp 'epoch' + bound::float8 * interval '1 second')::text
                ELSE trim_scale(bound)::text END
$sql$;
COMMENT ON FUNCTION discreet._bound_text(numeric, oid) IS 'A bound as the type of its column is written.';

-- discreet._catalog: the rows of discreet.catalog.
CREATE FUNCTION discreet._catalog()
RETURNS TABLE (
    table_name regclass,
    column_name name,
    type text,
    dataset text,
    policy text,
    lower text,
    upper text,
    categories text[],
    others text,
    can_be_asked text,
    comment text)
LANGUAGE sql
STABLE
PARALLEL RESTRICTED
SECURITY DEFINER
ROWS 200
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT p.relation AS table_name, a.attname AS column_name, format_type(a.atttypid, a.atttypmod) AS type, p.dataset, p.policy,
           discreet._bound_text(coalesce(c.lower, said.lower), a.atttypid) AS lower,
           discreet._bound_text(coalesce(c.upper, said.upper), a.atttypid) AS upper,
           coalesce(c.categories, said.categories) AS categories, c.others,
           CASE WHEN p.policy = 'public' THEN 'anything'
                WHEN a.attnum = p.unit_attnum AND p.parent IS NULL THEN 'count(DISTINCT), joins: names the person'
                WHEN EXISTS (SELECT FROM discreet._unique_combinations(p.relation) u WHERE u.columns = ARRAY[a.attname])
                     THEN 'count(DISTINCT), joins: unique'
                WHEN coalesce(c.categories, said.categories) IS NOT NULL OR a.atttypid = 'bool'::regtype THEN 'filters, GROUP BY'
                WHEN coalesce(c.lower, said.lower) IS NOT NULL THEN 'sum, avg, quantiles, filters, GROUP BY with delta'
                WHEN t.typcategory = 'N' THEN 'filters, GROUP BY with delta; sums need bounds'
                ELSE 'filters, GROUP BY with delta' END AS can_be_asked,
           col_description(p.relation, a.attnum) AS comment
    FROM discreet._protected_table p
    JOIN pg_class k ON k.oid = p.relation
    JOIN pg_attribute a ON a.attrelid = p.relation AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type t ON t.oid = a.atttypid
    LEFT JOIN discreet._protected_column c ON c.relation = p.relation AND c.attnum = a.attnum
    -- where nothing is declared, type and CHECKs are; not of what names people
    LEFT JOIN LATERAL (
        SELECT i.lower::numeric, i.upper::numeric, i.categories
        FROM (SELECT w.labels, w.checks FROM discreet._constrained_columns(p.relation) w
              WHERE w.attnum = a.attnum AND p.policy <> 'public' AND a.attnum <> p.unit_attnum
                AND NOT EXISTS (SELECT FROM discreet._unique_combinations(p.relation) u WHERE u.columns = ARRAY[a.attname])
              OFFSET 0) w
             CROSS JOIN discreet._implied(discreet._base_type(a.atttypid, a.attcollation), w.labels, w.checks) i) said ON true
    CROSS JOIN (SELECT discreet._caller() AS role) asker
    WHERE c.visibility IS DISTINCT FROM 'hidden'
      AND (pg_has_role(asker.role, k.relowner, 'USAGE')
           OR has_schema_privilege(asker.role, k.relnamespace, 'USAGE')
              AND (p.policy = 'public' OR discreet._holds_budget(pg_get_userbyid(asker.role), p.dataset)))
    ORDER BY p.relation::text, a.attnum
$sql$;
COMMENT ON FUNCTION discreet._catalog() IS 'The rows of discreet.catalog.';

-- discreet.catalog: tables and columns that the caller may ask about, what is declared of them, and what can be asked; for people.
CREATE VIEW discreet.catalog WITH (security_barrier) AS
SELECT c.table_name, c.column_name, c.type, c.dataset, c.policy, c.lower, c.upper, c.categories, c.others, c.can_be_asked, c.comment
FROM discreet._catalog() c;
COMMENT ON VIEW discreet.catalog IS
'Tables and columns that the caller may ask about: bounds, categories, and what can be asked. Hidden columns are left out.';
