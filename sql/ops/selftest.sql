-- discreet.selftest: tries the promises on the live database; nothing is changed, nothing is spent.
CREATE FUNCTION discreet.selftest()
RETURNS TABLE (item text, status text, finding text, passed boolean)
LANGUAGE discreet_worker
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
/* @PINNED_SETTINGS@ */
AS 'selftest';
COMMENT ON FUNCTION discreet.selftest() IS
'Tries the promises on the live database: samplers, ledger, log, privileges, catalog, and neighbours in the caller''s own tables. Each item is passed, failed or not tried, with the reason (passed is then NULL). Nothing is changed or spent.';
