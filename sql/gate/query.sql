-- The asker's search_path says what a name without a schema means; the gate reads it, then pins its own (server/gate.py).
-- All other settings that change meaning, or tell of the data, are pinned: gate/settings stands where the mark is.

-- discreet.query: answers a SELECT about protected tables privately; the caller names the columns: AS t(dept text, count bigint).
CREATE FUNCTION discreet.query(
    sql text,
    epsilon numeric DEFAULT NULL,
    params text[] DEFAULT NULL,
    fresh boolean DEFAULT false,
    accuracy numeric DEFAULT NULL,
    with_error boolean DEFAULT false)
RETURNS SETOF record
LANGUAGE discreet_worker
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
/* @PINNED_SETTINGS@ */
AS 'query';
COMMENT ON FUNCTION discreet.query(text, numeric, text[], boolean, numeric, boolean) IS
'Answers a SELECT about protected tables privately; the caller names the columns: AS t(dept text, count bigint).';

-- discreet.query_json: answers a SELECT about protected tables privately, a JSON object per row.
CREATE FUNCTION discreet.query_json(
    sql text,
    epsilon numeric DEFAULT NULL,
    params text[] DEFAULT NULL,
    fresh boolean DEFAULT false)
RETURNS SETOF jsonb
LANGUAGE discreet_worker
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
/* @PINNED_SETTINGS@ */
AS 'query_json';
COMMENT ON FUNCTION discreet.query_json(text, numeric, text[], boolean) IS
'Answers a SELECT about protected tables privately, a JSON object per row.';

-- discreet.ask: answers a SELECT about protected tables privately, as a cursor: FETCH ALL FROM answer.
CREATE FUNCTION discreet.ask(sql text, epsilon numeric DEFAULT NULL, cursor_name text DEFAULT 'answer')
RETURNS text
LANGUAGE discreet_worker
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
/* @PINNED_SETTINGS@ */
AS 'ask';
COMMENT ON FUNCTION discreet.ask(text, numeric, text) IS
'Answers a SELECT about protected tables privately, as a cursor: FETCH ALL FROM answer.';

-- discreet.explain: what a question would cost and how exact its answer would be, or why it is refused. Nothing is spent.
CREATE FUNCTION discreet.explain(sql text, epsilon numeric DEFAULT NULL)
RETURNS jsonb
LANGUAGE discreet_worker
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
/* @PINNED_SETTINGS@ */
AS 'explain';
COMMENT ON FUNCTION discreet.explain(text, numeric) IS
'What a question would cost and how exact its answer would be, or why it is refused. Nothing is spent.';

-- discreet.lint: what is wrong, or risky, about a question. Nothing is spent.
CREATE FUNCTION discreet.lint(sql text)
RETURNS TABLE (code text, finding text, hint text)
LANGUAGE discreet_worker
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
/* @PINNED_SETTINGS@ */
AS 'lint';
COMMENT ON FUNCTION discreet.lint(text) IS
'What is wrong, or risky, about a question. Nothing is spent.';

-- discreet._answer_columns: the columns of an answer at an epsilon as a column definition list. Nothing is spent.
CREATE FUNCTION discreet._answer_columns(sql text, epsilon numeric DEFAULT NULL)
RETURNS text
LANGUAGE discreet_worker
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
/* @PINNED_SETTINGS@ */
AS 'answer_columns';
COMMENT ON FUNCTION discreet._answer_columns(text, numeric) IS
'The columns of an answer at an epsilon as a column definition list. Nothing is spent.';

-- discreet.create_view: makes a plain view over query(), for tools that know only tables; it belongs to the caller.
CREATE FUNCTION discreet.create_view(view_name text, sql text, epsilon numeric DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS $plpgsql$
BEGIN
    EXECUTE pg_catalog.format('CREATE VIEW %s AS SELECT * FROM discreet.query(%L, %s) AS t(%s)',
        (SELECT pg_catalog.string_agg(pg_catalog.quote_ident(part), '.') FROM pg_catalog.unnest(pg_catalog.parse_ident(view_name)) part),
        sql, COALESCE(epsilon::pg_catalog.text, 'NULL'), discreet._answer_columns(sql, epsilon));
END
$plpgsql$;
COMMENT ON FUNCTION discreet.create_view(text, text, numeric) IS
'Makes a plain view over query(), for tools that know only tables; whoever reads it pays, once per question.';

-- discreet.bucket: the lower end of the interval of a width, counted from 0, that holds a number.
CREATE FUNCTION discreet.bucket(value numeric, width numeric)
RETURNS numeric
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT floor(value / width) * width
$sql$;
COMMENT ON FUNCTION discreet.bucket(numeric, numeric) IS
'The lower end of the interval of a width, counted from 0, that holds a number; the gate knows these intervals as groups.';
