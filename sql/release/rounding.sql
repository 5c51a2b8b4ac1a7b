-- Cell keys: a cell's key is the sum of its records' keys, so the same people give the same key, however they were asked for.

-- discreet.record_key: a number from 0 to 2^32 - 1 that follows from a secret and what names the record.
CREATE FUNCTION discreet.record_key(record text, secret text)
RETURNS bigint
LANGUAGE c
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_record_key';
COMMENT ON FUNCTION discreet.record_key(text, text) IS
'A number from 0 to 2^32 - 1, evenly distributed, that follows from a secret and what names a record, or a cell.';

CREATE FUNCTION discreet.record_key(record bigint, secret text)
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN discreet.record_key(record::text, secret);
COMMENT ON FUNCTION discreet.record_key(bigint, text) IS 'The key of a record that is named by a number.';

CREATE FUNCTION discreet._low_bits(keys bigint)
RETURNS bigint
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN keys & 4294967295;
COMMENT ON FUNCTION discreet._low_bits(bigint) IS 'The lower 32 bits.';

-- record keys fit 2 billion times into the sum
CREATE AGGREGATE discreet.cell_key(record_key bigint) (
    SFUNC = pg_catalog.int8pl,
    STYPE = bigint,
    FINALFUNC = discreet._low_bits,
    COMBINEFUNC = pg_catalog.int8pl,
    INITCOND = '0',
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE discreet.cell_key(bigint) IS
'The key of a cell: the sum of the keys of its records, modulo 2^32. The same records give the same key in every query.';

-- discreet._not_a_base: refuses the base of a rounding.
CREATE FUNCTION discreet._not_a_base(base bigint)
RETURNS bigint
LANGUAGE plpgsql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('base is %s, to which nothing can be rounded', base),
        HINT = 'Give a whole number from 1 on, such as 3, 5 or 10.';
END
$plpgsql$;
COMMENT ON FUNCTION discreet._not_a_base(bigint) IS 'Refuses the base of a rounding.';

-- discreet.random_round: up or down to a multiple, as the key says; the mean over all keys is the value itself.
CREATE FUNCTION discreet.random_round(value bigint, base bigint, key bigint)
RETURNS bigint
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN base >= 1 THEN
    value - ((value % base) + base) % base
    + CASE WHEN (key & 4294967295)::numeric * base < (((value % base) + base) % base)::numeric * 4294967296 THEN base
           WHEN key IS NOT NULL THEN 0 END
    ELSE discreet._not_a_base(base) END;
COMMENT ON FUNCTION discreet.random_round(bigint, bigint, bigint) IS
'The multiple of base above or below, as the key says, so that the mean is the value; multiples stay. The same cell key gives the same answer.';

-- discreet.ptable: probabilities for perturb.
CREATE FUNCTION discreet.ptable(deviation float8, max_noise int, min_count int DEFAULT 1)
RETURNS jsonb
LANGUAGE discreet_python
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_crosstables
    return release_crosstables.ptable(plpy, deviation, max_noise, min_count)
$python$;
COMMENT ON FUNCTION discreet.ptable(float8, int, int) IS
'How counts are perturbed: for each count, the distribution of largest entropy with mean 0 and this standard deviation, that changes it by
at most max_noise and leaves no count from 1 to below min_count.';

-- discreet.perturb: a count, changed as its cell key says.
CREATE FUNCTION discreet.perturb(value bigint, cell_key bigint, ptable jsonb)
RETURNS bigint
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT value + (change ->> 0)::bigint
    FROM jsonb_array_elements(ptable -> 'rows' -> least(greatest(value, 0), jsonb_array_length(ptable -> 'rows') - 1)::int)
         WITH ORDINALITY AS row(change, number)
    WHERE (cell_key & 4294967295) < (change ->> 1)::bigint
    ORDER BY number
    LIMIT 1
$sql$;
COMMENT ON FUNCTION discreet.perturb(bigint, bigint, jsonb) IS
'A count, changed as its cell key says, with the probabilities of ptable(). The same cell key gives the same answer; 0 stays 0.';

-- discreet.controlled_round: writes a cross table rounded to multiples that still adds up.
CREATE FUNCTION discreet.controlled_round(
    cells regclass,
    dimensions text[],
    value text,
    base int,
    release text,
    secret text,
    hierarchies jsonb DEFAULT '{}',
    total text DEFAULT 'Total',
    seconds float8 DEFAULT 60)
RETURNS jsonb
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
/* @PINNED_FORMATS@ */
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_crosstables
    return release_crosstables.controlled_round(plpy, cells, dimensions, value, base, release, secret, hierarchies, total, seconds)
$python$;
COMMENT ON FUNCTION discreet.controlled_round(regclass, text[], text, int, text, text, jsonb, text, float8) IS
'Writes a cross table with all margins, every cell a multiple of the base, all groups and totals adding up, driven by keys under a
secret: the same data give the same table. Returns a report.';
