-- discreet._respond: the trigger that puts a randomised response in place of the truth.
CREATE FUNCTION discreet._respond()
RETURNS trigger
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
AS 'MODULE_PATHNAME', 'discreet_respond';
COMMENT ON FUNCTION discreet._respond() IS
'Puts a randomised response in place of the truth, for each person always the same.';

-- discreet.rr_column: from now on a column holds randomised responses, never the truth.
CREATE FUNCTION discreet.rr_column(
    relation regclass,
    column_name name,
    epsilon float8,
    domain text[] DEFAULT NULL,
    unit text DEFAULT NULL)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import local
    return local.rr_column(plpy, relation, column_name, epsilon, domain, unit)
$python$;
COMMENT ON FUNCTION discreet.rr_column(regclass, name, float8, text[], text) IS
'From now on a column holds randomised responses, never the truth; a person, named by the unit, gets one response for ever.';

-- discreet.response_columns: the columns that hold randomised responses.
CREATE VIEW discreet.response_columns WITH (security_barrier) AS
SELECT c.relation, a.attname AS column_name, u.attname AS unit, c.epsilon, c.domain
FROM discreet._response_column c
JOIN pg_catalog.pg_trigger t
  ON t.tgrelid = c.relation AND t.tgfoid = 'discreet._respond()'::pg_catalog.regprocedure
 AND t.tgargs = pg_catalog.convert_to(c.id::text, 'UTF8') || '\x00'::bytea
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.relation AND a.attnum = t.tgattr[0]
JOIN pg_catalog.pg_attribute u ON u.attrelid = c.relation AND u.attnum = t.tgattr[1];
COMMENT ON VIEW discreet.response_columns IS
'Columns that hold randomised responses: whose (unit), of which epsilon, and out of which values.';
