-- Limits and what is spent of them, in the currency of the accounting: epsilon (pure) or rho (zcdp).
-- The role is first in the key: a list of roles in the first column is always looked up by the index, however small the table was
-- when the plan was made. Role 0 is the dataset's own cap. A revoked budget keeps its row: granting it again forgives nothing.
CREATE TABLE discreet._budget (
    dataset       text COLLATE "C" NOT NULL,
    role          regrole NOT NULL,
    granted       boolean NOT NULL DEFAULT true,
    epsilon_limit numeric NOT NULL CHECK (epsilon_limit > 0 AND epsilon_limit < 'Infinity'),
    delta_limit   numeric NOT NULL CHECK (delta_limit >= 0 AND delta_limit < 1),
    amount_limit  numeric NOT NULL CHECK (amount_limit >= 0 AND amount_limit < 'Infinity'),
    amount_spent  numeric NOT NULL DEFAULT 0 CHECK (amount_spent >= 0 AND amount_spent < 'Infinity'),
    delta_spent   numeric NOT NULL DEFAULT 0 CHECK (delta_spent >= 0 AND delta_spent < 'Infinity'),
    -- in a dataset with periods, whether the limit is for all periods together
    forever       boolean NOT NULL DEFAULT false,
    PRIMARY KEY (role, dataset)
);
COMMENT ON TABLE discreet._budget IS 'Limits per dataset (role 0) and per role, and what is spent of them.';

-- Of a dataset of multilevel tables each label has the limits of _budget to itself, and its own line here. What was spent
-- without a label, before the tables had some, counts at every label; once they have none again, all labels count together.
CREATE TABLE discreet._label_spent (
    dataset      text COLLATE "C" NOT NULL,
    label        bigint NOT NULL CHECK (label >= 0),
    role         regrole NOT NULL,
    amount_spent numeric NOT NULL DEFAULT 0 CHECK (amount_spent >= 0 AND amount_spent < 'Infinity'),
    delta_spent  numeric NOT NULL DEFAULT 0 CHECK (delta_spent >= 0 AND delta_spent < 'Infinity'),
    PRIMARY KEY (role, dataset, label)
);
COMMENT ON TABLE discreet._label_spent IS 'What is spent of the limits of multilevel datasets at each label.';

-- Of a dataset with periods each one has the limits of _budget to itself. A period is named by its first day; -infinity is that
-- of rows without a date, infinity what tables without a time have cost. A line of the dataset's own cap opens a period.
CREATE TABLE discreet._period_spent (
    dataset      text COLLATE "C" NOT NULL,
    period       date NOT NULL,
    role         regrole NOT NULL,
    amount_spent numeric NOT NULL DEFAULT 0 CHECK (amount_spent >= 0 AND amount_spent < 'Infinity'),
    delta_spent  numeric NOT NULL DEFAULT 0 CHECK (delta_spent >= 0 AND delta_spent < 'Infinity'),
    PRIMARY KEY (role, dataset, period)
);
COMMENT ON TABLE discreet._period_spent IS 'What is spent of the limits of a dataset in each of its periods.';

-- Parts of a dataset's cap that are kept for roles until a moment, of each period and label: amount, and the same part of delta.
CREATE TABLE discreet._reserve (
    dataset text COLLATE "C" NOT NULL,
    role    regrole NOT NULL,
    epsilon numeric NOT NULL CHECK (epsilon > 0 AND epsilon < 'Infinity'),
    amount  numeric NOT NULL CHECK (amount >= 0 AND amount < 'Infinity'),
    delta   numeric NOT NULL CHECK (delta >= 0 AND delta < 1),
    until   timestamptz NOT NULL,
    made_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (dataset, role)
);
COMMENT ON TABLE discreet._reserve IS 'Parts of the limits of datasets that are kept for a role until a moment.';

-- Without a label it is -1, without periods -infinity.
CREATE TABLE discreet._reserve_spent (
    dataset      text COLLATE "C" NOT NULL,
    role         regrole NOT NULL,
    label        bigint NOT NULL,
    period       date NOT NULL,
    amount_spent numeric NOT NULL CHECK (amount_spent >= 0 AND amount_spent < 'Infinity'),
    delta_spent  numeric NOT NULL CHECK (delta_spent >= 0 AND delta_spent < 'Infinity'),
    PRIMARY KEY (dataset, role, label, period)
);
COMMENT ON TABLE discreet._reserve_spent IS 'What is spent of the parts that are kept for a role.';

-- Append-only: id counts within the dataset and label (-1: none) without gaps, hash covers the row and the hash before it.
CREATE TABLE discreet._charge (
    dataset  text COLLATE "C" NOT NULL,
    label    bigint NOT NULL DEFAULT -1,
    id       bigint NOT NULL,
    at       timestamptz NOT NULL,
    role     name NOT NULL,
    epsilon  numeric NOT NULL,
    amount   numeric NOT NULL,
    delta    numeric NOT NULL,
    question text NOT NULL,
    details  jsonb NOT NULL,
    hash     bytea NOT NULL,
    PRIMARY KEY (dataset, label, id)
);
COMMENT ON TABLE discreet._charge IS 'Every charge ever made: append-only, a hash chain per dataset and label.';

CREATE TABLE discreet._refusal (
    at       timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    role     name NOT NULL,
    code     text NOT NULL,
    message  text NOT NULL,
    question text NOT NULL,
    label    bigint
);
CREATE INDEX _refusal_at ON discreet._refusal (at);
COMMENT ON TABLE discreet._refusal IS 'Questions that were refused, and the label of the session, if it had one.';

-- Rows of roles that no longer exist are not dumped: their number would mean another role elsewhere.
SELECT pg_catalog.pg_extension_config_dump('discreet._budget', 'WHERE role = 0 OR role IN (SELECT oid FROM pg_catalog.pg_roles)');
SELECT pg_catalog.pg_extension_config_dump('discreet._label_spent', 'WHERE role = 0 OR role IN (SELECT oid FROM pg_catalog.pg_roles)');
SELECT pg_catalog.pg_extension_config_dump('discreet._period_spent', 'WHERE role = 0 OR role IN (SELECT oid FROM pg_catalog.pg_roles)');
SELECT pg_catalog.pg_extension_config_dump('discreet._reserve', 'WHERE role IN (SELECT oid FROM pg_catalog.pg_roles)');
SELECT pg_catalog.pg_extension_config_dump('discreet._reserve_spent', 'WHERE role IN (SELECT oid FROM pg_catalog.pg_roles)');
SELECT pg_catalog.pg_extension_config_dump('discreet._charge', '');
SELECT pg_catalog.pg_extension_config_dump('discreet._refusal', '');
