-- Local differential privacy: a value is randomised before it is stored.

-- discreet.rr: randomised response to a yes or no.
CREATE FUNCTION discreet.rr(value boolean, epsilon float8)
RETURNS boolean
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_rr_boolean';
COMMENT ON FUNCTION discreet.rr(boolean, float8) IS
'Randomised response to a yes or no: true with probability e^epsilon / (1 + e^epsilon).';

-- discreet.rr: randomised response out of a list of values.
CREATE FUNCTION discreet.rr(value text, domain text[], epsilon float8)
RETURNS text
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_rr_text';
COMMENT ON FUNCTION discreet.rr(text, text[], float8) IS
'Randomised response out of a list of values: the truth with probability e^epsilon / (e^epsilon + n - 1), else one of the n - 1 others, each alike.';

-- discreet.rr_bits: a bit for each value of the domain, each of them randomised (unary encoding, as in RAPPOR).
CREATE FUNCTION discreet.rr_bits(value text, domain text[], epsilon float8)
RETURNS bit varying
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_rr_bits';
COMMENT ON FUNCTION discreet.rr_bits(text, text[], float8) IS
'Randomised response for many values: a bit for each, set for the true one, and each true with probability e^(epsilon/2) / (1 + e^(epsilon/2)).';

-- discreet.cms_encode: randomised report of any text, for a count-mean sketch.
CREATE FUNCTION discreet.cms_encode(value text, epsilon float8, hashes int DEFAULT 4096, width int DEFAULT 1024)
RETURNS bytea
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_cms_encode';
COMMENT ON FUNCTION discreet.cms_encode(text, float8, int, int) IS
'Randomised report of any text, for a count-mean sketch: one of the hashes, and a row of bits, each true with probability e^(epsilon/2) / (1 + e^(epsilon/2)).';

-- discreet._rr_lies: how many of 2^64 equally likely draws lead away from the truth.
CREATE FUNCTION discreet._rr_lies(epsilon float8, choices int)
RETURNS numeric
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_rr_lies';
COMMENT ON FUNCTION discreet._rr_lies(float8, int) IS
'How many of 2^64 equally likely draws lead away from the truth: what every response is drawn with.';

-- discreet.rr_epsilon: the epsilon of a response that is true with probability p.
CREATE FUNCTION discreet.rr_epsilon(p float8, n int DEFAULT 2)
RETURNS float8
LANGUAGE discreet_python
IMMUTABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import local
    return local.rr_epsilon(plpy, p, n)
$python$;
COMMENT ON FUNCTION discreet.rr_epsilon(float8, int) IS
'The epsilon of a response that is true with probability p, and else one of the n - 1 others, each alike.';

-- discreet.mechanism_epsilon: the epsilon of any mechanism with finitely many inputs and outputs.
CREATE FUNCTION discreet.mechanism_epsilon(probabilities float8[])
RETURNS float8
LANGUAGE discreet_python
IMMUTABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import local
    return local.mechanism_epsilon(plpy, probabilities)
$python$;
COMMENT ON FUNCTION discreet.mechanism_epsilon(float8[]) IS
'The epsilon of a mechanism, given as a matrix of probabilities: a row for each input, a column for each output; Infinity where it is not private.';
