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
CREATE INDEX _personal_people_digest ON discreet._personal_people (ledger, digest);
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
