-- Functions of one value. Their bodies are expressions that PostgreSQL writes into the query: native speed, also in views.
-- NULL stays NULL, and a limit that is NULL lets nothing through. NaN is no number, and stays.

CREATE FUNCTION discreet.top_code(value int, upper int)
RETURNS int
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value <= upper THEN value WHEN value > upper THEN upper END;
COMMENT ON FUNCTION discreet.top_code(int, int) IS 'A number, at most the upper limit: one above it becomes the limit.';

CREATE FUNCTION discreet.top_code(value bigint, upper bigint)
RETURNS bigint
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value <= upper THEN value WHEN value > upper THEN upper END;
COMMENT ON FUNCTION discreet.top_code(bigint, bigint) IS 'A number, at most the upper limit: one above it becomes the limit.';

CREATE FUNCTION discreet.top_code(value numeric, upper numeric)
RETURNS numeric
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value = 'NaN' THEN value WHEN value <= upper THEN value WHEN value > upper THEN upper END;
COMMENT ON FUNCTION discreet.top_code(numeric, numeric) IS 'A number, at most the upper limit: one above it becomes the limit.';

CREATE FUNCTION discreet.top_code(value double precision, upper double precision)
RETURNS double precision
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value = 'NaN' THEN value WHEN value <= upper THEN value WHEN value > upper THEN upper END;
COMMENT ON FUNCTION discreet.top_code(double precision, double precision) IS 'A number, at most the upper limit: one above it becomes the limit.';

CREATE FUNCTION discreet.top_code(value date, upper date)
RETURNS date
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value <= upper THEN value WHEN value > upper THEN upper END;
COMMENT ON FUNCTION discreet.top_code(date, date) IS 'A date, at most the upper limit: one above it becomes the limit.';

CREATE FUNCTION discreet.top_code(value timestamp, upper timestamp)
RETURNS timestamp
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value <= upper THEN value WHEN value > upper THEN upper END;
COMMENT ON FUNCTION discreet.top_code(timestamp, timestamp) IS 'A time, at most the upper limit: one above it becomes the limit.';

CREATE FUNCTION discreet.top_code(value timestamptz, upper timestamptz)
RETURNS timestamptz
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value <= upper THEN value WHEN value > upper THEN upper END;
COMMENT ON FUNCTION discreet.top_code(timestamptz, timestamptz) IS 'A time, at most the upper limit: one above it becomes the limit.';

CREATE FUNCTION discreet.bottom_code(value int, lower int)
RETURNS int
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value >= lower THEN value WHEN value < lower THEN lower END;
COMMENT ON FUNCTION discreet.bottom_code(int, int) IS 'A number, at least the lower limit: one below it becomes the limit.';

CREATE FUNCTION discreet.bottom_code(value bigint, lower bigint)
RETURNS bigint
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value >= lower THEN value WHEN value < lower THEN lower END;
COMMENT ON FUNCTION discreet.bottom_code(bigint, bigint) IS 'A number, at least the lower limit: one below it becomes the limit.';

CREATE FUNCTION discreet.bottom_code(value numeric, lower numeric)
RETURNS numeric
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value = 'NaN' THEN value WHEN value >= lower THEN value WHEN value < lower THEN lower END;
COMMENT ON FUNCTION discreet.bottom_code(numeric, numeric) IS 'A number, at least the lower limit: one below it becomes the limit.';

CREATE FUNCTION discreet.bottom_code(value double precision, lower double precision)
RETURNS double precision
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value = 'NaN' THEN value WHEN value >= lower THEN value WHEN value < lower THEN lower END;
COMMENT ON FUNCTION discreet.bottom_code(double precision, double precision) IS 'A number, at least the lower limit: one below it becomes the limit.';

CREATE FUNCTION discreet.bottom_code(value date, lower date)
RETURNS date
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value >= lower THEN value WHEN value < lower THEN lower END;
COMMENT ON FUNCTION discreet.bottom_code(date, date) IS 'A date, at least the lower limit: one below it becomes the limit.';

CREATE FUNCTION discreet.bottom_code(value timestamp, lower timestamp)
RETURNS timestamp
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value >= lower THEN value WHEN value < lower THEN lower END;
COMMENT ON FUNCTION discreet.bottom_code(timestamp, timestamp) IS 'A time, at least the lower limit: one below it becomes the limit.';

