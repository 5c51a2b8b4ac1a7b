-- discreet.report: what happened, as a page for a curator to look at.
CREATE FUNCTION discreet.report()
RETURNS text
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import ops_report
    return ops_report.report(plpy)
$python$;
COMMENT ON FUNCTION discreet.report() IS
'One HTML page of what the caller may see: budgets over time with a forecast, questions and refusals, accuracy, multilevel tables, releases.';
