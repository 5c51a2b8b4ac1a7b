-- discreet.anonymize: writes a copy of a table that is k-anonymous, and l-diverse and t-close if wanted.
CREATE FUNCTION discreet.anonymize(
    relation regclass,
    release text,
    quasi_identifiers jsonb,
    k int,
    l int DEFAULT NULL,
    t float8 DEFAULT NULL,
    sensitive text DEFAULT NULL,
    max_suppression float8 DEFAULT 0.05,
    method text DEFAULT 'optimal',
    keep text[] DEFAULT NULL,
    distance text DEFAULT 'equal',
    unit text DEFAULT NULL)
RETURNS jsonb
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
/* @PINNED_FORMATS@ */
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.anonymize(plpy, relation, release, quasi_identifiers, k, l, t, sensitive, max_suppression, method,
        keep, distance, unit)
$python$;
COMMENT ON FUNCTION discreet.anonymize(regclass, text, jsonb, int, int, float8, text, float8, text, text[], text, text) IS
'Writes a copy of a table that is k-anonymous, and l-diverse and t-close if wanted, over rows or over people told apart by the column unit; says what was lost, and why no less.';

-- discreet.best_ranges: ranges of a number that make the smallest class as large as possible.
CREATE FUNCTION discreet.best_ranges(
    relation regclass,
    column_name text,
    ranges int,
    within text[] DEFAULT NULL,
    lower numeric DEFAULT NULL,
    upper numeric DEFAULT NULL)
RETURNS TABLE(range_from numeric, range_to numeric, smallest_class bigint)
LANGUAGE discreet_python
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
/* @PINNED_FORMATS@ */
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.best_ranges(plpy, relation, column_name, ranges, within, lower, upper)
$python$;
COMMENT ON FUNCTION discreet.best_ranges(regclass, text, int, text[], numeric, numeric) IS
'Ranges of a number that make the smallest class, within other columns, as large as possible.';
