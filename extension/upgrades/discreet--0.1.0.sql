\echo Use \"CREATE EXTENSION discreet\" to load this file. \quit

-- Made by this script, never IF NOT EXISTS: nobody can plant objects in it beforehand.
CREATE SCHEMA discreet;
COMMENT ON SCHEMA discreet IS 'Answers questions about people without giving the people away.';

-- Group roles belong to the whole cluster: another database may have made them already.
DO $plpgsql$
DECLARE
    group_role text;
BEGIN
    FOREACH group_role IN ARRAY ARRAY['discreet_curator', 'discreet_analyst', 'discreet_auditor', 'discreet_trusted',
                                      'discreet_ledger']
    LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = group_role) THEN
            EXECUTE pg_catalog.format('CREATE ROLE %I NOLOGIN', group_role);
        END IF;
    END LOOP;
END
$plpgsql$;
COMMENT ON ROLE discreet_curator IS 'discreet: declares what is protected and who may ask.';
COMMENT ON ROLE discreet_analyst IS 'discreet: may ask questions about datasets in which it holds a budget.';
COMMENT ON ROLE discreet_auditor IS 'discreet: sees all charges and refusals, and verifies the log.';
COMMENT ON ROLE discreet_trusted IS 'discreet: may give labels when it writes to multilevel tables, and declassify.';
COMMENT ON ROLE discreet_ledger IS 'discreet: what the ledger connection runs as; may execute the _ledger_ functions, nothing else.';

-- discreet._call_handler: runs PL/Python; its errors come without a Python traceback.
CREATE FUNCTION discreet._call_handler()
RETURNS language_handler
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'discreet_call_handler';
COMMENT ON FUNCTION discreet._call_handler() IS 'Runs PL/Python; its errors come without a Python traceback.';

CREATE LANGUAGE discreet_python
HANDLER discreet._call_handler
VALIDATOR pg_catalog.plpython3_validator;
COMMENT ON LANGUAGE discreet_python IS 'PL/Python whose errors reach the user as SQLSTATE, message and hint.';

-- discreet._caller: the role that a SECURITY DEFINER function acts for.
CREATE FUNCTION discreet._caller()
RETURNS regrole
LANGUAGE c
STABLE
PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'discreet_caller';
COMMENT ON FUNCTION discreet._caller() IS 'The role that a SECURITY DEFINER function acts for: the session user, or what SET ROLE made of it.';

-- No foreign keys between the tables of this extension: pg_restore -j fills them in any order.

-- One privacy unit over all its tables: the people whose budget is kept together.
CREATE TABLE discreet._dataset (
    dataset          text COLLATE "C" PRIMARY KEY CHECK (dataset <> ''),
    accounting       text NOT NULL CHECK (accounting IN ('pure', 'zcdp')),
    neighbours       text NOT NULL CHECK (neighbours IN ('unbounded', 'bounded')),
    response_quantum interval CHECK (response_quantum > '0'),
    answer_lifetime  interval DEFAULT '1 day' CHECK (answer_lifetime >= '0'),
    owner            name NOT NULL,
    created_at       timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
);
COMMENT ON TABLE discreet._dataset IS 'One privacy unit over all its tables: the people whose budget is kept together.';

-- attnum follows a renamed column; a restored dump brings names, from which a trigger finds it.
CREATE TABLE discreet._protected_table (
    relation     regclass PRIMARY KEY,
    dataset      text COLLATE "C",
    unit         name,
    unit_attnum  int2,
    policy       text NOT NULL CHECK (policy IN ('noisy', 'personal', 'audited', 'public')),
    max_groups   int NOT NULL CHECK (max_groups >= 1),
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
    CHECK (policy = 'noisy' OR max_total_rows IS NULL)
);
COMMENT ON TABLE discreet._protected_table IS 'Tables about people, and the policy under which questions about them are answered.';

