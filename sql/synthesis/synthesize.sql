-- discreet.synthesize: writes synthetic tables, whose rows belong to no real person, with the columns of protected ones.
CREATE FUNCTION discreet.synthesize(
    relations regclass[],
    releases text[],
    epsilon numeric,
    delta numeric DEFAULT NULL,
    columns text[] DEFAULT NULL,
    rows bigint DEFAULT NULL,
    target text DEFAULT NULL,
    dependencies text[] DEFAULT NULL,
    max_model_mb numeric DEFAULT 8)
RETURNS jsonb
LANGUAGE discreet_worker
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
/* @PINNED_SETTINGS@ */
AS 'synthesize';
COMMENT ON FUNCTION discreet.synthesize(regclass[], text[], numeric, numeric, text[], bigint, text, text[], numeric) IS
'Writes synthetic tables, whose rows belong to no real person, with the columns of protected tables of the same people. Paid once, like a question.';

-- discreet.synthesize: the same for one table.
CREATE FUNCTION discreet.synthesize(
    relation regclass,
    release text,
    epsilon numeric,
    delta numeric DEFAULT NULL,
    columns text[] DEFAULT NULL,
    rows bigint DEFAULT NULL,
    target text DEFAULT NULL,
    dependencies text[] DEFAULT NULL,
    max_model_mb numeric DEFAULT 8)
RETURNS jsonb
LANGUAGE discreet_worker
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
/* @PINNED_SETTINGS@ */
AS 'synthesize_one';
COMMENT ON FUNCTION discreet.synthesize(regclass, text, numeric, numeric, text[], bigint, text, text[], numeric) IS
'Writes a synthetic table, whose rows belong to no real person, with the columns of a protected one. Paid once, like a question.';

-- discreet.synthesize: the same for a name in quotes, which PostgreSQL could take for one table or for several. The name is looked
-- up in the search_path of the caller.
CREATE FUNCTION discreet.synthesize(
    relation text,
    release text,
    epsilon numeric,
    delta numeric DEFAULT NULL,
    columns text[] DEFAULT NULL,
    rows bigint DEFAULT NULL,
    target text DEFAULT NULL,
    dependencies text[] DEFAULT NULL,
    max_model_mb numeric DEFAULT 8)
RETURNS jsonb
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS $sql$
    -- a quoted name is read in quadratic time, which no cancel ends
    SELECT discreet.synthesize(CASE WHEN pg_catalog.length($1) OPERATOR(pg_catalog.<=) 10000 THEN $1::pg_catalog.regclass END, $2, $3, $4, $5, $6, $7, $8, $9)
$sql$;
COMMENT ON FUNCTION discreet.synthesize(text, text, numeric, numeric, text[], bigint, text, text[], numeric) IS
'Writes a synthetic table, whose rows belong to no real person, with the columns of a protected one. Paid once, like a question.';
