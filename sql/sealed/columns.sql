-- Sealing columns. What alters a table runs as its owner: its CHECKs and defaults may run code of any role.

-- discreet.sealed_columns: what is sealed, and under which key.
CREATE VIEW discreet.sealed_columns AS
SELECT c.relation, c.column_name, c.key, c.searchable, c.base, c.version AS data_key
FROM discreet._sealed_column c;
COMMENT ON VIEW discreet.sealed_columns IS 'Sealed columns, the keys that open them, and the tables that hold their ciphertext.';

-- discreet.seal_column: has a column stored encrypted from now on.
CREATE FUNCTION discreet.seal_column(relation regclass, column_name name, key text, searchable boolean DEFAULT false)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import sealed
    return sealed.seal_column(plpy, relation, column_name, key, searchable)
$python$;
COMMENT ON FUNCTION discreet.seal_column(regclass, name, text, boolean) IS
'Has a column stored encrypted under a key; searchable: equal values can be looked up and joined, and are seen to be equal.';

-- discreet.unseal_column: has a sealed column stored in the clear again.
CREATE FUNCTION discreet.unseal_column(relation regclass, column_name name)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import sealed
    return sealed.unseal_column(plpy, relation, column_name)
$python$;
COMMENT ON FUNCTION discreet.unseal_column(regclass, name) IS 'Has a sealed column stored in the clear again; its key must be open.';

-- discreet.renew_column_key: begins another data key for a column.
CREATE FUNCTION discreet.renew_column_key(relation regclass, column_name name)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import sealed
    return sealed.renew_column_key(plpy, relation, column_name)
$python$;
COMMENT ON FUNCTION discreet.renew_column_key(regclass, name) IS
'Begins another data key for a column: new values are sealed under it, reseal_column() rewrites the others.';

-- discreet.reseal_column: rewrites some values that are sealed under older data keys; how many.
CREATE FUNCTION discreet.reseal_column(relation regclass, column_name name, most_rows int DEFAULT 10000)
RETURNS bigint
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import sealed
    return sealed.reseal_column(plpy, relation, column_name, most_rows)
$python$;
COMMENT ON FUNCTION discreet.reseal_column(regclass, name, int) IS
'Rewrites at most so many values that are sealed under older data keys, and tells how many; 0 when all are done.';

-- discreet._closed_key: a key of sealed columns of a relation, or below a view, that the session does not have open.
CREATE FUNCTION discreet._closed_key(relation oid)
RETURNS text
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN (
        WITH RECURSIVE below(relation) AS (
            SELECT $1 UNION SELECT v FROM below b, discreet._relations_of_view(b.relation) v)
        SELECT min(c.key) FROM below b JOIN discreet._sealed_column c ON c.relation = b.relation
        WHERE NOT discreet._is_unsealed(c.id));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._closed_key(oid) IS
'A key of sealed columns of a relation, or below a view, that the session does not have open.';

-- discreet._ciphertext_of: of what holds the rows of a table with sealed columns, the name of that table.
CREATE FUNCTION discreet._ciphertext_of(relation oid)
RETURNS text
LANGUAGE sql
STABLE
STRICT
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT min(c.relation::text) FROM discreet._sealed_column c WHERE c.base = $1
$sql$;
COMMENT ON FUNCTION discreet._ciphertext_of(oid) IS
'Of what holds the rows of a table with sealed columns, the name of that table.';

-- discreet._as_owner: runs a statement in the name of who owns a relation; how many rows it touched.
CREATE FUNCTION discreet._as_owner(relation oid, statement text)
RETURNS bigint
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_as_owner';
COMMENT ON FUNCTION discreet._as_owner(oid, text) IS 'Runs a statement in the name of who owns a relation, and tells how many rows it touched.';

DO $plpgsql$
DECLARE
    source text;
BEGIN
    FOREACH source IN ARRAY ARRAY['_key', '_key_holder', '_data_key', '_sealed_column'] LOOP
        EXECUTE pg_catalog.format(
            'CREATE TRIGGER _declarations_changed AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE ON discreet.%I
             FOR EACH STATEMENT EXECUTE FUNCTION discreet._declarations_changed()', source);
        EXECUTE pg_catalog.format('ALTER TABLE discreet.%I ENABLE ALWAYS TRIGGER _declarations_changed', source);
    END LOOP;
END
$plpgsql$;
