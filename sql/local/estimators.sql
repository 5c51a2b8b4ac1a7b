-- Estimators over randomised responses: native aggregates, unbiased, with standard error (tally.c).

CREATE FUNCTION discreet._tally_boolean(bytea, boolean, float8)
RETURNS bytea
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_tally_boolean';
COMMENT ON FUNCTION discreet._tally_boolean(bytea, boolean, float8) IS 'Counts responses that are true.';

CREATE FUNCTION discreet._tally_text(bytea, text, text[], float8)
RETURNS bytea
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_tally_text';
COMMENT ON FUNCTION discreet._tally_text(bytea, text, text[], float8) IS 'Counts responses of each value.';

CREATE FUNCTION discreet._tally_bits(bytea, bit varying, text[], float8)
RETURNS bytea
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_tally_bits';
COMMENT ON FUNCTION discreet._tally_bits(bytea, bit varying, text[], float8) IS 'Counts the bits of each value.';

CREATE FUNCTION discreet._tally_sketch(bytea, bytea, text[], float8)
RETURNS bytea
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_tally_sketch';
COMMENT ON FUNCTION discreet._tally_sketch(bytea, bytea, text[], float8) IS 'Counts the bits that candidates would have set.';

CREATE FUNCTION discreet._tally_combine(bytea, bytea)
RETURNS bytea
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_tally_combine';
COMMENT ON FUNCTION discreet._tally_combine(bytea, bytea) IS 'Adds what two workers have counted.';

CREATE FUNCTION discreet._tally_share(bytea)
RETURNS float8
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_tally_share';
COMMENT ON FUNCTION discreet._tally_share(bytea) IS 'The share that the counts stand for.';

CREATE FUNCTION discreet._tally_error(bytea)
RETURNS float8
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_tally_error';
COMMENT ON FUNCTION discreet._tally_error(bytea) IS 'The standard error of that share.';

CREATE FUNCTION discreet._tally_frequencies(bytea)
RETURNS jsonb
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_tally_frequencies';
COMMENT ON FUNCTION discreet._tally_frequencies(bytea) IS 'The share of each value, with its standard error.';

-- discreet.rr_estimate: estimated share of people whose truth is true.
CREATE AGGREGATE discreet.rr_estimate(response boolean, epsilon float8) (
    SFUNC = discreet._tally_boolean,
    STYPE = bytea,
    FINALFUNC = discreet._tally_share,
    COMBINEFUNC = discreet._tally_combine,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE discreet.rr_estimate(boolean, float8) IS
'Estimated share of people whose truth is true, from responses of rr(boolean, epsilon). Unbiased: may lie outside of 0 to 1.';

-- discreet.rr_stderr: standard error of rr_estimate.
CREATE AGGREGATE discreet.rr_stderr(response boolean, epsilon float8) (
    SFUNC = discreet._tally_boolean,
    STYPE = bytea,
    FINALFUNC = discreet._tally_error,
    COMBINEFUNC = discreet._tally_combine,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE discreet.rr_stderr(boolean, float8) IS
'Standard error of rr_estimate, the coins and the choice of people included.';

-- discreet.rr_frequencies: estimated share of people for each value.
CREATE AGGREGATE discreet.rr_frequencies(response text, domain text[], epsilon float8) (
    SFUNC = discreet._tally_text,
    STYPE = bytea,
    FINALFUNC = discreet._tally_frequencies,
    COMBINEFUNC = discreet._tally_combine,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE discreet.rr_frequencies(text, text[], float8) IS
'Estimated share of people for each value, from responses of rr(text, domain, epsilon): {value: {"share": ..., "stderr": ...}}. Unbiased.';

-- discreet.rr_bits_frequencies: estimated share of people for each value.
CREATE AGGREGATE discreet.rr_bits_frequencies(report bit varying, domain text[], epsilon float8) (
    SFUNC = discreet._tally_bits,
    STYPE = bytea,
    FINALFUNC = discreet._tally_frequencies,
    COMBINEFUNC = discreet._tally_combine,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE discreet.rr_bits_frequencies(bit varying, text[], float8) IS
'Estimated share of people for each value, from reports of rr_bits(): {value: {"share": ..., "stderr": ...}}. Unbiased.';

-- discreet.cms_estimate: estimated share of people for each candidate.
CREATE AGGREGATE discreet.cms_estimate(report bytea, candidates text[], epsilon float8) (
    SFUNC = discreet._tally_sketch,
    STYPE = bytea,
    FINALFUNC = discreet._tally_frequencies,
    COMBINEFUNC = discreet._tally_combine,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE discreet.cms_estimate(bytea, text[], float8) IS
'Estimated share of people for each candidate, from reports of cms_encode(): {value: {"share": ..., "stderr": ...}}. Unbiased over the choice of hashes.';
