-- Plain SQL: what the hook of the C module asks the catalog.

-- discreet._guards: whether the gate stands before a table, for a role that holds a budget, where a view (0: none) names it.
CREATE FUNCTION discreet._guards(asker oid, relation oid, view oid)
RETURNS boolean
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN EXISTS (SELECT FROM discreet._protection_of($2) p
                   WHERE discreet._holds_budget((SELECT rolname FROM pg_roles WHERE oid = $1), p.dataset))
       AND NOT EXISTS (SELECT FROM discreet._exempt_view e WHERE e.view = $3);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._guards(oid, oid, oid) IS
'Whether the gate stands before a table, for a role that holds a budget, where a view (0: none) names it.';

-- discreet._parameter: a parameter as a text that the gate reads alike under all settings.
CREATE FUNCTION discreet._parameter(value anyelement)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET TimeZone = 'UTC'
SET DateStyle = 'ISO, MDY'
SET IntervalStyle = postgres
SET extra_float_digits = 1
SET bytea_output = hex
AS $sql$
    SELECT value::text
$sql$;
COMMENT ON FUNCTION discreet._parameter(anyelement) IS 'A parameter as a text that the gate reads alike under all settings.';
