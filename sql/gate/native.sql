-- What the run step uses beside PostgreSQL's own functions.

-- discreet._run_as: runs a SELECT in the name of a role; the first column of every row, a text.
CREATE FUNCTION discreet._run_as(role oid, statement text)
RETURNS SETOF text
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'discreet_run_as';
COMMENT ON FUNCTION discreet._run_as(oid, text) IS 'Runs a SELECT in the name of a role; the first column of every row, a text.';

-- discreet._start_as: starts a SELECT in the name of a role, and ends it before a row is read: what the role may not do fails.
CREATE FUNCTION discreet._start_as(role oid, statement text)
RETURNS void
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'discreet_start_as';
COMMENT ON FUNCTION discreet._start_as(oid, text) IS
'Starts a SELECT in the name of a role, and ends it before a row is read: what the role may not do fails.';

-- discreet._wait: waits so many seconds, without showing in pg_stat_activity that it does.
CREATE FUNCTION discreet._wait(seconds float8)
RETURNS void
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'discreet_wait';
COMMENT ON FUNCTION discreet._wait(float8) IS 'Waits so many seconds, without showing in pg_stat_activity that it does.';

-- Total and pure: owners of tables execute them in the run step, so PUBLIC may.

-- discreet._text: a value as the output function of its type writes it; a cast to text may run code of any role. At most 10,000
-- bytes of it, so that nothing fails; of a value that takes more itself, a hash.
CREATE FUNCTION discreet._text(value anyelement)
RETURNS text
LANGUAGE c
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_text';
COMMENT ON FUNCTION discreet._text(anyelement) IS
'A value as the output function of its type writes it, at most 10,000 bytes; of a longer value, a hash.';

-- discreet._cut: the first bytes of a text. No row of a question has a text on which a function could fail.
CREATE FUNCTION discreet._cut(value text, bytes int)
RETURNS text
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_cut';
COMMENT ON FUNCTION discreet._cut(text, int) IS
'The first bytes of a text, at most so many, in whole characters.';

CREATE FUNCTION discreet._join(joined text, value text, separator text)
RETURNS text
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_join';
COMMENT ON FUNCTION discreet._join(text, text, text) IS
'A text, a separator and a value, until the text has 10,000 bytes.';

-- discreet._joined: string_agg() of a person's rows, which no number of rows makes too long.
CREATE AGGREGATE discreet._joined(value text, separator text) (
    SFUNC = discreet._join,
    STYPE = text,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE discreet._joined(text, text) IS
'Texts one after another, with a separator between them, as far as 10,000 bytes need.';

-- discreet._padded: those of a character(n), with the blanks at its end, which LIKE sees and a cast to text drops.
CREATE FUNCTION discreet._padded(value character, bytes int)
RETURNS text
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_cut';
COMMENT ON FUNCTION discreet._padded(character, int) IS
'The first bytes of a character(n), at most so many, in whole characters, with the blanks at its end.';

-- discreet._floating: float8 arithmetic as PostgreSQL computes it, without its errors.
CREATE FUNCTION discreet._floating(a float8, operator "char", b float8)
RETURNS float8
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_floating';
COMMENT ON FUNCTION discreet._floating(float8, "char", float8) IS
'a + b, a - b, a * b, a / b, a ^ b, or of e: e to the power of a; 0 where the result underflows, NULL where it overflows.';

-- discreet._seconds: the length of an interval, with months of 30 days, as PostgreSQL compares intervals.
CREATE FUNCTION discreet._seconds(value interval)
RETURNS numeric
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_seconds';
COMMENT ON FUNCTION discreet._seconds(interval) IS
'The length of an interval in seconds, with months of 30 days; NULL where it is longer than 292,000 years.';

-- discreet._date: make_date() without its errors.
CREATE FUNCTION discreet._date(year bigint, month bigint, day bigint)
RETURNS date
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_date';
COMMENT ON FUNCTION discreet._date(bigint, bigint, bigint) IS
'The day of a calendar of the years 1 to 9999; NULL where there is no such day.';

CREATE FUNCTION discreet._double(value numeric)
RETURNS float8
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_double';
COMMENT ON FUNCTION discreet._double(numeric) IS 'The nearest float8; beyond the last one, an infinity.';

CREATE FUNCTION discreet._real(value numeric)
RETURNS float4
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_real_of_numeric';
COMMENT ON FUNCTION discreet._real(numeric) IS 'The nearest float4; NULL where there is none.';

CREATE FUNCTION discreet._real(value float8)
RETURNS float4
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_real_of_double';
COMMENT ON FUNCTION discreet._real(float8) IS 'The nearest float4; NULL where there is none.';

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

CREATE FUNCTION discreet._clamped(value anyelement, lower int, upper int)
RETURNS int
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_clamped';
COMMENT ON FUNCTION discreet._clamped(anyelement, int, int) IS
'A whole number, brought between two bounds.';

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

CREATE FUNCTION discreet._people_transition(
    state internal, unit "any", seed bigint, max_groups int, max_rows int, max_total_rows bigint, subjects text, VARIADIC "any")
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_people_transition';
COMMENT ON FUNCTION discreet._people_transition(internal, "any", bigint, int, int, bigint, text, "any") IS
'Adds a row to what its person has in its group.';

CREATE FUNCTION discreet._people_combine(internal, internal)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_people_combine';
COMMENT ON FUNCTION discreet._people_combine(internal, internal) IS 'Joins the people of two workers.';

CREATE FUNCTION discreet._people_serialize(internal)
RETURNS bytea
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_people_serialize';
COMMENT ON FUNCTION discreet._people_serialize(internal) IS 'The people of a worker, for the leader.';

CREATE FUNCTION discreet._people_deserialize(bytea, internal)
RETURNS internal
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_people_deserialize';
COMMENT ON FUNCTION discreet._people_deserialize(bytea, internal) IS 'The people of a worker, in the leader.';

CREATE FUNCTION discreet._people_final(internal)
RETURNS text
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_people_final';
COMMENT ON FUNCTION discreet._people_final(internal) IS 'Bounds what each person adds, and sums it up per group.';

CREATE AGGREGATE discreet._people(
    unit "any", seed bigint, max_groups int, max_rows int, max_total_rows bigint, subjects text, VARIADIC "any") (
    SFUNC = discreet._people_transition,
    STYPE = internal,
    COMBINEFUNC = discreet._people_combine,
    SERIALFUNC = discreet._people_serialize,
    DESERIALFUNC = discreet._people_deserialize,
    FINALFUNC = discreet._people_final,
    PARALLEL = SAFE
);
-- discreet._people_alone: the same in one process, which may write to a file what is beyond its memory.
CREATE AGGREGATE discreet._people_alone(
    unit "any", seed bigint, max_groups int, max_rows int, max_total_rows bigint, subjects text, VARIADIC "any") (
    SFUNC = discreet._people_transition,
    STYPE = internal,
    FINALFUNC = discreet._people_final,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE discreet._people_alone("any", bigint, int, int, bigint, text, "any") IS
'As _people(), in one process: for people who do not fit into the memory of several.';
COMMENT ON AGGREGATE discreet._people("any", bigint, int, int, bigint, text, "any") IS
'Totals of groups, each person bounded, as JSON: [[texts of the keys, [people, rows, sum, squares] per subject], …].
A letter of subjects says of what a value that follows is one: R counts, S sums as well, Q squares too; then come the keys.';
