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
'Bounds for a column of which nothing is known: all but a few values lie between them; of dates in days, of timestamps in seconds since 1970. Paid like a question.';

-- discreet.suggest_bounds: the same for all columns of a table that need bounds, in one question whose price they share.
CREATE FUNCTION discreet.suggest_bounds(
    relation regclass,
    epsilon numeric,
    OUT column_name name,
    OUT lower text,
    OUT upper text,
    OUT statement text)
RETURNS SETOF record
LANGUAGE discreet_worker
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
/* @PINNED_SETTINGS@ */
AS 'suggest_all_bounds';
COMMENT ON FUNCTION discreet.suggest_bounds(regclass, numeric) IS
'Bounds for all columns of a table that have none, and the calls that declare them. One question, paid once.';

-- discreet.suggest_rows: limits for a table whose people have many rows, from private quantiles; the dataset pays.
CREATE FUNCTION discreet.suggest_rows(
    relation regclass,
    unit text,
    dataset text,
    epsilon numeric,
    OUT max_rows int,
    OUT max_groups int,
    OUT max_total_rows int,
    OUT people_cut numeric)
RETURNS SETOF record
LANGUAGE discreet_worker
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
/* @PINNED_SETTINGS@ */
AS 'suggest_rows';
COMMENT ON FUNCTION discreet.suggest_rows(regclass, text, text, numeric) IS
'Limits under which about 95 of 100 people keep all their rows, and about how many people do not. The dataset pays.';
