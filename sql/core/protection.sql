-- Compiling a statement about a few rows of the catalog would take longer than all else: jit is off.

-- discreet.protect: puts a table about people under a policy.
CREATE FUNCTION discreet.protect(
    relation regclass,
    unit text,
    dataset text DEFAULT NULL,
    epsilon numeric DEFAULT NULL,
    delta numeric DEFAULT NULL,
    policy text DEFAULT 'noisy',
    max_groups int DEFAULT NULL,
    max_rows int DEFAULT NULL,
    max_epsilon numeric DEFAULT NULL,
    max_delta numeric DEFAULT NULL,
    unit_epsilon numeric DEFAULT NULL,
    min_group int DEFAULT 10,
    fallback text DEFAULT NULL,
    max_total_rows int DEFAULT NULL,
    "time" text DEFAULT NULL)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.protect(plpy, relation, dataset, epsilon, delta, unit=unit, policy=policy, max_groups=max_groups,
        max_rows=max_rows, max_epsilon=max_epsilon, max_delta=max_delta, unit_epsilon=unit_epsilon,
        min_group=min_group, fallback=fallback, max_total_rows=max_total_rows, time=time)
$python$;
COMMENT ON FUNCTION discreet.protect(regclass, text, text, numeric, numeric, text, int, int, numeric, numeric, numeric, int, text, int, text) IS
'Puts a table about people under a policy; the unit is the column that names the person, time the one that tells the period of a row.';

-- discreet.alter_protection: changes limits of a protected table; what is NULL stays, and so do all declarations.
CREATE FUNCTION discreet.alter_protection(
    relation regclass,
    max_rows int DEFAULT NULL,
    max_groups int DEFAULT NULL,
    max_total_rows int DEFAULT NULL,
    max_epsilon numeric DEFAULT NULL,
    max_delta numeric DEFAULT NULL)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.alter_protection(plpy, relation, max_rows=max_rows, max_groups=max_groups,
        max_total_rows=max_total_rows, max_epsilon=max_epsilon, max_delta=max_delta)
$python$;
COMMENT ON FUNCTION discreet.alter_protection(regclass, int, int, int, numeric, numeric) IS
'Changes limits of a protected table; what is not given stays, and so do its declarations.';

-- discreet.describe_column: declares bounds, categories and visibility of a column.
CREATE FUNCTION discreet.describe_column(
    relation regclass,
    column_name name,
    lower numeric DEFAULT NULL,
    upper numeric DEFAULT NULL,
    categories text[] DEFAULT NULL,
    visibility text DEFAULT 'sensitive',
    others text DEFAULT NULL)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.describe_column(plpy, relation, column_name, lower, upper, categories, visibility, others)
$python$;
COMMENT ON FUNCTION discreet.describe_column(regclass, name, numeric, numeric, text[], text, text) IS
'Declares bounds, categories and visibility of a column; replaces what was declared before.';

-- discreet.describe_column: the same with dates as bounds, of a column of dates or timestamps.
CREATE FUNCTION discreet.describe_column(
    relation regclass,
    column_name name,
    lower date,
    upper date,
    categories text[] DEFAULT NULL,
    visibility text DEFAULT 'sensitive',
    others text DEFAULT NULL)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET DateStyle = 'ISO, MDY'
SET TimeZone = 'UTC'
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.describe_column(plpy, relation, column_name, lower, upper, categories, visibility, others)
$python$;
COMMENT ON FUNCTION discreet.describe_column(regclass, name, date, date, text[], text, text) IS
'Declares dates as bounds of a column, and what else is known of it; replaces what was declared before.';

-- discreet.describe_column: the same with moments as bounds.
CREATE FUNCTION discreet.describe_column(
    relation regclass,
    column_name name,
    lower timestamptz,
    upper timestamptz,
    categories text[] DEFAULT NULL,
    visibility text DEFAULT 'sensitive',
    others text DEFAULT NULL)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET DateStyle = 'ISO, MDY'
SET TimeZone = 'UTC'
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.describe_column(plpy, relation, column_name, lower, upper, categories, visibility, others)
$python$;
COMMENT ON FUNCTION discreet.describe_column(regclass, name, timestamptz, timestamptz, text[], text, text) IS
'Declares moments as bounds of a column, and what else is known of it; replaces what was declared before.';

-- discreet.describe_column: the same with bounds as literals without a type, which are read as the type of the column.
CREATE FUNCTION discreet.describe_column(
    relation regclass,
    column_name name,
    lower text,
    upper text,
    categories text[] DEFAULT NULL,
    visibility text DEFAULT 'sensitive',
    others text DEFAULT NULL)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.describe_column(plpy, relation, column_name, lower, upper, categories, visibility, others)
$python$;
COMMENT ON FUNCTION discreet.describe_column(regclass, name, text, text, text[], text, text) IS
'Declares bounds of a column, written as its type is written, and what else is known of it; replaces what was declared before.';

-- discreet.unprotect: takes a table out of its policy.
CREATE FUNCTION discreet.unprotect(relation regclass)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.unprotect(plpy, relation)
$python$;
COMMENT ON FUNCTION discreet.unprotect(regclass) IS
'Takes a table out of its policy; its dataset, with all that was spent, stays.';

-- discreet._relation_family: a table with the tables it inherits from and those that inherit from it, and what holds its ciphertext.
CREATE FUNCTION discreet._relation_family(relation oid)
RETURNS SETOF oid
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
ROWS 10
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH RECURSIVE
        ancestor(relation) AS (
            SELECT $1 UNION SELECT i.inhparent FROM pg_inherits i JOIN ancestor a ON i.inhrelid = a.relation),
        descendant(relation) AS (
            SELECT $1 UNION SELECT i.inhrelid FROM pg_inherits i JOIN descendant d ON i.inhparent = d.relation)
    SELECT relation FROM ancestor UNION SELECT relation FROM descendant UNION SELECT discreet._sealed_twin($1);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._relation_family(oid) IS
'A table with the tables it inherits from and those that inherit from it, partitions included.';

-- discreet._direct_readers: the roles, PUBLIC among them, that were granted SELECT on a table or its columns.
CREATE FUNCTION discreet._direct_readers(relation oid)
RETURNS text[]
LANGUAGE sql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    WITH acl(item, owner) AS (
        SELECT aclexplode(c.relacl), c.relowner
        FROM pg_class c WHERE c.oid IN (SELECT discreet._relation_family($1))
        UNION ALL
        SELECT aclexplode(a.attacl), c.relowner
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.oid IN (SELECT discreet._relation_family($1)) AND a.attacl IS NOT NULL)
    SELECT coalesce(array_agg(DISTINCT reader ORDER BY reader), '{}')
    FROM (SELECT CASE (item).grantee WHEN 0 THEN 'PUBLIC' ELSE (item).grantee::regrole::text END AS reader
          FROM acl WHERE (item).privilege_type = 'SELECT' AND (item).grantee <> owner) granted
$sql$;
COMMENT ON FUNCTION discreet._direct_readers(oid) IS
'The roles, PUBLIC among them, that were granted SELECT on a table, its partitions or its columns.';
