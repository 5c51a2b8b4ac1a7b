-- Columns that hold randomised responses; their triggers know them by id, and know the column itself.
CREATE TABLE discreet._response_column (
    id       int PRIMARY KEY,
    relation regclass NOT NULL,
    epsilon  float8 NOT NULL CHECK (epsilon > 0 AND epsilon < 'Infinity'),
    domain   text[] NOT NULL,
    salt     bytea NOT NULL
);
COMMENT ON TABLE discreet._response_column IS 'Columns that hold randomised responses, and how these are drawn.';

-- A response is the place of a value in the domain. Nothing here was computed from a truth but by the coin.
CREATE TABLE discreet._response (
    id       int NOT NULL,
    person   bytea NOT NULL,
    response int NOT NULL,
    PRIMARY KEY (id, person)
);
COMMENT ON TABLE discreet._response IS 'The response of each person, drawn once; persons as salted hashes.';

SELECT pg_catalog.pg_extension_config_dump('discreet._response_column', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('discreet._response', '');
