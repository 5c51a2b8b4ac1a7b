-- Levels by height and compartments by place; what a label's bits mean never changes. Read by extension/mls_level.c: the order
-- of the columns is part of it.
CREATE TABLE discreet._label_part (
    is_level boolean NOT NULL,
    position int2 NOT NULL CHECK (position >= 0),
    name     text COLLATE "C" NOT NULL CHECK (name <> ''),
    PRIMARY KEY (is_level, position)
);
COMMENT ON TABLE discreet._label_part IS 'Levels, lowest first, and compartments, of which labels are made.';

CREATE TABLE discreet._clearance (
    role       regrole PRIMARY KEY,
    label      bigint NOT NULL CHECK (label >= 0),
    write_from bigint NOT NULL DEFAULT 0 CHECK ((write_from & ~label) = 0)
);
COMMENT ON TABLE discreet._clearance IS
'The highest label that sessions of a login role may have, and the lowest at which they may write.';

-- What the view and the triggers of a multilevel table are made from, and what mls_plain needs to undo them.
CREATE TABLE discreet._multilevel_table (
    relation    regclass PRIMARY KEY,
    base        regclass NOT NULL,
    key         name[] NOT NULL,
    cells       name[] NOT NULL,
    checks      jsonb NOT NULL DEFAULT '[]',
    generated   jsonb NOT NULL DEFAULT '[]',
    former      jsonb NOT NULL DEFAULT '{}'
);
COMMENT ON TABLE discreet._multilevel_table IS 'Multilevel tables: the view that users know, and the table that holds the rows.';

CREATE TABLE discreet._multilevel_reference (
    child   regclass NOT NULL,
    columns name[] NOT NULL,
    parent  regclass NOT NULL,
    PRIMARY KEY (child, columns)
);
COMMENT ON TABLE discreet._multilevel_reference IS 'Columns of multilevel tables that name rows of other multilevel tables.';

CREATE TABLE discreet._multilevel_rule (
    relation    regclass NOT NULL REFERENCES discreet._multilevel_table ON DELETE CASCADE,
    column_name name NOT NULL,
    rule        text NOT NULL,
    sql         text NOT NULL,
    PRIMARY KEY (relation, column_name)
);
COMMENT ON TABLE discreet._multilevel_rule IS
'Which labels values of columns want: an expression over the row, and the same as SQL over NEW.';

-- What runs when a multilevel table is written: read by extension/mls_level.c, the order of the columns is part of it. Functions
-- go by their names, since pg_upgrade keeps no numbers of functions.
CREATE TABLE discreet._multilevel_trigger (
    relation regclass NOT NULL REFERENCES discreet._multilevel_table ON DELETE CASCADE,
    name     name NOT NULL,
    function name NOT NULL,
    rule     text,
    PRIMARY KEY (relation, name)
);
COMMENT ON TABLE discreet._multilevel_trigger IS
'Triggers that discreet made for multilevel tables, with their functions and the rules that they keep; no others run.';

-- Append-only: id counts without gaps, hash covers the row and the hash before it.
CREATE TABLE discreet._label_event (
    id       bigint PRIMARY KEY,
    at       timestamptz NOT NULL,
    role     name NOT NULL,
    act      text NOT NULL,
    relation text,
    details  jsonb NOT NULL,
    hash     bytea NOT NULL
);
COMMENT ON TABLE discreet._label_event IS 'Trusted operations, denied writes and changes of clearances: append-only, a hash chain.';

SELECT pg_catalog.pg_extension_config_dump('discreet._label_part', '');
SELECT pg_catalog.pg_extension_config_dump('discreet._clearance', 'WHERE role IN (SELECT oid FROM pg_catalog.pg_roles)');
SELECT pg_catalog.pg_extension_config_dump('discreet._multilevel_table', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('discreet._multilevel_trigger', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('discreet._multilevel_reference', 'WHERE child IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('discreet._multilevel_rule', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('discreet._label_event', '');
