-- Measurements already made: questions that want the same under the same policy are answered again from here, free of charge.
CREATE TABLE discreet._answer (
    key     bytea PRIMARY KEY,
    dataset text COLLATE "C" NOT NULL,
    epoch   bigint NOT NULL,
    at      timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    answer  jsonb NOT NULL
);
-- what is never given again comes first
CREATE INDEX _answer_age ON discreet._answer (dataset, epoch, at);
COMMENT ON TABLE discreet._answer IS 'Measurements already made, by a hash of rows, conditions, group keys, what is measured, and policy.';

-- Answers of an older epoch are not given again. So a change of policy need not delete them all at once.
CREATE TABLE discreet._answer_epoch (
    dataset text COLLATE "C" PRIMARY KEY,
    epoch   bigint NOT NULL
);
COMMENT ON TABLE discreet._answer_epoch IS 'How often the policy of a dataset has changed; none: never.';

-- How exact answers were, from what they released; kept when the answers themselves are dropped.
CREATE TABLE discreet._accuracy (
    at          timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    dataset     text COLLATE "C" NOT NULL,
    column_name text NOT NULL,
    kind        text NOT NULL,
    numbers     int NOT NULL,
    half_width  numeric NOT NULL,
    relative    numeric,
    role        name,
    label       bigint
);
COMMENT ON TABLE discreet._accuracy IS 'How exact the noisy columns of answers were.';
SELECT pg_catalog.pg_extension_config_dump('discreet._accuracy', '');

-- Views through which roles without a right to the tables below may read raw rows, because a curator said so.
CREATE TABLE discreet._exempt_view (
    view regclass PRIMARY KEY
);
COMMENT ON TABLE discreet._exempt_view IS 'Views over protected tables for which the gate does not stand.';
SELECT pg_catalog.pg_extension_config_dump('discreet._exempt_view', 'WHERE view IN (SELECT oid FROM pg_catalog.pg_class)');
