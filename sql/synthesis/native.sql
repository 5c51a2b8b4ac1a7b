-- What synthetic tables are counted and written by. Counting is total and pure: owners of tables execute it in the run step.

-- discreet._synthesis_code: the place of a text among categories, from 0.
CREATE FUNCTION discreet._synthesis_code(value text, categories text[])
RETURNS int
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_synthesis_code';
COMMENT ON FUNCTION discreet._synthesis_code(text, text[]) IS
'The place of a text among categories, from 0; NULL where it is none of them.';

CREATE FUNCTION discreet._synthesis_transition(state internal, specification int[], VARIADIC "any")
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_synthesis_transition';
COMMENT ON FUNCTION discreet._synthesis_transition(internal, int[], "any") IS 'Adds a row to one cell of each marginal.';

CREATE FUNCTION discreet._synthesis_combine(internal, internal)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_synthesis_combine';
COMMENT ON FUNCTION discreet._synthesis_combine(internal, internal) IS 'Adds the counts of two workers.';

CREATE FUNCTION discreet._synthesis_serialize(internal)
RETURNS bytea
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_synthesis_serialize';
COMMENT ON FUNCTION discreet._synthesis_serialize(internal) IS 'The counts of a worker, for the leader.';

CREATE FUNCTION discreet._synthesis_deserialize(bytea, internal)
RETURNS internal
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_synthesis_deserialize';
COMMENT ON FUNCTION discreet._synthesis_deserialize(bytea, internal) IS 'The counts of a worker, in the leader.';

CREATE FUNCTION discreet._synthesis_final(internal)
RETURNS bytea
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_synthesis_final';
COMMENT ON FUNCTION discreet._synthesis_final(internal) IS 'The counts of all marginals, packed.';

CREATE AGGREGATE discreet._synthesis_count(specification int[], VARIADIC "any") (
    SFUNC = discreet._synthesis_transition,
    STYPE = internal,
    COMBINEFUNC = discreet._synthesis_combine,
    SERIALFUNC = discreet._synthesis_serialize,
    DESERIALFUNC = discreet._synthesis_deserialize,
    FINALFUNC = discreet._synthesis_final,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE discreet._synthesis_count(int[], "any") IS
'Counts all marginals of rows that come as codes; specification: number of attributes, their sizes, then for each marginal how many attributes and which.';

-- discreet._synthesis_write: runs a statement that makes or fills a synthetic table, in the name of a role.
CREATE FUNCTION discreet._synthesis_write(role oid, statement text, columns text[])
RETURNS bigint
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'discreet_synthesis_write';
COMMENT ON FUNCTION discreet._synthesis_write(oid, text, text[]) IS
'Runs a statement that makes or fills a synthetic table, in the name of a role; how many rows it wrote.';
