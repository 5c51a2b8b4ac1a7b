-- The dp_ aggregates. Transitions are exact integers in C or PostgreSQL's own; the released number comes from
-- discreet._release, after the C module has charged for it.

-- discreet._release: draws the noise for one number, exactly once.
CREATE FUNCTION discreet._release(kind text, totals text[])
RETURNS text
LANGUAGE discreet_worker
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS 'release';
COMMENT ON FUNCTION discreet._release(text, text[]) IS 'Draws the noise for one number, exactly once.';

CREATE FUNCTION discreet._count_transition(bigint, "any", numeric)
RETURNS bigint
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_count_transition';
COMMENT ON FUNCTION discreet._count_transition(bigint, "any", numeric) IS 'Counts values that are not NULL.';

CREATE FUNCTION discreet._sum_transition(internal, anycompatible, anycompatible, anycompatible)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_sum_transition';
COMMENT ON FUNCTION discreet._sum_transition(internal, anycompatible, anycompatible, anycompatible) IS 'Adds a value on the grid.';

CREATE FUNCTION discreet._sum_transition(internal, anycompatible, anycompatible, anycompatible, numeric)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_sum_transition';
COMMENT ON FUNCTION discreet._sum_transition(internal, anycompatible, anycompatible, anycompatible, numeric) IS 'Adds a value on the grid.';

CREATE FUNCTION discreet._moments_transition(internal, anycompatible, anycompatible, anycompatible)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_moments_transition';
COMMENT ON FUNCTION discreet._moments_transition(internal, anycompatible, anycompatible, anycompatible) IS 'Adds a value and its square on the grid.';

CREATE FUNCTION discreet._moments_transition(internal, anycompatible, anycompatible, anycompatible, numeric)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_moments_transition';
COMMENT ON FUNCTION discreet._moments_transition(internal, anycompatible, anycompatible, anycompatible, numeric) IS 'Adds a value and its square on the grid.';

CREATE FUNCTION discreet._quantile_transition(internal, anycompatible, float8, anycompatible, anycompatible)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_quantile_transition';
COMMENT ON FUNCTION discreet._quantile_transition(internal, anycompatible, float8, anycompatible, anycompatible) IS 'Counts a value in its bin.';

CREATE FUNCTION discreet._quantile_transition(internal, anycompatible, float8, anycompatible, anycompatible, numeric)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_quantile_transition';
COMMENT ON FUNCTION discreet._quantile_transition(internal, anycompatible, float8, anycompatible, anycompatible, numeric) IS 'Counts a value in its bin.';

CREATE FUNCTION discreet._median_transition(internal, anycompatible, anycompatible, anycompatible)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_median_transition';
COMMENT ON FUNCTION discreet._median_transition(internal, anycompatible, anycompatible, anycompatible) IS 'Counts a value in its bin.';

CREATE FUNCTION discreet._median_transition(internal, anycompatible, anycompatible, anycompatible, numeric)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_median_transition';
COMMENT ON FUNCTION discreet._median_transition(internal, anycompatible, anycompatible, anycompatible, numeric) IS 'Counts a value in its bin.';

CREATE FUNCTION discreet._distinct_transition(internal, anyelement)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_distinct_transition';
COMMENT ON FUNCTION discreet._distinct_transition(internal, anyelement) IS 'Remembers the hash of a value.';

CREATE FUNCTION discreet._distinct_transition(internal, anyelement, numeric)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_distinct_transition';
COMMENT ON FUNCTION discreet._distinct_transition(internal, anyelement, numeric) IS 'Remembers the hash of a value.';

CREATE FUNCTION discreet._sum_combine(internal, internal)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_sum_combine';
COMMENT ON FUNCTION discreet._sum_combine(internal, internal) IS 'Joins the sums of two workers.';

CREATE FUNCTION discreet._sum_serialize(internal)
RETURNS bytea
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_sum_serialize';
COMMENT ON FUNCTION discreet._sum_serialize(internal) IS 'Sends the sums of a worker.';

CREATE FUNCTION discreet._sum_deserialize(bytea, internal)
RETURNS internal
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_sum_deserialize';
COMMENT ON FUNCTION discreet._sum_deserialize(bytea, internal) IS 'Receives the sums of a worker.';

