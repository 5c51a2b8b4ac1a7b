-- Who takes a place under a limit waits for its row. Missing rows are made by need, so no dump holds them.
CREATE TABLE discreet._limit_turn (
    limit_index oid PRIMARY KEY,
    turns       bigint NOT NULL DEFAULT 1
);
COMMENT ON TABLE discreet._limit_turn IS 'One row for each limit on a table: whoever adds to its rows waits for it.';
