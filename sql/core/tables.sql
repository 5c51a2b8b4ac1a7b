-- No foreign keys between the tables of this extension: pg_restore -j fills them in any order.

-- One privacy unit over all its tables: the people whose budget is kept together.
CREATE TABLE discreet._dataset (
    dataset          text COLLATE "C" PRIMARY KEY CHECK (dataset <> ''),
    accounting       text NOT NULL CHECK (accounting IN ('pure', 'zcdp')),
    neighbours       text NOT NULL CHECK (neighbours IN ('unbounded', 'bounded')),
    response_quantum interval CHECK (response_quantum > '0'),
    answer_lifetime  interval DEFAULT '1 day' CHECK (answer_lifetime >= '0'),
    diagnose         numeric NOT NULL DEFAULT 0 CHECK (diagnose >= 0 AND diagnose < 1),
    -- whole months or whole days, each with the limits of _budget; what tables without a time cost is limited for ever
    period           interval CHECK (
        period IN (pg_catalog.make_interval(months => (extract(year FROM period) * 12 + extract(month FROM period))::int),
                   pg_catalog.make_interval(days => extract(day FROM period)::int))
        AND period > '0' AND (extract(day FROM period) = 0 OR extract(year FROM period) * 12 + extract(month FROM period) = 0)),
    lifetime_epsilon numeric CHECK (lifetime_epsilon > 0 AND lifetime_epsilon < 'Infinity'),
    lifetime_amount  numeric CHECK (lifetime_amount >= 0 AND lifetime_amount < 'Infinity'),
    owner            name NOT NULL,
    created_at       timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    CHECK ((period IS NULL) = (lifetime_epsilon IS NULL) AND (period IS NULL) = (lifetime_amount IS NULL)),
    CHECK (period IS NULL OR neighbours = 'unbounded')
);
COMMENT ON TABLE discreet._dataset IS 'One privacy unit over all its tables: the people whose budget is kept together.';

-- attnum follows a renamed column; a restored dump brings names, from which a trigger finds it.
-- With a parent, the unit is a foreign key to its key, and a row has the person of its parent's row.
CREATE TABLE discreet._protected_table (
    relation     regclass PRIMARY KEY,
    dataset      text COLLATE "C",
    unit         name,
    unit_attnum  int2,
    parent       regclass,
    parent_key   name,
    parent_key_attnum int2,
    "time"       name,
    time_attnum  int2,
    policy       text NOT NULL CHECK (policy IN ('noisy', 'personal', 'audited', 'public')),
    -- NULL: as many as max_total_rows, or 1
    max_groups   int CHECK (max_groups >= 1),
    max_rows     int NOT NULL CHECK (max_rows >= 1),
    max_total_rows int CHECK (max_total_rows >= 1),
    max_epsilon  numeric CHECK (max_epsilon > 0 AND max_epsilon < 'Infinity'),
    max_delta    numeric CHECK (max_delta >= 0 AND max_delta < 1),
    unit_epsilon numeric CHECK (unit_epsilon > 0 AND unit_epsilon < 'Infinity'),
    min_group    int NOT NULL CHECK (min_group >= 2),
    fallback     text CHECK (fallback = 'noisy'),
    protected_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    CHECK ((policy = 'public') = (dataset IS NULL)),
    CHECK ((policy = 'public') OR unit_attnum IS NOT NULL),
    CHECK ((policy = 'personal') = (unit_epsilon IS NOT NULL)),
    CHECK (policy = 'noisy' OR max_total_rows IS NULL),
    CHECK (policy = 'noisy' OR parent IS NULL),
    CHECK ((parent IS NULL) = (parent_key IS NULL) AND (parent IS NULL) = (parent_key_attnum IS NULL)),
    CHECK (("time" IS NULL) = (time_attnum IS NULL) AND (policy = 'noisy' OR "time" IS NULL))
);
CREATE INDEX _protected_table_dataset ON discreet._protected_table (dataset);
COMMENT ON TABLE discreet._protected_table IS 'Tables about people, and the policy under which questions about them are answered.';

CREATE TABLE discreet._protected_column (
    relation    regclass NOT NULL,
    column_name name NOT NULL,
    attnum      int2 NOT NULL,
    lower       numeric,
    upper       numeric,
    categories  text[],
    others      text CHECK (others IS NULL OR categories IS NOT NULL),
    visibility  text NOT NULL CHECK (visibility IN ('sensitive', 'public', 'hidden')),
    PRIMARY KEY (relation, attnum),
    CHECK ((lower IS NULL) = (upper IS NULL)),
    CHECK (lower <= upper AND lower > '-Infinity' AND upper < 'Infinity')
);
COMMENT ON TABLE discreet._protected_column IS 'What a curator declared about a column: bounds, categories, visibility.';

-- Partitions and tables that inherit, remembered so that one that leaves its whole does not leave its protection.
CREATE TABLE discreet._protected_part (
    relation regclass PRIMARY KEY,
    whole    regclass NOT NULL
);
CREATE INDEX _protected_part_whole ON discreet._protected_part (whole);
COMMENT ON TABLE discreet._protected_part IS 'Partitions and children of protected tables.';

-- A table that was protected once goes back to the dataset that its people have spent from, and, where they have budgets of
-- their own, to the column that named them.
CREATE TABLE discreet._past_protection (
    relation    regclass PRIMARY KEY,
    dataset     text COLLATE "C" NOT NULL,
    unit        name,
    unit_attnum int2,
    "time"      name,
    time_attnum int2
);
COMMENT ON TABLE discreet._past_protection IS
'The dataset of each table that was protected once; by what column its people have paid for themselves, if they have; the time of its rows.';

-- A dropped table leaves its row only where the library was kept out; such a row is not worth a dump.
SELECT pg_catalog.pg_extension_config_dump('discreet._dataset', '');
SELECT pg_catalog.pg_extension_config_dump('discreet._protected_table', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('discreet._protected_column', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('discreet._past_protection', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
