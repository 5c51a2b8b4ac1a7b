-- discreet.synthesis_report: what synthesize() has told, as a page to look at.
CREATE FUNCTION discreet.synthesis_report(report jsonb)
RETURNS text
LANGUAGE discreet_python
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import synthesis_report
    return synthesis_report.synthesis_report(plpy, report)
$python$;
COMMENT ON FUNCTION discreet.synthesis_report(jsonb) IS
'What synthesize() has told, as one HTML page: rows, price, noisy counts of each column, errors of columns together.';
