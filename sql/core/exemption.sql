-- discreet.exempt_view: lets those who may read a view that names protected tables read it as it is; or no longer.
CREATE FUNCTION discreet.exempt_view(view regclass, exempt boolean DEFAULT true)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.exempt_view(plpy, view, exempt)
$python$;
COMMENT ON FUNCTION discreet.exempt_view(regclass, boolean) IS
'Lets analysts who may read a view that names protected tables read its rows as they are; or no longer.';

-- discreet.exempt_views: the views over protected tables that analysts read as they are, and who was granted them.
CREATE VIEW discreet.exempt_views WITH (security_barrier) AS
SELECT e.view, discreet._direct_readers(e.view) AS readers
FROM discreet._exempt_view e;
COMMENT ON VIEW discreet.exempt_views IS 'Views over protected tables for which the gate does not stand, and who was granted SELECT on them.';