CREATE FUNCTION discreet._quantile_combine(internal, internal)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_quantile_combine';
COMMENT ON FUNCTION discreet._quantile_combine(internal, internal) IS 'Joins the bins of two workers.';

CREATE FUNCTION discreet._quantile_serialize(internal)
RETURNS bytea
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_quantile_serialize';
COMMENT ON FUNCTION discreet._quantile_serialize(internal) IS 'Sends the bins of a worker.';

CREATE FUNCTION discreet._quantile_deserialize(bytea, internal)
RETURNS internal
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_quantile_deserialize';
COMMENT ON FUNCTION discreet._quantile_deserialize(bytea, internal) IS 'Receives the bins of a worker.';

CREATE FUNCTION discreet._distinct_combine(internal, internal)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_distinct_combine';
COMMENT ON FUNCTION discreet._distinct_combine(internal, internal) IS 'Joins the sets of hashes of two workers.';

CREATE FUNCTION discreet._distinct_serialize(internal)
RETURNS bytea
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_distinct_serialize';
COMMENT ON FUNCTION discreet._distinct_serialize(internal) IS 'Sends the sets of hashes of a worker.';

CREATE FUNCTION discreet._distinct_deserialize(bytea, internal)
RETURNS internal
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_distinct_deserialize';
COMMENT ON FUNCTION discreet._distinct_deserialize(bytea, internal) IS 'Receives the sets of hashes of a worker.';

CREATE FUNCTION discreet._count_final(bigint)
RETURNS bigint
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_count_final';
COMMENT ON FUNCTION discreet._count_final(bigint) IS 'Releases the number that was paid for.';

CREATE FUNCTION discreet._sum_final(internal)
RETURNS numeric
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_sum_final';
COMMENT ON FUNCTION discreet._sum_final(internal) IS 'Releases the number that was paid for.';

CREATE FUNCTION discreet._distinct_final(internal)
RETURNS bigint
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_distinct_final';
COMMENT ON FUNCTION discreet._distinct_final(internal) IS 'Releases the number that was paid for.';

CREATE FUNCTION discreet._median_final(internal, anycompatible, anycompatible, anycompatible)
RETURNS anycompatible
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_quantile_final';
COMMENT ON FUNCTION discreet._median_final(internal, anycompatible, anycompatible, anycompatible) IS 'Releases the number that was paid for.';

CREATE FUNCTION discreet._quantile_final(internal, anycompatible, float8, anycompatible, anycompatible)
RETURNS anycompatible
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_quantile_final';
COMMENT ON FUNCTION discreet._quantile_final(internal, anycompatible, float8, anycompatible, anycompatible) IS 'Releases the number that was paid for.';

CREATE FUNCTION discreet._median_final(internal, anycompatible, anycompatible, anycompatible, numeric)
RETURNS anycompatible
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_quantile_final';
COMMENT ON FUNCTION discreet._median_final(internal, anycompatible, anycompatible, anycompatible, numeric) IS 'Releases the number that was paid for.';

CREATE FUNCTION discreet._quantile_final(internal, anycompatible, float8, anycompatible, anycompatible, numeric)
RETURNS anycompatible
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_quantile_final';
COMMENT ON FUNCTION discreet._quantile_final(internal, anycompatible, float8, anycompatible, anycompatible, numeric) IS 'Releases the number that was paid for.';

-- counts

