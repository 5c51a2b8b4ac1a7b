-- Named keys, and values sealed under them.

-- discreet.create_key: makes a named key.
CREATE FUNCTION discreet.create_key(name text, secret bytea DEFAULT NULL, whole boolean DEFAULT false)
RETURNS void
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'discreet_create_key';
COMMENT ON FUNCTION discreet.create_key(text, bytea, boolean) IS
'Makes a named key, which its creator owns. Its secret is given now, or by the first open_key; whole: the secret is the key, 32 bytes.';

-- discreet.open_key: opens a key for this session.
CREATE FUNCTION discreet.open_key(name text, secret bytea)
RETURNS void
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'discreet_open_key';
COMMENT ON FUNCTION discreet.open_key(text, bytea) IS
'Opens a key for this session, by its secret, over TLS or a local socket: its sealed columns can be read and written.';

-- discreet.close_key: closes a key in this session.
CREATE FUNCTION discreet.close_key(name text)
RETURNS void
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'discreet_close_key';
COMMENT ON FUNCTION discreet.close_key(text) IS
'Closes a key in this session, and wipes it from memory.';

-- discreet.rotate_key: gives a key another secret.
CREATE FUNCTION discreet.rotate_key(name text, old_secret bytea, new_secret bytea)
RETURNS void
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'discreet_rotate_key';
COMMENT ON FUNCTION discreet.rotate_key(text, bytea, bytea) IS
'Gives a key another secret: its data keys are encrypted anew, no column is written.';

-- discreet.grant_key: lets a role open a key.
CREATE FUNCTION discreet.grant_key(name text, role regrole)
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
    return sealed.grant_key(plpy, name, role)
$python$;
COMMENT ON FUNCTION discreet.grant_key(text, regrole) IS
'Lets a role open a key, if it knows the secret.';

-- discreet.revoke_key: takes a key from a role.
CREATE FUNCTION discreet.revoke_key(name text, role regrole)
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
    return sealed.revoke_key(plpy, name, role)
$python$;
COMMENT ON FUNCTION discreet.revoke_key(text, regrole) IS
'Takes a key from a role; sessions that have it open lose it with their next statement.';

-- discreet.keys: the named keys, without anything secret.
CREATE VIEW discreet.keys AS
SELECT k.name, k.owner, k.whole, k.salt IS NOT NULL AS has_secret, k.created_at,
       ARRAY(SELECT h.role FROM discreet._key_holder h WHERE h.key = k.name ORDER BY h.role::text) AS holders,
       (SELECT pg_catalog.count(*) FROM discreet._sealed_column c WHERE c.key = k.name) AS sealed_columns
FROM discreet._key k;
COMMENT ON VIEW discreet.keys IS 'Named keys, who owns them, and who may open them.';

-- discreet._new_data_key: makes a data key of a column.
CREATE FUNCTION discreet._new_data_key(owner uuid, version int2, key text)
RETURNS void
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'discreet_new_data_key';
COMMENT ON FUNCTION discreet._new_data_key(uuid, int2, text) IS
'Makes a data key of a column, under a named key that is open.';

-- discreet._require_server_key: fails unless the server holds a key.
CREATE FUNCTION discreet._require_server_key(key text)
RETURNS void
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_require_server_key';
COMMENT ON FUNCTION discreet._require_server_key(text) IS
'Fails unless discreet.key_command gives the secret of a key.';

-- discreet._seal: what a sealed column of a row holds for a value.
CREATE FUNCTION discreet._seal(value anyelement, row_id bigint, column_id uuid)
RETURNS bytea
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_seal';
COMMENT ON FUNCTION discreet._seal(anyelement, bigint, uuid) IS
'What a sealed column of a row holds for a value; an error when the key is not open.';

-- discreet._unseal: the value that a sealed column of a row holds.
CREATE FUNCTION discreet._unseal(sealed bytea, row_id bigint, column_id uuid, alike anyelement)
RETURNS anyelement
LANGUAGE c
STABLE
PARALLEL SAFE
SECURITY INVOKER
COST 5
AS 'MODULE_PATHNAME', 'discreet_unseal';
COMMENT ON FUNCTION discreet._unseal(bytea, bigint, uuid, anyelement) IS
'The value that a sealed column of a row holds; NULL when the key is not open.';

-- discreet._seal_search: what a searchable column holds for a value.
CREATE FUNCTION discreet._seal_search(value anyelement, column_id uuid)
RETURNS bytea
LANGUAGE c
STABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_seal_search';
COMMENT ON FUNCTION discreet._seal_search(anyelement, uuid) IS
'What a searchable column holds for a value; NULL when the key is not open.';

-- discreet._seal_search_many: what a searchable column holds for each of some values.
CREATE FUNCTION discreet._seal_search_many(value anyarray, column_id uuid)
RETURNS bytea[]
LANGUAGE c
STABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_seal_search_many';
COMMENT ON FUNCTION discreet._seal_search_many(anyarray, uuid) IS
'What a searchable column holds for each of some values; NULL when the key is not open.';

-- discreet._is_unsealed: whether the session has the key of a sealed column open.
CREATE FUNCTION discreet._is_unsealed(column_id uuid)
RETURNS boolean
LANGUAGE c
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_is_unsealed';
COMMENT ON FUNCTION discreet._is_unsealed(uuid) IS
'Whether the session has the key of a sealed column open.';

-- discreet._sealed_row: a random number for a new row.
CREATE FUNCTION discreet._sealed_row()
RETURNS bigint
LANGUAGE c
VOLATILE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_sealed_row';
COMMENT ON FUNCTION discreet._sealed_row() IS
'A random number for a new row, to which its sealed values are bound.';

-- discreet._sealed_version: the number of the data key under which a value is sealed.
CREATE FUNCTION discreet._sealed_version(sealed bytea)
RETURNS int
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_sealed_version';
COMMENT ON FUNCTION discreet._sealed_version(bytea) IS
'The number of the data key under which a value is sealed.';

-- discreet._seals_type: whether values of a type can be sealed searchable.
CREATE FUNCTION discreet._seals_type(type regtype, typmod int)
RETURNS boolean
LANGUAGE c
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_seals_type';
COMMENT ON FUNCTION discreet._seals_type(regtype, int) IS
'Whether values of a type can be sealed searchable; an error when they cannot be sealed at all.';

-- discreet._let_spill: lets indexes be built by sorts on disk.
CREATE FUNCTION discreet._let_spill(allowed boolean)
RETURNS void
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_let_spill';
COMMENT ON FUNCTION discreet._let_spill(boolean) IS
'While a column is sealed or unsealed as a whole, its indexes are built by sorts on disk, of ciphertext or of what stands in the clear.';

-- discreet._sealed_insert: stores a row that COPY brings.
CREATE FUNCTION discreet._sealed_insert()
RETURNS trigger
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_sealed_insert';
COMMENT ON FUNCTION discreet._sealed_insert() IS
'Stores a row that COPY brings to a table with sealed columns.';
