-- Answers already given: the same question under the same policy is answered again from here, free of charge.
CREATE TABLE discreet._answer (
    key     bytea PRIMARY KEY,
    dataset text COLLATE "C" NOT NULL,
    at      timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    answer  jsonb NOT NULL
);
COMMENT ON TABLE discreet._answer IS 'Answers already given, by a hash of question, parameters, policy and price.';