CREATE AGGREGATE discreet.dp_count(*) (
    SFUNC = pg_catalog.int8inc,
    STYPE = bigint,
    INITCOND = 0,
    COMBINEFUNC = pg_catalog.int8pl,
    FINALFUNC = discreet._count_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_count(*) IS 'Noisy number of rows.';

CREATE AGGREGATE discreet.dp_count(value "any") (
    SFUNC = pg_catalog.int8inc_any,
    STYPE = bigint,
    INITCOND = 0,
    COMBINEFUNC = pg_catalog.int8pl,
    FINALFUNC = discreet._count_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_count("any") IS 'Noisy number of values that are not NULL.';

CREATE AGGREGATE discreet.dp_count(value "any", epsilon numeric) (
    SFUNC = discreet._count_transition,
    STYPE = bigint,
    INITCOND = 0,
    COMBINEFUNC = pg_catalog.int8pl,
    FINALFUNC = discreet._count_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_count("any", numeric) IS 'Noisy number of values that are not NULL.';

CREATE AGGREGATE discreet.dp_count_distinct(value anyelement) (
    SFUNC = discreet._distinct_transition,
    STYPE = internal,
    SSPACE = 8192,
    COMBINEFUNC = discreet._distinct_combine,
    SERIALFUNC = discreet._distinct_serialize,
    DESERIALFUNC = discreet._distinct_deserialize,
    FINALFUNC = discreet._distinct_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_count_distinct(anyelement) IS 'Noisy number of distinct values.';

CREATE AGGREGATE discreet.dp_count_distinct(value anyelement, epsilon numeric) (
    SFUNC = discreet._distinct_transition,
    STYPE = internal,
    SSPACE = 8192,
    COMBINEFUNC = discreet._distinct_combine,
    SERIALFUNC = discreet._distinct_serialize,
    DESERIALFUNC = discreet._distinct_deserialize,
    FINALFUNC = discreet._distinct_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_count_distinct(anyelement, numeric) IS 'Noisy number of distinct values.';

-- sums and what follows from them

CREATE AGGREGATE discreet.dp_sum(value anycompatible, lower anycompatible, upper anycompatible) (
    SFUNC = discreet._sum_transition,
    STYPE = internal,
    SSPACE = 96,
    COMBINEFUNC = discreet._sum_combine,
    SERIALFUNC = discreet._sum_serialize,
    DESERIALFUNC = discreet._sum_deserialize,
    FINALFUNC = discreet._sum_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_sum(anycompatible, anycompatible, anycompatible) IS 'Noisy sum of values between bounds.';

CREATE AGGREGATE discreet.dp_sum(value anycompatible, lower anycompatible, upper anycompatible, epsilon numeric) (
    SFUNC = discreet._sum_transition,
    STYPE = internal,
    SSPACE = 96,
    COMBINEFUNC = discreet._sum_combine,
    SERIALFUNC = discreet._sum_serialize,
    DESERIALFUNC = discreet._sum_deserialize,
    FINALFUNC = discreet._sum_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_sum(anycompatible, anycompatible, anycompatible, numeric) IS 'Noisy sum of values between bounds.';

CREATE AGGREGATE discreet.dp_avg(value anycompatible, lower anycompatible, upper anycompatible) (
    SFUNC = discreet._sum_transition,
    STYPE = internal,
    SSPACE = 96,
    COMBINEFUNC = discreet._sum_combine,
    SERIALFUNC = discreet._sum_serialize,
    DESERIALFUNC = discreet._sum_deserialize,
    FINALFUNC = discreet._sum_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_avg(anycompatible, anycompatible, anycompatible) IS 'Noisy average of values between bounds.';

CREATE AGGREGATE discreet.dp_avg(value anycompatible, lower anycompatible, upper anycompatible, epsilon numeric) (
    SFUNC = discreet._sum_transition,
    STYPE = internal,
    SSPACE = 96,
    COMBINEFUNC = discreet._sum_combine,
    SERIALFUNC = discreet._sum_serialize,
    DESERIALFUNC = discreet._sum_deserialize,
    FINALFUNC = discreet._sum_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_avg(anycompatible, anycompatible, anycompatible, numeric) IS 'Noisy average of values between bounds.';

CREATE AGGREGATE discreet.dp_variance(value anycompatible, lower anycompatible, upper anycompatible) (
    SFUNC = discreet._moments_transition,
    STYPE = internal,
    SSPACE = 96,
    COMBINEFUNC = discreet._sum_combine,
    SERIALFUNC = discreet._sum_serialize,
    DESERIALFUNC = discreet._sum_deserialize,
    FINALFUNC = discreet._sum_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_variance(anycompatible, anycompatible, anycompatible) IS 'Noisy variance of values between bounds.';

CREATE AGGREGATE discreet.dp_variance(value anycompatible, lower anycompatible, upper anycompatible, epsilon numeric) (
    SFUNC = discreet._moments_transition,
    STYPE = internal,
    SSPACE = 96,
    COMBINEFUNC = discreet._sum_combine,
    SERIALFUNC = discreet._sum_serialize,
    DESERIALFUNC = discreet._sum_deserialize,
    FINALFUNC = discreet._sum_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_variance(anycompatible, anycompatible, anycompatible, numeric) IS 'Noisy variance of values between bounds.';

CREATE AGGREGATE discreet.dp_stddev(value anycompatible, lower anycompatible, upper anycompatible) (
    SFUNC = discreet._moments_transition,
    STYPE = internal,
    SSPACE = 96,
    COMBINEFUNC = discreet._sum_combine,
    SERIALFUNC = discreet._sum_serialize,
    DESERIALFUNC = discreet._sum_deserialize,
    FINALFUNC = discreet._sum_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_stddev(anycompatible, anycompatible, anycompatible) IS 'Noisy standard deviation of values between bounds.';

CREATE AGGREGATE discreet.dp_stddev(value anycompatible, lower anycompatible, upper anycompatible, epsilon numeric) (
    SFUNC = discreet._moments_transition,
    STYPE = internal,
    SSPACE = 96,
    COMBINEFUNC = discreet._sum_combine,
    SERIALFUNC = discreet._sum_serialize,
    DESERIALFUNC = discreet._sum_deserialize,
    FINALFUNC = discreet._sum_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_stddev(anycompatible, anycompatible, anycompatible, numeric) IS 'Noisy standard deviation of values between bounds.';

-- quantiles

CREATE AGGREGATE discreet.dp_median(value anycompatible, lower anycompatible, upper anycompatible) (
    SFUNC = discreet._median_transition,
    STYPE = internal,
    SSPACE = 8192,
    COMBINEFUNC = discreet._quantile_combine,
    SERIALFUNC = discreet._quantile_serialize,
    DESERIALFUNC = discreet._quantile_deserialize,
    FINALFUNC = discreet._median_final,
    FINALFUNC_EXTRA,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_median(anycompatible, anycompatible, anycompatible) IS 'Noisy median of values between bounds.';

CREATE AGGREGATE discreet.dp_median(value anycompatible, lower anycompatible, upper anycompatible, epsilon numeric) (
    SFUNC = discreet._median_transition,
    STYPE = internal,
    SSPACE = 8192,
    COMBINEFUNC = discreet._quantile_combine,
    SERIALFUNC = discreet._quantile_serialize,
    DESERIALFUNC = discreet._quantile_deserialize,
    FINALFUNC = discreet._median_final,
    FINALFUNC_EXTRA,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_median(anycompatible, anycompatible, anycompatible, numeric) IS 'Noisy median of values between bounds.';

CREATE AGGREGATE discreet.dp_quantile(value anycompatible, fraction float8, lower anycompatible, upper anycompatible) (
    SFUNC = discreet._quantile_transition,
    STYPE = internal,
    SSPACE = 8192,
    COMBINEFUNC = discreet._quantile_combine,
    SERIALFUNC = discreet._quantile_serialize,
    DESERIALFUNC = discreet._quantile_deserialize,
    FINALFUNC = discreet._quantile_final,
    FINALFUNC_EXTRA,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_quantile(anycompatible, float8, anycompatible, anycompatible) IS 'Noisy quantile of values between bounds.';

CREATE AGGREGATE discreet.dp_quantile(value anycompatible, fraction float8, lower anycompatible, upper anycompatible, epsilon numeric) (
    SFUNC = discreet._quantile_transition,
    STYPE = internal,
    SSPACE = 8192,
    COMBINEFUNC = discreet._quantile_combine,
    SERIALFUNC = discreet._quantile_serialize,
    DESERIALFUNC = discreet._quantile_deserialize,
    FINALFUNC = discreet._quantile_final,
    FINALFUNC_EXTRA,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_quantile(anycompatible, float8, anycompatible, anycompatible, numeric) IS 'Noisy quantile of values between bounds.';
