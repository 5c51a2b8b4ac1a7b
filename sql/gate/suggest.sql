-- discreet.suggest_bounds: bounds for a column of which nothing is known, from private quantiles; paid like a question.
CREATE FUNCTION discreet.suggest_bounds(relation regclass, column_name name, epsilon numeric)
RETURNS numrange
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET track_counts = off
SET client_min_messages = notice
SET TimeZone = 'UTC'
SET DateStyle = 'ISO, MDY'
SET IntervalStyle = postgres
SET extra_float_digits = 1
SET bytea_output = hex
SET standard_conforming_strings = on
SET transform_null_equals = off
SET array_nulls = on
SET debug_print_parse = off
SET debug_print_rewritten = off
SET debug_print_plan = off
SET trace_sort = off
SET log_statement_stats = off
SET log_parser_stats = off
SET log_planner_stats = off
SET log_executor_stats = off
SET row_security = on
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.suggest_bounds(plpy, relation, column_name, epsilon)
$python$;
COMMENT ON FUNCTION discreet.suggest_bounds(regclass, name, numeric) IS
'Bounds for a column of which nothing is known: all but a few values lie between them. Paid like a question.';
