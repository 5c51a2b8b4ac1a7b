-- What the run step uses beside PostgreSQL's own functions. All are total.

CREATE FUNCTION discreet._on_grid(value anyelement, exponent int, lower bigint, upper bigint)
RETURNS bigint
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_on_grid';
COMMENT ON FUNCTION discreet._on_grid(anyelement, int, bigint, bigint) IS
'The integer of a value on the grid of step 2^exponent, clamped; NULL for NaN and infinities.';

CREATE FUNCTION discreet._bin(value anyelement, lower float8, upper float8, bins int)
RETURNS int
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_bin';
COMMENT ON FUNCTION discreet._bin(anyelement, float8, float8, int) IS
'Which of so many equal bins between the bounds holds a value; NULL for NaN and infinities.';

CREATE FUNCTION discreet._log_bin(value anyelement, lowest int, octaves int, steps int)
RETURNS int
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_log_bin';
COMMENT ON FUNCTION discreet._log_bin(anyelement, int, int, int) IS
'Which bin holds a value, of so many steps per power of two from 2^lowest on, on both sides of 0; NULL for NaN and infinities.';
