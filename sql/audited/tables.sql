-- What was answered about audited tables. It outlives unprotect(): only audit_reset() and DROP TABLE forget it.
-- unit is NULL after a reset of a table that is not audited at the moment.
CREATE TABLE discreet._audit (
    relation    regclass PRIMARY KEY,
    seed        bigint NOT NULL,
    unit        name,
    unit_attnum int2,
    unit_type   text,
    position    bigint NOT NULL DEFAULT 0,
    floor       bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE discreet._audit IS
'How far the history of an audited table has come, where it begins, and what its people are told apart by: a column, its type, the seed of their hashes.';

-- Events know columns by numbers of their own: those of PostgreSQL change when a dump is restored.
CREATE TABLE discreet._audit_column (
    relation    regclass NOT NULL,
    number      int2 NOT NULL,
    column_name name NOT NULL,
    attnum      int2,
    PRIMARY KEY (relation, number)
);
COMMENT ON TABLE discreet._audit_column IS 'The numbers under which the history of an audited table knows its columns.';

-- Who puts another table in the place of one that answers were given about shall know that its audit knows nothing of them.
-- relation 0: dropped.
CREATE TABLE discreet._audit_name (
    schema_name name NOT NULL,
    table_name  name NOT NULL,
    relation    regclass NOT NULL,
    dataset     text COLLATE "C" NOT NULL,
    PRIMARY KEY (schema_name, table_name, relation)
);
COMMENT ON TABLE discreet._audit_name IS 'The names that audited tables have had, also of those that are gone.';

-- An event is what an answer adds to the history (discreet.audited.history). Compressed already.
CREATE TABLE discreet._audit_event (
    relation  regclass NOT NULL,
    position  bigint NOT NULL,
    at        timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    role      name NOT NULL,
    columns   int2[] NOT NULL,
    questions int[] NOT NULL,
    event     bytea NOT NULL,
    PRIMARY KEY (relation, position)
);
COMMENT ON TABLE discreet._audit_event IS 'Who was asked about, in every answer that told something new of an audited table.';

ALTER TABLE discreet._audit_event ALTER COLUMN event SET STORAGE EXTERNAL;

-- All events up to a position, put together; may be lost.
CREATE TABLE discreet._audit_base (
    relation regclass PRIMARY KEY,
    position bigint NOT NULL,
    base     bytea NOT NULL
);
COMMENT ON TABLE discreet._audit_base IS 'The history of an audited table up to a position, put together for quick reading.';

ALTER TABLE discreet._audit_base ALTER COLUMN base SET STORAGE EXTERNAL;

CREATE TABLE discreet._audit_known (
    relation   regclass NOT NULL,
    unit_value text NOT NULL,
    person     bigint NOT NULL,
    PRIMARY KEY (relation, unit_value)
);
COMMENT ON TABLE discreet._audit_known IS 'People of audited tables whose values an asker is taken to know.';

SELECT pg_catalog.pg_extension_config_dump('discreet._audit', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('discreet._audit_column', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('discreet._audit_name', 'WHERE relation = 0 OR relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('discreet._audit_event', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('discreet._audit_known', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
