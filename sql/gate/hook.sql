-- Plain SQL: what the hook of the C module asks the catalog.

-- discreet._guards: whether the gate answers for tables that the current user may not read, and that are named directly or by a view.
CREATE FUNCTION discreet._guards(view oid, tables oid[])
RETURNS boolean
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    RETURN NOT EXISTS (SELECT FROM discreet._exempt_view e WHERE e.view = $1)
       AND EXISTS (SELECT FROM unnest($2) AS t(relation), discreet._protection_of(t.relation) p
                   WHERE p.policy <> 'public' AND discreet._holds_budget(session_user, p.dataset));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._guards(oid, oid[]) IS
'Whether the gate answers for tables that the current user may not read, and that are named directly or by a view.';

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