CREATE FUNCTION discreet.bottom_code(value timestamptz, lower timestamptz)
RETURNS timestamptz
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value >= lower THEN value WHEN value < lower THEN lower END;
COMMENT ON FUNCTION discreet.bottom_code(timestamptz, timestamptz) IS 'A time, at least the lower limit: one below it becomes the limit.';

-- discreet.mask: hides the characters of a text, except some at its ends.
CREATE FUNCTION discreet.mask(value text, first int DEFAULT 1, last int DEFAULT 0, symbol text DEFAULT '*')
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN char_length(value) > greatest(first, 0) + greatest(last, 0)
            THEN left(value, greatest(first, 0))
                 || repeat(symbol, char_length(value) - greatest(first, 0) - greatest(last, 0))
                 || right(value, greatest(last, 0))
            WHEN value IS NOT NULL THEN repeat(symbol, char_length(value)) END;
COMMENT ON FUNCTION discreet.mask(text, int, int, text) IS
'A text with its characters hidden, except the first and the last so many; hidden as a whole when these are all there is.';

-- discreet.add_noise: a number with normal noise. Not differential privacy: no budget is charged, and nothing is proven.
CREATE FUNCTION discreet.add_noise(value double precision, deviation double precision)
RETURNS double precision
LANGUAGE c
VOLATILE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_add_noise';
COMMENT ON FUNCTION discreet.add_noise(double precision, double precision) IS
'A number plus normal noise of this standard deviation, drawn anew at each call; for tables that are written once. Not differential privacy.';

CREATE FUNCTION discreet.add_noise(value double precision, deviation double precision, record text, secret text)
RETURNS double precision
LANGUAGE c
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_add_noise';
COMMENT ON FUNCTION discreet.add_noise(double precision, double precision, text, text) IS
'A number plus normal noise that follows from the secret, the record and the number: asking again gives the same. Not differential privacy.';

CREATE FUNCTION discreet.add_noise(value numeric, deviation numeric)
RETURNS numeric
LANGUAGE sql
VOLATILE
PARALLEL SAFE
SECURITY INVOKER
RETURN round(discreet.add_noise(value::double precision, deviation::double precision)::numeric, coalesce(scale(value), 0));
COMMENT ON FUNCTION discreet.add_noise(numeric, numeric) IS
'A number plus normal noise, drawn anew at each call, with as many decimal places as the number. Not differential privacy.';

CREATE FUNCTION discreet.add_noise(value numeric, deviation numeric, record text, secret text)
RETURNS numeric
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN round(discreet.add_noise(value::double precision, deviation::double precision, record, secret)::numeric,
             coalesce(scale(value), 0));
COMMENT ON FUNCTION discreet.add_noise(numeric, numeric, text, text) IS
'A number plus normal noise that follows from the secret, the record and the number, with as many decimal places. Not differential privacy.';

-- discreet.microaggregate: writes a table in which values are means of at least k alike records.
CREATE FUNCTION discreet.microaggregate(relation regclass, columns text[], k int, release text)
RETURNS jsonb
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_microdata
    return release_microdata.microaggregate(plpy, relation, columns, k, release)
$python$;
COMMENT ON FUNCTION discreet.microaggregate(regclass, text[], int, text) IS
'Writes a table in which the columns hold the means of groups of at least k alike records (MDAV). Returns a report.';

-- discreet.swap: writes a table in which records at risk have exchanged some of their values with others.
CREATE FUNCTION discreet.swap(
    relation regclass,
    exchange text[],
    match_on text[],
    quasi_identifiers text[],
    release text,
    k int DEFAULT 3,
    rate float8 DEFAULT 0)
RETURNS jsonb
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_microdata
    return release_microdata.swap(plpy, relation, exchange, match_on, quasi_identifiers, release, k, rate)
$python$;
COMMENT ON FUNCTION discreet.swap(regclass, text[], text[], text[], text, int, float8) IS
'Writes a table in which records that fewer than k share the quasi-identifiers of, and a share of the others, have exchanged values with records
that agree in the columns to match on. Returns a report.';
