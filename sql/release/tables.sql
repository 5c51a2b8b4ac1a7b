-- What was published, for good: a later release of the same people is checked against it.
CREATE TABLE discreet._release (
    id                uuid PRIMARY KEY DEFAULT pg_catalog.gen_random_uuid(),
    release           text NOT NULL,
    relation          regclass NOT NULL,
    source            text NOT NULL,
    kind              text NOT NULL CHECK (kind IN ('table', 'view')),
    quasi_identifiers text[] NOT NULL,
    sensitive         text,
    k                 int NOT NULL CHECK (k >= 2),
    l                 int,
    t                 float8,
    definition        jsonb NOT NULL,
    report            jsonb NOT NULL,
    publisher         name NOT NULL,
    at                timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
);
COMMENT ON TABLE discreet._release IS 'What was published of which table, how it was made, and what it promises.';

CREATE TABLE discreet._release_class (
    release uuid NOT NULL,
    class   int NOT NULL,
    label   text NOT NULL,
    size    bigint NOT NULL,
    PRIMARY KEY (release, class)
);
COMMENT ON TABLE discreet._release_class IS 'The classes of released tables: what is published of their quasi-identifiers, and of how many rows.';

-- Updated by each publication of a table, so that they run one after the other.
CREATE TABLE discreet._release_turn (
    relation regclass PRIMARY KEY,
    turn     bigint NOT NULL DEFAULT 1
);
COMMENT ON TABLE discreet._release_turn IS 'Tables of which something was published, or tried: who publishes of one waits for who does already.';

SELECT pg_catalog.pg_extension_config_dump('discreet._release', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('discreet._release_class', '');
