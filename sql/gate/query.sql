-- The asker's search_path says what a name without a schema means; the gate reads it, then pins its own (server/gate.py).
-- All other settings that change meaning, or tell of the data, are pinned here.

-- discreet.query: answers a SELECT about protected tables privately; the caller names the columns: AS t(dept text, count bigint).
CREATE FUNCTION discreet.query(
    sql text,
    epsilon numeric DEFAULT NULL,
    params text[] DEFAULT NULL,
    fresh boolean DEFAULT false)
RETURNS SETOF record
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
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

AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.query(plpy, sql, epsilon, params, fresh)
$python$;
COMMENT ON FUNCTION discreet.query(text, numeric, text[], boolean) IS
'Answers a SELECT about protected tables privately; the caller names the columns: AS t(dept text, count bigint).';

-- discreet.query_json: answers a SELECT about protected tables privately, a JSON object per row.
CREATE FUNCTION discreet.query_json(
    sql text,
    epsilon numeric DEFAULT NULL,
    params text[] DEFAULT NULL,
    fresh boolean DEFAULT false)
RETURNS SETOF jsonb
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
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

AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.query_json(plpy, sql, epsilon, params, fresh)
$python$;
COMMENT ON FUNCTION discreet.query_json(text, numeric, text[], boolean) IS
'Answers a SELECT about protected tables privately, a JSON object per row.';

-- discreet.explain: what a question would cost and how exact its answer would be, or why it is refused. Nothing is spent.
CREATE FUNCTION discreet.explain(sql text, epsilon numeric DEFAULT NULL)
RETURNS jsonb
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
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

AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.explain(plpy, sql, epsilon)
$python$;
COMMENT ON FUNCTION discreet.explain(text, numeric) IS
'What a question would cost and how exact its answer would be, or why it is refused. Nothing is spent.';
