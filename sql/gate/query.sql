-- The asker's search_path says what a name without a schema means; the gate reads it, then pins its own (server/gate.py).
-- All other settings that change meaning, or tell of the data, are pinned: gate/settings stands where the mark is.

-- discreet.query: answers a SELECT about protected tables privately; the caller names the columns: AS t(dept text, count bigint).
CREATE FUNCTION discreet.query(
    sql text,
    epsilon numeric DEFAULT NULL,
    params text[] DEFAULT NULL,
    fresh boolean DEFAULT false,
    accuracy numeric DEFAULT NULL,
    with_error boolean DEFAULT false,
    sample numeric DEFAULT NULL,
    as_of timestamptz DEFAULT NULL,
    smallest_count bigint DEFAULT NULL)
RETURNS SETOF record
LANGUAGE discreet_worker
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
/* @PINNED_SETTINGS@ */
AS 'query';
COMMENT ON FUNCTION discreet.query(text, numeric, text[], boolean, numeric, boolean, numeric, timestamptz, bigint) IS
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

-- discreet.explain_text: the same as readable text, with what would make the answer better. EXPLAIN of a question shows it, too.
CREATE FUNCTION discreet.explain_text(
    sql text,
    epsilon numeric DEFAULT NULL,
    params text[] DEFAULT NULL,
    as_of timestamptz DEFAULT NULL)
RETURNS text
LANGUAGE discreet_worker
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
/* @PINNED_SETTINGS@ */
AS 'explain_text';
COMMENT ON FUNCTION discreet.explain_text(text, numeric, text[], timestamptz) IS
'What a question measures, what it would cost, how exact its answer would be, what it would not cover, and what would make it better. Nothing is spent.';

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

-- discreet._error_types: for a question in plain SQL with so many parameters, the types of the columns of errors beside its columns, with ; between them;
-- of an exact column it is empty. Nothing is spent.
CREATE FUNCTION discreet._error_types(sql text, parameters int)
RETURNS text
LANGUAGE discreet_worker
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
/* @PINNED_SETTINGS@ */
AS 'error_types';
COMMENT ON FUNCTION discreet._error_types(text, int) IS
'The types of the columns of errors beside the columns of an answer. Nothing is spent.';

-- discreet.create_view: makes a plain view over query(), for tools that know only tables; it belongs to the caller.
-- every: now() is that moment at which the last step of this length began, so that the view is paid once in each.
CREATE FUNCTION discreet.create_view(view_name text, sql text, epsilon numeric DEFAULT NULL, every interval DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS $plpgsql$
BEGIN
    -- parse_ident() reads a quoted name in quadratic time, which no cancel ends
    IF pg_catalog.length(view_name) OPERATOR(pg_catalog.>) 10000 THEN
        RAISE program_limit_exceeded USING
            MESSAGE = 'view_name has more than 10,000 characters',
            HINT = 'Give a shorter name.';
    END IF;
    -- refuses what is no step, before the view is there
    PERFORM discreet.round_time(pg_catalog.now(), every);
    EXECUTE pg_catalog.format('CREATE VIEW %s AS SELECT * FROM discreet.query(%L, %s%s%s) AS t(%s)',
        (SELECT pg_catalog.string_agg(pg_catalog.quote_ident(part), '.') FROM pg_catalog.unnest(pg_catalog.parse_ident(view_name)) part),
        sql, COALESCE(epsilon::pg_catalog.text, 'NULL'),
        CASE WHEN pg_catalog.current_setting('discreet.with_error')::pg_catalog.bool THEN ', with_error => true' ELSE '' END,
        COALESCE(pg_catalog.format(', as_of => discreet.round_time(pg_catalog.now(), %L::pg_catalog.interval)', every), ''),
        discreet._answer_columns(sql, epsilon));
END
$plpgsql$;
COMMENT ON FUNCTION discreet.create_view(text, text, numeric, interval) IS
'Makes a plain view over query(), for tools that know only tables; the reader pays, once per question; with every, once in each step of now().';

-- discreet.round_time: the last step of a clock or calendar that is not after a moment.
CREATE FUNCTION discreet.round_time(moment timestamptz, every interval)
RETURNS timestamptz
LANGUAGE c
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_round_time';
COMMENT ON FUNCTION discreet.round_time(timestamptz, interval) IS
'The last step of a clock or calendar (1 hour, 1 day, 3 months) that is not after a moment, in the time zone of the session.';

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
