-- Levels by height and compartments by place; what a label's bits mean never changes. Read by extension/mls_level.c: the order
-- of the columns is part of it.
CREATE TABLE discreet._label_part (
    is_level boolean NOT NULL,
    position int2 NOT NULL CHECK (position >= 0),
    name     text COLLATE "C" NOT NULL CHECK (name <> ''),
    PRIMARY KEY (is_level, position)
);
COMMENT ON TABLE discreet._label_part IS 'Levels, lowest first, and compartments, of which labels are made.';

-- A tree: parents come before their children. Read by extension/mls_level.c, too.
CREATE TABLE discreet._label_group (
    position int2 PRIMARY KEY CHECK (position >= 0),
    name     text COLLATE "C" NOT NULL UNIQUE CHECK (name <> ''),
    parent   int2 CHECK (parent >= 0 AND parent < position)
);
COMMENT ON TABLE discreet._label_group IS 'Groups, any one of which suffices to read a label that names several.';

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
    former      jsonb NOT NULL DEFAULT '{}',
    history     uuid NOT NULL DEFAULT pg_catalog.gen_random_uuid()
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

-- Written by extension/mls_history.c alone: the order of the columns is part of it. An entry is a stored row as it was written; the
-- entries of a transaction at a label are a batch. Place tells where entries of a key are, history is that of the table.
CREATE TABLE discreet._history (
    label   bigint NOT NULL,
    batch   bigint NOT NULL,
    number  bigint NOT NULL,
    history uuid NOT NULL,
    place   bigint NOT NULL,
    at      timestamptz NOT NULL,
    role    name NOT NULL,
    act     text NOT NULL,
    version json NOT NULL,
    hash    bytea NOT NULL,
    -- labels of columns that were relabelled upwards since, by their names: no part of the hash
    raised  jsonb CHECK (jsonb_typeof(raised) = 'object'),
    PRIMARY KEY (label, batch, number)
);
COMMENT ON TABLE discreet._history IS 'Who wrote which version of a row of a multilevel table at which label, and when: append-only.';
CREATE INDEX _history_place ON discreet._history (history, place);

-- A hash chain for each label: id counts without gaps, hash covers the link and the hash before it. Links without an id wait for
-- their place in the chain.
CREATE TABLE discreet._history_link (
    label   bigint NOT NULL,
    batch   bigint NOT NULL,
    id      bigint,
    at      timestamptz NOT NULL,
    role    name NOT NULL,
    entries bigint NOT NULL,
    digest  bytea NOT NULL,
    hash    bytea,
    PRIMARY KEY (label, batch),
    UNIQUE (label, id)
);
COMMENT ON TABLE discreet._history_link IS 'What transactions wrote at each label, bound to what was written there before: a hash chain for each label.';

SELECT pg_catalog.pg_extension_config_dump('discreet._label_part', '');
SELECT pg_catalog.pg_extension_config_dump('discreet._label_group', '');
SELECT pg_catalog.pg_extension_config_dump('discreet._clearance', 'WHERE role IN (SELECT oid FROM pg_catalog.pg_roles)');
SELECT pg_catalog.pg_extension_config_dump('discreet._multilevel_table', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('discreet._multilevel_trigger', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('discreet._multilevel_reference', 'WHERE child IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('discreet._multilevel_rule', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('discreet._label_event', '');
SELECT pg_catalog.pg_extension_config_dump('discreet._history', '');
SELECT pg_catalog.pg_extension_config_dump('discreet._history_link', '');