CREATE TABLE discreet._protected_column (
    relation    regclass NOT NULL,
    column_name name NOT NULL,
    attnum      int2 NOT NULL,
    lower       numeric,
    upper       numeric,
    categories  text[],
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
COMMENT ON TABLE discreet._protected_part IS 'Partitions and children of protected tables.';

-- A table that was protected once goes back to the dataset that its people have spent from, and, where they have budgets of
-- their own, to the column that named them.
CREATE TABLE discreet._past_protection (
    relation    regclass PRIMARY KEY,
    dataset     text COLLATE "C" NOT NULL,
    unit        name,
    unit_attnum int2
);
COMMENT ON TABLE discreet._past_protection IS
'The dataset of each table that was protected once; by what column its people have paid for themselves, if they have.';

-- A dropped table leaves its row only where event triggers were off; such a row is not worth a dump.
SELECT pg_catalog.pg_extension_config_dump('discreet._dataset', '');
SELECT pg_catalog.pg_extension_config_dump('discreet._protected_table', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('discreet._protected_column', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('discreet._past_protection', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');

-- Limits and what is spent of them, in the currency of the accounting: epsilon (pure) or rho (zcdp).
-- Role 0 is the dataset's own cap. A revoked budget keeps its row: granting it again forgives nothing.
CREATE TABLE discreet._budget (
    dataset       text COLLATE "C" NOT NULL,
    role          regrole NOT NULL,
    granted       boolean NOT NULL DEFAULT true,
    epsilon_limit numeric NOT NULL CHECK (epsilon_limit > 0 AND epsilon_limit < 'Infinity'),
    delta_limit   numeric NOT NULL CHECK (delta_limit >= 0 AND delta_limit < 1),
    amount_limit  numeric NOT NULL CHECK (amount_limit >= 0 AND amount_limit < 'Infinity'),
    amount_spent  numeric NOT NULL DEFAULT 0 CHECK (amount_spent >= 0 AND amount_spent < 'Infinity'),
    delta_spent   numeric NOT NULL DEFAULT 0 CHECK (delta_spent >= 0 AND delta_spent < 'Infinity'),
    PRIMARY KEY (dataset, role)
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
    PRIMARY KEY (dataset, label, role)
);
COMMENT ON TABLE discreet._label_spent IS 'What is spent of the limits of multilevel datasets at each label.';

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
SELECT pg_catalog.pg_extension_config_dump('discreet._charge', '');
SELECT pg_catalog.pg_extension_config_dump('discreet._refusal', '');

-- Answers already given: the same question under the same policy is answered again from here, free of charge.
CREATE TABLE discreet._answer (
    key     bytea PRIMARY KEY,
    dataset text COLLATE "C" NOT NULL,
    at      timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    answer  jsonb NOT NULL
);
COMMENT ON TABLE discreet._answer IS 'Answers already given, by a hash of question, parameters, policy and price.';

-- How exact answers were, from what they released; kept when the answers themselves are dropped.
CREATE TABLE discreet._accuracy (
    at          timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    dataset     text COLLATE "C" NOT NULL,
    column_name text NOT NULL,
    kind        text NOT NULL,
    numbers     int NOT NULL,
    half_width  numeric NOT NULL,
    relative    numeric
);
COMMENT ON TABLE discreet._accuracy IS 'How exact the noisy columns of answers were.';
SELECT pg_catalog.pg_extension_config_dump('discreet._accuracy', '');

-- Views through which roles without a right to the tables below may read raw rows, because a curator said so.
CREATE TABLE discreet._exempt_view (
    view regclass PRIMARY KEY
);
COMMENT ON TABLE discreet._exempt_view IS 'Views over protected tables for which the gate does not stand.';
SELECT pg_catalog.pg_extension_config_dump('discreet._exempt_view', 'WHERE view IN (SELECT oid FROM pg_catalog.pg_class)');

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

-- Updated by whoever publishes of a table, so that it is one after the other.
CREATE TABLE discreet._release_turn (
    relation regclass PRIMARY KEY,
    turn     bigint NOT NULL DEFAULT 1
);
COMMENT ON TABLE discreet._release_turn IS 'Tables of which something was published, or tried: who publishes of one waits for who does already.';

SELECT pg_catalog.pg_extension_config_dump('discreet._release', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('discreet._release_class', '');

-- Personal budgets. Tables of one dataset have one ledger: its people have one budget each.

-- The head of a ledger. digest: of all lists of people; applied: the number of the last payment.
CREATE TABLE discreet._personal_ledger (
    dataset text COLLATE "C" PRIMARY KEY,
    ledger  int NOT NULL UNIQUE,
    people  int NOT NULL DEFAULT 0 CHECK (people >= 0),
    digest  bytea NOT NULL DEFAULT pg_catalog.sha256(''),
    applied bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
COMMENT ON TABLE discreet._personal_ledger IS 'The head of the ledger of personal budgets of each dataset.';

-- Append-only. A person's number is the place in all lists of a ledger, counted from 0: it never changes, and who is deleted
-- from the table and comes again has it still.
CREATE TABLE discreet._personal_people (
    ledger int NOT NULL,
    first  int NOT NULL,
    units  bytea NOT NULL,
    digest bytea NOT NULL,
    PRIMARY KEY (ledger, first)
);
ALTER TABLE discreet._personal_people ALTER COLUMN units SET STORAGE EXTERNAL;
COMMENT ON TABLE discreet._personal_people IS 'People in lists of what names them, in the order in which a question first met them.';

-- What people have spent, 1350 of them a row, in hundred-thousandths of epsilon: written in place by extension/personal_payment.c.
CREATE TABLE discreet._personal_page (
    ledger int NOT NULL,
    page   int NOT NULL,
    halves bytea NOT NULL,
    PRIMARY KEY (ledger, page)
);
ALTER TABLE discreet._personal_page ALTER COLUMN halves SET STORAGE PLAIN;
COMMENT ON TABLE discreet._personal_page IS 'What people have spent, 1350 a row: this payment''s state and the one before.';

-- Budgets other than the unit_epsilon of the table.
CREATE TABLE discreet._personal_budget (
    ledger int NOT NULL,
    number int NOT NULL,
    budget int NOT NULL CHECK (budget BETWEEN 0 AND 10000000),
    PRIMARY KEY (ledger, number)
);
COMMENT ON TABLE discreet._personal_budget IS 'Budgets that a curator gave to single people, in hundred-thousandths of epsilon.';

SELECT pg_catalog.pg_extension_config_dump('discreet._personal_ledger', '');
SELECT pg_catalog.pg_extension_config_dump('discreet._personal_people', '');
SELECT pg_catalog.pg_extension_config_dump('discreet._personal_page', '');
SELECT pg_catalog.pg_extension_config_dump('discreet._personal_budget', '');

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

-- Who takes a place under a limit waits for its row. Missing rows are made by need, so no dump holds them. On multilevel tables
-- there is a row for each label (elsewhere it is -1): no session waits for one of another label.
CREATE TABLE discreet._limit_turn (
    relation    oid NOT NULL,
    name        text COLLATE "C" NOT NULL,
    label       bigint NOT NULL DEFAULT -1,
    transaction xid8 NOT NULL DEFAULT pg_catalog.pg_current_xact_id(),
    PRIMARY KEY (relation, name, label)
);
COMMENT ON TABLE discreet._limit_turn IS 'One row for each limit, and label: whoever adds to its rows waits for it.';

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
    role  regrole PRIMARY KEY,
    label bigint NOT NULL CHECK (label >= 0)
);
COMMENT ON TABLE discreet._clearance IS 'The highest label that sessions of a login role may have.';

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
SELECT pg_catalog.pg_extension_config_dump('discreet._multilevel_reference', 'WHERE child IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump('discreet._label_event', '');

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

-- discreet.create_dataset: declares people whose budget is kept together.
CREATE FUNCTION discreet.create_dataset(
    name text,
    epsilon numeric,
    delta numeric DEFAULT 0,
    accounting text DEFAULT 'pure',
    neighbours text DEFAULT 'unbounded',
    response_quantum interval DEFAULT NULL,
    answer_lifetime interval DEFAULT '1 day')
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.create_dataset(plpy, name, epsilon, delta, accounting, neighbours, response_quantum, answer_lifetime)
$python$;
COMMENT ON FUNCTION discreet.create_dataset(text, numeric, numeric, text, text, interval, interval) IS
'Declares people whose budget is kept together, over all their tables.';

-- discreet.protect: puts a table about people under a policy.
CREATE FUNCTION discreet.protect(
    relation regclass,
    unit text,
    dataset text DEFAULT NULL,
    epsilon numeric DEFAULT NULL,
    delta numeric DEFAULT NULL,
    policy text DEFAULT 'noisy',
    max_groups int DEFAULT 1,
    max_rows int DEFAULT 1,
    max_epsilon numeric DEFAULT NULL,
    max_delta numeric DEFAULT NULL,
    unit_epsilon numeric DEFAULT NULL,
    min_group int DEFAULT 10,
    fallback text DEFAULT NULL,
    max_total_rows int DEFAULT NULL)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.protect(plpy, relation, dataset, epsilon, delta, unit=unit, policy=policy, max_groups=max_groups,
        max_rows=max_rows, max_epsilon=max_epsilon, max_delta=max_delta, unit_epsilon=unit_epsilon,
        min_group=min_group, fallback=fallback, max_total_rows=max_total_rows)
$python$;
COMMENT ON FUNCTION discreet.protect(regclass, text, text, numeric, numeric, text, int, int, numeric, numeric, numeric, int, text, int) IS
'Puts a table about people under a policy; the unit is the column that names the person.';

-- discreet.describe_column: declares bounds, categories and visibility of a column.
CREATE FUNCTION discreet.describe_column(
    relation regclass,
    column_name name,
    lower numeric DEFAULT NULL,
    upper numeric DEFAULT NULL,
    categories text[] DEFAULT NULL,
    visibility text DEFAULT 'sensitive')
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.describe_column(plpy, relation, column_name, lower, upper, categories, visibility)
$python$;
COMMENT ON FUNCTION discreet.describe_column(regclass, name, numeric, numeric, text[], text) IS
'Declares bounds, categories and visibility of a column; replaces what was declared before.';

-- discreet.unprotect: takes a table out of its policy.
CREATE FUNCTION discreet.unprotect(relation regclass)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.unprotect(plpy, relation)
$python$;
COMMENT ON FUNCTION discreet.unprotect(regclass) IS
'Takes a table out of its policy; its dataset, with all that was spent, stays.';

-- discreet._relation_family: a table with the tables it inherits from and those that inherit from it.
CREATE FUNCTION discreet._relation_family(relation oid)
RETURNS SETOF oid
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
ROWS 10
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH RECURSIVE
        ancestor(relation) AS (
            SELECT $1 UNION SELECT i.inhparent FROM pg_inherits i JOIN ancestor a ON i.inhrelid = a.relation),
        descendant(relation) AS (
            SELECT $1 UNION SELECT i.inhrelid FROM pg_inherits i JOIN descendant d ON i.inhparent = d.relation)
    SELECT relation FROM ancestor UNION SELECT relation FROM descendant;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._relation_family(oid) IS
'A table with the tables it inherits from and those that inherit from it, partitions included.';

-- discreet._direct_readers: the roles, PUBLIC among them, that were granted SELECT on a table or its columns.
CREATE FUNCTION discreet._direct_readers(relation oid)
RETURNS text[]
LANGUAGE sql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    WITH acl(item, owner) AS (
        SELECT aclexplode(c.relacl), c.relowner
        FROM pg_class c WHERE c.oid IN (SELECT discreet._relation_family($1))
        UNION ALL
        SELECT aclexplode(a.attacl), c.relowner
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.oid IN (SELECT discreet._relation_family($1)) AND a.attacl IS NOT NULL)
    SELECT coalesce(array_agg(DISTINCT reader ORDER BY reader), '{}')
    FROM (SELECT CASE (item).grantee WHEN 0 THEN 'PUBLIC' ELSE (item).grantee::regrole::text END AS reader
          FROM acl WHERE (item).privilege_type = 'SELECT' AND (item).grantee <> owner) granted
$sql$;
COMMENT ON FUNCTION discreet._direct_readers(oid) IS
'The roles, PUBLIC among them, that were granted SELECT on a table, its partitions or its columns.';

-- The catalog follows ALTER TABLE and DROP: no stale row is left, and nothing protected falls out of protection.

-- discreet._find_columns: a row that comes with names only, as from a restored dump, gets its column numbers.
CREATE FUNCTION discreet._find_columns()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    IF TG_TABLE_NAME NOT IN ('_protected_column', '_audit_column') THEN
        NEW.unit_attnum := (SELECT attnum FROM pg_attribute
                            WHERE attrelid = NEW.relation AND attname = NEW.unit AND attnum > 0 AND NOT attisdropped);
    ELSE
        NEW.attnum := (SELECT attnum FROM pg_attribute
                       WHERE attrelid = NEW.relation AND attname = NEW.column_name AND attnum > 0 AND NOT attisdropped);
    END IF;
    RETURN NEW;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._find_columns() IS 'Finds the column numbers of a row that comes with names only.';

CREATE TRIGGER _find_columns BEFORE INSERT ON discreet._protected_table
FOR EACH ROW EXECUTE FUNCTION discreet._find_columns();
CREATE TRIGGER _find_columns BEFORE INSERT ON discreet._protected_column
FOR EACH ROW EXECUTE FUNCTION discreet._find_columns();
CREATE TRIGGER _find_columns BEFORE INSERT ON discreet._past_protection
FOR EACH ROW EXECUTE FUNCTION discreet._find_columns();
CREATE TRIGGER _find_columns BEFORE INSERT ON discreet._audit
FOR EACH ROW EXECUTE FUNCTION discreet._find_columns();
CREATE TRIGGER _find_columns BEFORE INSERT ON discreet._audit_column
FOR EACH ROW EXECUTE FUNCTION discreet._find_columns();

-- discreet._follow_parts: a detached partition, or a child that no longer inherits, is protected as its whole was.
CREATE FUNCTION discreet._follow_parts()
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    WITH RECURSIVE part(relation, whole) AS (
        SELECT i.inhrelid, p.relation::oid FROM discreet._protected_table p JOIN pg_inherits i ON i.inhparent = p.relation
        UNION SELECT i.inhrelid, part.whole FROM part JOIN pg_inherits i ON i.inhparent = part.relation),
    gone AS (
        DELETE FROM discreet._protected_part p
        WHERE NOT EXISTS (SELECT FROM part WHERE part.relation = p.relation AND part.whole = p.whole)
        RETURNING p.relation, p.whole),
    kept AS (
        INSERT INTO discreet._protected_table (relation, dataset, unit, policy, max_groups, max_rows, max_epsilon, max_delta,
                                               unit_epsilon, min_group, fallback, max_total_rows)
        SELECT g.relation, w.dataset, w.unit, w.policy, w.max_groups, w.max_rows, w.max_epsilon, w.max_delta,
               w.unit_epsilon, w.min_group, w.fallback, w.max_total_rows
        FROM gone g JOIN discreet._protected_table w ON w.relation = g.whole JOIN pg_class c ON c.oid = g.relation
        ON CONFLICT (relation) DO NOTHING
        RETURNING relation),
    past AS (
        INSERT INTO discreet._past_protection (relation, dataset, unit)
        SELECT g.relation, w.dataset, CASE WHEN w.policy = 'personal' THEN w.unit END FROM gone g JOIN discreet._protected_table w ON w.relation = g.whole
        WHERE w.dataset IS NOT NULL
        ON CONFLICT (relation) DO NOTHING)
    INSERT INTO discreet._protected_column (relation, column_name, lower, upper, categories, visibility)
    SELECT g.relation, c.column_name, c.lower, c.upper, c.categories, c.visibility
    FROM gone g JOIN kept USING (relation) JOIN discreet._protected_column c ON c.relation = g.whole;

    WITH RECURSIVE part(relation, whole) AS (
        SELECT i.inhrelid, p.relation::oid FROM discreet._protected_table p JOIN pg_inherits i ON i.inhparent = p.relation
        UNION SELECT i.inhrelid, part.whole FROM part JOIN pg_inherits i ON i.inhparent = part.relation)
    INSERT INTO discreet._protected_part (relation, whole)
    SELECT DISTINCT ON (part.relation) part.relation, part.whole FROM part
    WHERE NOT EXISTS (SELECT FROM discreet._protected_part known WHERE known.relation = part.relation)
    ORDER BY part.relation, part.whole
    ON CONFLICT (relation) DO NOTHING;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._follow_parts() IS
'A detached partition, or a child that no longer inherits, is protected as its whole was.';

-- discreet._find_parts: the parts of a table that is protected, by a curator or by a restored dump, are remembered.
CREATE FUNCTION discreet._find_parts()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    -- _follow_parts protects tables, too
    IF pg_trigger_depth() = 1 THEN
        PERFORM discreet._follow_parts();
    END IF;
    RETURN NULL;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._find_parts() IS 'Remembers the parts of a table that is protected.';

CREATE TRIGGER _find_parts AFTER INSERT ON discreet._protected_table
FOR EACH STATEMENT EXECUTE FUNCTION discreet._find_parts();

-- discreet._follow_audits: histories know the names of their tables and columns.
CREATE FUNCTION discreet._follow_audits()
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    UPDATE discreet._audit h SET unit = a.attname
    FROM pg_attribute a
    WHERE a.attrelid = h.relation AND a.attnum = h.unit_attnum AND a.attname <> h.unit AND NOT a.attisdropped;
    UPDATE discreet._audit_column c SET column_name = a.attname
    FROM pg_attribute a
    WHERE a.attrelid = c.relation AND a.attnum = c.attnum AND a.attname <> c.column_name AND NOT a.attisdropped;
    INSERT INTO discreet._audit_column (relation, number, column_name)
    SELECT h.relation, row_number() OVER (PARTITION BY h.relation ORDER BY a.attnum)
        + coalesce((SELECT max(c.number) FROM discreet._audit_column c WHERE c.relation = h.relation), 0), a.attname
    FROM discreet._audit h JOIN pg_attribute a ON a.attrelid = h.relation AND a.attnum > 0 AND NOT a.attisdropped
    WHERE NOT EXISTS (SELECT FROM discreet._audit_column c WHERE c.relation = h.relation AND c.attnum = a.attnum);
    INSERT INTO discreet._audit_name (schema_name, table_name, relation, dataset)
    SELECT s.nspname, c.relname, o.relation, min(o.dataset)
    FROM discreet._audit_name o JOIN pg_class c ON c.oid = o.relation JOIN pg_namespace s ON s.oid = c.relnamespace
    GROUP BY 1, 2, 3
    ON CONFLICT DO NOTHING;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._follow_audits() IS 'Histories of audited tables know the names of their tables and columns.';

-- discreet._follow_tables: after CREATE and ALTER TABLE, names and parts in the catalog follow.
CREATE FUNCTION discreet._follow_tables()
RETURNS event_trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    UPDATE discreet._protected_table p SET unit = a.attname
    FROM pg_attribute a
    WHERE a.attrelid = p.relation AND a.attnum = p.unit_attnum AND a.attname <> p.unit;
    UPDATE discreet._past_protection p SET unit = a.attname
    FROM pg_attribute a
    WHERE a.attrelid = p.relation AND a.attnum = p.unit_attnum AND a.attname <> p.unit AND NOT a.attisdropped;
    UPDATE discreet._protected_column c SET column_name = a.attname
    FROM pg_attribute a
    WHERE a.attrelid = c.relation AND a.attnum = c.attnum AND a.attname <> c.column_name;
    PERFORM discreet._follow_parts();
    PERFORM discreet._follow_audits();
END
$plpgsql$;
COMMENT ON FUNCTION discreet._follow_tables() IS 'After CREATE and ALTER TABLE: names and parts in the catalog follow.';

-- discreet._forget_dropped: a dropped table or column takes its declarations along; a unit cannot be dropped.
CREATE FUNCTION discreet._forget_dropped()
RETURNS event_trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    dropped_unit record;
BEGIN
    SELECT p.relation, p.unit INTO dropped_unit
    FROM discreet._protected_table p
    JOIN pg_event_trigger_dropped_objects() d
      ON d.classid = 'pg_class'::regclass AND d.objid = p.relation AND d.objsubid = p.unit_attnum;
    IF FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'dependent_objects_still_exist',
            MESSAGE = format('column %I of %s names the people of a protected table', dropped_unit.unit, dropped_unit.relation),
            HINT = format('First call discreet.unprotect(%L).', dropped_unit.relation::text);
    END IF;
    DELETE FROM discreet._protected_column c
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = c.relation AND d.objsubid IN (0, c.attnum);
    DELETE FROM discreet._protected_part p
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = p.relation AND d.objsubid = 0;
    DELETE FROM discreet._past_protection p
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = p.relation AND d.objsubid = 0;
    DELETE FROM discreet._limit_turn t
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = t.relation AND d.objsubid = 0;
    DELETE FROM discreet._exempt_view v
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = v.view AND d.objsubid = 0;
    DELETE FROM discreet._response r
    USING pg_event_trigger_dropped_objects() d, discreet._response_column c
    WHERE d.classid = 'pg_class'::regclass AND d.objid = c.relation AND d.objsubid = 0 AND r.id = c.id;
    DELETE FROM discreet._response_column c
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = c.relation AND d.objsubid = 0;
    DELETE FROM discreet._audit_column c
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = c.relation AND d.objsubid = 0;
    WITH gone AS (
        DELETE FROM discreet._audit_name n
        USING pg_event_trigger_dropped_objects() d
        WHERE d.classid = 'pg_class'::regclass AND d.objid = n.relation AND d.objsubid = 0
        RETURNING n.*)
    INSERT INTO discreet._audit_name (schema_name, table_name, relation, dataset)
    SELECT g.schema_name, g.table_name, 0, g.dataset FROM gone g
    WHERE EXISTS (SELECT FROM discreet._audit_event e WHERE e.relation = g.relation)
    ON CONFLICT DO NOTHING;
    DELETE FROM discreet._audit a
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = a.relation AND d.objsubid = 0;
    DELETE FROM discreet._audit_event e
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = e.relation AND d.objsubid = 0;
    DELETE FROM discreet._audit_base b
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = b.relation AND d.objsubid = 0;
    DELETE FROM discreet._audit_known k
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = k.relation AND d.objsubid = 0;
    DELETE FROM discreet._protected_table p
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = p.relation AND d.objsubid = 0;
    DELETE FROM discreet._multilevel_reference r
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid IN (r.child, r.parent) AND d.objsubid = 0;
    DELETE FROM discreet._multilevel_table t
    USING pg_event_trigger_dropped_objects() d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = t.relation AND d.objsubid = 0;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._forget_dropped() IS
'After DROP: a dropped table or column takes its declarations along; a unit column cannot be dropped.';

-- no list of tags: ALTER VIEW, ALTER MATERIALIZED VIEW and ALTER TYPE rename columns of tables too
CREATE EVENT TRIGGER discreet_follow_tables ON ddl_command_end
EXECUTE FUNCTION discreet._follow_tables();

CREATE EVENT TRIGGER discreet_forget_dropped ON sql_drop
EXECUTE FUNCTION discreet._forget_dropped();

-- discreet.datasets: the datasets and their limits.
CREATE VIEW discreet.datasets WITH (security_barrier) AS
SELECT d.dataset, b.epsilon_limit, b.delta_limit, d.accounting, d.neighbours, d.response_quantum, d.answer_lifetime, d.created_at
FROM discreet._dataset d
JOIN discreet._budget b ON b.dataset = d.dataset AND b.role = 0;
COMMENT ON VIEW discreet.datasets IS 'The datasets and their limits.';

-- discreet.protected_tables: the tables under a policy.
CREATE VIEW discreet.protected_tables WITH (security_barrier) AS
SELECT p.relation, p.dataset, p.unit, p.policy, p.max_groups, p.max_rows, p.max_epsilon, p.max_delta,
       p.unit_epsilon, p.min_group, p.fallback, discreet._direct_readers(p.relation) AS direct_readers, p.protected_at,
       p.max_total_rows
FROM discreet._protected_table p;
COMMENT ON VIEW discreet.protected_tables IS 'The tables under a policy, and who was granted SELECT on them beside it.';

-- discreet.protected_columns: what was declared about columns.
CREATE VIEW discreet.protected_columns WITH (security_barrier) AS
SELECT c.relation, c.column_name, c.lower, c.upper, c.categories, c.visibility
FROM discreet._protected_column c;
COMMENT ON VIEW discreet.protected_columns IS 'What was declared about columns of protected tables.';

-- discreet.exempt_view: lets those who may read a view that names protected tables read it as it is; or no longer.
CREATE FUNCTION discreet.exempt_view(view regclass, exempt boolean DEFAULT true)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.exempt_view(plpy, view, exempt)
$python$;
COMMENT ON FUNCTION discreet.exempt_view(regclass, boolean) IS
'Lets analysts who may read a view that names protected tables read its rows as they are; or no longer.';

-- discreet.exempt_views: the views over protected tables that analysts read as they are, and who was granted them.
CREATE VIEW discreet.exempt_views WITH (security_barrier) AS
SELECT e.view, discreet._direct_readers(e.view) AS readers
FROM discreet._exempt_view e;
COMMENT ON VIEW discreet.exempt_views IS 'Views over protected tables for which the gate does not stand, and who was granted SELECT on them.';

-- What views and triggers of multilevel tables call for each row is C (extension/mls_level.c, extension/mls_instances.c).

-- discreet._visible: whether the session sees a row of a label. Workers know its label, too: user and settings are the same.
CREATE FUNCTION discreet._visible(label bigint)
RETURNS boolean
LANGUAGE c
STABLE
LEAKPROOF
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_visible';
COMMENT ON FUNCTION discreet._visible(bigint) IS 'Whether the session sees a row of a label.';

-- discreet._session_label: the label of the session, at which it has read from now on; NULL without a clearance.
CREATE FUNCTION discreet._session_label()
RETURNS bigint
LANGUAGE c
STABLE
PARALLEL RESTRICTED
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_session_label';
COMMENT ON FUNCTION discreet._session_label() IS 'The label of the session, at which it has read from now on; NULL without a clearance.';

-- discreet._written_label: the label of the session when all labels given are this one; NULL when others are given.
CREATE FUNCTION discreet._written_label(VARIADIC labels "any")
RETURNS bigint
LANGUAGE c
STABLE
PARALLEL RESTRICTED
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_written_label';
COMMENT ON FUNCTION discreet._written_label("any") IS 'The label of the session when all labels given are this one; NULL when others are given.';

-- discreet._written_label: the label of the session; without a clearance an error.
CREATE FUNCTION discreet._written_label()
RETURNS bigint
LANGUAGE c
STABLE
PARALLEL RESTRICTED
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_written_label';
COMMENT ON FUNCTION discreet._written_label() IS 'The label of the session; without a clearance an error.';

-- discreet._label: a label as it is written; NULL stands for that of the session.
CREATE FUNCTION discreet._label(bits bigint)
RETURNS text
LANGUAGE c
STABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_label_text';
COMMENT ON FUNCTION discreet._label(bigint) IS 'A label as it is written; NULL stands for that of the session.';

-- discreet._label_bits: the bitset of a label.
CREATE FUNCTION discreet._label_bits(label text)
RETURNS bigint
LANGUAGE c
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_label_bits';
COMMENT ON FUNCTION discreet._label_bits(text) IS 'The bitset of a label.';

-- discreet._is_trusted: whether the session user has a clearance and is a member of discreet_trusted.
CREATE FUNCTION discreet._is_trusted()
RETURNS boolean
LANGUAGE c
STABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_is_trusted';
COMMENT ON FUNCTION discreet._is_trusted() IS 'Whether the session user has a clearance and is a member of discreet_trusted.';

-- discreet._random_id: a number for a row; a sequence would tell how many rows others write.
CREATE FUNCTION discreet._random_id()
RETURNS bigint
LANGUAGE c
VOLATILE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_random_id';
COMMENT ON FUNCTION discreet._random_id() IS 'A random positive number; a sequence would tell how many rows others write.';

-- discreet._is_single: whether a row is a live root (its slot is 0) that the session sees, without a row above that it sees.
CREATE FUNCTION discreet._is_single(base regclass, key_label bigint, slot bigint, row_id bigint)
RETURNS boolean
LANGUAGE c
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_is_single';
COMMENT ON FUNCTION discreet._is_single(regclass, bigint, bigint, bigint) IS
'Whether a row is a live root that the session sees, without a row above that it sees.';

-- discreet._above_labels: the labels of rows above roots that the session sees.
CREATE FUNCTION discreet._above_labels(base regclass)
RETURNS bigint[]
LANGUAGE c
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_above_labels';
COMMENT ON FUNCTION discreet._above_labels(regclass) IS 'The labels of rows above roots that the session sees.';

-- discreet._instances: the rows that are shown of an entity, of which a row above its root is given, with labels for sources.
CREATE FUNCTION discreet._instances(base regclass, above anyelement, cells text[], label bigint)
RETURNS SETOF anyelement
LANGUAGE c
STABLE
PARALLEL SAFE
SECURITY INVOKER
ROWS 2
AS 'MODULE_PATHNAME', 'discreet_instances';
COMMENT ON FUNCTION discreet._instances(regclass, anyelement, text[], bigint) IS
'The rows that are shown of an entity, if the given row is the first above its root; in place of sources they have labels of cells.';

-- discreet._insert_root: stores a row of a multilevel view, all of it at a label, as the root of a new entity.
CREATE FUNCTION discreet._insert_root(base regclass, new record, label bigint, source bigint[], duplicate text)
RETURNS bigint
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_insert_root';
COMMENT ON FUNCTION discreet._insert_root(regclass, record, bigint, bigint[], text) IS
'Stores a row of a multilevel view, all of it at a label, as the root of a new entity: its number.';

-- discreet._levels_changed: lets all sessions read levels, clearances and multilevel tables again.
CREATE FUNCTION discreet._levels_changed()
RETURNS trigger
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_levels_changed';
COMMENT ON FUNCTION discreet._levels_changed() IS 'Lets all sessions read levels, clearances and multilevel tables again.';

CREATE TRIGGER _levels_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON discreet._label_part
FOR EACH STATEMENT EXECUTE FUNCTION discreet._levels_changed();
CREATE TRIGGER _levels_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON discreet._clearance
FOR EACH STATEMENT EXECUTE FUNCTION discreet._levels_changed();
CREATE TRIGGER _levels_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON discreet._multilevel_table
FOR EACH STATEMENT EXECUTE FUNCTION discreet._levels_changed();

-- discreet.grant_budget: lets a role, and whoever is a member of it, ask about a dataset.
CREATE FUNCTION discreet.grant_budget(dataset text, role regrole, epsilon numeric, delta numeric DEFAULT 0)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.grant_budget(plpy, dataset, role, epsilon, delta)
$python$;
COMMENT ON FUNCTION discreet.grant_budget(text, regrole, numeric, numeric) IS
'Lets a role, and whoever is a member of it, ask about a dataset up to a limit; what was spent before stays spent.';

-- discreet.revoke_budget: takes the budget of a role away.
CREATE FUNCTION discreet.revoke_budget(dataset text, role regrole)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.revoke_budget(plpy, dataset, role)
$python$;
COMMENT ON FUNCTION discreet.revoke_budget(text, regrole) IS 'Takes the budget of a role away; what it spent is remembered.';

-- discreet._zcdp_epsilon_spent: what an amount of rho has cost as epsilon, at the delta of its dataset.
CREATE FUNCTION discreet._zcdp_epsilon_spent(rho numeric, delta numeric)
RETURNS numeric
LANGUAGE discreet_python
IMMUTABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.zcdp_epsilon_spent(plpy, rho, delta)
$python$;
COMMENT ON FUNCTION discreet._zcdp_epsilon_spent(numeric, numeric) IS
'What an amount of rho has cost as epsilon, at the delta of its dataset.';

-- discreet._ledger: calls discreet._ledger_<operation> on the connection that the C module holds; what it writes is committed.
CREATE FUNCTION discreet._ledger(operation name, request jsonb)
RETURNS jsonb
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'discreet_ledger';
COMMENT ON FUNCTION discreet._ledger(name, jsonb) IS
'Calls discreet._ledger_<operation> on the connection that the C module holds; what it writes is committed.';

-- discreet._ledger_ping: says who the ledger connection is.
CREATE FUNCTION discreet._ledger_ping(request jsonb)
RETURNS jsonb
LANGUAGE sql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT jsonb_build_object(
        'role', current_user,
        'synchronous_commit', current_setting('synchronous_commit'),
        'read_only', pg_is_in_recovery(),
        'echo', request)
$sql$;
COMMENT ON FUNCTION discreet._ledger_ping(jsonb) IS 'Says who the ledger connection is, and whether it can write.';

-- What every charge runs is PL/pgSQL: its plans are kept for the session, where an SQL function is planned at each call.

-- discreet._charge_hash: what binds a charge to the one before it.
CREATE FUNCTION discreet._charge_hash(previous bytea, charge discreet._charge)
RETURNS bytea
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN (
    SELECT sha256(coalesce(previous, '') || convert_to(jsonb_build_array(
        charge.dataset, charge.label, charge.id, extract(epoch FROM charge.at), charge.role, charge.epsilon, charge.amount,
        charge.delta, charge.question, charge.details)::text, 'UTF8')));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._charge_hash(bytea, discreet._charge) IS 'What binds a charge to the one before it.';

-- discreet._roles_of: a role and the groups it is a member of; a superuser is no member by might alone.
CREATE FUNCTION discreet._roles_of(role name)
RETURNS SETOF oid
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH RECURSIVE member(role) AS (
        SELECT oid FROM pg_roles WHERE rolname = $1
        UNION SELECT g.roleid FROM pg_auth_members g JOIN member m ON g.member = m.role)
    SELECT m.role FROM member m;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._roles_of(name) IS 'A role and the groups it is a member of.';

-- discreet._holds_budget: whether a role, or a group it is a member of, holds a budget in a dataset.
CREATE FUNCTION discreet._holds_budget(role name, dataset text)
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
    RETURN (
    SELECT EXISTS (SELECT FROM discreet._budget b
                   WHERE b.dataset = $2 AND b.granted AND b.role IN (SELECT discreet._roles_of($1))));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._holds_budget(name, text) IS
'Whether a role, or a group it is a member of, holds a budget in a dataset.';

-- discreet._is_multilevel: whether the tables of a dataset have labels, so that its budget is kept per label.
CREATE FUNCTION discreet._is_multilevel(dataset text)
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
    RETURN EXISTS (SELECT FROM discreet._protected_table p JOIN discreet._multilevel_table m USING (relation)
                   WHERE p.dataset = $1);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._is_multilevel(text) IS
'Whether the tables of a dataset have labels, so that its budget is kept per label.';

-- discreet._refuse: writes a refusal down, and gives it the form in which the ledger answers.
CREATE FUNCTION discreet._refuse(role name, code text, message text, hint text, question text, label bigint DEFAULT NULL)
RETURNS jsonb
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    INSERT INTO discreet._refusal (role, code, message, question, label) VALUES (role, code, message, question, label);
    SELECT jsonb_build_object('refused', jsonb_build_object('code', code, 'message', message, 'hint', hint))
$sql$;
COMMENT ON FUNCTION discreet._refuse(name, text, text, text, text, bigint) IS
'Writes a refusal down, and gives it the form in which the ledger answers.';

-- discreet._charge: takes an amount from the dataset's cap and from every limit that applies to the role, all or none.
-- Returns NULL when it is paid, and otherwise the refusal. Epsilon is what the question is worth, amount what it costs
-- in the currency of the dataset. With a label, what was spent at other labels is not looked at, and nothing waits for it.
CREATE FUNCTION discreet._charge(
    dataset text, role name, epsilon numeric, amount numeric, delta numeric, question text, details jsonb,
    label bigint DEFAULT NULL)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
DECLARE
    payers oid[] := ARRAY(SELECT discreet._roles_of($2)) || 0::oid;
    paid int;
    limits record;
    before record;
    charge discreet._charge;
BEGIN
    IF amount IS NULL OR delta IS NULL OR NOT (amount >= 0 AND amount < 'Infinity' AND delta >= 0 AND delta < 1) THEN
        RAISE EXCEPTION 'a charge of amount %, delta %', amount, delta;
    END IF;

    -- charges of one dataset, or label, wait for each other here, so that each sees what the one before it left
    IF label IS NULL THEN
        PERFORM FROM discreet._dataset d WHERE d.dataset = $1 FOR NO KEY UPDATE;
    ELSE
        PERFORM FROM discreet._dataset d WHERE d.dataset = $1;
    END IF;
    IF NOT FOUND THEN
        RETURN discreet._refuse($2, 'DP003', format('there is no dataset %I to pay from', $1),
            format('A curator makes it with discreet.create_dataset(%L, epsilon).', $1), question, label);
    END IF;
    IF (label IS NOT NULL) <> discreet._is_multilevel($1) THEN
        RETURN discreet._refuse($2, 'DP003', format('the tables of dataset %I have got labels, or lost them, meanwhile', $1),
            'Ask again.', question, label);
    END IF;
    IF label IS NULL THEN
        PERFORM FROM discreet._budget b WHERE b.dataset = $1 AND b.granted AND b.role = ANY (payers) FOR UPDATE;
    ELSE
        INSERT INTO discreet._label_spent (dataset, label, role)
        SELECT $1, $8, b.role FROM discreet._budget b
        WHERE b.dataset = $1 AND b.granted AND b.role = ANY (payers) ORDER BY b.role
        ON CONFLICT DO NOTHING;
        PERFORM FROM discreet._label_spent s WHERE s.dataset = $1 AND s.label = $8 AND s.role = 0 FOR UPDATE;
    END IF;

    -- half of the delta of a zcdp dataset is bound in the conversion from rho
    SELECT count(*) AS payers, coalesce(bool_or(locked.role = 0), false) AS capped,
           min(locked.role) FILTER (WHERE NOT (locked.amount_enough AND locked.delta_enough)) AS short INTO limits
    FROM (SELECT b.role::oid AS role, b.amount_spent + coalesce(s.amount, 0) + $4 <= b.amount_limit AS amount_enough,
                 b.delta_spent + coalesce(s.delta, 0) + $5
                 <= b.delta_limit / CASE d.accounting WHEN 'zcdp' THEN 2 ELSE 1 END AS delta_enough
          FROM discreet._budget b JOIN discreet._dataset d USING (dataset)
          LEFT JOIN (SELECT l.role, sum(l.amount_spent) AS amount, sum(l.delta_spent) AS delta
                     FROM discreet._label_spent l
                     WHERE l.dataset = $1 AND ($8 IS NULL OR l.label = $8) GROUP BY l.role) s USING (role)
          WHERE b.dataset = $1 AND b.granted AND b.role = ANY (payers)) locked;
    IF NOT limits.capped THEN
        -- as after a restore that failed half way: no limit is not the same as no end
        RETURN discreet._refuse($2, 'DP003', format('the limit of dataset %I is missing', $1),
            'An administrator finds out with discreet.check_installation().', question, label);
    END IF;
    IF limits.short IS NOT NULL THEN
        RETURN discreet._refuse($2, 'DP003',
            format('the budget of %s%s is exhausted', CASE limits.short WHEN 0 THEN 'dataset ' || quote_ident($1)
                   ELSE limits.short::regrole::text || ' in dataset ' || quote_ident($1) END,
                   CASE WHEN label IS NOT NULL THEN ' at label ' || discreet._label(label) END),
            'View discreet.budget_status shows what is left; a smaller epsilon costs less.', question, label);
    END IF;

    IF label IS NULL THEN
        UPDATE discreet._budget b SET amount_spent = b.amount_spent + $4, delta_spent = b.delta_spent + $5
        WHERE b.dataset = $1 AND b.granted AND b.role = ANY (payers) AND b.amount_spent + $4 <= b.amount_limit;
    ELSE
        UPDATE discreet._label_spent s SET amount_spent = s.amount_spent + $4, delta_spent = s.delta_spent + $5
        FROM discreet._budget b
        WHERE s.dataset = $1 AND s.label = $8 AND s.role = b.role AND b.dataset = $1 AND b.granted AND b.role = ANY (payers);
    END IF;
    GET DIAGNOSTICS paid = ROW_COUNT;
    IF paid <> limits.payers THEN
        RAISE EXCEPTION USING ERRCODE = 'DP003', MESSAGE = 'a limit was changed while the charge was made',
            HINT = 'Ask again.';
    END IF;

    SELECT c.id, c.hash INTO before FROM discreet._charge c
    WHERE c.dataset = $1 AND c.label = coalesce($8, -1) ORDER BY c.id DESC LIMIT 1;
    charge := ROW($1, coalesce($8, -1), coalesce(before.id, 0) + 1, clock_timestamp(), $2, $3, $4, $5, $6, $7, NULL)::discreet._charge;
    charge.hash := discreet._charge_hash(before.hash, charge);
    INSERT INTO discreet._charge SELECT charge.*;
    RETURN NULL;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._charge(text, name, numeric, numeric, numeric, text, jsonb, bigint) IS
'Takes an amount from the dataset''s cap and from every limit that applies to the role, all or none.';

-- discreet.verify_log: recomputes the hash chain of every dataset, and of each of its labels.
CREATE FUNCTION discreet.verify_log()
RETURNS TABLE (dataset text, charges bigint, intact boolean, first_bad bigint, finding text, head text, label text)
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $sql$
    WITH link AS (
        SELECT c.dataset, c.label, c.id, c.amount, c.delta, c.hash,
               c.id = row_number() OVER chain
               AND c.hash = discreet._charge_hash(lag(c.hash) OVER chain, c) AS fits
        FROM discreet._charge c
        WINDOW chain AS (PARTITION BY c.dataset, c.label ORDER BY c.id)),
    spent(dataset, label, amount, delta) AS (
        SELECT b.dataset, -1, b.amount_spent, b.delta_spent FROM discreet._budget b WHERE b.role = 0
        UNION ALL
        SELECT s.dataset, s.label, s.amount_spent, s.delta_spent FROM discreet._label_spent s WHERE s.role = 0),
    ledger AS (
        SELECT d.dataset, -1 AS label FROM discreet._dataset d
        UNION SELECT s.dataset, s.label FROM spent s WHERE s.label >= 0
        UNION SELECT c.dataset, c.label FROM discreet._charge c WHERE c.label >= 0),
    chain AS (
        SELECT d.dataset, d.label, count(l.id) AS charges, min(l.id) FILTER (WHERE NOT l.fits) AS first_bad,
               coalesce(sum(l.amount), 0) AS amount, coalesce(sum(l.delta), 0) AS delta,
               encode((array_agg(l.hash ORDER BY l.id DESC) FILTER (WHERE l.id IS NOT NULL))[1], 'hex') AS head
        FROM ledger d LEFT JOIN link l USING (dataset, label)
        GROUP BY d.dataset, d.label)
    SELECT c.dataset, c.charges,
           c.first_bad IS NULL AND b.dataset IS NOT NULL AND c.amount = b.amount AND c.delta = b.delta, c.first_bad,
           CASE WHEN c.first_bad IS NOT NULL THEN 'charge ' || c.first_bad || ' does not fit the one before it'
                WHEN b.dataset IS NULL THEN 'the limit of the dataset is missing'
                WHEN c.amount <> b.amount THEN 'the charges add up to ' || c.amount || ', but ' || b.amount || ' is spent'
                WHEN c.delta <> b.delta THEN 'the deltas add up to ' || c.delta || ', but ' || b.delta || ' is spent'
                ELSE 'every charge fits the one before it' END,
           c.head, CASE WHEN c.label >= 0 THEN discreet._label(c.label) END
    FROM chain c LEFT JOIN spent b USING (dataset, label)
    UNION ALL
    SELECT NULL, count(*), bool_and(l.fits), min(l.id) FILTER (WHERE NOT l.fits),
           CASE WHEN bool_and(l.fits) THEN 'every event of multilevel tables fits the one before it'
                ELSE 'event ' || min(l.id) FILTER (WHERE NOT l.fits) || ' of multilevel tables does not fit the one before it' END,
           encode((array_agg(l.hash ORDER BY l.id DESC))[1], 'hex'), NULL
    FROM (SELECT e.id, e.hash, e.id = row_number() OVER chain
                 AND e.hash = discreet._label_event_hash(lag(e.hash) OVER chain, e) AS fits
          FROM discreet._label_event e
          WINDOW chain AS (ORDER BY e.id)) l
    HAVING count(*) > 0
    ORDER BY 1, 7 NULLS FIRST
$sql$;
COMMENT ON FUNCTION discreet.verify_log() IS
'Recomputes the hash chain of every dataset, and of the log of multilevel tables (dataset NULL); names the first charge that does not fit, and the head for keeping elsewhere.';

-- discreet._sees_all: whether the current user is a curator or an auditor.
CREATE FUNCTION discreet._sees_all()
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT pg_has_role(current_user, 'discreet_curator', 'MEMBER')
        OR pg_has_role(current_user, 'discreet_auditor', 'MEMBER')
$sql$;
COMMENT ON FUNCTION discreet._sees_all() IS 'Whether the current user is a curator or an auditor.';

-- Lines of labels are for sessions that dominate them; that one of them is read, level.c remembers when a statement begins.

-- discreet.budget_status: limits and what is left of them.
CREATE VIEW discreet.budget_status WITH (security_barrier) AS
WITH multilevel AS (
    SELECT p.dataset FROM discreet._protected_table p JOIN discreet._multilevel_table m USING (relation)
    -- what was spent at labels is no secret of theirs only where the people are in tables without labels now
    UNION SELECT s.dataset FROM discreet._label_spent s
    WHERE NOT EXISTS (SELECT FROM discreet._protected_table p WHERE p.dataset = s.dataset)),
seen(dataset, role, label) AS (
    SELECT s.dataset, s.role, s.label FROM discreet._label_spent s
    WHERE discreet._sees_all() OR (s.label & ~discreet._label_bits(discreet._label(NULL))) = 0
    UNION
    SELECT b.dataset, b.role, discreet._label_bits(discreet._label(NULL)) FROM discreet._budget b
    WHERE discreet._label_bits(discreet._label(NULL)) IS NOT NULL),
line AS (
    SELECT b.dataset, b.role, l.label, b.amount_spent + coalesce(s.amount_spent, 0) AS amount,
           b.delta_spent + coalesce(s.delta_spent, 0) AS delta_spent
    FROM discreet._budget b JOIN multilevel m USING (dataset) LEFT JOIN seen l USING (dataset, role)
    LEFT JOIN discreet._label_spent s USING (dataset, role, label)
    UNION ALL
    SELECT b.dataset, b.role, NULL, b.amount_spent + coalesce(s.amount, 0), b.delta_spent + coalesce(s.delta, 0)
    FROM discreet._budget b
    LEFT JOIN (SELECT dataset, role, sum(amount_spent) AS amount, sum(delta_spent) AS delta
               FROM discreet._label_spent GROUP BY dataset, role) s USING (dataset, role)
    WHERE b.dataset NOT IN (SELECT m.dataset FROM multilevel m)),
budget AS (
    SELECT b.dataset, b.role, b.epsilon_limit, b.delta_limit, l.label, l.delta_spent, r.rolname,
           CASE d.accounting WHEN 'pure' THEN l.amount
                ELSE discreet._zcdp_epsilon_spent(l.amount, cap.delta_limit) END AS epsilon_spent
    FROM discreet._budget b
    JOIN line l USING (dataset, role)
    JOIN discreet._dataset d USING (dataset)
    JOIN discreet._budget cap ON cap.dataset = b.dataset AND cap.role = 0
    LEFT JOIN pg_catalog.pg_roles r ON r.oid = b.role
    WHERE b.granted AND (b.role = 0 OR r.oid IS NOT NULL)),
mine AS (
    SELECT dataset, role, discreet._sees_all() OR pg_catalog.pg_has_role(current_user, role, 'MEMBER') AS visible
    FROM budget WHERE role <> 0)
SELECT b.dataset, b.rolname AS role, b.epsilon_limit, b.epsilon_spent,
       GREATEST(b.epsilon_limit - b.epsilon_spent, 0) AS epsilon_left, b.delta_limit, b.delta_spent,
       CASE WHEN b.label IS NOT NULL THEN discreet._label(b.label) END AS label
FROM budget b
WHERE discreet._sees_all()
   OR EXISTS (SELECT FROM mine m WHERE m.dataset = b.dataset AND m.visible AND (b.role = 0 OR m.role = b.role));
COMMENT ON VIEW discreet.budget_status IS
'Limits and what is left of them; role NULL is the dataset''s own cap. Of multilevel tables each label has its own line. Analysts see the budgets they can spend, at the labels they can.';

-- discreet.charges: every charge ever made.
CREATE VIEW discreet.charges WITH (security_barrier) AS
SELECT c.id, c.at, c.role, c.dataset, c.epsilon, c.delta, c.question, c.details, c.hash, c.amount,
       CASE WHEN c.label >= 0 THEN discreet._label(c.label) END AS label
FROM discreet._charge c
WHERE discreet._sees_all()
   OR (c.role = session_user AND (c.label < 0 OR (c.label & ~discreet._label_bits(discreet._label(NULL))) = 0));
COMMENT ON VIEW discreet.charges IS 'Every charge ever made; an analyst sees the own ones.';

-- discreet.refusals: questions that were refused.
CREATE VIEW discreet.refusals WITH (security_barrier) AS
SELECT f.at, f.role, f.code, f.message, f.question, CASE WHEN f.label IS NOT NULL THEN discreet._label(f.label) END AS label
FROM discreet._refusal f
WHERE discreet._sees_all()
   OR (f.role = session_user AND (f.label IS NULL OR (f.label & ~discreet._label_bits(discreet._label(NULL))) = 0));
COMMENT ON VIEW discreet.refusals IS 'Questions that were refused; an analyst sees the own ones.';

-- Arithmetic of privacy, for curators who plan a budget. Nothing here reads data or spends.

-- discreet.compose_sequential: price of questions about the same people: the sum of their epsilons.
CREATE FUNCTION discreet.compose_sequential(epsilons numeric[])
RETURNS numeric
LANGUAGE discreet_python
IMMUTABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.compose_sequential(plpy, epsilons)
$python$;
COMMENT ON FUNCTION discreet.compose_sequential(numeric[]) IS
'Price of questions about the same people: the sum of their epsilons.';

-- discreet.compose_parallel: price of questions about people of whom nobody is in two: the largest of their epsilons.
CREATE FUNCTION discreet.compose_parallel(epsilons numeric[])
RETURNS numeric
LANGUAGE discreet_python
IMMUTABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.compose_parallel(plpy, epsilons)
$python$;
COMMENT ON FUNCTION discreet.compose_parallel(numeric[]) IS
'Price of questions about people of whom nobody is in two: the largest of their epsilons.';

-- discreet.group_epsilon: what an epsilon per person promises to a group of people: so many times as much.
CREATE FUNCTION discreet.group_epsilon(epsilon numeric, people int)
RETURNS numeric
LANGUAGE discreet_python
IMMUTABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.group_epsilon(plpy, epsilon, people)
$python$;
COMMENT ON FUNCTION discreet.group_epsilon(numeric, int) IS
'What an epsilon per person promises to a group of people: so many times as much.';

-- discreet.gaussian_rho: the largest rho that keeps within epsilon and delta.
CREATE FUNCTION discreet.gaussian_rho(epsilon numeric, delta numeric)
RETURNS numeric
LANGUAGE discreet_python
IMMUTABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.gaussian_rho(plpy, epsilon, delta)
$python$;
COMMENT ON FUNCTION discreet.gaussian_rho(numeric, numeric) IS
'The largest rho that keeps within epsilon and delta.';

-- discreet.zcdp_epsilon: the epsilon that rho comes to at a delta.
CREATE FUNCTION discreet.zcdp_epsilon(rho numeric, delta numeric)
RETURNS numeric
LANGUAGE discreet_python
IMMUTABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.zcdp_epsilon(plpy, rho, delta)
$python$;
COMMENT ON FUNCTION discreet.zcdp_epsilon(numeric, numeric) IS
'The epsilon that rho comes to at a delta.';

-- discreet.laplace_scale: scale of Laplace noise that makes a number of this sensitivity private.
CREATE FUNCTION discreet.laplace_scale(sensitivity numeric, epsilon numeric)
RETURNS numeric
LANGUAGE discreet_python
IMMUTABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.laplace_scale(plpy, sensitivity, epsilon)
$python$;
COMMENT ON FUNCTION discreet.laplace_scale(numeric, numeric) IS
'Scale of Laplace noise that makes a number of this sensitivity private.';

-- discreet.sensitivity: how much one person can change a statistic of values between bounds.
CREATE FUNCTION discreet.sensitivity(kind text, lower numeric, upper numeric, n bigint DEFAULT 1, neighbours text DEFAULT 'unbounded')
RETURNS numeric
LANGUAGE discreet_python
IMMUTABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.sensitivity(plpy, kind, lower, upper, n, neighbours)
$python$;
COMMENT ON FUNCTION discreet.sensitivity(text, numeric, numeric, bigint, text) IS
'How much one person can change a statistic of values between bounds.';

-- discreet._protection_of: the protected table whose rows a scan of the relation reads: itself, or the whole it is a part of.
CREATE FUNCTION discreet._protection_of(relation oid)
RETURNS SETOF discreet._protected_table
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH RECURSIVE ancestor(relation, height) AS (
        SELECT $1, 0 UNION SELECT i.inhparent, a.height + 1 FROM pg_inherits i JOIN ancestor a ON i.inhrelid = a.relation)
    SELECT p.* FROM discreet._protected_table p JOIN ancestor a ON a.relation = p.relation
    WHERE p.policy <> 'public'
    ORDER BY a.height DESC LIMIT 1;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._protection_of(oid) IS
'The protected table whose rows a scan of the relation reads: itself, or the whole it is a part of.';

-- discreet._one_row_per_person: whether the unit is NOT NULL and unique by an index that is always in force; and was so before
-- any transaction from a number on, as those that a snapshot does not see: it may still hold rows from before.
CREATE FUNCTION discreet._one_row_per_person(protected discreet._protected_table, since xid DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN (
    SELECT EXISTS (SELECT FROM pg_attribute a
                   WHERE a.attrelid = protected.relation AND a.attnum = protected.unit_attnum AND a.attnotnull
                     AND (since IS NULL OR age(a.xmin) > age(since)))
       AND EXISTS (SELECT FROM pg_index i
                   WHERE i.indrelid = protected.relation AND i.indisunique AND i.indimmediate AND i.indisvalid
                     AND i.indpred IS NULL AND i.indexprs IS NULL AND i.indnkeyatts = 1
                     AND i.indkey[0] = protected.unit_attnum
                     AND (since IS NULL OR age(i.xmin) > age(since)))
       -- an index of a plain parent does not see the rows of tables that inherit from it
       AND NOT EXISTS (SELECT FROM pg_inherits h JOIN pg_class c ON c.oid = h.inhparent
                       WHERE h.inhparent = protected.relation AND c.relkind <> 'p')
       AND NOT EXISTS (
            WITH RECURSIVE part(relation, attached) AS (
                SELECT h.inhrelid, h.xmin FROM pg_inherits h WHERE h.inhparent = protected.relation
                UNION SELECT h.inhrelid, h.xmin FROM pg_inherits h JOIN part ON h.inhparent = part.relation)
            SELECT FROM part WHERE since IS NOT NULL AND age(part.attached) <= age(since)));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._one_row_per_person(discreet._protected_table, xid) IS
'Whether the unit is NOT NULL and unique by an index that is always in force, and was so before transactions from a number on.';

-- discreet._ledger_charge_aggregates: pays for the dp_ aggregates of one statement, before any row is read.
-- request: role, question, wish (epsilon), unreadable (a relation that the session user may not read), inside (relations
-- the aggregates read), unsafe (what the statement does that could let a person count for more), sites: function,
-- epsilon, sets; all_sites: those of the whole statement; since: what the asker's snapshot does not see begins there.
-- answer: accounting, neighbours, amounts (per site and grouping set, joined by commas).
CREATE FUNCTION discreet._ledger_charge_aggregates(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    asker name := request->>'role';
    question text := request->>'question';
    wish numeric := request->>'wish';
    inside oid[] := ARRAY(SELECT jsonb_array_elements_text(request->'inside')::oid);
    protected discreet._protected_table;
    people discreet._dataset;
    gate constant text := 'Ask through discreet.query(), which bounds what one person can change.';
    problem text;
    hint text := gate;
    explicit numeric;
    sets_without bigint;
    epsilons numeric[];
    amounts numeric[];
    refusal jsonb;
BEGIN
    IF request->>'unreadable' IS NOT NULL THEN
        RETURN discreet._refuse(asker, 'DP004', format('%s may not read %s, so dp_ aggregates over it are not for this role',
            asker, request->>'unreadable'), 'With a budget in its dataset, ask through discreet.query().', question);
    END IF;
    SELECT p.* INTO protected FROM unnest(inside) r, discreet._protection_of(r) p LIMIT 1;
    IF (SELECT count(DISTINCT coalesce(p.relation, 0)) FROM unnest(inside) r LEFT JOIN discreet._protection_of(r) p ON true) > 1 THEN
        problem := 'dp_ aggregates read one protected table at a time, and no other rows with it';
    ELSIF request->>'unsafe' IS NOT NULL THEN
        problem := format('dp_ aggregates cannot bound one person''s influence through %s', request->>'unsafe');
    ELSIF protected.policy <> 'noisy' THEN
        problem := format('%s is protected by policy %L', protected.relation, protected.policy);
    ELSIF protected.relation IS NOT NULL AND NOT discreet._one_row_per_person(protected) THEN
        problem := format('column %I of %s is not unique and NOT NULL: a person may have many rows', protected.unit, protected.relation);
    ELSIF protected.relation IS NOT NULL AND NOT discreet._one_row_per_person(protected, (request->>'since')::xid) THEN
        problem := format('column %I of %s may not have been unique and NOT NULL when this transaction began',
                          protected.unit, protected.relation);
        hint := 'Begin a new transaction, or use READ COMMITTED.';
    END IF;

    SELECT d.* INTO people FROM discreet._dataset d WHERE d.dataset = coalesce(protected.dataset, 'default');

    -- a wish is lowered to what the policy allows; a number written into the question is taken at its word
    SELECT sum((s->>'epsilon')::numeric * (s->>'sets')::int),
           sum((s->>'sets')::int) FILTER (WHERE s->>'epsilon' IS NULL)
    INTO explicit, sets_without
    FROM jsonb_array_elements(request->'all_sites') s;
    IF problem IS NULL AND explicit > protected.max_epsilon THEN
        problem := format('epsilon %s is more than the %s that one question about %s may cost', explicit,
                          protected.max_epsilon, protected.relation);
        hint := 'Give less.';
    ELSIF problem IS NULL AND sets_without > 0 AND protected.max_epsilon IS NOT NULL THEN
        wish := LEAST(wish, trunc((protected.max_epsilon - coalesce(explicit, 0)) / sets_without, 12));
        IF wish <= 0 THEN
            problem := format('no epsilon is left for the aggregates that name none, of the %s that one question about %s may cost',
                              protected.max_epsilon, protected.relation);
            hint := 'Give less.';
        END IF;
    END IF;
    IF problem IS NOT NULL THEN
        RETURN discreet._refuse(asker, 'DP001', problem, hint, question);
    END IF;
    IF NOT (protected.relation IS NULL OR discreet._holds_budget(asker, protected.dataset)
            OR EXISTS (SELECT FROM pg_roles r WHERE r.rolname = asker AND r.rolsuper)
            OR pg_has_role(asker, (SELECT c.relowner FROM pg_class c WHERE c.oid = protected.relation), 'USAGE')) THEN
        RETURN discreet._refuse(asker, 'DP004', format('%s holds no budget in dataset %I', asker, protected.dataset),
            format('A curator can give one: discreet.grant_budget(%L, role, epsilon).', protected.dataset), question);
    END IF;

    -- under zcdp an epsilon buys Gaussian noise of rho = epsilon^2 / 2
    SELECT array_agg(e * sets ORDER BY n), array_agg(CASE people.accounting WHEN 'zcdp' THEN e * e / 2 ELSE e END ORDER BY n),
           sum(CASE people.accounting WHEN 'zcdp' THEN e * e / 2 ELSE e END * sets)
    INTO epsilons, amounts, explicit
    FROM (SELECT coalesce((s->>'epsilon')::numeric, wish) AS e, (s->>'sets')::int AS sets, n
          FROM jsonb_array_elements(request->'sites') WITH ORDINALITY AS site(s, n)) priced;

    refusal := discreet._charge(coalesce(protected.dataset, 'default'), asker, (SELECT sum(e) FROM unnest(epsilons) e),
                                explicit, 0, question, jsonb_build_object('aggregates', request->'sites'));
    RETURN coalesce(refusal, jsonb_build_object(
        'accounting', people.accounting, 'neighbours', people.neighbours, 'amounts', array_to_string(amounts, ',')));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_charge_aggregates(jsonb) IS
'Pays for the dp_ aggregates of one statement, before any row is read.';

-- The dp_ aggregates. Transitions are exact integers in C or PostgreSQL's own; the released number comes from
-- discreet._release, after the C module has charged for it.

-- discreet._release: draws the noise for one number, exactly once.
CREATE FUNCTION discreet._release(kind text, totals text[])
RETURNS text
LANGUAGE discreet_python
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.release(plpy, kind, totals)
$python$;
COMMENT ON FUNCTION discreet._release(text, text[]) IS 'Draws the noise for one number, exactly once.';

CREATE FUNCTION discreet._count_transition(bigint, "any", numeric)
RETURNS bigint
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_count_transition';
COMMENT ON FUNCTION discreet._count_transition(bigint, "any", numeric) IS 'Counts values that are not NULL.';

CREATE FUNCTION discreet._sum_transition(internal, anycompatible, anycompatible, anycompatible)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_sum_transition';
COMMENT ON FUNCTION discreet._sum_transition(internal, anycompatible, anycompatible, anycompatible) IS 'Adds a value on the grid.';

CREATE FUNCTION discreet._sum_transition(internal, anycompatible, anycompatible, anycompatible, numeric)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_sum_transition';
COMMENT ON FUNCTION discreet._sum_transition(internal, anycompatible, anycompatible, anycompatible, numeric) IS 'Adds a value on the grid.';

CREATE FUNCTION discreet._moments_transition(internal, anycompatible, anycompatible, anycompatible)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_moments_transition';
COMMENT ON FUNCTION discreet._moments_transition(internal, anycompatible, anycompatible, anycompatible) IS 'Adds a value and its square on the grid.';

CREATE FUNCTION discreet._moments_transition(internal, anycompatible, anycompatible, anycompatible, numeric)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_moments_transition';
COMMENT ON FUNCTION discreet._moments_transition(internal, anycompatible, anycompatible, anycompatible, numeric) IS 'Adds a value and its square on the grid.';

CREATE FUNCTION discreet._quantile_transition(internal, anycompatible, float8, anycompatible, anycompatible)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_quantile_transition';
COMMENT ON FUNCTION discreet._quantile_transition(internal, anycompatible, float8, anycompatible, anycompatible) IS 'Counts a value in its bin.';

CREATE FUNCTION discreet._quantile_transition(internal, anycompatible, float8, anycompatible, anycompatible, numeric)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_quantile_transition';
COMMENT ON FUNCTION discreet._quantile_transition(internal, anycompatible, float8, anycompatible, anycompatible, numeric) IS 'Counts a value in its bin.';

CREATE FUNCTION discreet._median_transition(internal, anycompatible, anycompatible, anycompatible)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_median_transition';
COMMENT ON FUNCTION discreet._median_transition(internal, anycompatible, anycompatible, anycompatible) IS 'Counts a value in its bin.';

CREATE FUNCTION discreet._median_transition(internal, anycompatible, anycompatible, anycompatible, numeric)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_median_transition';
COMMENT ON FUNCTION discreet._median_transition(internal, anycompatible, anycompatible, anycompatible, numeric) IS 'Counts a value in its bin.';

CREATE FUNCTION discreet._distinct_transition(internal, anyelement)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_distinct_transition';
COMMENT ON FUNCTION discreet._distinct_transition(internal, anyelement) IS 'Remembers the hash of a value.';

CREATE FUNCTION discreet._distinct_transition(internal, anyelement, numeric)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_distinct_transition';
COMMENT ON FUNCTION discreet._distinct_transition(internal, anyelement, numeric) IS 'Remembers the hash of a value.';

CREATE FUNCTION discreet._sum_combine(internal, internal)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_sum_combine';
COMMENT ON FUNCTION discreet._sum_combine(internal, internal) IS 'Joins the sums of two workers.';

CREATE FUNCTION discreet._sum_serialize(internal)
RETURNS bytea
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_sum_serialize';
COMMENT ON FUNCTION discreet._sum_serialize(internal) IS 'Sends the sums of a worker.';

CREATE FUNCTION discreet._sum_deserialize(bytea, internal)
RETURNS internal
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_sum_deserialize';
COMMENT ON FUNCTION discreet._sum_deserialize(bytea, internal) IS 'Receives the sums of a worker.';

CREATE FUNCTION discreet._quantile_combine(internal, internal)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_quantile_combine';
COMMENT ON FUNCTION discreet._quantile_combine(internal, internal) IS 'Joins the bins of two workers.';

CREATE FUNCTION discreet._quantile_serialize(internal)
RETURNS bytea
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_quantile_serialize';
COMMENT ON FUNCTION discreet._quantile_serialize(internal) IS 'Sends the bins of a worker.';

CREATE FUNCTION discreet._quantile_deserialize(bytea, internal)
RETURNS internal
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_quantile_deserialize';
COMMENT ON FUNCTION discreet._quantile_deserialize(bytea, internal) IS 'Receives the bins of a worker.';

CREATE FUNCTION discreet._distinct_combine(internal, internal)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_distinct_combine';
COMMENT ON FUNCTION discreet._distinct_combine(internal, internal) IS 'Joins the sets of hashes of two workers.';

CREATE FUNCTION discreet._distinct_serialize(internal)
RETURNS bytea
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_distinct_serialize';
COMMENT ON FUNCTION discreet._distinct_serialize(internal) IS 'Sends the sets of hashes of a worker.';

CREATE FUNCTION discreet._distinct_deserialize(bytea, internal)
RETURNS internal
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_distinct_deserialize';
COMMENT ON FUNCTION discreet._distinct_deserialize(bytea, internal) IS 'Receives the sets of hashes of a worker.';

CREATE FUNCTION discreet._count_final(bigint)
RETURNS bigint
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_count_final';
COMMENT ON FUNCTION discreet._count_final(bigint) IS 'Releases the number that was paid for.';

CREATE FUNCTION discreet._sum_final(internal)
RETURNS numeric
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_sum_final';
COMMENT ON FUNCTION discreet._sum_final(internal) IS 'Releases the number that was paid for.';

CREATE FUNCTION discreet._distinct_final(internal)
RETURNS bigint
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_distinct_final';
COMMENT ON FUNCTION discreet._distinct_final(internal) IS 'Releases the number that was paid for.';

CREATE FUNCTION discreet._median_final(internal, anycompatible, anycompatible, anycompatible)
RETURNS anycompatible
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_quantile_final';
COMMENT ON FUNCTION discreet._median_final(internal, anycompatible, anycompatible, anycompatible) IS 'Releases the number that was paid for.';

CREATE FUNCTION discreet._quantile_final(internal, anycompatible, float8, anycompatible, anycompatible)
RETURNS anycompatible
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_quantile_final';
COMMENT ON FUNCTION discreet._quantile_final(internal, anycompatible, float8, anycompatible, anycompatible) IS 'Releases the number that was paid for.';

CREATE FUNCTION discreet._median_final(internal, anycompatible, anycompatible, anycompatible, numeric)
RETURNS anycompatible
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_quantile_final';
COMMENT ON FUNCTION discreet._median_final(internal, anycompatible, anycompatible, anycompatible, numeric) IS 'Releases the number that was paid for.';

CREATE FUNCTION discreet._quantile_final(internal, anycompatible, float8, anycompatible, anycompatible, numeric)
RETURNS anycompatible
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_quantile_final';
COMMENT ON FUNCTION discreet._quantile_final(internal, anycompatible, float8, anycompatible, anycompatible, numeric) IS 'Releases the number that was paid for.';

-- counts

CREATE AGGREGATE discreet.dp_count(*) (
    SFUNC = pg_catalog.int8inc,
    STYPE = bigint,
    INITCOND = 0,
    COMBINEFUNC = pg_catalog.int8pl,
    FINALFUNC = discreet._count_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_count(*) IS 'Noisy number of rows.';

CREATE AGGREGATE discreet.dp_count(value "any") (
    SFUNC = pg_catalog.int8inc_any,
    STYPE = bigint,
    INITCOND = 0,
    COMBINEFUNC = pg_catalog.int8pl,
    FINALFUNC = discreet._count_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_count("any") IS 'Noisy number of values that are not NULL.';

CREATE AGGREGATE discreet.dp_count(value "any", epsilon numeric) (
    SFUNC = discreet._count_transition,
    STYPE = bigint,
    INITCOND = 0,
    COMBINEFUNC = pg_catalog.int8pl,
    FINALFUNC = discreet._count_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_count("any", numeric) IS 'Noisy number of values that are not NULL.';

CREATE AGGREGATE discreet.dp_count_distinct(value anyelement) (
    SFUNC = discreet._distinct_transition,
    STYPE = internal,
    SSPACE = 8192,
    COMBINEFUNC = discreet._distinct_combine,
    SERIALFUNC = discreet._distinct_serialize,
    DESERIALFUNC = discreet._distinct_deserialize,
    FINALFUNC = discreet._distinct_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_count_distinct(anyelement) IS 'Noisy number of distinct values.';

CREATE AGGREGATE discreet.dp_count_distinct(value anyelement, epsilon numeric) (
    SFUNC = discreet._distinct_transition,
    STYPE = internal,
    SSPACE = 8192,
    COMBINEFUNC = discreet._distinct_combine,
    SERIALFUNC = discreet._distinct_serialize,
    DESERIALFUNC = discreet._distinct_deserialize,
    FINALFUNC = discreet._distinct_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_count_distinct(anyelement, numeric) IS 'Noisy number of distinct values.';

-- sums and what follows from them

CREATE AGGREGATE discreet.dp_sum(value anycompatible, lower anycompatible, upper anycompatible) (
    SFUNC = discreet._sum_transition,
    STYPE = internal,
    SSPACE = 96,
    COMBINEFUNC = discreet._sum_combine,
    SERIALFUNC = discreet._sum_serialize,
    DESERIALFUNC = discreet._sum_deserialize,
    FINALFUNC = discreet._sum_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_sum(anycompatible, anycompatible, anycompatible) IS 'Noisy sum of values between bounds.';

CREATE AGGREGATE discreet.dp_sum(value anycompatible, lower anycompatible, upper anycompatible, epsilon numeric) (
    SFUNC = discreet._sum_transition,
    STYPE = internal,
    SSPACE = 96,
    COMBINEFUNC = discreet._sum_combine,
    SERIALFUNC = discreet._sum_serialize,
    DESERIALFUNC = discreet._sum_deserialize,
    FINALFUNC = discreet._sum_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_sum(anycompatible, anycompatible, anycompatible, numeric) IS 'Noisy sum of values between bounds.';

CREATE AGGREGATE discreet.dp_avg(value anycompatible, lower anycompatible, upper anycompatible) (
    SFUNC = discreet._sum_transition,
    STYPE = internal,
    SSPACE = 96,
    COMBINEFUNC = discreet._sum_combine,
    SERIALFUNC = discreet._sum_serialize,
    DESERIALFUNC = discreet._sum_deserialize,
    FINALFUNC = discreet._sum_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_avg(anycompatible, anycompatible, anycompatible) IS 'Noisy average of values between bounds.';

CREATE AGGREGATE discreet.dp_avg(value anycompatible, lower anycompatible, upper anycompatible, epsilon numeric) (
    SFUNC = discreet._sum_transition,
    STYPE = internal,
    SSPACE = 96,
    COMBINEFUNC = discreet._sum_combine,
    SERIALFUNC = discreet._sum_serialize,
    DESERIALFUNC = discreet._sum_deserialize,
    FINALFUNC = discreet._sum_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_avg(anycompatible, anycompatible, anycompatible, numeric) IS 'Noisy average of values between bounds.';

CREATE AGGREGATE discreet.dp_variance(value anycompatible, lower anycompatible, upper anycompatible) (
    SFUNC = discreet._moments_transition,
    STYPE = internal,
    SSPACE = 96,
    COMBINEFUNC = discreet._sum_combine,
    SERIALFUNC = discreet._sum_serialize,
    DESERIALFUNC = discreet._sum_deserialize,
    FINALFUNC = discreet._sum_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_variance(anycompatible, anycompatible, anycompatible) IS 'Noisy variance of values between bounds.';

CREATE AGGREGATE discreet.dp_variance(value anycompatible, lower anycompatible, upper anycompatible, epsilon numeric) (
    SFUNC = discreet._moments_transition,
    STYPE = internal,
    SSPACE = 96,
    COMBINEFUNC = discreet._sum_combine,
    SERIALFUNC = discreet._sum_serialize,
    DESERIALFUNC = discreet._sum_deserialize,
    FINALFUNC = discreet._sum_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_variance(anycompatible, anycompatible, anycompatible, numeric) IS 'Noisy variance of values between bounds.';

CREATE AGGREGATE discreet.dp_stddev(value anycompatible, lower anycompatible, upper anycompatible) (
    SFUNC = discreet._moments_transition,
    STYPE = internal,
    SSPACE = 96,
    COMBINEFUNC = discreet._sum_combine,
    SERIALFUNC = discreet._sum_serialize,
    DESERIALFUNC = discreet._sum_deserialize,
    FINALFUNC = discreet._sum_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_stddev(anycompatible, anycompatible, anycompatible) IS 'Noisy standard deviation of values between bounds.';

CREATE AGGREGATE discreet.dp_stddev(value anycompatible, lower anycompatible, upper anycompatible, epsilon numeric) (
    SFUNC = discreet._moments_transition,
    STYPE = internal,
    SSPACE = 96,
    COMBINEFUNC = discreet._sum_combine,
    SERIALFUNC = discreet._sum_serialize,
    DESERIALFUNC = discreet._sum_deserialize,
    FINALFUNC = discreet._sum_final,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_stddev(anycompatible, anycompatible, anycompatible, numeric) IS 'Noisy standard deviation of values between bounds.';

-- quantiles

CREATE AGGREGATE discreet.dp_median(value anycompatible, lower anycompatible, upper anycompatible) (
    SFUNC = discreet._median_transition,
    STYPE = internal,
    SSPACE = 8192,
    COMBINEFUNC = discreet._quantile_combine,
    SERIALFUNC = discreet._quantile_serialize,
    DESERIALFUNC = discreet._quantile_deserialize,
    FINALFUNC = discreet._median_final,
    FINALFUNC_EXTRA,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_median(anycompatible, anycompatible, anycompatible) IS 'Noisy median of values between bounds.';

CREATE AGGREGATE discreet.dp_median(value anycompatible, lower anycompatible, upper anycompatible, epsilon numeric) (
    SFUNC = discreet._median_transition,
    STYPE = internal,
    SSPACE = 8192,
    COMBINEFUNC = discreet._quantile_combine,
    SERIALFUNC = discreet._quantile_serialize,
    DESERIALFUNC = discreet._quantile_deserialize,
    FINALFUNC = discreet._median_final,
    FINALFUNC_EXTRA,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_median(anycompatible, anycompatible, anycompatible, numeric) IS 'Noisy median of values between bounds.';

CREATE AGGREGATE discreet.dp_quantile(value anycompatible, fraction float8, lower anycompatible, upper anycompatible) (
    SFUNC = discreet._quantile_transition,
    STYPE = internal,
    SSPACE = 8192,
    COMBINEFUNC = discreet._quantile_combine,
    SERIALFUNC = discreet._quantile_serialize,
    DESERIALFUNC = discreet._quantile_deserialize,
    FINALFUNC = discreet._quantile_final,
    FINALFUNC_EXTRA,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_quantile(anycompatible, float8, anycompatible, anycompatible) IS 'Noisy quantile of values between bounds.';

CREATE AGGREGATE discreet.dp_quantile(value anycompatible, fraction float8, lower anycompatible, upper anycompatible, epsilon numeric) (
    SFUNC = discreet._quantile_transition,
    STYPE = internal,
    SSPACE = 8192,
    COMBINEFUNC = discreet._quantile_combine,
    SERIALFUNC = discreet._quantile_serialize,
    DESERIALFUNC = discreet._quantile_deserialize,
    FINALFUNC = discreet._quantile_final,
    FINALFUNC_EXTRA,
    FINALFUNC_MODIFY = READ_ONLY,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE discreet.dp_quantile(anycompatible, float8, anycompatible, anycompatible, numeric) IS 'Noisy quantile of values between bounds.';

-- What the run step uses beside PostgreSQL's own functions.

-- discreet._run_as: runs a SELECT in the name of a role; the first column of every row, a text.
CREATE FUNCTION discreet._run_as(role oid, statement text)
RETURNS SETOF text
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'discreet_run_as';
COMMENT ON FUNCTION discreet._run_as(oid, text) IS 'Runs a SELECT in the name of a role; the first column of every row, a text.';

-- discreet._wait: waits so many seconds, without showing in pg_stat_activity that it does.
CREATE FUNCTION discreet._wait(seconds float8)
RETURNS void
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'discreet_wait';
COMMENT ON FUNCTION discreet._wait(float8) IS 'Waits so many seconds, without showing in pg_stat_activity that it does.';

-- Total and pure: owners of tables execute them in the run step, so everybody may.

-- discreet._text: a value as the output function of its type writes it; a cast to text may be anybody's code. At most 10,000
-- bytes of it, so that nothing fails; of a value that takes more itself, a hash.
CREATE FUNCTION discreet._text(value anyelement)
RETURNS text
LANGUAGE c
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_text';
COMMENT ON FUNCTION discreet._text(anyelement) IS
'A value as the output function of its type writes it, at most 10,000 bytes; of a longer value, a hash.';

-- discreet._cut: the first bytes of a text. No row of a question has a text on which a function could fail.
CREATE FUNCTION discreet._cut(value text, bytes int)
RETURNS text
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_cut';
COMMENT ON FUNCTION discreet._cut(text, int) IS
'The first bytes of a text, at most so many, in whole characters.';

CREATE FUNCTION discreet._on_grid(value anyelement, exponent int, lower bigint, upper bigint)
RETURNS bigint
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_on_grid';
COMMENT ON FUNCTION discreet._on_grid(anyelement, int, bigint, bigint) IS
'The integer of a value on the grid of step 2^exponent, clamped; NULL for NaN and infinities.';

CREATE FUNCTION discreet._clamped(value anyelement, lower int, upper int)
RETURNS int
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_clamped';
COMMENT ON FUNCTION discreet._clamped(anyelement, int, int) IS
'A whole number, brought between two bounds.';

CREATE FUNCTION discreet._bin(value anyelement, lower float8, upper float8, bins int)
RETURNS int
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_bin';
COMMENT ON FUNCTION discreet._bin(anyelement, float8, float8, int) IS
'Which of so many equal bins between the bounds holds a value; NULL for NaN and infinities.';

CREATE FUNCTION discreet._log_bin(value anyelement, lowest int, octaves int, steps int)
RETURNS int
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_log_bin';
COMMENT ON FUNCTION discreet._log_bin(anyelement, int, int, int) IS
'Which bin holds a value, of so many steps per power of two from 2^lowest on, on both sides of 0; NULL for NaN and infinities.';

CREATE FUNCTION discreet._people_transition(
    state internal, unit "any", seed bigint, max_groups int, max_rows int, max_total_rows bigint, subjects text, VARIADIC "any")
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_people_transition';
COMMENT ON FUNCTION discreet._people_transition(internal, "any", bigint, int, int, bigint, text, "any") IS
'Adds a row to what its person has in its group.';

CREATE FUNCTION discreet._people_combine(internal, internal)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_people_combine';
COMMENT ON FUNCTION discreet._people_combine(internal, internal) IS 'Joins the people of two workers.';

CREATE FUNCTION discreet._people_serialize(internal)
RETURNS bytea
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_people_serialize';
COMMENT ON FUNCTION discreet._people_serialize(internal) IS 'The people of a worker, for the leader.';

CREATE FUNCTION discreet._people_deserialize(bytea, internal)
RETURNS internal
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_people_deserialize';
COMMENT ON FUNCTION discreet._people_deserialize(bytea, internal) IS 'The people of a worker, in the leader.';

CREATE FUNCTION discreet._people_final(internal)
RETURNS text
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_people_final';
COMMENT ON FUNCTION discreet._people_final(internal) IS 'Bounds what each person adds, and sums it up per group.';

CREATE AGGREGATE discreet._people(
    unit "any", seed bigint, max_groups int, max_rows int, max_total_rows bigint, subjects text, VARIADIC "any") (
    SFUNC = discreet._people_transition,
    STYPE = internal,
    COMBINEFUNC = discreet._people_combine,
    SERIALFUNC = discreet._people_serialize,
    DESERIALFUNC = discreet._people_deserialize,
    FINALFUNC = discreet._people_final,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE discreet._people("any", bigint, int, int, bigint, text, "any") IS
'Totals of groups, each person bounded, as JSON: [[texts of the keys, [people, rows, sum, squares] per subject], …].
A letter of subjects says of what a value that follows is one: R counts, S sums as well, Q squares too; then come the keys.';

-- Views that questions name: what they are made of.

-- discreet._relations_of_view: the relations that the definition of a view names.
CREATE FUNCTION discreet._relations_of_view(view oid)
RETURNS SETOF oid
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
ROWS 3
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT DISTINCT d.refobjid
    FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
    WHERE r.ev_class = $1 AND r.rulename = '_RETURN' AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> $1;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._relations_of_view(oid) IS 'The relations that the definition of a view names.';

-- discreet._view_definition: the SELECT of a view, written with all schemas, and alike under all settings.
CREATE FUNCTION discreet._view_definition(view oid)
RETURNS text
LANGUAGE sql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET TimeZone = 'UTC'
SET DateStyle = 'ISO, MDY'
SET IntervalStyle = postgres
SET extra_float_digits = 1
SET bytea_output = hex
SET quote_all_identifiers = off
AS $sql$
    SELECT rtrim(pg_get_viewdef($1), ';')
$sql$;
COMMENT ON FUNCTION discreet._view_definition(oid) IS 'The SELECT of a view, written with all schemas.';

-- discreet._ledger_describe: what a question's names mean, for the role that asks. Policy is read here, not in the asker's snapshot.
-- request: role, path (schemas), relations ([schema or null, name]), functions (names)
CREATE FUNCTION discreet._ledger_describe(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    asker name := request->>'role';
    described jsonb;
    views jsonb;
    people jsonb;
    harmless jsonb;
BEGIN
    WITH found AS (
        SELECT r.asked_schema AS schema_name, r.asked_name AS relation_name, c.oid, n.nspname, c.relname, c.relkind
        FROM discreet._named_relations(request) r JOIN pg_class c ON c.oid = r.relation JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind <> 'v' OR EXISTS (SELECT FROM discreet._protected_table p JOIN discreet._multilevel_table m USING (relation)
                                          WHERE relation = c.oid)),
    kept AS (
        SELECT f.*, ARRAY(SELECT u.columns[1] FROM discreet._unique_combinations(f.oid) u WHERE cardinality(u.columns) = 1) AS identifying
        FROM found f
        LEFT JOIN discreet._protected_table p ON p.relation = f.oid
        WHERE p.policy <> 'public'
           -- a part of a protected table is asked about through the whole, and a whole with protected parts is not public
           OR ((p.relation IS NOT NULL OR has_table_privilege(asker, f.oid, 'SELECT')) AND NOT EXISTS (
                   SELECT FROM discreet._protected_table q
                   WHERE q.policy <> 'public' AND q.relation IN (SELECT discreet._relation_family(f.oid)))))
    SELECT coalesce(jsonb_agg(jsonb_build_object(
        'asked_schema', k.schema_name, 'asked_name', k.relation_name, 'schema', k.nspname, 'name', k.relname,
        'multilevel', discreet._is_multilevel_table(k.oid),
        'columns', (
            SELECT jsonb_agg(jsonb_build_object(
                'name', a.attname, 'type', discreet._base_type(a.atttypid, a.attcollation),
                'lower', c.lower::text, 'upper', c.upper::text, 'categories', to_jsonb(c.categories),
                'hidden', coalesce(c.visibility = 'hidden', false), 'public', coalesce(c.visibility = 'public', false),
                'not_null', a.attnotnull, 'number', a.attnum,
                'identifies', a.attnum = p.unit_attnum OR a.attname = ANY (k.identifying))
                ORDER BY a.attnum)
            FROM pg_attribute a
            LEFT JOIN discreet._protected_table p ON p.relation = k.oid
            LEFT JOIN discreet._protected_column c ON c.relation = k.oid AND c.attnum = a.attnum AND c.column_name = a.attname
            WHERE a.attrelid = k.oid AND a.attnum > 0 AND NOT a.attisdropped),
        'unique_keys', (
            SELECT coalesce(jsonb_agg((SELECT jsonb_agg(a.attname) FROM pg_attribute a
                                       WHERE a.attrelid = k.oid AND a.attnum = ANY (i.indkey::int2[]))), '[]')
            FROM pg_index i
            WHERE i.indrelid = k.oid AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indpred IS NULL
              AND i.indexprs IS NULL AND i.indnkeyatts = i.indnatts
              -- an index of a plain parent does not see the rows of tables that inherit from it
              AND (k.relkind = 'p' OR NOT EXISTS (SELECT FROM pg_inherits h WHERE h.inhparent = k.oid))),
        'combinations', (
            SELECT coalesce(jsonb_agg(jsonb_build_object('columns', u.columns, 'nulls', u.nulls) ORDER BY u.columns, u.nulls), '[]')
            FROM discreet._unique_combinations(k.oid) u),
        'protection', (
            SELECT jsonb_build_object(
                'dataset', p.dataset, 'unit', p.unit, 'policy', p.policy, 'max_groups', p.max_groups, 'max_rows', p.max_rows,
                'max_total_rows', p.max_total_rows,
                'max_epsilon', p.max_epsilon::text, 'max_delta', p.max_delta::text,
                'single', discreet._one_row_per_person(p) AND (p.policy <> 'audited' OR discreet._keeps_versions(p.relation)),
                'may_ask', discreet._holds_budget(asker, p.dataset),
                'min_group', p.min_group, 'fallback', p.fallback, 'relation', p.relation::oid::bigint)
            FROM discreet._protected_table p WHERE p.relation = k.oid AND p.policy <> 'public'))
        ORDER BY k.schema_name, k.relation_name), '[]')
    INTO described FROM kept k;

    SELECT coalesce(jsonb_agg(jsonb_build_object(
        'asked_schema', r.asked_schema, 'asked_name', r.asked_name, 'schema', n.nspname, 'name', c.relname,
        'definition', discreet._view_definition(c.oid)) ORDER BY r.asked_schema, r.asked_name), '[]')
    INTO views
    FROM discreet._named_relations(request) r JOIN pg_class c ON c.oid = r.relation JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'v' AND NOT discreet._is_multilevel_table(c.oid) AND n.nspname NOT IN ('pg_catalog', 'information_schema')
      AND (r.below OR has_any_column_privilege(asker, c.oid, 'SELECT'));

    SELECT coalesce(jsonb_agg(jsonb_build_object(
        'dataset', d.dataset, 'accounting', d.accounting, 'neighbours', d.neighbours, 'delta_limit', b.delta_limit::text,
        'response_quantum', extract(epoch FROM d.response_quantum))), '[]')
    INTO people
    FROM discreet._dataset d JOIN discreet._budget b ON b.dataset = d.dataset AND b.role = 0
    WHERE d.dataset IN (SELECT r->'protection'->>'dataset' FROM jsonb_array_elements(described) r);

    -- built in, looking at nothing but their arguments, whatever the types of these
    SELECT coalesce(jsonb_agg(f), '[]') INTO harmless
    FROM jsonb_array_elements_text(request->'functions') f
    WHERE (SELECT bool_and(p.provolatile = 'i' AND NOT p.proretset)
           FROM pg_proc p WHERE p.proname = f AND p.pronamespace = 'pg_catalog'::regnamespace);

    RETURN jsonb_build_object('relations', described, 'views', views, 'datasets', people, 'harmless', harmless);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_describe(jsonb) IS 'What the names of a question mean, for the role that asks.';

-- discreet._unique_combinations: columns whose values occur in at most one row of a table, or of one of its parts.
-- Those of partial and invalid indexes too: they are unique in some rows. An expression is known when its columns are.
CREATE FUNCTION discreet._unique_combinations(relation oid)
RETURNS TABLE (columns name[], nulls boolean)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH RECURSIVE part(oid) AS (
        SELECT $1 UNION SELECT h.inhrelid FROM part p JOIN pg_inherits h ON h.inhparent = p.oid)
    SELECT DISTINCT array_agg(a.attname ORDER BY a.attname), i.indnullsnotdistinct
    FROM part p
    JOIN pg_index i ON i.indrelid = p.oid AND i.indisunique
    JOIN pg_attribute a ON a.attrelid = p.oid AND a.attnum > 0 AND (
        a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1])
        OR a.attnum IN (SELECT m[1]::int FROM regexp_matches(i.indexprs::text, ':varattno (\d+)', 'g') m))
    GROUP BY i.indexrelid, i.indnullsnotdistinct
    -- the versions of one entity are those of one person
    UNION ALL SELECT t.key, false FROM discreet._multilevel_table t WHERE t.relation = $1
    UNION ALL SELECT ARRAY['row_id'::name], false FROM discreet._multilevel_table t WHERE t.relation = $1;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._unique_combinations(oid) IS
'Columns whose values occur in at most one row of a table, or of one of its parts.';

-- discreet._named_relations: the tables and views that a question names, and those that are below its views; of the latter,
-- which definitions name with their schema, the asker need not have the right to name them.
CREATE FUNCTION discreet._named_relations(request jsonb)
RETURNS TABLE (asked_schema text, asked_name text, relation oid, below boolean)
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
ROWS 5
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH RECURSIVE asked AS (
        SELECT DISTINCT r->>0 AS schema_name, r->>1 AS relation_name FROM jsonb_array_elements(request->'relations') r),
    found AS (
        SELECT DISTINCT ON (a.schema_name, a.relation_name) a.schema_name, a.relation_name, c.oid
        FROM asked a
        JOIN pg_class c ON c.relname = a.relation_name AND c.relkind IN ('r', 'p', 'v') AND c.relpersistence <> 't'
        JOIN pg_namespace n ON n.oid = c.relnamespace
        LEFT JOIN jsonb_array_elements_text(request->'path') WITH ORDINALITY AS path(schema_name, place)
               ON path.schema_name = n.nspname
        WHERE n.nspname = a.schema_name OR (a.schema_name IS NULL AND path.place IS NOT NULL)
        ORDER BY a.schema_name, a.relation_name, path.place),
    inside(oid) AS (
        SELECT v FROM found f, discreet._relations_of_view(f.oid) v WHERE NOT discreet._is_multilevel_table(f.oid)
        UNION SELECT v FROM inside i, discreet._relations_of_view(i.oid) v WHERE NOT discreet._is_multilevel_table(i.oid))
    SELECT f.schema_name, f.relation_name, f.oid, false FROM found f
    UNION ALL
    SELECT n.nspname, c.relname, c.oid, true
    FROM inside i JOIN pg_class c ON c.oid = i.oid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v') AND c.relpersistence <> 't'
      AND NOT EXISTS (SELECT FROM found f WHERE f.oid = i.oid AND f.schema_name = n.nspname);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._named_relations(jsonb) IS
'The tables and views that a question names, and those that are below its views.';

-- discreet._is_multilevel_table: whether this is the view of a multilevel table, which the gate reads as a table.
CREATE FUNCTION discreet._is_multilevel_table(relation oid)
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
    RETURN EXISTS (SELECT FROM discreet._multilevel_table t WHERE t.relation = $1);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._is_multilevel_table(oid) IS
'Whether this is the view of a multilevel table, which the gate reads as a table.';

-- discreet._base_type: the type below all domains; text that cannot be compared byte by byte is a type of its own.
CREATE FUNCTION discreet._base_type(type oid, collation_oid oid)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    base oid := $1;
    below oid;
BEGIN
    IF EXISTS (SELECT FROM pg_collation c WHERE c.oid = collation_oid AND NOT c.collisdeterministic) THEN
        RETURN 'nondeterministic text';
    END IF;
    LOOP
        SELECT t.typbasetype INTO below FROM pg_type t WHERE t.oid = base AND t.typtype = 'd';
        EXIT WHEN NOT FOUND;
        base := below;
    END LOOP;
    RETURN format_type(base, NULL);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._base_type(oid, oid) IS 'The type below all domains.';

-- discreet._ledger_charge_question: pays for a question of the gate; the role must hold a budget of its own or of a group.
CREATE FUNCTION discreet._ledger_charge_question(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    asker name := request->>'role';
    people text := request->>'dataset';
    refusal jsonb;
BEGIN
    IF NOT discreet._holds_budget(asker, people) THEN
        RETURN discreet._refuse(asker, 'DP004', format('%s holds no budget in dataset %I', asker, people),
            format('A curator can give one: discreet.grant_budget(%L, role, epsilon).', people), request->>'question',
            (request->>'label')::bigint);
    END IF;
    refusal := discreet._charge(people, asker, (request->>'epsilon')::numeric, (request->>'amount')::numeric,
                                (request->>'delta')::numeric, request->>'question', request->'details',
                                (request->>'label')::bigint);
    IF refusal IS NOT NULL THEN
        RETURN refusal;
    END IF;
    RETURN discreet._ledger_left(request);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_charge_question(jsonb) IS 'Pays for a question of the gate.';

-- discreet._ledger_refused: writes a refusal of the gate down.
CREATE FUNCTION discreet._ledger_refused(request jsonb)
RETURNS jsonb
LANGUAGE sql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $sql$
    INSERT INTO discreet._refusal (role, code, message, question, label)
    VALUES (request->>'role', request->>'code', request->>'message', request->>'question', (request->>'label')::bigint)
    RETURNING '{}'::jsonb
$sql$;
COMMENT ON FUNCTION discreet._ledger_refused(jsonb) IS 'Writes a refusal of the gate down.';

-- discreet._ledger_left: what is left of a dataset, and for a role that holds a budget of its own or of a group there; at a
-- label, where it has some.
CREATE FUNCTION discreet._ledger_left(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN (
    SELECT jsonb_build_object(
        'left_for_dataset', (min(b.amount_limit - b.amount_spent - coalesce(s.amount, 0)) FILTER (WHERE b.role = 0))::text,
        'left_for_role', (min(b.amount_limit - b.amount_spent - coalesce(s.amount, 0)) FILTER (
            WHERE b.granted AND b.role IN (SELECT discreet._roles_of((request->>'role')::name))))::text)
    FROM discreet._budget b
    LEFT JOIN (SELECT l.role, sum(l.amount_spent) AS amount FROM discreet._label_spent l
               WHERE l.dataset = request->>'dataset' AND (request->>'label' IS NULL OR l.label = (request->>'label')::bigint)
               GROUP BY l.role) s USING (role)
    WHERE b.dataset = request->>'dataset');
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_left(jsonb) IS 'What is left of a dataset, and for a role there.';

-- Answers already given, which are given again for nothing: for how long, and when no longer.

-- discreet._ledger_recall: the stored answer of a question, if its policy still holds and the role may ask.
CREATE FUNCTION discreet._ledger_recall(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN (
    SELECT a.answer FROM discreet._answer a JOIN discreet._dataset d USING (dataset)
    WHERE a.key = decode(request->>'key', 'hex') AND a.dataset = request->>'dataset'
      AND (d.answer_lifetime IS NULL OR a.at > clock_timestamp() - d.answer_lifetime)
      AND discreet._holds_budget((request->>'role')::name, a.dataset));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_recall(jsonb) IS 'The stored answer of a question, if the role may ask.';

-- discreet._ledger_store: keeps an answer, so that it need not be paid twice; those of the dataset that are too old go.
CREATE FUNCTION discreet._ledger_store(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    -- paid is paid already: what a crash takes back here is asked, and paid, again
    PERFORM set_config('synchronous_commit', 'off', true);
    DELETE FROM discreet._answer a USING discreet._dataset d
    WHERE a.dataset = request->>'dataset' AND d.dataset = a.dataset AND a.at <= clock_timestamp() - d.answer_lifetime;
    INSERT INTO discreet._answer (key, dataset, answer)
    VALUES (decode(request->>'key', 'hex'), request->>'dataset', request->'answer')
    ON CONFLICT (key) DO UPDATE SET answer = excluded.answer, at = excluded.at;
    INSERT INTO discreet._accuracy (dataset, column_name, kind, numbers, half_width, relative)
    SELECT request->>'dataset', a->>'column', a->>'kind', (a->>'numbers')::int, (a->>'half_width')::numeric,
           (a->>'relative')::numeric
    FROM jsonb_array_elements(request->'accuracy') a;
    RETURN '{}';
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_store(jsonb) IS 'Keeps an answer, so that it need not be paid twice, and how exact it is.';

-- discreet.accuracy: how exact answers were.
CREATE VIEW discreet.accuracy WITH (security_barrier) AS
SELECT a.at, a.dataset, a.column_name, a.kind, a.numbers, a.half_width, a.relative FROM discreet._accuracy a;
COMMENT ON VIEW discreet.accuracy IS
'How exact the noisy columns of answers were: the median of their 95 % half-widths, also as a share of the numbers.';

-- discreet._drop_answers: a changed protection is another policy, under which nothing was answered yet.
CREATE FUNCTION discreet._drop_answers()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    DELETE FROM discreet._answer a USING discreet._protected_table p
    WHERE a.dataset = p.dataset AND p.relation IN (OLD.relation, NEW.relation);
    IF TG_TABLE_NAME = '_protected_table' THEN
        DELETE FROM discreet._answer a WHERE a.dataset IN (OLD.dataset, NEW.dataset);
    END IF;
    RETURN NULL;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._drop_answers() IS 'Drops the stored answers about people whose protection changed.';

CREATE TRIGGER drop_answers AFTER INSERT OR UPDATE OR DELETE ON discreet._protected_table
FOR EACH ROW EXECUTE FUNCTION discreet._drop_answers();
CREATE TRIGGER drop_answers AFTER INSERT OR UPDATE OR DELETE ON discreet._protected_column
FOR EACH ROW EXECUTE FUNCTION discreet._drop_answers();

-- The asker's search_path says what a name without a schema means; the gate reads it, then pins its own (server/gate.py).
-- All other settings that change meaning, or tell of the data, are pinned: gate/settings stands where the mark is.

-- discreet.query: answers a SELECT about protected tables privately; the caller names the columns: AS t(dept text, count bigint).
CREATE FUNCTION discreet.query(
    sql text,
    epsilon numeric DEFAULT NULL,
    params text[] DEFAULT NULL,
    fresh boolean DEFAULT false,
    accuracy numeric DEFAULT NULL,
    with_error boolean DEFAULT false)
RETURNS SETOF record
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET track_counts = off
SET track_io_timing = off
SET temp_file_limit = -1
SET temp_tablespaces = ''
SET exit_on_error = off
SET client_min_messages = notice
SET TimeZone = 'UTC'
SET DateStyle = 'ISO, MDY'
SET IntervalStyle = postgres
SET extra_float_digits = 1
SET bytea_output = hex
SET standard_conforming_strings = on
SET transform_null_equals = off
SET array_nulls = on
SET debug_print_parse = off
SET debug_print_rewritten = off
SET debug_print_plan = off
SET trace_sort = off
SET log_statement_stats = off
SET log_parser_stats = off
SET log_planner_stats = off
SET log_executor_stats = off
SET row_security = on
SET jit = off
SET plan_cache_mode = force_generic_plan
SET track_functions = none
SET pg_stat_statements.track = none
SET auto_explain.log_min_duration = -1
SET gin_fuzzy_search_limit = 0
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.query(plpy, sql, epsilon, params, fresh, accuracy, with_error)
$python$;
COMMENT ON FUNCTION discreet.query(text, numeric, text[], boolean, numeric, boolean) IS
'Answers a SELECT about protected tables privately; the caller names the columns: AS t(dept text, count bigint).';

-- discreet.query_json: answers a SELECT about protected tables privately, a JSON object per row.
CREATE FUNCTION discreet.query_json(
    sql text,
    epsilon numeric DEFAULT NULL,
    params text[] DEFAULT NULL,
    fresh boolean DEFAULT false)
RETURNS SETOF jsonb
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET track_counts = off
SET track_io_timing = off
SET temp_file_limit = -1
SET temp_tablespaces = ''
SET exit_on_error = off
SET client_min_messages = notice
SET TimeZone = 'UTC'
SET DateStyle = 'ISO, MDY'
SET IntervalStyle = postgres
SET extra_float_digits = 1
SET bytea_output = hex
SET standard_conforming_strings = on
SET transform_null_equals = off
SET array_nulls = on
SET debug_print_parse = off
SET debug_print_rewritten = off
SET debug_print_plan = off
SET trace_sort = off
SET log_statement_stats = off
SET log_parser_stats = off
SET log_planner_stats = off
SET log_executor_stats = off
SET row_security = on
SET jit = off
SET plan_cache_mode = force_generic_plan
SET track_functions = none
SET pg_stat_statements.track = none
SET auto_explain.log_min_duration = -1
SET gin_fuzzy_search_limit = 0
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.query_json(plpy, sql, epsilon, params, fresh)
$python$;
COMMENT ON FUNCTION discreet.query_json(text, numeric, text[], boolean) IS
'Answers a SELECT about protected tables privately, a JSON object per row.';

-- discreet.ask: answers a SELECT about protected tables privately, as a cursor: FETCH ALL FROM answer.
CREATE FUNCTION discreet.ask(sql text, epsilon numeric DEFAULT NULL, cursor_name text DEFAULT 'answer')
RETURNS text
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET track_counts = off
SET track_io_timing = off
SET temp_file_limit = -1
SET temp_tablespaces = ''
SET exit_on_error = off
SET client_min_messages = notice
SET TimeZone = 'UTC'
SET DateStyle = 'ISO, MDY'
SET IntervalStyle = postgres
SET extra_float_digits = 1
SET bytea_output = hex
SET standard_conforming_strings = on
SET transform_null_equals = off
SET array_nulls = on
SET debug_print_parse = off
SET debug_print_rewritten = off
SET debug_print_plan = off
SET trace_sort = off
SET log_statement_stats = off
SET log_parser_stats = off
SET log_planner_stats = off
SET log_executor_stats = off
SET row_security = on
SET jit = off
SET plan_cache_mode = force_generic_plan
SET track_functions = none
SET pg_stat_statements.track = none
SET auto_explain.log_min_duration = -1
SET gin_fuzzy_search_limit = 0
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.ask(plpy, sql, epsilon, cursor_name)
$python$;
COMMENT ON FUNCTION discreet.ask(text, numeric, text) IS
'Answers a SELECT about protected tables privately, as a cursor: FETCH ALL FROM answer.';

-- discreet.explain: what a question would cost and how exact its answer would be, or why it is refused. Nothing is spent.
CREATE FUNCTION discreet.explain(sql text, epsilon numeric DEFAULT NULL)
RETURNS jsonb
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET track_counts = off
SET track_io_timing = off
SET temp_file_limit = -1
SET temp_tablespaces = ''
SET exit_on_error = off
SET client_min_messages = notice
SET TimeZone = 'UTC'
SET DateStyle = 'ISO, MDY'
SET IntervalStyle = postgres
SET extra_float_digits = 1
SET bytea_output = hex
SET standard_conforming_strings = on
SET transform_null_equals = off
SET array_nulls = on
SET debug_print_parse = off
SET debug_print_rewritten = off
SET debug_print_plan = off
SET trace_sort = off
SET log_statement_stats = off
SET log_parser_stats = off
SET log_planner_stats = off
SET log_executor_stats = off
SET row_security = on
SET jit = off
SET plan_cache_mode = force_generic_plan
SET track_functions = none
SET pg_stat_statements.track = none
SET auto_explain.log_min_duration = -1
SET gin_fuzzy_search_limit = 0
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.explain(plpy, sql, epsilon)
$python$;
COMMENT ON FUNCTION discreet.explain(text, numeric) IS
'What a question would cost and how exact its answer would be, or why it is refused. Nothing is spent.';

-- discreet.lint: what is wrong, or risky, about a question. Nothing is spent.
CREATE FUNCTION discreet.lint(sql text)
RETURNS TABLE (code text, finding text, hint text)
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET track_counts = off
SET track_io_timing = off
SET temp_file_limit = -1
SET temp_tablespaces = ''
SET exit_on_error = off
SET client_min_messages = notice
SET TimeZone = 'UTC'
SET DateStyle = 'ISO, MDY'
SET IntervalStyle = postgres
SET extra_float_digits = 1
SET bytea_output = hex
SET standard_conforming_strings = on
SET transform_null_equals = off
SET array_nulls = on
SET debug_print_parse = off
SET debug_print_rewritten = off
SET debug_print_plan = off
SET trace_sort = off
SET log_statement_stats = off
SET log_parser_stats = off
SET log_planner_stats = off
SET log_executor_stats = off
SET row_security = on
SET jit = off
SET plan_cache_mode = force_generic_plan
SET track_functions = none
SET pg_stat_statements.track = none
SET auto_explain.log_min_duration = -1
SET gin_fuzzy_search_limit = 0
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.lint(plpy, sql)
$python$;
COMMENT ON FUNCTION discreet.lint(text) IS
'What is wrong, or risky, about a question. Nothing is spent.';

-- discreet._answer_columns: the columns of an answer as a column definition list. Nothing is spent.
CREATE FUNCTION discreet._answer_columns(sql text)
RETURNS text
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET track_counts = off
SET track_io_timing = off
SET temp_file_limit = -1
SET temp_tablespaces = ''
SET exit_on_error = off
SET client_min_messages = notice
SET TimeZone = 'UTC'
SET DateStyle = 'ISO, MDY'
SET IntervalStyle = postgres
SET extra_float_digits = 1
SET bytea_output = hex
SET standard_conforming_strings = on
SET transform_null_equals = off
SET array_nulls = on
SET debug_print_parse = off
SET debug_print_rewritten = off
SET debug_print_plan = off
SET trace_sort = off
SET log_statement_stats = off
SET log_parser_stats = off
SET log_planner_stats = off
SET log_executor_stats = off
SET row_security = on
SET jit = off
SET plan_cache_mode = force_generic_plan
SET track_functions = none
SET pg_stat_statements.track = none
SET auto_explain.log_min_duration = -1
SET gin_fuzzy_search_limit = 0
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.answer_columns(plpy, sql)
$python$;
COMMENT ON FUNCTION discreet._answer_columns(text) IS
'The columns of an answer as a column definition list. Nothing is spent.';

-- discreet.create_view: makes a plain view over query(), for tools that know only tables; it belongs to the caller.
CREATE FUNCTION discreet.create_view(view_name text, sql text, epsilon numeric DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS $plpgsql$
BEGIN
    EXECUTE pg_catalog.format('CREATE VIEW %s AS SELECT * FROM discreet.query(%L, %s) AS t(%s)',
        (SELECT pg_catalog.string_agg(pg_catalog.quote_ident(part), '.') FROM pg_catalog.unnest(pg_catalog.parse_ident(view_name)) part),
        sql, COALESCE(epsilon::pg_catalog.text, 'NULL'), discreet._answer_columns(sql));
END
$plpgsql$;
COMMENT ON FUNCTION discreet.create_view(text, text, numeric) IS
'Makes a plain view over query(), for tools that know only tables; whoever reads it pays, once per question.';

-- discreet.bucket: the lower end of the interval of a width, counted from 0, that holds a number.
CREATE FUNCTION discreet.bucket(value numeric, width numeric)
RETURNS numeric
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT floor(value / width) * width
$sql$;
COMMENT ON FUNCTION discreet.bucket(numeric, numeric) IS
'The lower end of the interval of a width, counted from 0, that holds a number; the gate knows these intervals as groups.';

-- discreet.suggest_bounds: bounds for a column of which nothing is known, from private quantiles; paid like a question.
CREATE FUNCTION discreet.suggest_bounds(relation regclass, column_name name, epsilon numeric)
RETURNS numrange
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET track_counts = off
SET track_io_timing = off
SET temp_file_limit = -1
SET temp_tablespaces = ''
SET exit_on_error = off
SET client_min_messages = notice
SET TimeZone = 'UTC'
SET DateStyle = 'ISO, MDY'
SET IntervalStyle = postgres
SET extra_float_digits = 1
SET bytea_output = hex
SET standard_conforming_strings = on
SET transform_null_equals = off
SET array_nulls = on
SET debug_print_parse = off
SET debug_print_rewritten = off
SET debug_print_plan = off
SET trace_sort = off
SET log_statement_stats = off
SET log_parser_stats = off
SET log_planner_stats = off
SET log_executor_stats = off
SET row_security = on
SET jit = off
SET plan_cache_mode = force_generic_plan
SET track_functions = none
SET pg_stat_statements.track = none
SET auto_explain.log_min_duration = -1
SET gin_fuzzy_search_limit = 0
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.suggest_bounds(plpy, relation, column_name, epsilon)
$python$;
COMMENT ON FUNCTION discreet.suggest_bounds(regclass, name, numeric) IS
'Bounds for a column of which nothing is known: all but a few values lie between them. Paid like a question.';

-- Personal budgets in C: on the asker's side, and on that of the ledger.

-- discreet._personal_run: selects, lets the ledger take the price, runs statements over those who have paid: in one snapshot.
CREATE FUNCTION discreet._personal_run(
    role oid, dataset text, by_integer boolean, selection text, terms text, most int, statements text[], places int[])
RETURNS TABLE (place int, value text)
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'discreet_personal_run';
COMMENT ON FUNCTION discreet._personal_run(oid, text, boolean, text, text, int, text[], int[]) IS
'Selects, lets the ledger take the price, and runs statements over the rows of those who have paid, all in one snapshot.';

-- Owners of tables execute these two in the run step, so everybody may; outside of a question they fail.

CREATE FUNCTION discreet._personal_paid(unit "any")
RETURNS boolean
LANGUAGE c
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
COST 10
AS 'MODULE_PATHNAME', 'discreet_personal_paid';
COMMENT ON FUNCTION discreet._personal_paid("any") IS 'Whether a person has paid for the question under way.';

CREATE FUNCTION discreet._personal_count_transition(state internal, unit "any", takes_part boolean)
RETURNS internal
LANGUAGE c
VOLATILE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_count_transition';
COMMENT ON FUNCTION discreet._personal_count_transition(internal, "any", boolean) IS
'Counts a row that takes part for its person, or remembers a person who is not known yet.';

CREATE FUNCTION discreet._personal_count_combine(internal, internal)
RETURNS internal
LANGUAGE c
VOLATILE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_count_combine';
COMMENT ON FUNCTION discreet._personal_count_combine(internal, internal) IS 'Joins the unknown people of two workers.';

CREATE FUNCTION discreet._personal_count_serialize(internal)
RETURNS bytea
LANGUAGE c
VOLATILE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_count_serialize';
COMMENT ON FUNCTION discreet._personal_count_serialize(internal) IS 'The unknown people of a worker, for the leader.';

CREATE FUNCTION discreet._personal_count_deserialize(bytea, internal)
RETURNS internal
LANGUAGE c
VOLATILE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_count_deserialize';
COMMENT ON FUNCTION discreet._personal_count_deserialize(bytea, internal) IS 'The unknown people of a worker, in the leader.';

CREATE FUNCTION discreet._personal_count_final(internal)
RETURNS bytea
LANGUAGE c
VOLATILE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_count_final';
COMMENT ON FUNCTION discreet._personal_count_final(internal) IS 'The people who are not known yet, as a list; NULL when all are.';

CREATE AGGREGATE discreet._personal_count(unit "any", takes_part boolean) (
    SFUNC = discreet._personal_count_transition,
    STYPE = internal,
    COMBINEFUNC = discreet._personal_count_combine,
    SERIALFUNC = discreet._personal_count_serialize,
    DESERIALFUNC = discreet._personal_count_deserialize,
    FINALFUNC = discreet._personal_count_final,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE discreet._personal_count("any", boolean) IS
'Counts everybody''s rows that take part in the question under way; its value is a list of people who are not known yet.';

-- discreet._personal_list: a list of one person.
CREATE FUNCTION discreet._personal_list(unit text)
RETURNS bytea
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_list';
COMMENT ON FUNCTION discreet._personal_list(text) IS 'A list of one person.';

-- discreet._personal_number: how many people are in a list.
CREATE FUNCTION discreet._personal_number(people bytea)
RETURNS int
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_number';
COMMENT ON FUNCTION discreet._personal_number(bytea) IS 'How many people are in a list.';

-- discreet._personal_units: what names the people of a list.
CREATE FUNCTION discreet._personal_units(people bytea)
RETURNS text[]
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_units';
COMMENT ON FUNCTION discreet._personal_units(bytea) IS 'What names the people of a list.';

-- discreet._personal_blank: a page of people who have spent nothing.
CREATE FUNCTION discreet._personal_blank()
RETURNS bytea
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_blank';
COMMENT ON FUNCTION discreet._personal_blank() IS 'A page of people who have spent nothing.';

-- discreet._personal_spent: what everybody has spent, by number.
CREATE FUNCTION discreet._personal_spent(ledger int, applied bigint, people int)
RETURNS int[]
LANGUAGE c
STABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_spent';
COMMENT ON FUNCTION discreet._personal_spent(int, bigint, int) IS 'What everybody has spent, by number.';

-- discreet._personal_pay: takes a price for everybody's rows from who can pay it, in place; a bit for each, whether it is paid.
-- It counts when the transaction commits that writes applied + 1 into the head of the ledger, whose row is locked.
CREATE FUNCTION discreet._personal_pay(
    ledger int, applied bigint, people int, rows bytea, price bigint, budget int, numbers int[], budgets int[])
RETURNS bytea
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_pay';
COMMENT ON FUNCTION discreet._personal_pay(int, bigint, int, bytea, bigint, int, int[], int[]) IS
'Takes a price for everybody''s rows from who can pay it, in place; a bit for each person, whether it is paid.';

-- The ledger's side of questions that people pay for themselves.

-- discreet._ledger_charge_personal: writes a question down, and takes its price from the limits of the role; the dataset's own
-- cap is not touched, for its people pay each for themselves.
CREATE FUNCTION discreet._ledger_charge_personal(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    asker name := request->>'role';
    people text := request->>'dataset';
    price numeric := request->>'epsilon';
    payers oid[] := ARRAY(SELECT discreet._roles_of(asker));
    short oid;
    refusal jsonb;
BEGIN
    IF NOT discreet._holds_budget(asker, people) THEN
        RETURN discreet._refuse(asker, 'DP004', format('%s holds no budget in dataset %I', asker, people),
            format('A curator can give one: discreet.grant_budget(%L, role, epsilon).', people), request->>'question');
    END IF;
    PERFORM FROM discreet._dataset d WHERE d.dataset = people FOR NO KEY UPDATE;
    PERFORM FROM discreet._budget b WHERE b.dataset = people AND b.granted AND b.role = ANY (payers) FOR UPDATE;
    SELECT min(b.role::oid) INTO short FROM discreet._budget b
    WHERE b.dataset = people AND b.granted AND b.role = ANY (payers) AND NOT (b.amount_spent + price <= b.amount_limit);
    IF short IS NOT NULL THEN
        RETURN discreet._refuse(asker, 'DP003',
            format('the budget of %s in dataset %I is exhausted', short::regrole, people),
            'View discreet.budget_status shows what is left; a smaller epsilon costs less.', request->>'question');
    END IF;
    refusal := discreet._charge(people, asker, price, 0, 0, request->>'question', request->'details' || '{"policy": "personal"}');
    IF refusal IS NOT NULL THEN
        RETURN refusal;
    END IF;
    UPDATE discreet._budget b SET amount_spent = b.amount_spent + price
    WHERE b.dataset = people AND b.granted AND b.role = ANY (payers);
    RETURN discreet._ledger_left(request);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_charge_personal(jsonb) IS
'Writes a question of policy personal down, and takes its price from the limits of the role.';

-- discreet._personal_head: the head of a dataset's ledger, locked until the end of the transaction; made if there is none.
CREATE FUNCTION discreet._personal_head(dataset text)
RETURNS discreet._personal_ledger
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
DECLARE
    head discreet._personal_ledger;
BEGIN
    SELECT l.* INTO head FROM discreet._personal_ledger l WHERE l.dataset = $1 FOR UPDATE;
    IF NOT FOUND THEN
        LOCK TABLE discreet._personal_ledger IN SHARE ROW EXCLUSIVE MODE;
        INSERT INTO discreet._personal_ledger (dataset, ledger)
        SELECT $1, coalesce(max(l.ledger), 0) + 1 FROM discreet._personal_ledger l
        ON CONFLICT (dataset) DO NOTHING;
        SELECT l.* INTO STRICT head FROM discreet._personal_ledger l WHERE l.dataset = $1 FOR UPDATE;
    END IF;
    RETURN head;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._personal_head(text) IS 'The head of a dataset''s ledger, locked; made if there is none.';

-- discreet._personal_append: gives the next numbers to a list of people, and returns the new digest.
CREATE FUNCTION discreet._personal_append(head discreet._personal_ledger, units bytea)
RETURNS bytea
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    per_page constant int := 1350;
    numbered int := head.people + discreet._personal_number(units);
    after bytea := sha256(head.digest || units);
BEGIN
    INSERT INTO discreet._personal_people VALUES (head.ledger, head.people, units, after);
    INSERT INTO discreet._personal_page
    SELECT head.ledger, n, discreet._personal_blank()
    FROM generate_series((head.people + per_page - 1) / per_page, (numbered + per_page - 1) / per_page - 1) n;
    UPDATE discreet._personal_ledger l SET people = numbered, digest = after WHERE l.ledger = head.ledger;
    RETURN after;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._personal_append(discreet._personal_ledger, bytea) IS
'Gives the next numbers to a list of people.';

-- discreet._ledger_personal_people: who came after those of a digest, or everybody. Answer: a byte (1: everybody), the digest, a list.
CREATE FUNCTION discreet._ledger_personal_people(request jsonb, bytes bytea)
RETURNS bytea
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    head discreet._personal_ledger := discreet._personal_head(request->>'dataset');
    seen bytea := decode(request->>'digest', 'hex');
    after int;
BEGIN
    SELECT max(p.first) INTO after FROM discreet._personal_people p WHERE p.ledger = head.ledger AND p.digest = seen;
    RETURN CASE WHEN after IS NULL THEN '\x01'::bytea ELSE '\x00' END || head.digest || coalesce((
        SELECT string_agg(p.units, '' ORDER BY p.first) FROM discreet._personal_people p
        WHERE p.ledger = head.ledger AND p.first > coalesce(after, -1)), '');
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_personal_people(jsonb, bytea) IS 'Who came after those of a digest, or everybody.';

-- discreet._ledger_personal_add: numbers people; NULL when the asker does not know the people who are numbered already.
CREATE FUNCTION discreet._ledger_personal_add(request jsonb, bytes bytea)
RETURNS bytea
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    head discreet._personal_ledger := discreet._personal_head(request->>'dataset');
BEGIN
    IF head.digest IS DISTINCT FROM decode(request->>'digest', 'hex') THEN
        RETURN NULL;
    END IF;
    RETURN discreet._personal_append(head, bytes);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_personal_add(jsonb, bytea) IS 'Gives numbers to people.';

-- discreet._ledger_personal_pay: takes the price of a question from who can pay it; bytes: everybody's rows that take part.
-- NULL when the asker does not know the people who are numbered already. All pages are written, whoever pays.
CREATE FUNCTION discreet._ledger_personal_pay(request jsonb, bytes bytea)
RETURNS bytea
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    head discreet._personal_ledger := discreet._personal_head(request->>'dataset');
    budget int;
    exceptions record;
    paid bytea;
BEGIN
    IF head.digest IS DISTINCT FROM decode(request->>'digest', 'hex') THEN
        RETURN NULL;
    END IF;
    SELECT trunc(p.unit_epsilon * 100000) INTO STRICT budget
    FROM discreet._protected_table p JOIN pg_class c ON c.oid = p.relation JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = request->>'schema' AND c.relname = request->>'table' AND p.policy = 'personal' AND p.dataset = head.dataset;
    SELECT coalesce(array_agg(b.number ORDER BY b.number), '{}') AS numbers,
           coalesce(array_agg(b.budget ORDER BY b.number), '{}') AS budgets INTO exceptions
    FROM discreet._personal_budget b WHERE b.ledger = head.ledger;
    paid := discreet._personal_pay(head.ledger, head.applied, head.people, bytes, (request->>'price')::bigint, budget,
                                   exceptions.numbers, exceptions.budgets);
    UPDATE discreet._personal_ledger l SET applied = head.applied + 1 WHERE l.ledger = head.ledger;
    RETURN paid;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_personal_pay(jsonb, bytea) IS 'Takes the price of a question from who can pay it.';

-- discreet.set_personal_budget: gives one person another budget than the table's unit_epsilon; what was spent stays spent.
CREATE FUNCTION discreet.set_personal_budget(relation regclass, unit_value text, epsilon numeric)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET DateStyle = 'ISO, MDY'
AS $python$
    # @PYTHON_PATH@
    from discreet.server import personal
    return personal.set_personal_budget(plpy, relation, unit_value, epsilon)
$python$;
COMMENT ON FUNCTION discreet.set_personal_budget(regclass, text, numeric) IS
'Gives one person another budget than the unit_epsilon of the table; what was spent stays spent. 0: takes no part in anything.';

-- discreet.personal_status: how many people have how much left, for curators.
CREATE FUNCTION discreet.personal_status(relation regclass)
RETURNS TABLE (left_from numeric, left_below numeric, people bigint)
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import personal
    return personal.personal_status(plpy, relation)
$python$;
COMMENT ON FUNCTION discreet.personal_status(regclass) IS
'How many of the people whom questions have met so far have how much left, in tenths of the unit_epsilon of the table.';

-- discreet._set_personal_budget: of the person whom this text names, who gets a number if there is none yet.
CREATE FUNCTION discreet._set_personal_budget(dataset text, unit text, budget int)
RETURNS void
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
DECLARE
    head discreet._personal_ledger := discreet._personal_head($1);
    person int;
BEGIN
    SELECT p.first + u.place - 1 INTO person
    FROM discreet._personal_people p, unnest(discreet._personal_units(p.units)) WITH ORDINALITY AS u(unit, place)
    WHERE p.ledger = head.ledger AND u.unit = $2 COLLATE "C";
    IF person IS NULL THEN
        person := head.people;
        PERFORM discreet._personal_append(head, discreet._personal_list($2));
    END IF;
    INSERT INTO discreet._personal_budget VALUES (head.ledger, person, $3)
    ON CONFLICT (ledger, number) DO UPDATE SET budget = excluded.budget;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._set_personal_budget(text, text, int) IS 'Gives one person a budget.';

-- discreet._personal_left: what everybody has left of the budget for a table; nobody but the extension's owner may see it.
CREATE FUNCTION discreet._personal_left(relation regclass)
RETURNS TABLE (unit text, epsilon_left numeric)
LANGUAGE sql
STABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT known.unit, trim_scale(GREATEST(coalesce(b.budget, trunc(p.unit_epsilon * 100000)) - known.spent, 0) / 100000)
    FROM discreet._protected_table p JOIN discreet._personal_ledger l USING (dataset)
    CROSS JOIN LATERAL ROWS FROM (
        unnest(ARRAY(SELECT u.unit FROM discreet._personal_people o,
                            unnest(discreet._personal_units(o.units)) WITH ORDINALITY AS u(unit, place)
                     WHERE o.ledger = l.ledger ORDER BY o.first, u.place)),
        unnest(discreet._personal_spent(l.ledger, l.applied, l.people))) WITH ORDINALITY AS known(unit, spent, place)
    LEFT JOIN discreet._personal_budget b ON b.ledger = l.ledger AND b.number = known.place - 1
    WHERE p.relation = $1 AND p.policy = 'personal'
$sql$;
COMMENT ON FUNCTION discreet._personal_left(regclass) IS 'What everybody has left of the budget for a table.';

-- Plain SQL: what extension/gate_question.c asks the catalog.

-- discreet._guards: whether the gate stands before a table, for an analyst. Named directly (view 0), it does for who holds a
-- budget, and PostgreSQL denies the others. A view might let them in, and so might a rule or a policy (view: the table itself);
-- also to rows of a protected table that are read as part of another.
CREATE FUNCTION discreet._guards(asker oid, relation oid, view oid)
RETURNS boolean
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN (EXISTS (SELECT FROM discreet._protection_of($2) p
                    WHERE $3 <> 0 OR discreet._holds_budget((SELECT rolname FROM pg_roles WHERE oid = $1), p.dataset))
            OR $3 <> 0 AND EXISTS (
                WITH RECURSIVE part(relation) AS (
                    SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = $2
                    UNION SELECT i.inhrelid FROM pg_inherits i JOIN part ON i.inhparent = part.relation)
                SELECT FROM part JOIN discreet._protected_table p USING (relation) WHERE p.policy <> 'public'))
       AND NOT EXISTS (SELECT FROM discreet._exempt_view e WHERE e.view = $3);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._guards(oid, oid, oid) IS
'Whether the gate stands before a table, for an analyst; view: 0 if named directly, the table itself if by a rule or policy.';

-- discreet._parameter: a parameter as a text that the gate reads alike under all settings.
CREATE FUNCTION discreet._parameter(value anyelement)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET TimeZone = 'UTC'
SET DateStyle = 'ISO, MDY'
SET IntervalStyle = postgres
SET extra_float_digits = 1
SET bytea_output = hex
AS $sql$
    SELECT value::text
$sql$;
COMMENT ON FUNCTION discreet._parameter(anyelement) IS 'A parameter as a text that the gate reads alike under all settings.';

-- discreet._named_types: the types of the columns that the caller of the function under way names; NULL where not built in.
CREATE FUNCTION discreet._named_types()
RETURNS text[]
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_named_types';
COMMENT ON FUNCTION discreet._named_types() IS
'The types of the columns that the caller of the function under way names for its answer; NULL where not built in.';

-- Secrets are made and given by curators; pseudonym, record_key and add_noise use them (extension/release_secrets.c).

-- discreet._new_key: 256 random bits.
CREATE FUNCTION discreet._new_key()
RETURNS bytea
LANGUAGE sql
VOLATILE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    -- 122 bits of each come from the source that PostgreSQL uses for passwords
    SELECT sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
$sql$;
COMMENT ON FUNCTION discreet._new_key() IS '256 random bits.';

-- discreet._own_secret: stops a caller who does not own a secret.
CREATE FUNCTION discreet._own_secret(secret text)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    owner_name name := (SELECT s.owner FROM discreet._secret s WHERE s.secret = $1);
    owner_role oid := (SELECT r.oid FROM pg_roles r WHERE r.rolname = owner_name);
BEGIN
    IF owner_name IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'undefined_object', MESSAGE = format('there is no secret "%s"', $1),
            HINT = 'A curator makes one with discreet.create_secret().';
    END IF;
    IF NOT (SELECT r.rolsuper FROM pg_roles r WHERE r.oid = discreet._caller())
       AND NOT coalesce(pg_has_role(discreet._caller(), owner_role, 'USAGE'), false) THEN
        RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = format('secret "%s" belongs to %s', $1, owner_name),
            HINT = 'Only its owner gives, takes, renews and drops it.';
    END IF;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._own_secret(text) IS 'Stops a caller who does not own a secret.';

-- discreet.create_secret: makes a secret with a first random key.
CREATE FUNCTION discreet.create_secret(secret text)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    IF coalesce($1, '') = '' THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'a secret needs a name',
            HINT = 'Give a text that is not empty.';
    END IF;
    INSERT INTO discreet._secret (secret, owner)
    SELECT $1, r.rolname FROM pg_roles r WHERE r.oid = discreet._caller()
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'duplicate_object', MESSAGE = format('there is a secret "%s" already', $1),
            HINT = 'discreet.rotate_secret() gives it a new key.';
    END IF;
    INSERT INTO discreet._secret_key (secret, version, key) VALUES ($1, 1, discreet._new_key());
END
$plpgsql$;
COMMENT ON FUNCTION discreet.create_secret(text) IS
'Makes a secret with a random key, which nobody reads; it belongs to the caller.';

-- discreet.rotate_secret: gives a secret a new key.
CREATE FUNCTION discreet.rotate_secret(secret text, forget boolean DEFAULT false)
RETURNS int
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    newest int;
BEGIN
    PERFORM discreet._own_secret($1);
    PERFORM FROM discreet._secret s WHERE s.secret = $1 FOR UPDATE;
    INSERT INTO discreet._secret_key (secret, version, key)
    SELECT $1, coalesce(max(k.version), 0) + 1, discreet._new_key() FROM discreet._secret_key k WHERE k.secret = $1
    RETURNING version INTO newest;
    IF forget THEN
        DELETE FROM discreet._secret_key k WHERE k.secret = $1 AND k.version < newest;
    END IF;
    RETURN newest;
END
$plpgsql$;
COMMENT ON FUNCTION discreet.rotate_secret(text, boolean) IS
'Gives a secret a new key, and tells its version. With forget, older keys are destroyed: nothing made with them can be recognised again.';

-- discreet.drop_secret: destroys a secret with all its keys.
CREATE FUNCTION discreet.drop_secret(secret text)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    PERFORM discreet._own_secret($1);
    DELETE FROM discreet._secret_holder h WHERE h.secret = $1;
    DELETE FROM discreet._secret_key k WHERE k.secret = $1;
    DELETE FROM discreet._secret s WHERE s.secret = $1;
END
$plpgsql$;
COMMENT ON FUNCTION discreet.drop_secret(text) IS 'Destroys a secret with all its keys.';

-- discreet.grant_secret: lets a role compute under a secret.
CREATE FUNCTION discreet.grant_secret(secret text, role regrole)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    PERFORM discreet._own_secret($1);
    IF $2 IS NULL OR $2 = 0 THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'role must not be NULL',
            HINT = 'Name a role.';
    END IF;
    INSERT INTO discreet._secret_holder (secret, role) VALUES ($1, $2) ON CONFLICT DO NOTHING;
END
$plpgsql$;
COMMENT ON FUNCTION discreet.grant_secret(text, regrole) IS
'Lets a role, and its members, compute under a secret: also pseudonyms of names of their own choice.';

-- discreet.revoke_secret: takes a secret away from a role.
CREATE FUNCTION discreet.revoke_secret(secret text, role regrole)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    PERFORM discreet._own_secret($1);
    DELETE FROM discreet._secret_holder h WHERE h.secret = $1 AND h.role = $2;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'undefined_object', MESSAGE = format('%s does not hold secret "%s"', $2, $1),
            HINT = 'View discreet.secrets shows who does.';
    END IF;
END
$plpgsql$;
COMMENT ON FUNCTION discreet.revoke_secret(text, regrole) IS 'Takes a secret away from a role.';

CREATE VIEW discreet.secrets AS
SELECT s.secret, s.owner,
       (SELECT pg_catalog.max(k.version) FROM discreet._secret_key k WHERE k.secret OPERATOR(pg_catalog.=) s.secret) AS version,
       ARRAY(SELECT k.version FROM discreet._secret_key k
             WHERE k.secret OPERATOR(pg_catalog.=) s.secret ORDER BY k.version) AS kept_versions,
       ARRAY(SELECT h.role::pg_catalog.text FROM discreet._secret_holder h
             WHERE h.secret OPERATOR(pg_catalog.=) s.secret ORDER BY 1) AS holders
FROM discreet._secret s;
COMMENT ON VIEW discreet.secrets IS 'Secrets, the versions of their keys, and who may compute under them; the keys are not shown.';

-- discreet.pseudonym: 128 bits, as 32 digits, that stand for a value; always the same under the same key.
CREATE FUNCTION discreet.pseudonym(value text, secret text)
RETURNS text
LANGUAGE c
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_pseudonym';
COMMENT ON FUNCTION discreet.pseudonym(text, text) IS
'What stands for a value in every table: HMAC-SHA-256 under the newest key of a secret, 128 bits as hexadecimal digits.';

CREATE FUNCTION discreet.pseudonym(value text, secret text, version int)
RETURNS text
LANGUAGE c
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_pseudonym';
COMMENT ON FUNCTION discreet.pseudonym(text, text, int) IS
'The pseudonym under an older key, for the owner of the secret.';

CREATE FUNCTION discreet.pseudonym(value bigint, secret text)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN discreet.pseudonym(value::text, secret);
COMMENT ON FUNCTION discreet.pseudonym(bigint, text) IS 'The pseudonym of a number: that of its digits.';

CREATE FUNCTION discreet.pseudonym(value uuid, secret text)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN discreet.pseudonym(value::text, secret);
COMMENT ON FUNCTION discreet.pseudonym(uuid, text) IS 'The pseudonym of a uuid: that of its text.';

-- Functions of one value. Their bodies are expressions that PostgreSQL writes into the query: native speed, also in views.
-- NULL stays NULL, and a limit that is NULL lets nothing through. NaN is no number, and stays.

CREATE FUNCTION discreet.top_code(value int, upper int)
RETURNS int
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value <= upper THEN value WHEN value > upper THEN upper END;
COMMENT ON FUNCTION discreet.top_code(int, int) IS 'A number, at most the upper limit: one above it becomes the limit.';

CREATE FUNCTION discreet.top_code(value bigint, upper bigint)
RETURNS bigint
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value <= upper THEN value WHEN value > upper THEN upper END;
COMMENT ON FUNCTION discreet.top_code(bigint, bigint) IS 'A number, at most the upper limit: one above it becomes the limit.';

CREATE FUNCTION discreet.top_code(value numeric, upper numeric)
RETURNS numeric
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value = 'NaN' THEN value WHEN value <= upper THEN value WHEN value > upper THEN upper END;
COMMENT ON FUNCTION discreet.top_code(numeric, numeric) IS 'A number, at most the upper limit: one above it becomes the limit.';

CREATE FUNCTION discreet.top_code(value double precision, upper double precision)
RETURNS double precision
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value = 'NaN' THEN value WHEN value <= upper THEN value WHEN value > upper THEN upper END;
COMMENT ON FUNCTION discreet.top_code(double precision, double precision) IS 'A number, at most the upper limit: one above it becomes the limit.';

CREATE FUNCTION discreet.top_code(value date, upper date)
RETURNS date
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value <= upper THEN value WHEN value > upper THEN upper END;
COMMENT ON FUNCTION discreet.top_code(date, date) IS 'A date, at most the upper limit: one above it becomes the limit.';

CREATE FUNCTION discreet.top_code(value timestamp, upper timestamp)
RETURNS timestamp
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value <= upper THEN value WHEN value > upper THEN upper END;
COMMENT ON FUNCTION discreet.top_code(timestamp, timestamp) IS 'A time, at most the upper limit: one above it becomes the limit.';

CREATE FUNCTION discreet.top_code(value timestamptz, upper timestamptz)
RETURNS timestamptz
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value <= upper THEN value WHEN value > upper THEN upper END;
COMMENT ON FUNCTION discreet.top_code(timestamptz, timestamptz) IS 'A time, at most the upper limit: one above it becomes the limit.';

CREATE FUNCTION discreet.bottom_code(value int, lower int)
RETURNS int
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value >= lower THEN value WHEN value < lower THEN lower END;
COMMENT ON FUNCTION discreet.bottom_code(int, int) IS 'A number, at least the lower limit: one below it becomes the limit.';

CREATE FUNCTION discreet.bottom_code(value bigint, lower bigint)
RETURNS bigint
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value >= lower THEN value WHEN value < lower THEN lower END;
COMMENT ON FUNCTION discreet.bottom_code(bigint, bigint) IS 'A number, at least the lower limit: one below it becomes the limit.';

CREATE FUNCTION discreet.bottom_code(value numeric, lower numeric)
RETURNS numeric
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value = 'NaN' THEN value WHEN value >= lower THEN value WHEN value < lower THEN lower END;
COMMENT ON FUNCTION discreet.bottom_code(numeric, numeric) IS 'A number, at least the lower limit: one below it becomes the limit.';

CREATE FUNCTION discreet.bottom_code(value double precision, lower double precision)
RETURNS double precision
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value = 'NaN' THEN value WHEN value >= lower THEN value WHEN value < lower THEN lower END;
COMMENT ON FUNCTION discreet.bottom_code(double precision, double precision) IS 'A number, at least the lower limit: one below it becomes the limit.';

CREATE FUNCTION discreet.bottom_code(value date, lower date)
RETURNS date
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value >= lower THEN value WHEN value < lower THEN lower END;
COMMENT ON FUNCTION discreet.bottom_code(date, date) IS 'A date, at least the lower limit: one below it becomes the limit.';

CREATE FUNCTION discreet.bottom_code(value timestamp, lower timestamp)
RETURNS timestamp
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value >= lower THEN value WHEN value < lower THEN lower END;
COMMENT ON FUNCTION discreet.bottom_code(timestamp, timestamp) IS 'A time, at least the lower limit: one below it becomes the limit.';

CREATE FUNCTION discreet.bottom_code(value timestamptz, lower timestamptz)
RETURNS timestamptz
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN value >= lower THEN value WHEN value < lower THEN lower END;
COMMENT ON FUNCTION discreet.bottom_code(timestamptz, timestamptz) IS 'A time, at least the lower limit: one below it becomes the limit.';

-- discreet.mask: hides the characters of a text, except some at its ends.
CREATE FUNCTION discreet.mask(value text, first int DEFAULT 1, last int DEFAULT 0, symbol text DEFAULT '*')
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN char_length(value) > greatest(first, 0) + greatest(last, 0)
            THEN left(value, greatest(first, 0))
                 || repeat(symbol, char_length(value) - greatest(first, 0) - greatest(last, 0))
                 || right(value, greatest(last, 0))
            WHEN value IS NOT NULL THEN repeat(symbol, char_length(value)) END;
COMMENT ON FUNCTION discreet.mask(text, int, int, text) IS
'A text with its characters hidden, except the first and the last so many; hidden as a whole when these are all there is.';

-- discreet.add_noise: a number with normal noise. Not differential privacy: no budget is charged, and nothing is proven.
CREATE FUNCTION discreet.add_noise(value double precision, deviation double precision)
RETURNS double precision
LANGUAGE c
VOLATILE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_add_noise';
COMMENT ON FUNCTION discreet.add_noise(double precision, double precision) IS
'A number plus normal noise of this standard deviation, drawn anew at each call; for tables that are written once. Not differential privacy.';

CREATE FUNCTION discreet.add_noise(value double precision, deviation double precision, record text, secret text)
RETURNS double precision
LANGUAGE c
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_add_noise';
COMMENT ON FUNCTION discreet.add_noise(double precision, double precision, text, text) IS
'A number plus normal noise that follows from the secret, the record and the number: asking again gives the same. Not differential privacy.';

CREATE FUNCTION discreet.add_noise(value numeric, deviation numeric)
RETURNS numeric
LANGUAGE sql
VOLATILE
PARALLEL SAFE
SECURITY INVOKER
RETURN round(discreet.add_noise(value::double precision, deviation::double precision)::numeric, coalesce(scale(value), 0));
COMMENT ON FUNCTION discreet.add_noise(numeric, numeric) IS
'A number plus normal noise, drawn anew at each call, with as many decimal places as the number. Not differential privacy.';

CREATE FUNCTION discreet.add_noise(value numeric, deviation numeric, record text, secret text)
RETURNS numeric
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN round(discreet.add_noise(value::double precision, deviation::double precision, record, secret)::numeric,
             coalesce(scale(value), 0));
COMMENT ON FUNCTION discreet.add_noise(numeric, numeric, text, text) IS
'A number plus normal noise that follows from the secret, the record and the number, with as many decimal places. Not differential privacy.';

-- discreet.microaggregate: writes a table in which values are means of at least k alike records.
CREATE FUNCTION discreet.microaggregate(relation regclass, columns text[], k int, release text)
RETURNS jsonb
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_microdata
    return release_microdata.microaggregate(plpy, relation, columns, k, release)
$python$;
COMMENT ON FUNCTION discreet.microaggregate(regclass, text[], int, text) IS
'Writes a table in which the columns hold the means of groups of at least k alike records (MDAV). Returns a report.';

-- discreet.swap: writes a table in which records at risk have exchanged some of their values with others.
CREATE FUNCTION discreet.swap(
    relation regclass,
    exchange text[],
    match_on text[],
    quasi_identifiers text[],
    release text,
    k int DEFAULT 3,
    rate float8 DEFAULT 0)
RETURNS jsonb
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_microdata
    return release_microdata.swap(plpy, relation, exchange, match_on, quasi_identifiers, release, k, rate)
$python$;
COMMENT ON FUNCTION discreet.swap(regclass, text[], text[], text[], text, int, float8) IS
'Writes a table in which records that fewer than k share the quasi-identifiers of, and a share of the others, have exchanged values with records
that agree in the columns to match on. Returns a report.';

-- Cell keys: a cell's key is the sum of its records' keys, so the same people give the same key, however they were asked for.

-- discreet.record_key: a number from 0 to 2^32 - 1 that follows from a secret and what names the record.
CREATE FUNCTION discreet.record_key(record text, secret text)
RETURNS bigint
LANGUAGE c
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_record_key';
COMMENT ON FUNCTION discreet.record_key(text, text) IS
'A number from 0 to 2^32 - 1, evenly distributed, that follows from a secret and what names a record, or a cell.';

CREATE FUNCTION discreet.record_key(record bigint, secret text)
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN discreet.record_key(record::text, secret);
COMMENT ON FUNCTION discreet.record_key(bigint, text) IS 'The key of a record that is named by a number.';

CREATE FUNCTION discreet._low_bits(keys bigint)
RETURNS bigint
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN keys & 4294967295;
COMMENT ON FUNCTION discreet._low_bits(bigint) IS 'The lower 32 bits.';

-- record keys fit 2 billion times into the sum
CREATE AGGREGATE discreet.cell_key(record_key bigint) (
    SFUNC = pg_catalog.int8pl,
    STYPE = bigint,
    FINALFUNC = discreet._low_bits,
    COMBINEFUNC = pg_catalog.int8pl,
    INITCOND = '0',
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE discreet.cell_key(bigint) IS
'The key of a cell: the sum of the keys of its records, modulo 2^32. The same records give the same key in every query.';

-- discreet._not_a_base: refuses the base of a rounding.
CREATE FUNCTION discreet._not_a_base(base bigint)
RETURNS bigint
LANGUAGE plpgsql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('base is %s, to which nothing can be rounded', base),
        HINT = 'Give a whole number from 1 on, such as 3, 5 or 10.';
END
$plpgsql$;
COMMENT ON FUNCTION discreet._not_a_base(bigint) IS 'Refuses the base of a rounding.';

-- discreet.random_round: up or down to a multiple, as the key says; the mean over all keys is the value itself.
CREATE FUNCTION discreet.random_round(value bigint, base bigint, key bigint)
RETURNS bigint
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN CASE WHEN base >= 1 THEN
    value - ((value % base) + base) % base
    + CASE WHEN (key & 4294967295)::numeric * base < (((value % base) + base) % base)::numeric * 4294967296 THEN base
           WHEN key IS NOT NULL THEN 0 END
    ELSE discreet._not_a_base(base) END;
COMMENT ON FUNCTION discreet.random_round(bigint, bigint, bigint) IS
'The multiple of base above or below, as the key says, so that the mean is the value; multiples stay. The same cell key gives the same answer.';

-- discreet.ptable: probabilities for perturb.
CREATE FUNCTION discreet.ptable(deviation float8, max_noise int, min_count int DEFAULT 1)
RETURNS jsonb
LANGUAGE discreet_python
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_crosstables
    return release_crosstables.ptable(plpy, deviation, max_noise, min_count)
$python$;
COMMENT ON FUNCTION discreet.ptable(float8, int, int) IS
'How counts are perturbed: for each count, the distribution of largest entropy with mean 0 and this standard deviation, that changes it by
at most max_noise and leaves no count from 1 to below min_count.';

-- discreet.perturb: a count, changed as its cell key says.
CREATE FUNCTION discreet.perturb(value bigint, cell_key bigint, ptable jsonb)
RETURNS bigint
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT value + (change ->> 0)::bigint
    FROM jsonb_array_elements(ptable -> 'rows' -> least(greatest(value, 0), jsonb_array_length(ptable -> 'rows') - 1)::int)
         WITH ORDINALITY AS row(change, number)
    WHERE (cell_key & 4294967295) < (change ->> 1)::bigint
    ORDER BY number
    LIMIT 1
$sql$;
COMMENT ON FUNCTION discreet.perturb(bigint, bigint, jsonb) IS
'A count, changed as its cell key says, with the probabilities of ptable(). The same cell key gives the same answer; 0 stays 0.';

-- discreet.controlled_round: writes a cross table rounded to multiples that still adds up.
CREATE FUNCTION discreet.controlled_round(
    cells regclass,
    dimensions text[],
    value text,
    base int,
    release text,
    secret text,
    hierarchies jsonb DEFAULT '{}',
    total text DEFAULT 'Total',
    seconds float8 DEFAULT 60)
RETURNS jsonb
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET DateStyle = 'ISO, MDY'
SET TimeZone = 'UTC'
SET IntervalStyle = postgres
SET extra_float_digits = 3
SET bytea_output = hex
SET lc_monetary = 'C'
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_crosstables
    return release_crosstables.controlled_round(plpy, cells, dimensions, value, base, release, secret, hierarchies, total, seconds)
$python$;
COMMENT ON FUNCTION discreet.controlled_round(regclass, text[], text, int, text, text, jsonb, text, float8) IS
'Writes a cross table with all margins, every cell a multiple of the base, all groups and totals adding up, driven by keys under a
secret: the same data give the same table. Returns a report.';

-- discreet.suppress: writes a cross table in which unsafe cells, and others that would tell them, are hidden.
CREATE FUNCTION discreet.suppress(
    cells regclass,
    dimensions text[],
    value text,
    threshold numeric,
    release text,
    hierarchies jsonb DEFAULT '{}',
    contributor text DEFAULT NULL,
    dominance_n int DEFAULT NULL,
    dominance_percent numeric DEFAULT NULL,
    p_percent numeric DEFAULT NULL,
    protection numeric DEFAULT 10,
    total text DEFAULT 'Total',
    audit text DEFAULT 'auto')
RETURNS jsonb
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET DateStyle = 'ISO, MDY'
SET TimeZone = 'UTC'
SET IntervalStyle = postgres
SET extra_float_digits = 3
SET bytea_output = hex
SET lc_monetary = 'C'
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_crosstables
    return release_crosstables.suppress(plpy, cells, dimensions, value, threshold, release, hierarchies=hierarchies,
        contributor=contributor, dominance_n=dominance_n, dominance_percent=dominance_percent,
        p_percent=p_percent, protection=protection, total=total, audit=audit)
$python$;
COMMENT ON FUNCTION discreet.suppress(regclass, text[], text, numeric, text, jsonb, text, int, numeric, numeric, numeric, text, text) IS
'Writes a cross table with all margins, from cells or records, in which unsafe cells are hidden, and others so that no hidden cell can be computed
from what is published. Returns a report.';

-- discreet.audit_cells: what can be told about the cells that a published cross table hides.
CREATE FUNCTION discreet.audit_cells(
    cells regclass,
    dimensions text[],
    value text,
    hierarchies jsonb DEFAULT '{}',
    total text DEFAULT 'Total')
RETURNS TABLE (cell jsonb, lower numeric, upper numeric, disclosed boolean)
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET DateStyle = 'ISO, MDY'
SET TimeZone = 'UTC'
SET IntervalStyle = postgres
SET extra_float_digits = 3
SET bytea_output = hex
SET lc_monetary = 'C'
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_crosstables
    return release_crosstables.audit_cells(plpy, cells, dimensions, value, hierarchies, total)
$python$;
COMMENT ON FUNCTION discreet.audit_cells(regclass, text[], text, jsonb, text) IS
'What can be told about each hidden cell (NULL) of a cross table with margins: the least and the largest value it can have, by linear programming.';

-- Local differential privacy: a value is randomised before it is stored.

-- discreet.rr: randomised response to a yes or no.
CREATE FUNCTION discreet.rr(value boolean, epsilon float8)
RETURNS boolean
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_rr_boolean';
COMMENT ON FUNCTION discreet.rr(boolean, float8) IS
'Randomised response to a yes or no: true with probability e^epsilon / (1 + e^epsilon).';

-- discreet.rr: randomised response out of a list of values.
CREATE FUNCTION discreet.rr(value text, domain text[], epsilon float8)
RETURNS text
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_rr_text';
COMMENT ON FUNCTION discreet.rr(text, text[], float8) IS
'Randomised response out of a list of values: the truth with probability e^epsilon / (e^epsilon + n - 1), else one of the n - 1 others, each alike.';

-- discreet.rr_bits: a bit for each value of the domain, each of them randomised (unary encoding, as in RAPPOR).
CREATE FUNCTION discreet.rr_bits(value text, domain text[], epsilon float8)
RETURNS bit varying
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_rr_bits';
COMMENT ON FUNCTION discreet.rr_bits(text, text[], float8) IS
'Randomised response for many values: a bit for each, set for the true one, and each true with probability e^(epsilon/2) / (1 + e^(epsilon/2)).';

-- discreet.cms_encode: randomised report of any text, for a count-mean sketch.
CREATE FUNCTION discreet.cms_encode(value text, epsilon float8, hashes int DEFAULT 4096, width int DEFAULT 1024)
RETURNS bytea
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_cms_encode';
COMMENT ON FUNCTION discreet.cms_encode(text, float8, int, int) IS
'Randomised report of any text, for a count-mean sketch: one of the hashes, and a row of bits, each true with probability e^(epsilon/2) / (1 + e^(epsilon/2)).';

-- discreet._rr_lies: how many of 2^64 equally likely draws lead away from the truth.
CREATE FUNCTION discreet._rr_lies(epsilon float8, choices int)
RETURNS numeric
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_rr_lies';
COMMENT ON FUNCTION discreet._rr_lies(float8, int) IS
'How many of 2^64 equally likely draws lead away from the truth: what every response is drawn with.';

-- discreet.rr_epsilon: the epsilon of a response that is true with probability p.
CREATE FUNCTION discreet.rr_epsilon(p float8, n int DEFAULT 2)
RETURNS float8
LANGUAGE discreet_python
IMMUTABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import local
    return local.rr_epsilon(plpy, p, n)
$python$;
COMMENT ON FUNCTION discreet.rr_epsilon(float8, int) IS
'The epsilon of a response that is true with probability p, and else one of the n - 1 others, each alike.';

-- discreet.mechanism_epsilon: the epsilon of any mechanism with finitely many inputs and outputs.
CREATE FUNCTION discreet.mechanism_epsilon(probabilities float8[])
RETURNS float8
LANGUAGE discreet_python
IMMUTABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import local
    return local.mechanism_epsilon(plpy, probabilities)
$python$;
COMMENT ON FUNCTION discreet.mechanism_epsilon(float8[]) IS
'The epsilon of a mechanism, given as a matrix of probabilities: a row for each input, a column for each output; Infinity where it is not private.';

-- Estimators over randomised responses: native aggregates, unbiased, with standard error (tally.c).

CREATE FUNCTION discreet._tally_boolean(bytea, boolean, float8)
RETURNS bytea
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_tally_boolean';
COMMENT ON FUNCTION discreet._tally_boolean(bytea, boolean, float8) IS 'Counts responses that are true.';

CREATE FUNCTION discreet._tally_text(bytea, text, text[], float8)
RETURNS bytea
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_tally_text';
COMMENT ON FUNCTION discreet._tally_text(bytea, text, text[], float8) IS 'Counts responses of each value.';

CREATE FUNCTION discreet._tally_bits(bytea, bit varying, text[], float8)
RETURNS bytea
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_tally_bits';
COMMENT ON FUNCTION discreet._tally_bits(bytea, bit varying, text[], float8) IS 'Counts the bits of each value.';

CREATE FUNCTION discreet._tally_sketch(bytea, bytea, text[], float8)
RETURNS bytea
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_tally_sketch';
COMMENT ON FUNCTION discreet._tally_sketch(bytea, bytea, text[], float8) IS 'Counts the bits that candidates would have set.';

CREATE FUNCTION discreet._tally_combine(bytea, bytea)
RETURNS bytea
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_tally_combine';
COMMENT ON FUNCTION discreet._tally_combine(bytea, bytea) IS 'Adds what two workers have counted.';

CREATE FUNCTION discreet._tally_share(bytea)
RETURNS float8
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_tally_share';
COMMENT ON FUNCTION discreet._tally_share(bytea) IS 'The share that the counts stand for.';

CREATE FUNCTION discreet._tally_error(bytea)
RETURNS float8
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_tally_error';
COMMENT ON FUNCTION discreet._tally_error(bytea) IS 'The standard error of that share.';

CREATE FUNCTION discreet._tally_frequencies(bytea)
RETURNS jsonb
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_tally_frequencies';
COMMENT ON FUNCTION discreet._tally_frequencies(bytea) IS 'The share of each value, with its standard error.';

-- discreet.rr_estimate: estimated share of people whose truth is true.
CREATE AGGREGATE discreet.rr_estimate(response boolean, epsilon float8) (
    SFUNC = discreet._tally_boolean,
    STYPE = bytea,
    FINALFUNC = discreet._tally_share,
    COMBINEFUNC = discreet._tally_combine,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE discreet.rr_estimate(boolean, float8) IS
'Estimated share of people whose truth is true, from responses of rr(boolean, epsilon). Unbiased: may lie outside of 0 to 1.';

-- discreet.rr_stderr: standard error of rr_estimate.
CREATE AGGREGATE discreet.rr_stderr(response boolean, epsilon float8) (
    SFUNC = discreet._tally_boolean,
    STYPE = bytea,
    FINALFUNC = discreet._tally_error,
    COMBINEFUNC = discreet._tally_combine,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE discreet.rr_stderr(boolean, float8) IS
'Standard error of rr_estimate, the coins and the choice of people included.';

-- discreet.rr_frequencies: estimated share of people for each value.
CREATE AGGREGATE discreet.rr_frequencies(response text, domain text[], epsilon float8) (
    SFUNC = discreet._tally_text,
    STYPE = bytea,
    FINALFUNC = discreet._tally_frequencies,
    COMBINEFUNC = discreet._tally_combine,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE discreet.rr_frequencies(text, text[], float8) IS
'Estimated share of people for each value, from responses of rr(text, domain, epsilon): {value: {"share": ..., "stderr": ...}}. Unbiased.';

-- discreet.rr_bits_frequencies: estimated share of people for each value.
CREATE AGGREGATE discreet.rr_bits_frequencies(report bit varying, domain text[], epsilon float8) (
    SFUNC = discreet._tally_bits,
    STYPE = bytea,
    FINALFUNC = discreet._tally_frequencies,
    COMBINEFUNC = discreet._tally_combine,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE discreet.rr_bits_frequencies(bit varying, text[], float8) IS
'Estimated share of people for each value, from reports of rr_bits(): {value: {"share": ..., "stderr": ...}}. Unbiased.';

-- discreet.cms_estimate: estimated share of people for each candidate.
CREATE AGGREGATE discreet.cms_estimate(report bytea, candidates text[], epsilon float8) (
    SFUNC = discreet._tally_sketch,
    STYPE = bytea,
    FINALFUNC = discreet._tally_frequencies,
    COMBINEFUNC = discreet._tally_combine,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE discreet.cms_estimate(bytea, text[], float8) IS
'Estimated share of people for each candidate, from reports of cms_encode(): {value: {"share": ..., "stderr": ...}}. Unbiased over the choice of hashes.';

-- discreet._respond: the trigger that puts a randomised response in place of the truth.
CREATE FUNCTION discreet._respond()
RETURNS trigger
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
AS 'MODULE_PATHNAME', 'discreet_respond';
COMMENT ON FUNCTION discreet._respond() IS
'Puts a randomised response in place of the truth, for each person always the same.';

-- discreet.rr_column: from now on a column holds randomised responses, never the truth.
CREATE FUNCTION discreet.rr_column(
    relation regclass,
    column_name name,
    epsilon float8,
    domain text[] DEFAULT NULL,
    unit text DEFAULT NULL)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import local
    return local.rr_column(plpy, relation, column_name, epsilon, domain, unit)
$python$;
COMMENT ON FUNCTION discreet.rr_column(regclass, name, float8, text[], text) IS
'From now on a column holds randomised responses, never the truth; a person, named by the unit, gets one response for ever.';

-- discreet.response_columns: the columns that hold randomised responses.
CREATE VIEW discreet.response_columns WITH (security_barrier) AS
SELECT c.relation, a.attname AS column_name, u.attname AS unit, c.epsilon, c.domain
FROM discreet._response_column c
JOIN pg_catalog.pg_trigger t
  ON t.tgrelid = c.relation AND t.tgfoid = 'discreet._respond()'::pg_catalog.regprocedure
 AND t.tgargs = pg_catalog.convert_to(c.id::text, 'UTF8') || '\x00'::bytea
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.relation AND a.attnum = t.tgattr[0]
JOIN pg_catalog.pg_attribute u ON u.attrelid = c.relation AND u.attnum = t.tgattr[1];
COMMENT ON VIEW discreet.response_columns IS
'Columns that hold randomised responses: whose (unit), of which epsilon, and out of which values.';

-- Everything here is read with the rights of who calls. NULL semantics: 'own' (NULL equals NULL), 'wildcard' (NULL may be
-- anything), 'conservative' (NULL equals nothing, so that its row stands alone).

-- discreet.k_anonymity: size of the smallest group that shares its quasi-identifiers.
CREATE FUNCTION discreet.k_anonymity(relation regclass, quasi_identifiers text[], nulls text DEFAULT 'own', unit text DEFAULT NULL)
RETURNS bigint
LANGUAGE discreet_python
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET DateStyle = 'ISO, MDY'
SET TimeZone = 'UTC'
SET IntervalStyle = postgres
SET extra_float_digits = 3
SET bytea_output = hex
SET lc_monetary = 'C'
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.k_anonymity(plpy, relation, quasi_identifiers, nulls, unit)
$python$;
COMMENT ON FUNCTION discreet.k_anonymity(regclass, text[], text, text) IS
'Size of the smallest group of rows, or of people told apart by the column unit, that share their quasi-identifiers; NULL for an empty table.';

-- discreet.l_diversity: how many values of a sensitive column each group is spread over.
CREATE FUNCTION discreet.l_diversity(
    relation regclass,
    quasi_identifiers text[],
    sensitive text,
    kind text DEFAULT 'distinct',
    c numeric DEFAULT 1,
    nulls text DEFAULT 'own',
    unit text DEFAULT NULL)
RETURNS float8
LANGUAGE discreet_python
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET DateStyle = 'ISO, MDY'
SET TimeZone = 'UTC'
SET IntervalStyle = postgres
SET extra_float_digits = 3
SET bytea_output = hex
SET lc_monetary = 'C'
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.l_diversity(plpy, relation, quasi_identifiers, [sensitive], kind, c, nulls, unit)
$python$;
COMMENT ON FUNCTION discreet.l_diversity(regclass, text[], text, text, numeric, text, text) IS
'The largest l for which every group is l-diverse: distinct, entropy, or recursive with a factor c; over rows, or over people told apart by the column unit.';

-- discreet.l_diversity: how many values of a sensitive column each group is spread over.
CREATE FUNCTION discreet.l_diversity(
    relation regclass,
    quasi_identifiers text[],
    sensitive text[],
    kind text DEFAULT 'distinct',
    c numeric DEFAULT 1,
    nulls text DEFAULT 'own',
    unit text DEFAULT NULL)
RETURNS float8
LANGUAGE discreet_python
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET DateStyle = 'ISO, MDY'
SET TimeZone = 'UTC'
SET IntervalStyle = postgres
SET extra_float_digits = 3
SET bytea_output = hex
SET lc_monetary = 'C'
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.l_diversity(plpy, relation, quasi_identifiers, sensitive, kind, c, nulls, unit)
$python$;
COMMENT ON FUNCTION discreet.l_diversity(regclass, text[], text[], text, numeric, text, text) IS
'The largest l for which every group is l-diverse: distinct, entropy, or recursive with a factor c; over rows, or over people told apart by the column unit. Of several sensitive columns the worst.';

-- discreet.t_closeness: how far a sensitive column is spread otherwise in a group than in the table.
CREATE FUNCTION discreet.t_closeness(
    relation regclass,
    quasi_identifiers text[],
    sensitive text,
    distance text DEFAULT 'equal',
    hierarchy jsonb DEFAULT NULL,
    nulls text DEFAULT 'own')
RETURNS float8
LANGUAGE discreet_python
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET DateStyle = 'ISO, MDY'
SET TimeZone = 'UTC'
SET IntervalStyle = postgres
SET extra_float_digits = 3
SET bytea_output = hex
SET lc_monetary = 'C'
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.t_closeness(plpy, relation, quasi_identifiers, [sensitive], distance, hierarchy, nulls)
$python$;
COMMENT ON FUNCTION discreet.t_closeness(regclass, text[], text, text, jsonb, text) IS
'The largest earth mover''s distance between a group and the table: equal, ordered, or hierarchical over a tree.';

-- discreet.t_closeness: how far a sensitive column is spread otherwise in a group than in the table.
CREATE FUNCTION discreet.t_closeness(
    relation regclass,
    quasi_identifiers text[],
    sensitive text[],
    distance text DEFAULT 'equal',
    hierarchy jsonb DEFAULT NULL,
    nulls text DEFAULT 'own')
RETURNS float8
LANGUAGE discreet_python
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET DateStyle = 'ISO, MDY'
SET TimeZone = 'UTC'
SET IntervalStyle = postgres
SET extra_float_digits = 3
SET bytea_output = hex
SET lc_monetary = 'C'
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.t_closeness(plpy, relation, quasi_identifiers, sensitive, distance, hierarchy, nulls)
$python$;
COMMENT ON FUNCTION discreet.t_closeness(regclass, text[], text[], text, jsonb, text) IS
'The largest earth mover''s distance between a group and the table: equal, ordered, or hierarchical over a tree. Of several sensitive columns the worst.';

-- discreet.measure: k, every l and every t at once, from one pass over the rows.
CREATE FUNCTION discreet.measure(
    relation regclass,
    quasi_identifiers text[],
    sensitive text[],
    nulls text DEFAULT 'own',
    unit text DEFAULT NULL)
RETURNS TABLE(measure text, sensitive_column text, value float8)
LANGUAGE discreet_python
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET DateStyle = 'ISO, MDY'
SET TimeZone = 'UTC'
SET IntervalStyle = postgres
SET extra_float_digits = 3
SET bytea_output = hex
SET lc_monetary = 'C'
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.measure(plpy, relation, quasi_identifiers, sensitive, nulls, unit)
$python$;
COMMENT ON FUNCTION discreet.measure(regclass, text[], text[], text, text) IS
'k, l and t of a table at once, from one pass over its rows; k and l over people, when a column unit tells them apart.';

-- discreet.disclosure_risk: who could be found again in a table.
CREATE FUNCTION discreet.disclosure_risk(
    relation regclass,
    quasi_identifiers text[],
    population bigint DEFAULT NULL,
    unit text DEFAULT NULL,
    nulls text DEFAULT 'own')
RETURNS TABLE(measure text, value float8)
LANGUAGE discreet_python
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET DateStyle = 'ISO, MDY'
SET TimeZone = 'UTC'
SET IntervalStyle = postgres
SET extra_float_digits = 3
SET bytea_output = hex
SET lc_monetary = 'C'
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.disclosure_risk(plpy, relation, quasi_identifiers, population, unit, nulls)
$python$;
COMMENT ON FUNCTION discreet.disclosure_risk(regclass, text[], bigint, text, text) IS
'Uniques, the risks of prosecutor, journalist and marketer, estimated population uniques, and special uniques.';

-- discreet._label_event_hash: what binds an event to the one before it.
CREATE FUNCTION discreet._label_event_hash(previous bytea, event discreet._label_event)
RETURNS bytea
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT sha256(coalesce(previous, '') || convert_to(jsonb_build_array(
        event.id, extract(epoch FROM event.at), event.role, event.act, event.relation, event.details)::text, 'UTF8'))
$sql$;
COMMENT ON FUNCTION discreet._label_event_hash(bytea, discreet._label_event) IS 'What binds an event to the one before it.';

-- discreet._ledger_label_event: writes an event down, on the ledger's connection, which commits it.
CREATE FUNCTION discreet._ledger_label_event(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    before record;
    event discreet._label_event;
BEGIN
    -- one after the other: each fits the one before it
    LOCK TABLE discreet._label_event IN SHARE ROW EXCLUSIVE MODE;
    SELECT e.id, e.hash INTO before FROM discreet._label_event e ORDER BY e.id DESC LIMIT 1;
    event := ROW(coalesce(before.id, 0) + 1, clock_timestamp(), request->>'role', request->>'act', request->>'relation',
                 request->'details', NULL)::discreet._label_event;
    event.hash := discreet._label_event_hash(before.hash, event);
    INSERT INTO discreet._label_event SELECT event.*;
    RETURN NULL;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_label_event(jsonb) IS 'Writes an event of multilevel tables down, bound to the one before it.';

-- discreet._label_log: writes an event of the session user down; it stays, whatever becomes of the transaction.
CREATE FUNCTION discreet._label_log(act text, relation text, details jsonb)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT discreet._ledger('label_event', jsonb_build_object(
        'role', session_user, 'act', act, 'relation', relation,
        'details', details || jsonb_build_object('label', discreet._label(NULL))))
$sql$;
COMMENT ON FUNCTION discreet._label_log(text, text, jsonb) IS
'Writes an event of the session user down; it stays, whatever becomes of the transaction.';

-- discreet._deny: writes a denied write down, and raises its error. Only triggers of multilevel tables, by their owner.
CREATE FUNCTION discreet._deny(relation text, act text, message text, hint text)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    PERFORM discreet._label_log('denied ' || act, relation, jsonb_build_object('reason', message));
    RAISE insufficient_privilege USING MESSAGE = message, HINT = hint;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._deny(text, text, text, text) IS 'Writes a denied write to a multilevel table down, and raises its error.';

-- discreet._sees: whether the session sees what has a label.
CREATE FUNCTION discreet._sees(label text)
RETURNS boolean
LANGUAGE c
STABLE
STRICT
PARALLEL RESTRICTED
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_sees';
COMMENT ON FUNCTION discreet._sees(text) IS 'Whether the session sees what has a label; superusers see all.';

-- discreet.mls_log: trusted operations, denied writes and changes of clearances, as far as the label of the session shows them.
CREATE VIEW discreet.mls_log WITH (security_barrier) AS
SELECT id, at, role, act, relation, details FROM discreet._label_event
WHERE details ->> 'label' IS NULL OR discreet._sees(details ->> 'label');
COMMENT ON VIEW discreet.mls_log IS
'Trusted operations, denied writes and changes of clearances; what was done at a label is shown to sessions that dominate it.';

-- discreet.mls_define: names the levels, lowest first, and the compartments of which labels are made.
CREATE FUNCTION discreet.mls_define(levels text[], compartments text[] DEFAULT '{}')
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls
    return mls.define(plpy, levels, compartments)
$python$;
COMMENT ON FUNCTION discreet.mls_define(text[], text[]) IS
'Names the levels, lowest first, and the compartments of which labels are made; later calls may add to the end of both.';

-- discreet.mls_clear: gives a login role its clearance; NULL takes it away.
CREATE FUNCTION discreet.mls_clear(role regrole, label text)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls
    return mls.clear(plpy, role, label)
$python$;
COMMENT ON FUNCTION discreet.mls_clear(regrole, text) IS
'Gives a login role its clearance, the highest label of its sessions; NULL takes it away.';

-- discreet.mls_table: turns a table into a multilevel one, its rows labelled at the lowest level.
CREATE FUNCTION discreet.mls_table(relation regclass, key text[], columns text[] DEFAULT NULL)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls
    return mls.make_multilevel(plpy, relation, key, columns)
$python$;
COMMENT ON FUNCTION discreet.mls_table(regclass, text[], text[]) IS
'Turns a table into a multilevel one: a view of its name, whose rows and cells have labels, over a hidden table.';

-- discreet.mls_reference: lets columns of a multilevel table name only rows of another that the writing session sees.
CREATE FUNCTION discreet.mls_reference(child regclass, columns text[], parent regclass)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls
    return mls.reference(plpy, child, columns, parent)
$python$;
COMMENT ON FUNCTION discreet.mls_reference(regclass, text[], regclass) IS
'Lets columns of a multilevel table name only rows of another that the writing session sees.';

-- discreet.mls_drop: removes a multilevel table with all its rows.
CREATE FUNCTION discreet.mls_drop(relation regclass)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls
    return mls.drop(plpy, relation)
$python$;
COMMENT ON FUNCTION discreet.mls_drop(regclass) IS
'Removes a multilevel table with all its rows.';

-- discreet.mls_plain: turns a multilevel table back into an ordinary one, of the rows that the top label shows.
CREATE FUNCTION discreet.mls_plain(relation regclass)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls
    return mls.plain(plpy, relation)
$python$;
COMMENT ON FUNCTION discreet.mls_plain(regclass) IS
'Turns a multilevel table back into an ordinary one, of the rows that the top label shows.';

-- discreet.clearances: who may see up to which label.
CREATE VIEW discreet.clearances WITH (security_barrier) AS
SELECT c.role, discreet._label(c.label) AS label, pg_catalog.pg_has_role(c.role, 'discreet_trusted', 'MEMBER') AS trusted
FROM discreet._clearance c;
COMMENT ON VIEW discreet.clearances IS 'Which login roles may see up to which label, and which of them are trusted.';

-- discreet.multilevel_tables: the multilevel tables, and where their rows are.
CREATE VIEW discreet.multilevel_tables WITH (security_barrier) AS
SELECT t.relation, t.base, t.key, t.cells AS columns FROM discreet._multilevel_table t;
COMMENT ON VIEW discreet.multilevel_tables IS 'Multilevel tables, the tables that hold their rows, their keys and columns.';

-- discreet.add_rule: what every row written to a table must satisfy.
CREATE FUNCTION discreet.add_rule(relation regclass, name text, rule text)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import rules
    return rules.add_rule(plpy, relation, name, rule)
$python$;
COMMENT ON FUNCTION discreet.add_rule(regclass, text, text) IS
'What every row written to a table must satisfy, over NEW and OLD, as in NEW.salary <= 2 * OLD.salary.';

-- discreet.add_limit: how many rows that satisfy a predicate a table may hold.
CREATE FUNCTION discreet.add_limit(relation regclass, name text, predicate text, at_most int)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import rules
    return rules.add_limit(plpy, relation, name, predicate, at_most)
$python$;
COMMENT ON FUNCTION discreet.add_limit(regclass, text, text, int) IS
'How many rows that satisfy a predicate, as in position = ''CEO'', a table may hold, whoever writes at the same time.';

-- discreet.drop_rule: takes a rule or a limit away.
CREATE FUNCTION discreet.drop_rule(relation regclass, name text)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import rules
    return rules.drop_rule(plpy, relation, name)
$python$;
COMMENT ON FUNCTION discreet.drop_rule(regclass, text) IS 'Takes a rule or a limit of a table away.';

-- discreet._refuse_row: fires for a row that breaks a rule, and only for such a row.
CREATE FUNCTION discreet._refuse_row()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    rule_name text := substr(TG_NAME, length('rule ') + 1);
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = 'check_violation',
        MESSAGE = format('a row of %s breaks rule "%s"', TG_RELID::regclass, rule_name),
        HINT = format('The rule is: %s', (
            SELECT substring(pg_get_triggerdef(t.oid, true) FROM ' WHEN \((.*) IS FALSE\) EXECUTE FUNCTION ')
            FROM pg_trigger t WHERE t.tgrelid = TG_RELID AND t.tgname = TG_NAME)),
        SCHEMA = TG_TABLE_SCHEMA,
        TABLE = TG_TABLE_NAME,
        CONSTRAINT = rule_name;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._refuse_row() IS 'Trigger: refuses a row that breaks a rule; PostgreSQL evaluates the rule.';

-- discreet._keep_limit: fires after a statement, for each row that newly takes a place under a limit.
-- The turn makes others wait who would take a place, and fails whoever reads from a snapshot before the last turn. What is
-- counted is the table as it is after the whole statement, in the name of its owner: writers may not see all rows.
CREATE FUNCTION discreet._keep_limit()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    limit_name text := substr(TG_NAME, strpos(TG_NAME, 'limit ') + length('limit '));
    at_most    int := TG_ARGV[0];
    counted    record;
    present    int;
BEGIN
    WITH RECURSIVE whole(relation, parent) AS (
        SELECT t.tgrelid, t.tgparentid FROM pg_trigger t WHERE t.tgrelid = TG_RELID AND t.tgname = TG_NAME
        UNION ALL
        SELECT t.tgrelid, t.tgparentid FROM whole w JOIN pg_trigger t ON t.oid = w.parent)
    SELECT c.oid::regclass AS relation, c.relowner AS owner, pg_get_expr(i.indpred, i.indrelid) AS predicate
    INTO counted
    FROM whole w
    JOIN pg_class c ON c.oid = w.relation AND NOT (c.relrowsecurity AND c.relforcerowsecurity)
    JOIN pg_index i ON i.indrelid = c.oid
    JOIN pg_class x ON x.oid = i.indexrelid AND x.relname = TG_ARGV[1]
    WHERE w.parent = 0;
    IF counted.predicate IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = format('limit "%s" of %s cannot be judged', limit_name, TG_RELID::regclass),
            HINT = format('Its index "%s" is gone, or row security is forced upon the owner. '
                          'Call discreet.drop_rule(), then discreet.add_limit().', TG_ARGV[1]);
    END IF;

    INSERT INTO discreet._limit_turn AS turn (relation, name) VALUES (counted.relation, limit_name)
    ON CONFLICT (relation, name, label) DO UPDATE SET transaction = excluded.transaction
    WHERE turn.transaction <> excluded.transaction;

    SELECT run.present INTO present
    FROM discreet._run_as(counted.owner, format('SELECT count(*)::text FROM (SELECT FROM %s WHERE %s LIMIT %s) t',
                                                counted.relation, counted.predicate, at_most::bigint + 1)) AS run(present);
    IF present > at_most THEN
        RAISE EXCEPTION USING
            ERRCODE = 'check_violation',
            MESSAGE = format('limit "%s" of %s is reached: at most %s', limit_name, counted.relation, at_most),
            HINT = format('Rows are counted for which %s; free a place first.', counted.predicate),
            SCHEMA = TG_TABLE_SCHEMA,
            TABLE = TG_TABLE_NAME,
            CONSTRAINT = limit_name;
    END IF;
    RETURN NULL;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._keep_limit() IS
'Trigger: counts the rows under a limit after a statement that added to them; one transaction at a time.';

-- discreet._take_turn: on a multilevel table, makes others of the session's label wait who would take a place under a limit.
-- The label is that of the session, whoever calls: nobody can make sessions of another label wait.
CREATE FUNCTION discreet._take_turn(relation oid, name text)
RETURNS void
LANGUAGE sql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $sql$
    INSERT INTO discreet._limit_turn AS turn (relation, name, label)
    SELECT t.tgrelid, $2, discreet._session_label()
    FROM pg_trigger t JOIN discreet._multilevel_table m ON m.relation = t.tgrelid
    WHERE t.tgrelid = $1 AND t.tgname = 'limit ' || $2 AND discreet._session_label() IS NOT NULL
    ON CONFLICT (relation, name, label) DO UPDATE SET transaction = excluded.transaction
    WHERE turn.transaction <> excluded.transaction
$sql$;
COMMENT ON FUNCTION discreet._take_turn(oid, text) IS
'Makes others of the session''s label wait who would take a place under a limit of a multilevel table.';

-- discreet._has_turn: whether this transaction has taken a place under a limit of a multilevel table.
CREATE FUNCTION discreet._has_turn(relation oid, name text)
RETURNS boolean
LANGUAGE sql
STABLE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT EXISTS (SELECT FROM discreet._limit_turn t WHERE t.relation = $1 AND t.name = $2
                   AND t.label = discreet._session_label() AND t.transaction = pg_current_xact_id())
$sql$;
COMMENT ON FUNCTION discreet._has_turn(oid, text) IS
'Whether this transaction has taken a place under a limit of a multilevel table.';

-- discreet.rules: the rules and limits there are, as PostgreSQL keeps them.
CREATE VIEW discreet.rules WITH (security_barrier) AS
SELECT t.tgrelid::regclass AS relation, substr(t.tgname::text, length('rule ') + 1) AS name, 'rule' AS kind,
       substring(pg_get_triggerdef(t.oid, true) FROM ' WHEN \((.*) IS FALSE\) EXECUTE FUNCTION ') AS rule,
       NULL::int AS at_most, NULL::regclass AS index_name
FROM pg_catalog.pg_trigger t
WHERE t.tgfoid = 'discreet._refuse_row()'::regprocedure AND t.tgparentid = 0
UNION ALL
SELECT t.tgrelid::regclass, substr(t.tgname::text, length('limit ') + 1), 'limit',
       substring(pg_get_triggerdef(t.oid, true) FROM ' WHEN \((.*)\) EXECUTE FUNCTION '),
       convert_from(substring(t.tgargs FROM 1 FOR argument.ends - 1), 'SQL_ASCII')::int,
       (SELECT i.indexrelid::regclass FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
        WHERE i.indrelid = t.tgrelid
          AND x.relname = convert_from(substring(t.tgargs FROM argument.ends + 1 FOR length(t.tgargs) - argument.ends - 1),
                                       getdatabaseencoding()))
FROM pg_catalog.pg_trigger t CROSS JOIN LATERAL (SELECT position('\x00'::bytea IN t.tgargs)) argument(ends)
WHERE t.tgfoid = 'discreet._keep_limit()'::regprocedure AND t.tgparentid = 0 AND t.tgname LIKE 'limit %'
UNION ALL
SELECT t.tgrelid::regclass, substr(t.tgname::text, strpos(t.tgname::text, ' ') + 1), substr(t.tgname::text, 1, strpos(t.tgname::text, ' ') - 1),
       convert_from(substring(t.tgargs FROM 1 FOR argument.ends - 1), getdatabaseencoding()),
       NULLIF(convert_from(substring(t.tgargs FROM argument.ends + 1 FOR length(t.tgargs) - argument.ends - 1), 'SQL_ASCII'), '')::int,
       NULL
FROM pg_catalog.pg_trigger t JOIN discreet._multilevel_table m ON m.relation = t.tgrelid
CROSS JOIN LATERAL (SELECT position('\x00'::bytea IN t.tgargs)) argument(ends)
WHERE t.tgname ~ '^(rule|limit) ' AND t.tgnargs = 2;
COMMENT ON VIEW discreet.rules IS 'The integrity rules and limits of tables, as PostgreSQL keeps them.';

-- discreet.mls_declassify: writes cells of a trusted session's row at a lower label.
CREATE FUNCTION discreet.mls_declassify(relation regclass, key jsonb, columns text[], to_label text, reason text)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls_acts
    return mls_acts.declassify(plpy, relation, key, columns, to_label, reason)
$python$;
COMMENT ON FUNCTION discreet.mls_declassify(regclass, jsonb, text[], text, text) IS
'Writes cells of a trusted session''s row at a lower label, for a reason that the log keeps; versions that are equal then merge.';

-- discreet.mls_uplevel: lets the session's own row take the value of a lower label again.
CREATE FUNCTION discreet.mls_uplevel(relation regclass, key jsonb, column_name text, from_label text)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls_acts
    return mls_acts.uplevel(plpy, relation, key, column_name, from_label)
$python$;
COMMENT ON FUNCTION discreet.mls_uplevel(regclass, jsonb, text, text) IS
'Lets the session''s own row take the value of a lower label again; a row without values of its own disappears.';

-- discreet.mls_report: where the rows of one key differ, as far as the session sees them.
CREATE FUNCTION discreet.mls_report(relation regclass)
RETURNS TABLE (key jsonb, column_name text, versions jsonb)
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls_acts
    return mls_acts.report(plpy, relation)
$python$;
COMMENT ON FUNCTION discreet.mls_report(regclass) IS
'Polyinstantiated entities that the session sees: the columns in which their versions differ, with labels and values.';

-- discreet.mls_upsert: updates the row of a key, or inserts it, as ON CONFLICT would.
CREATE FUNCTION discreet.mls_upsert(relation regclass, new_row jsonb)
RETURNS text
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls_acts
    return mls_acts.upsert(plpy, relation, new_row)
$python$;
COMMENT ON FUNCTION discreet.mls_upsert(regclass, jsonb) IS
'Updates the visible row of a key, or inserts one when there is none: inserted or updated.';

-- discreet.mls_purge: removes tombstones that no row borrows from.
CREATE FUNCTION discreet.mls_purge(relation regclass, reason text)
RETURNS bigint
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls_acts
    return mls_acts.purge(plpy, relation, reason)
$python$;
COMMENT ON FUNCTION discreet.mls_purge(regclass, text) IS
'Removes what was deleted and no row borrows from, by a trusted session at the highest label: how many rows.';

-- discreet._multilevel_description: what the functions that work with the caller's rights need to know of a multilevel table.
CREATE FUNCTION discreet._multilevel_description(relation oid)
RETURNS jsonb
LANGUAGE sql
STABLE
STRICT
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT jsonb_build_object(
        'schema', n.nspname, 'name', v.relname, 'base_name', b.relname, 'base', b.oid::bigint, 'key', t.key,
        'cells', t.cells, 'checks', t.checks, 'generated', t.generated,
        'references', (SELECT jsonb_agg(jsonb_build_object('columns', r.columns, 'parent', r.parent::oid::bigint))
                       FROM discreet._multilevel_reference r WHERE r.child = t.relation),
        'children', (SELECT jsonb_agg(jsonb_build_object('columns', r.columns, 'child', r.child::oid::bigint))
                     FROM discreet._multilevel_reference r WHERE r.parent = t.relation))
    FROM discreet._multilevel_table t JOIN pg_class v ON v.oid = t.relation
    JOIN pg_namespace n ON n.oid = v.relnamespace JOIN pg_class b ON b.oid = t.base
    WHERE t.relation = $1
$sql$;
COMMENT ON FUNCTION discreet._multilevel_description(oid) IS 'Key, columns, checks and references of a multilevel table.';

-- discreet.anonymize: writes a copy of a table that is k-anonymous, and l-diverse and t-close if wanted.
CREATE FUNCTION discreet.anonymize(
    relation regclass,
    release text,
    quasi_identifiers jsonb,
    k int,
    l int DEFAULT NULL,
    t float8 DEFAULT NULL,
    sensitive text DEFAULT NULL,
    max_suppression float8 DEFAULT 0.05,
    method text DEFAULT 'optimal',
    keep text[] DEFAULT NULL,
    distance text DEFAULT 'equal',
    unit text DEFAULT NULL)
RETURNS jsonb
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET DateStyle = 'ISO, MDY'
SET TimeZone = 'UTC'
SET IntervalStyle = postgres
SET extra_float_digits = 3
SET bytea_output = hex
SET lc_monetary = 'C'
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.anonymize(plpy, relation, release, quasi_identifiers, k, l, t, sensitive, max_suppression, method,
        keep, distance, unit)
$python$;
COMMENT ON FUNCTION discreet.anonymize(regclass, text, jsonb, int, int, float8, text, float8, text, text[], text, text) IS
'Writes a copy of a table that is k-anonymous, and l-diverse and t-close if wanted, over rows or over people told apart by the column unit; says what was lost, and why no less.';

-- discreet.best_ranges: ranges of a number that make the smallest class as large as possible.
CREATE FUNCTION discreet.best_ranges(
    relation regclass,
    column_name text,
    ranges int,
    within text[] DEFAULT NULL,
    lower numeric DEFAULT NULL,
    upper numeric DEFAULT NULL)
RETURNS TABLE(range_from numeric, range_to numeric, smallest_class bigint)
LANGUAGE discreet_python
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET DateStyle = 'ISO, MDY'
SET TimeZone = 'UTC'
SET IntervalStyle = postgres
SET extra_float_digits = 3
SET bytea_output = hex
SET lc_monetary = 'C'
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.best_ranges(plpy, relation, column_name, ranges, within, lower, upper)
$python$;
COMMENT ON FUNCTION discreet.best_ranges(regclass, text, int, text[], numeric, numeric) IS
'Ranges of a number that make the smallest class, within other columns, as large as possible.';

-- discreet.create_release_view: a view that shows only rows of classes that are large enough, whatever the table becomes.
CREATE FUNCTION discreet.create_release_view(
    name text,
    relation regclass,
    quasi_identifiers text[],
    k int,
    sensitive text DEFAULT NULL,
    l int DEFAULT NULL,
    keep text[] DEFAULT NULL,
    unit text DEFAULT NULL)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET DateStyle = 'ISO, MDY'
SET TimeZone = 'UTC'
SET IntervalStyle = postgres
SET extra_float_digits = 3
SET bytea_output = hex
SET lc_monetary = 'C'
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.create_release_view(plpy, name, relation, quasi_identifiers, k, sensitive, l, keep, unit)
$python$;
COMMENT ON FUNCTION discreet.create_release_view(text, regclass, text[], int, text, int, text[], text) IS
'Makes a view that shows only rows of classes of at least k rows, or people told apart by the column unit, and l sensitive values, kept right as the data changes.';

-- discreet._require_reader: what was published of columns is the business of those who may read them.
CREATE FUNCTION discreet._require_reader(source text, columns text[], hint text)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    IF has_any_column_privilege(discreet._caller(), to_regclass(source), 'SELECT') IS NOT TRUE
       OR EXISTS (SELECT FROM pg_attribute a
                  WHERE a.attrelid = to_regclass(source) AND a.attname = ANY (columns)
                    AND NOT has_column_privilege(discreet._caller(), a.attrelid, a.attnum, 'SELECT')) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'insufficient_privilege',
            MESSAGE = format('permission denied for %s', coalesce(source, 'NULL')),
            HINT = hint;
    END IF;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._require_reader(text, text[], text) IS
'Raises unless the caller may read a table, and those of these columns that it has.';

-- discreet._remember_release: what was published is known to later releases.
CREATE FUNCTION discreet._remember_release(published jsonb, labels text[], sizes bigint[])
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    used text[] := ARRAY(SELECT jsonb_array_elements_text(published -> 'quasi_identifiers'))
        || array_remove(ARRAY[published ->> 'sensitive', published -> 'definition' ->> 'unit'], NULL);
BEGIN
    PERFORM discreet._require_reader(published ->> 'source', used, 'Releases are made with your own rights: you need SELECT on it.');
    -- nobody is kept from publishing by what was never made
    IF used <@ ARRAY(SELECT a.attname::text FROM pg_attribute a
                     WHERE a.attrelid = to_regclass(published ->> 'source') AND a.attnum > 0 AND NOT a.attisdropped) IS NOT TRUE
       OR NOT EXISTS (SELECT FROM pg_class c
                      WHERE c.oid = to_regclass(published ->> 'release')
                        AND c.relkind = CASE published ->> 'kind' WHEN 'view' THEN 'v' ELSE 'r' END
                        AND pg_has_role(discreet._caller(), c.relowner, 'USAGE')) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('%s is no release of yours', coalesce(published ->> 'release', 'NULL')),
            HINT = 'Call discreet.anonymize() or discreet.create_release_view(), which remember what they make.';
    END IF;
    WITH made AS (
        INSERT INTO discreet._release (release, relation, source, kind, quasi_identifiers, sensitive, k, l, t, definition,
                                       report, publisher)
        SELECT p.release, p.source::regclass, p.source, p.kind,
               ARRAY(SELECT jsonb_array_elements_text(p.quasi_identifiers)), p.sensitive, p.k, p.l, p.t, p.definition,
               p.report, r.rolname
        FROM jsonb_to_record(published) AS p(release text, source text, kind text, quasi_identifiers jsonb, sensitive text,
                                             k int, l int, t float8, definition jsonb, report jsonb),
             pg_roles r
        WHERE r.oid = discreet._caller()
        RETURNING id)
    INSERT INTO discreet._release_class (release, class, label, size)
    SELECT made.id, c.class - 1, c.label, c.size
    FROM made, ROWS FROM (unnest(labels), unnest(sizes)) WITH ORDINALITY AS c(label, size, class);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._remember_release(jsonb, text[], bigint[]) IS 'What was published is known to later releases.';

-- discreet._earlier_releases: what was published of a table before; until the end of the transaction nobody else publishes of it.
-- Only to who may read all that it was made from. Of columns that are gone nobody may: then the classes are not told.
CREATE FUNCTION discreet._earlier_releases(source text)
RETURNS TABLE(release text, kind text, quasi_identifiers text[], k int, l int, sensitive text, definition jsonb, labels text[], sizes bigint[])
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    PERFORM discreet._require_reader(source, '{}', 'Releases are made with your own rights: you need SELECT on it.');
    -- who comes second waits here; with a snapshot in which the first is not yet seen it ends in an error
    INSERT INTO discreet._release_turn AS t (relation) VALUES (to_regclass(source))
    ON CONFLICT (relation) DO UPDATE SET turn = t.turn + 1;
    PERFORM discreet._require_reader(
        _earlier_releases.source, r.quasi_identifiers,
        format('Release %s was made from columns that you may not read, and a new one is compared with it.', r.release))
    FROM discreet._release r
    WHERE r.source = _earlier_releases.source OR r.relation = to_regclass(_earlier_releases.source);
    RETURN QUERY
    SELECT r.release, r.kind, r.quasi_identifiers, r.k, r.l, r.sensitive,
           CASE WHEN there.all_columns THEN r.definition ELSE '{"method": "view"}' END,
           coalesce(array_agg(c.label ORDER BY c.class) FILTER (WHERE c.class IS NOT NULL), '{}'),
           coalesce(array_agg(c.size ORDER BY c.class) FILTER (WHERE c.class IS NOT NULL), '{}')
    FROM discreet._release r
    CROSS JOIN LATERAL (
        SELECT r.quasi_identifiers <@ ARRAY(
            SELECT a.attname::text FROM pg_attribute a
            WHERE a.attrelid = to_regclass(_earlier_releases.source) AND a.attnum > 0 AND NOT a.attisdropped)) AS there(all_columns)
    LEFT JOIN discreet._release_class c ON c.release = r.id AND there.all_columns
    WHERE r.source = _earlier_releases.source OR r.relation = to_regclass(_earlier_releases.source)
    GROUP BY r.id, there.all_columns
    ORDER BY r.at;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._earlier_releases(text) IS
'What was published of a table before; until the end of the transaction nobody else publishes of it.';

-- discreet.forget_release: a release that never left the house is no longer minded.
-- Whose the table is may forget what others made of it: they would keep it from being published.
CREATE FUNCTION discreet.forget_release(release text)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    who constant oid := discreet._caller();
    gone discreet._release;
BEGIN
    FOR gone IN
        DELETE FROM discreet._release r
        WHERE r.release = forget_release.release
          AND (r.publisher = (SELECT rolname FROM pg_roles WHERE oid = who)
               OR pg_has_role(who, (SELECT c.relowner FROM pg_class c
                                    WHERE c.oid IN (r.relation, to_regclass(r.source))
                                    ORDER BY c.oid = r.relation DESC LIMIT 1), 'USAGE')
               OR (SELECT rolsuper FROM pg_roles WHERE oid = who))
        RETURNING r.*
    LOOP
        DELETE FROM discreet._release_class c WHERE c.release = gone.id;
        RAISE LOG 'discreet: % forgot release % of %, published by % at %', who::regrole, gone.release, gone.source, gone.publisher, gone.at;
    END LOOP;
    IF gone.id IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'undefined_object',
            MESSAGE = format('there is no release %s of yours', coalesce(release, 'NULL')),
            HINT = 'View discreet.releases shows what was published, and by whom.';
    END IF;
END
$plpgsql$;
COMMENT ON FUNCTION discreet.forget_release(text) IS
'A release that never left the house is no longer minded when later ones are checked; for who published it, or owns the table. What was seen cannot be forgotten.';

-- discreet.releases: what was published.
CREATE VIEW discreet.releases WITH (security_barrier) AS
SELECT r.release, r.relation, r.kind, r.quasi_identifiers, r.sensitive, r.k, r.l, r.t,
       (r.report ->> 'published')::bigint AS published, (r.report ->> 'suppressed')::bigint AS suppressed,
       (r.report ->> 'loss')::float8 AS loss, r.publisher, r.at, r.report
FROM discreet._release r;
COMMENT ON VIEW discreet.releases IS 'What was published of which table, what it promises, and what was lost.';

-- discreet.release_report: the report of a release as a page to look at.
CREATE FUNCTION discreet.release_report(release text)
RETURNS text
LANGUAGE discreet_python
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.release_report(plpy, release)
$python$;
COMMENT ON FUNCTION discreet.release_report(text) IS
'The report of a release as one HTML page: class sizes, risk before and after, loss per column, levels.';

-- What the run step of an audited question uses: who is in its query sets.

-- discreet._keeps_versions: whether every row of a table is in its own heap, where a new version has a new place or writer.
CREATE FUNCTION discreet._keeps_versions(relation oid)
RETURNS boolean
LANGUAGE sql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT EXISTS (SELECT FROM pg_class c JOIN pg_am m ON m.oid = c.relam
                   WHERE c.oid = $1 AND c.relkind = 'r' AND m.amname = 'heap')
       AND NOT EXISTS (SELECT FROM pg_inherits h WHERE $1 IN (h.inhparent, h.inhrelid))
$sql$;
COMMENT ON FUNCTION discreet._keeps_versions(oid) IS
'Whether every row of a table is in its own heap, where a new version has a new place or writer.';

-- discreet._person: a person, and a version of the person's row, as 16 bytes; NULL where the unit is.
CREATE FUNCTION discreet._person(unit "any", tableoid oid, xmin xid, ctid tid, seed bigint)
RETURNS uuid
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_person';
COMMENT ON FUNCTION discreet._person("any", oid, xid, tid, bigint) IS
'A person, and a version of the person''s row, as 16 bytes; NULL where the unit is.';

CREATE FUNCTION discreet._query_set_transition(internal, uuid)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_query_set_transition';
COMMENT ON FUNCTION discreet._query_set_transition(internal, uuid) IS 'Adds a person to a query set.';

CREATE FUNCTION discreet._query_set_combine(internal, internal)
RETURNS internal
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_query_set_combine';
COMMENT ON FUNCTION discreet._query_set_combine(internal, internal) IS 'Adds the people of another worker to a query set.';

CREATE FUNCTION discreet._query_set_serialize(internal)
RETURNS bytea
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_query_set_serialize';
COMMENT ON FUNCTION discreet._query_set_serialize(internal) IS 'The people of a worker, for the leader.';

CREATE FUNCTION discreet._query_set_deserialize(bytea, internal)
RETURNS internal
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_query_set_deserialize';
COMMENT ON FUNCTION discreet._query_set_deserialize(bytea, internal) IS 'The people of a worker, in the leader.';

CREATE FUNCTION discreet._query_set_final(internal)
RETURNS bytea
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_query_set_final';
COMMENT ON FUNCTION discreet._query_set_final(internal) IS 'The people of a query set, 12 bytes each.';

CREATE AGGREGATE discreet._query_set(person uuid) (
    SFUNC = discreet._query_set_transition,
    STYPE = internal,
    COMBINEFUNC = discreet._query_set_combine,
    SERIALFUNC = discreet._query_set_serialize,
    DESERIALFUNC = discreet._query_set_deserialize,
    FINALFUNC = discreet._query_set_final,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE discreet._query_set(uuid) IS 'The people of a query set, 12 bytes each, in no order.';

-- discreet._run_audited: runs a SELECT of a text and bytes in the name of a role; 0: of the caller.
CREATE FUNCTION discreet._run_audited(role oid, statement text)
RETURNS TABLE (answer text, people bytea)
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'discreet_run_audited';
COMMENT ON FUNCTION discreet._run_audited(oid, text) IS 'Runs a SELECT of a text and bytes in the name of a role; 0: of the caller.';

-- The history of audited tables, on the ledger's connection: read there, and written only where nothing came in between.

-- discreet._ledger_audit_read: what came after a position. request: relation, after.
-- answer: seed, position (how far the history has come; null, perhaps with the unit's old type: nothing can be said), start (from
-- where it is told), base, events, known (people), numbers (of columns, by attnum).
-- A long history comes in pieces: who reads asks again, after the last event.
CREATE FUNCTION discreet._ledger_audit_read(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_variable
DECLARE
    audited oid := (request->>'relation')::oid;
    start bigint := (request->>'after')::bigint;
    piece constant bigint := 4000000;
    history discreet._audit;
    whole discreet._audit_base;
    events jsonb;
BEGIN
    SELECT a.* INTO history FROM discreet._audit a WHERE a.relation = audited;
    IF NOT FOUND THEN
        RETURN jsonb_build_object('position', NULL);
    END IF;
    -- another type has another hash: everybody would be somebody new
    IF history.unit_type <> (SELECT format_type(u.atttypid, NULL)
                             FROM discreet._protected_table p JOIN pg_attribute u ON u.attrelid = p.relation AND u.attnum = p.unit_attnum
                             WHERE p.relation = audited) THEN
        RETURN jsonb_build_object('position', NULL, 'unit_type', history.unit_type);
    END IF;
    IF start < history.floor OR start > history.position OR start = 0 THEN
        SELECT b.* INTO whole FROM discreet._audit_base b
        WHERE b.relation = audited AND b.position BETWEEN history.floor AND history.position;
        start := coalesce(whole.position, history.floor);
    END IF;
    SELECT jsonb_agg(jsonb_build_object('position', e.position, 'event', translate(encode(e.event, 'base64'), E'\n', ''))
                     ORDER BY e.position)
    INTO events
    FROM (SELECT s.*, sum(length(s.event)) OVER (ORDER BY s.position) - length(s.event) AS before
          FROM discreet._audit_event s WHERE s.relation = audited AND s.position > start) e
    WHERE e.before < piece;
    RETURN jsonb_build_object(
        'seed', history.seed, 'position', history.position, 'start', start,
        'base', translate(encode(whole.base, 'base64'), E'\n', ''), 'events', coalesce(events, '[]'),
        'numbers', (SELECT jsonb_object_agg(c.attnum, c.number) FROM discreet._audit_column c
                    WHERE c.relation = audited AND c.attnum IS NOT NULL),
        'known', (SELECT coalesce(jsonb_agg(jsonb_build_array(k.person::text, k.unit_value)), '[]') FROM discreet._audit_known k WHERE k.relation = audited));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_audit_read(jsonb) IS 'The history of an audited table after a position.';

-- discreet._ledger_audit_record: writes an answer down before it leaves, unless something came in between.
-- request: role, relation, dataset, position (that the decision was made at), event (or null: nothing new), columns,
-- questions (of each column), question, details.
CREATE FUNCTION discreet._ledger_audit_record(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_variable
DECLARE
    asker name := request->>'role';
    audited oid := (request->>'relation')::oid;
    people text := request->>'dataset';
    reached bigint := (request->>'position')::bigint;
    refusal jsonb;
BEGIN
    IF NOT discreet._holds_budget(asker, people) THEN
        RETURN discreet._refuse(asker, 'DP004', format('%s holds no budget in dataset %I', asker, people),
            format('A curator can give one: discreet.grant_budget(%L, role, epsilon).', people), request->>'question');
    END IF;
    -- answers about one table wait for each other here
    PERFORM FROM discreet._audit a WHERE a.relation = audited AND a.position = reached FOR UPDATE;
    IF NOT FOUND OR NOT EXISTS (SELECT FROM discreet._protected_table p
                                WHERE p.relation = audited AND p.policy = 'audited' AND p.dataset = people) THEN
        RETURN jsonb_build_object('recorded', false);
    END IF;
    IF request->>'event' IS NOT NULL THEN
        reached := reached + 1;
        UPDATE discreet._audit a SET position = reached WHERE a.relation = audited;
        INSERT INTO discreet._audit_event (relation, position, role, columns, questions, event)
        VALUES (audited, reached, asker, ARRAY(SELECT jsonb_array_elements_text(request->'columns')::int2),
                ARRAY(SELECT jsonb_array_elements_text(request->'questions')::int), decode(request->>'event', 'base64'));
    END IF;
    refusal := discreet._charge(people, asker, 0, 0, 0, request->>'question', request->'details');
    IF refusal IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = refusal->'refused'->>'code', MESSAGE = refusal->'refused'->>'message',
            HINT = refusal->'refused'->>'hint';
    END IF;
    RETURN jsonb_build_object('recorded', true, 'position', reached);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_audit_record(jsonb) IS 'Writes an answer about an audited table down before it leaves.';

-- discreet._ledger_audit_base: keeps a history put together. request: relation, position, base.
CREATE FUNCTION discreet._ledger_audit_base(request jsonb)
RETURNS jsonb
LANGUAGE sql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $sql$
    INSERT INTO discreet._audit_base (relation, position, base)
    SELECT a.relation, (request->>'position')::bigint, decode(request->>'base', 'base64')
    FROM discreet._audit a
    WHERE a.relation = (request->>'relation')::oid AND (request->>'position')::bigint BETWEEN a.floor AND a.position
    ON CONFLICT (relation) DO UPDATE SET position = excluded.position, base = excluded.base
    WHERE _audit_base.position < excluded.position;
    SELECT '{}'::jsonb
$sql$;
COMMENT ON FUNCTION discreet._ledger_audit_base(jsonb) IS 'Keeps the history of an audited table put together.';

-- discreet._written: a value as text that means the same in every session.
CREATE FUNCTION discreet._written(value anyelement)
RETURNS text
LANGUAGE sql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET DateStyle = 'ISO, MDY'
SET TimeZone = 'UTC'
SET IntervalStyle = postgres
SET extra_float_digits = 3
SET bytea_output = hex
SET lc_monetary = 'C'
AS $sql$
    SELECT value::text
$sql$;
COMMENT ON FUNCTION discreet._written(anyelement) IS 'A value as text that means the same in every session.';

-- discreet.audit_known: takes a person's values as known to whoever asks.
CREATE FUNCTION discreet.audit_known(relation regclass, unit_value text)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import audited
    return audited.audit_known(plpy, relation, unit_value)
$python$;
COMMENT ON FUNCTION discreet.audit_known(regclass, text) IS
'Takes a person''s values as known to whoever asks: the person no longer counts among those who hide the others.';

-- discreet.audit_state: what was answered about an audited table, for each sensitive column.
CREATE FUNCTION discreet.audit_state(relation regclass)
RETURNS TABLE (column_name name, questions bigint, rank int, atoms int, smallest_atom bigint, asked_by name[])
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import audited
    return audited.audit_state(plpy, relation)
$python$;
COMMENT ON FUNCTION discreet.audit_state(regclass) IS
'For each sensitive column of an audited table: questions answered, their rank, atoms they divide people into, the smallest, who asked.';

-- discreet.audit_reset: forgets what was answered about an audited table; the log keeps who did so, and why.
CREATE FUNCTION discreet.audit_reset(relation regclass, reason text)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import audited
    return audited.audit_reset(plpy, relation, reason)
$python$;
COMMENT ON FUNCTION discreet.audit_reset(regclass, text) IS
'Forgets what was answered about an audited table, and who is known; the log of charges keeps who did so, and why.';

-- discreet.version: the version of the installed extension.
CREATE FUNCTION discreet.version()
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$ SELECT extversion FROM pg_extension WHERE extname = 'discreet' $sql$;
COMMENT ON FUNCTION discreet.version() IS 'The version of the installed extension.';

-- discreet.check_installation: what is installed, whether it works, and what is wrong in plain words.
CREATE FUNCTION discreet.check_installation()
RETURNS TABLE (item text, status text, finding text)
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.check_installation(plpy)
$python$;
COMMENT ON FUNCTION discreet.check_installation() IS
'What is installed, whether it works, and what is wrong in plain words: ok, warning or problem.';

-- discreet.selftest: tries the promises on the live database; nothing is changed, nothing is spent.
CREATE FUNCTION discreet.selftest()
RETURNS TABLE (item text, passed boolean, finding text)
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET track_counts = off
SET track_io_timing = off
SET temp_file_limit = -1
SET temp_tablespaces = ''
SET exit_on_error = off
SET client_min_messages = notice
SET TimeZone = 'UTC'
SET DateStyle = 'ISO, MDY'
SET IntervalStyle = postgres
SET extra_float_digits = 1
SET bytea_output = hex
SET standard_conforming_strings = on
SET transform_null_equals = off
SET array_nulls = on
SET debug_print_parse = off
SET debug_print_rewritten = off
SET debug_print_plan = off
SET trace_sort = off
SET log_statement_stats = off
SET log_parser_stats = off
SET log_planner_stats = off
SET log_executor_stats = off
SET row_security = on
SET jit = off
SET plan_cache_mode = force_generic_plan
SET track_functions = none
SET pg_stat_statements.track = none
SET auto_explain.log_min_duration = -1
SET gin_fuzzy_search_limit = 0
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.selftest(plpy)
$python$;
COMMENT ON FUNCTION discreet.selftest() IS
'Tries the promises on the live database: samplers, ledger, log, privileges, catalog, and neighbours in the caller''s own tables. Nothing is changed or spent.';

-- discreet.report: what happened, as a page for a curator to look at.
CREATE FUNCTION discreet.report()
RETURNS text
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import ops_report
    return ops_report.report(plpy)
$python$;
COMMENT ON FUNCTION discreet.report() IS
'One HTML page of what the caller may see: budgets over time with a forecast, questions and refusals, accuracy, multilevel tables, releases.';

-- Every grant there is. PUBLIC gets no table, and functions that compute from their arguments, or ask for a secret or for the
-- label of the session user: of the run step, which owners of tables execute; of multilevel tables; of microdata; of cell keys.
REVOKE ALL ON SCHEMA discreet FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA discreet FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA discreet FROM PUBLIC;

GRANT USAGE ON SCHEMA discreet TO PUBLIC;

GRANT EXECUTE ON FUNCTION discreet.version() TO discreet_curator, discreet_analyst, discreet_auditor, discreet_trusted;
GRANT EXECUTE ON FUNCTION discreet.check_installation(), discreet.selftest() TO discreet_curator, discreet_auditor;

-- curators declare what is protected, and who may ask
GRANT EXECUTE ON FUNCTION
    discreet.create_dataset(text, numeric, numeric, text, text, interval, interval),
    discreet.protect(regclass, text, text, numeric, numeric, text, int, int, numeric, numeric, numeric, int, text, int),
    discreet.describe_column(regclass, name, numeric, numeric, text[], text),
    discreet.unprotect(regclass),
    discreet.grant_budget(text, regrole, numeric, numeric),
    discreet.revoke_budget(text, regrole),
    discreet.exempt_view(regclass, boolean),
    discreet.set_personal_budget(regclass, text, numeric),
    discreet.personal_status(regclass),
    discreet.audit_known(regclass, text),
    discreet.audit_reset(regclass, text)
TO discreet_curator;
GRANT EXECUTE ON FUNCTION discreet.audit_state(regclass) TO discreet_curator, discreet_auditor;

-- what is protected is no secret; budgets, charges and refusals show each reader what is theirs to see
GRANT SELECT ON discreet.datasets, discreet.protected_tables, discreet.protected_columns, discreet.exempt_views
TO discreet_curator, discreet_analyst, discreet_auditor;
GRANT SELECT ON discreet.budget_status, discreet.charges, discreet.refusals
TO discreet_curator, discreet_analyst, discreet_auditor;

-- the views call these with the rights of the reader
GRANT EXECUTE ON FUNCTION
    discreet._sees_all(), discreet._direct_readers(oid), discreet._relation_family(oid),
    discreet._zcdp_epsilon_spent(numeric, numeric)
TO discreet_curator, discreet_analyst, discreet_auditor;

-- arithmetic of privacy reads nothing and spends nothing
GRANT EXECUTE ON FUNCTION
    discreet.compose_sequential(numeric[]),
    discreet.compose_parallel(numeric[]),
    discreet.group_epsilon(numeric, int),
    discreet.gaussian_rho(numeric, numeric),
    discreet.zcdp_epsilon(numeric, numeric),
    discreet.laplace_scale(numeric, numeric),
    discreet.sensitivity(text, numeric, numeric, bigint, text)
TO discreet_curator, discreet_analyst, discreet_auditor;

-- randomised responses: drawn before anything is stored, and estimated from what is stored
GRANT EXECUTE ON FUNCTION
    discreet.rr(boolean, float8), discreet.rr(text, text[], float8),
    discreet.rr_bits(text, text[], float8),
    discreet.cms_encode(text, float8, int, int),
    discreet.rr_epsilon(float8, int),
    discreet.mechanism_epsilon(float8[]),
    discreet.rr_estimate(boolean, float8), discreet.rr_stderr(boolean, float8),
    discreet.rr_frequencies(text, text[], float8),
    discreet.rr_bits_frequencies(bit varying, text[], float8),
    discreet.cms_estimate(bytea, text[], float8)
TO discreet_curator, discreet_analyst, discreet_auditor;
-- _respond: whoever adds a partition makes its trigger
GRANT EXECUTE ON FUNCTION discreet.rr_column(regclass, name, float8, text[], text), discreet._respond() TO discreet_curator;
GRANT SELECT ON discreet.response_columns TO discreet_curator, discreet_analyst, discreet_auditor;

-- the aggregates are for roles that may read the table; the C module checks that and charges
GRANT EXECUTE ON FUNCTION
    discreet.dp_count(), discreet.dp_count("any"), discreet.dp_count("any", numeric),
    discreet.dp_count_distinct(anyelement), discreet.dp_count_distinct(anyelement, numeric),
    discreet.dp_sum(anycompatible, anycompatible, anycompatible),
    discreet.dp_sum(anycompatible, anycompatible, anycompatible, numeric),
    discreet.dp_avg(anycompatible, anycompatible, anycompatible),
    discreet.dp_avg(anycompatible, anycompatible, anycompatible, numeric),
    discreet.dp_variance(anycompatible, anycompatible, anycompatible),
    discreet.dp_variance(anycompatible, anycompatible, anycompatible, numeric),
    discreet.dp_stddev(anycompatible, anycompatible, anycompatible),
    discreet.dp_stddev(anycompatible, anycompatible, anycompatible, numeric),
    discreet.dp_median(anycompatible, anycompatible, anycompatible),
    discreet.dp_median(anycompatible, anycompatible, anycompatible, numeric),
    discreet.dp_quantile(anycompatible, float8, anycompatible, anycompatible),
    discreet.dp_quantile(anycompatible, float8, anycompatible, anycompatible, numeric)
TO discreet_curator, discreet_analyst;

GRANT EXECUTE ON FUNCTION discreet.verify_log() TO discreet_curator, discreet_auditor;

-- the gate: whoever holds a budget may ask
GRANT EXECUTE ON FUNCTION
    discreet.query(text, numeric, text[], boolean, numeric, boolean),
    discreet.query_json(text, numeric, text[], boolean),
    discreet.ask(text, numeric, text),
    discreet.explain(text, numeric),
    discreet.lint(text),
    discreet.create_view(text, text, numeric),
    discreet._answer_columns(text),
    discreet.suggest_bounds(regclass, name, numeric),
    discreet._parameter(anyelement),
    discreet.bucket(numeric, numeric)
TO discreet_curator, discreet_analyst;

-- measuring reads with the rights of who measures
GRANT EXECUTE ON FUNCTION
    discreet.k_anonymity(regclass, text[], text, text),
    discreet.l_diversity(regclass, text[], text, text, numeric, text, text),
    discreet.l_diversity(regclass, text[], text[], text, numeric, text, text),
    discreet.t_closeness(regclass, text[], text, text, jsonb, text),
    discreet.t_closeness(regclass, text[], text[], text, jsonb, text),
    discreet.measure(regclass, text[], text[], text, text),
    discreet.disclosure_risk(regclass, text[], bigint, text, text),
    discreet.best_ranges(regclass, text, int, text[], numeric, numeric)
TO discreet_curator, discreet_analyst, discreet_auditor;

-- publishing is for curators, who need SELECT on the table as well
GRANT EXECUTE ON FUNCTION
    discreet.anonymize(regclass, text, jsonb, int, int, float8, text, float8, text, text[], text, text),
    discreet.create_release_view(text, regclass, text[], int, text, int, text[], text),
    discreet.forget_release(text),
    discreet._remember_release(jsonb, text[], bigint[]),
    discreet._earlier_releases(text)
TO discreet_curator;
GRANT EXECUTE ON FUNCTION discreet.release_report(text) TO discreet_curator, discreet_auditor;
GRANT SELECT ON discreet.releases TO discreet_curator, discreet_auditor;
GRANT SELECT ON discreet.accuracy TO discreet_curator, discreet_auditor;
GRANT EXECUTE ON FUNCTION discreet.report() TO discreet_curator;

GRANT EXECUTE ON FUNCTION
    discreet._ledger_ping(jsonb),
    discreet._ledger_charge_aggregates(jsonb),
    discreet._ledger_describe(jsonb),
    discreet._ledger_recall(jsonb),
    discreet._ledger_charge_question(jsonb),
    discreet._ledger_left(jsonb),
    discreet._ledger_store(jsonb),
    discreet._ledger_refused(jsonb),
    discreet._ledger_label_event(jsonb),
    discreet._ledger_charge_personal(jsonb),
    discreet._ledger_personal_people(jsonb, bytea),
    discreet._ledger_personal_add(jsonb, bytea),
    discreet._ledger_personal_pay(jsonb, bytea),
    discreet._ledger_audit_read(jsonb),
    discreet._ledger_audit_record(jsonb),
    discreet._ledger_audit_base(jsonb)
TO discreet_ledger;

-- integrity rules: a curator adds them to tables of her own, with her own rights; triggers are made of the last two
GRANT EXECUTE ON FUNCTION
    discreet.add_rule(regclass, text, text),
    discreet.add_limit(regclass, text, text, int),
    discreet.drop_rule(regclass, text),
    discreet._refuse_row(),
    discreet._keep_limit()
TO discreet_curator;
GRANT SELECT ON discreet.rules TO discreet_curator, discreet_auditor;

-- the security officer
GRANT EXECUTE ON FUNCTION
    discreet.mls_define(text[], text[]),
    discreet.mls_clear(regrole, text),
    discreet.mls_table(regclass, text[], text[]),
    discreet.mls_reference(regclass, text[], regclass),
    discreet.mls_drop(regclass),
    discreet.mls_plain(regclass)
TO discreet_curator;
GRANT EXECUTE ON FUNCTION
    discreet.mls_declassify(regclass, jsonb, text[], text, text),
    discreet.mls_purge(regclass, text)
TO discreet_trusted;
-- subjects need be no members of anything but have a clearance
GRANT EXECUTE ON FUNCTION
    discreet.mls_uplevel(regclass, jsonb, text, text),
    discreet.mls_report(regclass),
    discreet.mls_upsert(regclass, jsonb),
    discreet._multilevel_description(oid)
TO PUBLIC;
GRANT SELECT ON discreet.clearances, discreet.multilevel_tables, discreet.mls_log TO discreet_curator, discreet_auditor;

-- views and triggers of multilevel tables call these by the rights of who uses them; they look at the session user alone
GRANT EXECUTE ON FUNCTION
    discreet._session_label(), discreet._written_label(), discreet._written_label("any"), discreet._label(bigint),
    discreet._label_bits(text), discreet._is_trusted(), discreet._random_id(), discreet._visible(bigint),
    discreet._is_single(regclass, bigint, bigint, bigint), discreet._above_labels(regclass),
    discreet._instances(regclass, anyelement, text[], bigint), discreet._sees(text)
TO PUBLIC;

-- the run step, in the name of who owns the tables
GRANT EXECUTE ON FUNCTION
    discreet._text(anyelement),
    discreet._cut(text, int),
    discreet._on_grid(anyelement, int, bigint, bigint),
    discreet._clamped(anyelement, int, int),
    discreet._bin(anyelement, float8, float8, int),
    discreet._log_bin(anyelement, int, int, int),
    discreet._people("any", bigint, int, int, bigint, text, "any"),
    discreet._personal_count("any", boolean),
    discreet._personal_paid("any"),
    discreet._person("any", oid, xid, tid, bigint),
    discreet._query_set(uuid)
TO PUBLIC;

-- microdata: pure functions, and such as ask for the secret they are given
GRANT EXECUTE ON FUNCTION
    discreet.top_code(int, int),
    discreet.top_code(bigint, bigint),
    discreet.top_code(numeric, numeric),
    discreet.top_code(double precision, double precision),
    discreet.top_code(date, date),
    discreet.top_code(timestamp, timestamp),
    discreet.top_code(timestamptz, timestamptz),
    discreet.bottom_code(int, int),
    discreet.bottom_code(bigint, bigint),
    discreet.bottom_code(numeric, numeric),
    discreet.bottom_code(double precision, double precision),
    discreet.bottom_code(date, date),
    discreet.bottom_code(timestamp, timestamp),
    discreet.bottom_code(timestamptz, timestamptz),
    discreet.mask(text, int, int, text),
    discreet.add_noise(double precision, double precision), discreet.add_noise(double precision, double precision, text, text),
    discreet.add_noise(numeric, numeric), discreet.add_noise(numeric, numeric, text, text),
    discreet.pseudonym(text, text), discreet.pseudonym(text, text, int),
    discreet.pseudonym(bigint, text), discreet.pseudonym(uuid, text)
TO PUBLIC;
GRANT EXECUTE ON FUNCTION
    discreet.create_secret(text), discreet.rotate_secret(text, boolean), discreet.drop_secret(text),
    discreet.grant_secret(text, regrole), discreet.revoke_secret(text, regrole)
TO discreet_curator;
GRANT SELECT ON discreet.secrets TO discreet_curator, discreet_auditor;

-- cell keys ask for their secret; what writes a table does so with the rights of the caller
GRANT EXECUTE ON FUNCTION
    discreet.record_key(text, text), discreet.record_key(bigint, text), discreet.cell_key(bigint), discreet._low_bits(bigint),
    discreet.random_round(bigint, bigint, bigint), discreet._not_a_base(bigint), discreet.perturb(bigint, bigint, jsonb)
TO PUBLIC;
GRANT EXECUTE ON FUNCTION
    discreet.ptable(float8, int, int),
    discreet.controlled_round(regclass, text[], text, int, text, text, jsonb, text, float8),
    discreet.suppress(regclass, text[], text, numeric, text, jsonb, text, int, numeric, numeric, numeric, text, text),
    discreet.audit_cells(regclass, text[], text, jsonb, text),
    discreet.microaggregate(regclass, text[], int, text),
    discreet.swap(regclass, text[], text[], text[], text, int, float8)
TO discreet_curator;
