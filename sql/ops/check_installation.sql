-- discreet.check_installation: what is installed, whether it works, and what is wrong in plain words.
CREATE FUNCTION discreet.check_installation()
RETURNS TABLE (item text, status text, finding text)
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import ops_installation
    return ops_installation.check_installation(plpy)
$python$;
COMMENT ON FUNCTION discreet.check_installation() IS
'What is installed, whether it works, and what is wrong in plain words: ok, warning or problem.';
