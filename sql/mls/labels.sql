-- What views and triggers of multilevel tables call for each row is C (extension/level.c, extension/instances.c).

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

-- discreet._instance: which of the visible rows of an entity the cells of one come from; NULL when it is not shown.
CREATE FUNCTION discreet._instance(label bigint, labels bigint[], dead boolean[], sources bigint[])
RETURNS int[]
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_instance';
COMMENT ON FUNCTION discreet._instance(bigint, bigint[], boolean[], bigint[]) IS
'Which of the visible rows of an entity the cells of one come from; NULL when it is not shown.';

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
