-- discreet.version: the version of the installed extension.
CREATE FUNCTION discreet.version()
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$ SELECT extversion FROM pg_extension WHERE extname = 'discreet' $sql$;
COMMENT ON FUNCTION discreet.version() IS 'The version of the installed extension.';
