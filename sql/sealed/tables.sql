-- Keys and sealed columns. Read by extension/sealed_*.c: the order of the columns is part of it. No key lies here in the clear.
CREATE TABLE discreet._key (
    name       text COLLATE "C" PRIMARY KEY CHECK (name <> ''),
    id         uuid NOT NULL UNIQUE DEFAULT pg_catalog.gen_random_uuid(),
    owner      name NOT NULL,
    whole      boolean NOT NULL,
    salt       bytea,
    cost       int,
    block      int,
    lanes      int,
    created_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
);
COMMENT ON TABLE discreet._key IS 'Named keys: who owns them, and how scrypt makes them of a secret, which is stored nowhere.';

CREATE TABLE discreet._key_holder (
    key  text COLLATE "C" NOT NULL REFERENCES discreet._key ON DELETE CASCADE,
    role regrole NOT NULL,
    PRIMARY KEY (key, role)
);
COMMENT ON TABLE discreet._key_holder IS 'Roles that may open a key, if they know its secret.';

CREATE TABLE discreet._data_key (
    owner   uuid NOT NULL,
    version int2 NOT NULL CHECK (version BETWEEN 1 AND 255),
    key     uuid NOT NULL REFERENCES discreet._key (id),
    wrapped bytea NOT NULL,
    made_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (owner, version)
);
COMMENT ON TABLE discreet._data_key IS
'Data keys, encrypted under a named key: of a randomised column, or, for all searchable columns, of the named key itself.';

CREATE TABLE discreet._sealed_column (
    id          uuid PRIMARY KEY DEFAULT pg_catalog.gen_random_uuid(),
    relation    regclass NOT NULL,
    base        regclass NOT NULL,
    table_id    uuid NOT NULL,
    number      int NOT NULL,
    column_name name NOT NULL,
    key         text COLLATE "C" NOT NULL REFERENCES discreet._key,
    searchable  boolean NOT NULL,
    version     int2 NOT NULL DEFAULT 1,
    former      jsonb NOT NULL,
    UNIQUE (table_id, number)
);
COMMENT ON TABLE discreet._sealed_column IS
'Sealed columns: the view that users know, the table that holds the ciphertext, and what the column was before.';

SELECT pg_catalog.pg_extension_config_dump('discreet._key', '');
SELECT pg_catalog.pg_extension_config_dump('discreet._key_holder', 'WHERE role IN (SELECT oid FROM pg_catalog.pg_roles)');
SELECT pg_catalog.pg_extension_config_dump('discreet._data_key', '');
SELECT pg_catalog.pg_extension_config_dump('discreet._sealed_column', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');

-- discreet._sealed_twin: of a table with sealed columns, what holds its rows; of that, the table that users know.
CREATE FUNCTION discreet._sealed_twin(relation oid)
RETURNS SETOF oid
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY DEFINER
ROWS 1
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT DISTINCT CASE c.base WHEN $1 THEN c.relation ELSE c.base END::oid
    FROM discreet._sealed_column c WHERE $1 IN (c.relation, c.base);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._sealed_twin(oid) IS
'Of a table with sealed columns, what holds its rows; of that, the table that users know.';

-- discreet._is_sealed_table: whether this is the view of a table with sealed columns, which the gate reads as a table.
CREATE FUNCTION discreet._is_sealed_table(relation oid)
RETURNS boolean
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN EXISTS (SELECT FROM discreet._sealed_column c WHERE c.relation = $1);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._is_sealed_table(oid) IS
'Whether this is the view of a table with sealed columns, which the gate reads as a table.';
