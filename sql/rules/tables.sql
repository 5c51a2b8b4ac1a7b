-- Who takes a place under a limit waits for its row. Missing rows are made by need, so no dump holds them. On multilevel tables
-- there is a row for each label (elsewhere it is -1): no session waits for one of another label.
CREATE TABLE discreet._limit_turn (
    relation    oid NOT NULL,
    name        text COLLATE "C" NOT NULL,
    label       bigint NOT NULL DEFAULT -1,
    transaction xid8 NOT NULL DEFAULT pg_catalog.pg_current_xact_id(),
    PRIMARY KEY (relation, name, label)
);
COMMENT ON TABLE discreet._limit_turn IS 'One row for each limit, and label: a transaction that adds rows waits for it.';
