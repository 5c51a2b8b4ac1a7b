-- discreet.create_dataset: declares people whose budget is kept together.
CREATE FUNCTION discreet.create_dataset(
    name text,
    epsilon numeric,
    delta numeric DEFAULT 0,
    accounting text DEFAULT 'pure',
    neighbours text DEFAULT 'unbounded',
    response_quantum interval DEFAULT NULL,
    answer_lifetime interval DEFAULT '1 day',
    diagnose numeric DEFAULT 0,
    period interval DEFAULT NULL,
    lifetime_epsilon numeric DEFAULT NULL)
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
    return entry.create_dataset(plpy, name, epsilon, delta, accounting, neighbours, response_quantum, answer_lifetime,
        diagnose, period, lifetime_epsilon)
$python$;
COMMENT ON FUNCTION discreet.create_dataset(text, numeric, numeric, text, text, interval, interval, numeric, interval, numeric) IS
'Declares people whose budget is kept together, over all their tables; with a period, for each period anew.';
