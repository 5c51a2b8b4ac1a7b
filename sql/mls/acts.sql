-- discreet.mls_declassify: writes cells of a trusted session's row at a lower label.
CREATE FUNCTION discreet.mls_declassify(relation regclass, key jsonb, columns text[], to_label text, reason text)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls_acts
    return mls_acts.declassify(plpy, relation, key, columns, to_label, reason)
$python$;
COMMENT ON FUNCTION discreet.mls_declassify(regclass, jsonb, text[], text, text) IS
'Writes cells of a trusted session''s row at a lower label, for a reason that the log keeps; versions that are equal then merge.';

-- discreet.mls_relabel: gives cells of many rows, or whole rows, another label.
CREATE FUNCTION discreet.mls_relabel(relation regclass, predicate text, columns text[], to_label text, reason text)
RETURNS bigint
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls_relabel
    return mls_relabel.relabel(plpy, relation, predicate, columns, to_label, reason)
$python$;
COMMENT ON FUNCTION discreet.mls_relabel(regclass, text, text[], text, text) IS
'Gives columns of the rows that a predicate means another label, up or down, or whole rows where a key column is named: by a trusted session, all or nothing, logged once with its reason.';

-- discreet.mls_uplevel: lets the session's own row take the value of a lower label again.
CREATE FUNCTION discreet.mls_uplevel(relation regclass, key jsonb, column_name text, from_label text)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls_acts
    return mls_acts.uplevel(plpy, relation, key, column_name, from_label)
$python$;
COMMENT ON FUNCTION discreet.mls_uplevel(regclass, jsonb, text, text) IS
'Lets the session''s own row take the value of a lower label again; a row without values of its own disappears.';

-- discreet.mls_report: where the rows of one key differ, as far as the session sees them.
CREATE FUNCTION discreet.mls_report(relation regclass)
RETURNS TABLE (key jsonb, column_name text, versions jsonb)
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls_acts
    return mls_acts.report(plpy, relation)
$python$;
COMMENT ON FUNCTION discreet.mls_report(regclass) IS
'Polyinstantiated entities that the session sees: the columns in which their versions differ, with labels and values.';

-- discreet.mls_upsert: updates the row of a key, or inserts it, as ON CONFLICT would.
CREATE FUNCTION discreet.mls_upsert(relation regclass, new_row jsonb)
RETURNS text
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls_acts
    return mls_acts.upsert(plpy, relation, new_row)
$python$;
COMMENT ON FUNCTION discreet.mls_upsert(regclass, jsonb) IS
'Updates the visible row of a key, or inserts one when there is none: inserted or updated.';

-- discreet.mls_purge: removes tombstones that no row borrows from.
CREATE FUNCTION discreet.mls_purge(relation regclass, reason text)
RETURNS bigint
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls_acts
    return mls_acts.purge(plpy, relation, reason)
$python$;
COMMENT ON FUNCTION discreet.mls_purge(regclass, text) IS
'Removes what was deleted and no row borrows from, by a trusted session at the highest label: how many rows.';

-- discreet._multilevel_description: what the functions that work with the caller's rights need to know of a multilevel table.
CREATE FUNCTION discreet._multilevel_description(relation oid)
RETURNS jsonb
LANGUAGE sql
STABLE
STRICT
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT jsonb_build_object(
        'schema', n.nspname, 'name', v.relname, 'base_name', b.relname, 'base', b.oid::bigint, 'key', t.key,
        'cells', t.cells, 'checks', t.checks, 'generated', t.generated,
        'rules', (SELECT jsonb_agg(jsonb_build_object('column', l.column_name, 'sql', l.sql) ORDER BY l.column_name)
                  FROM discreet._multilevel_rule l WHERE l.relation = t.relation),
        'references', (SELECT jsonb_agg(jsonb_build_object('columns', r.columns, 'parent', r.parent::oid::bigint))
                       FROM discreet._multilevel_reference r WHERE r.child = t.relation),
        'children', (SELECT jsonb_agg(jsonb_build_object('columns', r.columns, 'child', r.child::oid::bigint))
                     FROM discreet._multilevel_reference r WHERE r.parent = t.relation))
    FROM discreet._multilevel_table t JOIN pg_class v ON v.oid = t.relation
    JOIN pg_namespace n ON n.oid = v.relnamespace JOIN pg_class b ON b.oid = t.base
    WHERE t.relation = $1
$sql$;
COMMENT ON FUNCTION discreet._multilevel_description(oid) IS 'Key, columns, checks and references of a multilevel table.';
