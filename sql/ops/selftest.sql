-- discreet.selftest: tries the promises on the live database; nothing is changed, nothing is spent.
CREATE FUNCTION discreet.selftest()
RETURNS TABLE (item text, passed boolean, finding text)
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
/* @PINNED_SETTINGS@ */
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.selftest(plpy)
$python$;
COMMENT ON FUNCTION discreet.selftest() IS
'Tries the promises on the live database: samplers, ledger, log, privileges, catalog, and neighbours in the caller''s own tables. Nothing is changed or spent.';
