-- discreet.suggest_bounds: bounds for a column of which nothing is known, from private quantiles; paid like a question.
CREATE FUNCTION discreet.suggest_bounds(relation regclass, column_name name, epsilon numeric)
RETURNS numrange
LANGUAGE discreet_worker
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
/* @PINNED_SETTINGS@ */
AS 'suggest_bounds';
COMMENT ON FUNCTION discreet.suggest_bounds(regclass, name, numeric) IS
'Bounds for a column of which nothing is known: all but a few values lie between them. Paid like a question.';
