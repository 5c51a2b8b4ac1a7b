-- discreet._written: a value as text that means the same in every session.
CREATE FUNCTION discreet._written(value anyelement)
RETURNS text
LANGUAGE sql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
/* @PINNED_FORMATS@ */
AS $sql$
    SELECT value::text
$sql$;
COMMENT ON FUNCTION discreet._written(anyelement) IS 'A value as text that means the same in every session.';

-- discreet.audit_known: takes a person's values as known to the askers.
CREATE FUNCTION discreet.audit_known(relation regclass, unit_value text)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import audited
    return audited.audit_known(plpy, relation, unit_value)
$python$;
COMMENT ON FUNCTION discreet.audit_known(regclass, text) IS
'Takes a person''s values as known to the askers: the person no longer counts among those who hide the others.';

-- discreet.audit_state: what was answered about an audited table, for each sensitive column.
CREATE FUNCTION discreet.audit_state(relation regclass)
RETURNS TABLE (column_name name, questions bigint, rank int, atoms int, smallest_atom bigint, asked_by name[])
LANGUAGE discreet_worker
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS 'audit_state';
COMMENT ON FUNCTION discreet.audit_state(regclass) IS
'For each sensitive column of an audited table: questions answered, their rank, atoms they divide people into, the smallest, who asked.';

-- discreet.audit_reset: forgets what was answered about an audited table; the log keeps who did so, and why.
CREATE FUNCTION discreet.audit_reset(relation regclass, reason text)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import audited
    return audited.audit_reset(plpy, relation, reason)
$python$;
COMMENT ON FUNCTION discreet.audit_reset(regclass, text) IS
'Forgets what was answered about an audited table, and who is known; the log of charges keeps who did so, and why.';
