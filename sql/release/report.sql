-- discreet.release_report: the report of a release as a page to look at.
CREATE FUNCTION discreet.release_report(release text)
RETURNS text
LANGUAGE discreet_python
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.release_report(plpy, release)
$python$;
COMMENT ON FUNCTION discreet.release_report(text) IS
'The report of a release as one HTML page: class sizes, risk before and after, loss per column, levels.';
