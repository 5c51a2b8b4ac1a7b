-- Keys under which pseudonyms, record keys and noise are computed. extension/release_secrets.c reads these columns by number.
CREATE TABLE discreet._secret (
    secret     text COLLATE "C" PRIMARY KEY CHECK (secret <> ''),
    owner      name NOT NULL,
    created_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
);
COMMENT ON TABLE discreet._secret IS 'Names of secrets, and who owns them.';

CREATE TABLE discreet._secret_key (
    secret  text COLLATE "C" NOT NULL,
    version int NOT NULL CHECK (version >= 1),
    key     bytea NOT NULL CHECK (pg_catalog.length(key) = 32),
    made_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (secret, version)
);
COMMENT ON TABLE discreet._secret_key IS 'The keys of a secret: the newest is used, older ones are kept to recognise what was made with them.';

CREATE TABLE discreet._secret_holder (
    secret text COLLATE "C" NOT NULL,
    role   regrole NOT NULL,
    PRIMARY KEY (secret, role)
);
COMMENT ON TABLE discreet._secret_holder IS 'Roles that may compute under a secret, without reading it.';

SELECT pg_catalog.pg_extension_config_dump('discreet._secret', '');
SELECT pg_catalog.pg_extension_config_dump('discreet._secret_key', '');
SELECT pg_catalog.pg_extension_config_dump('discreet._secret_holder', 'WHERE role IN (SELECT oid FROM pg_catalog.pg_roles)');
