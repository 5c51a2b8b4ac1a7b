-- discreet._ledger: calls discreet._ledger_<operation> on the connection that the C module holds; what it writes is committed.
CREATE FUNCTION discreet._ledger(operation name, request jsonb)
RETURNS jsonb
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'discreet_ledger';
COMMENT ON FUNCTION discreet._ledger(name, jsonb) IS
'Calls discreet._ledger_<operation> on the connection that the C module holds; what it writes is committed.';

-- discreet._ledger_ping: says who the ledger connection is.
CREATE FUNCTION discreet._ledger_ping(request jsonb)
RETURNS jsonb
LANGUAGE sql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT jsonb_build_object(
        'role', current_user,
        'synchronous_commit', current_setting('synchronous_commit'),
        'read_only', pg_is_in_recovery(),
        'echo', request)
$sql$;
COMMENT ON FUNCTION discreet._ledger_ping(jsonb) IS 'Says who the ledger connection is, and whether it can write.';
