-- Views that questions name: what they are made of.

-- discreet._relations_of_view: the relations that the definition of a view names.
CREATE FUNCTION discreet._relations_of_view(view oid)
RETURNS SETOF oid
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
ROWS 3
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT DISTINCT d.refobjid
    FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
    WHERE r.ev_class = $1 AND r.rulename = '_RETURN' AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> $1;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._relations_of_view(oid) IS 'The relations that the definition of a view names.';

-- discreet._view_definition: the SELECT of a view, written with all schemas, and alike under all settings.
CREATE FUNCTION discreet._view_definition(view oid)
RETURNS text
LANGUAGE sql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET TimeZone = 'UTC'
SET DateStyle = 'ISO, MDY'
SET IntervalStyle = postgres
SET extra_float_digits = 1
SET bytea_output = hex
SET quote_all_identifiers = off
AS $sql$
    SELECT rtrim(pg_get_viewdef($1), ';')
$sql$;
COMMENT ON FUNCTION discreet._view_definition(oid) IS 'The SELECT of a view, written with all schemas.';
