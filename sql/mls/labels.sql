-- What views and triggers of multilevel tables call for each row is C (extension/mls_level.c, extension/mls_roots.c, extension/mls_versions.c).

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

-- discreet._may_write_at: whether the session user may write at a label, as far as its clearance says from which one on.
CREATE FUNCTION discreet._may_write_at(label bigint)
RETURNS boolean
LANGUAGE c
STABLE
STRICT
PARALLEL RESTRICTED
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_may_write_at';
COMMENT ON FUNCTION discreet._may_write_at(bigint) IS
'Whether a label dominates the lowest one at which the session user may write.';

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

-- discreet._shows_most: tells the planner that the conditions of multilevel views leave out few rows.
CREATE FUNCTION discreet._shows_most(request internal)
RETURNS internal
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_shows_most';
COMMENT ON FUNCTION discreet._shows_most(internal) IS 'Tells the planner that the conditions of multilevel views leave out few rows.';

-- discreet._is_single: whether a row is a live root (its slot is 0) without sources that the session, or a label, sees.
CREATE FUNCTION discreet._is_single(key_label bigint, slot bigint, source bigint[], label bigint)
RETURNS boolean
LANGUAGE c
STABLE
PARALLEL SAFE
SECURITY INVOKER
SUPPORT discreet._shows_most
AS 'MODULE_PATHNAME', 'discreet_is_single';
COMMENT ON FUNCTION discreet._is_single(bigint, bigint, bigint[], bigint) IS
'Whether a row is a live root without sources that a label sees, or the session: it is shown as it is stored.';

-- discreet._is_version: the condition of a scan that shows rows with sources (extension/mls_plans.c).
CREATE FUNCTION discreet._is_version(row_label bigint, cells text[], label bigint)
RETURNS boolean
LANGUAGE c
STABLE
PARALLEL SAFE
SECURITY INVOKER
SUPPORT discreet._shows_most
AS 'MODULE_PATHNAME', 'discreet_is_version';
COMMENT ON FUNCTION discreet._is_version(bigint, text[], bigint) IS
'Stands for the scan that shows rows with sources, as a label sees them, or the session; it is never called.';

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

-- discreet._delete_root: makes a tombstone of the live root that a row of a multilevel view shows.
CREATE FUNCTION discreet._delete_root(base regclass, old record, label bigint)
RETURNS boolean
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_delete_root';
COMMENT ON FUNCTION discreet._delete_root(regclass, record, bigint) IS
'Makes a tombstone of the live root that a row of a multilevel view shows; false when it has done nothing.';

-- discreet._is_needed: whether a transaction, under way or to come, may see what a tombstone owns.
CREATE FUNCTION discreet._is_needed(base regclass, tombstone anyelement)
RETURNS boolean
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_is_needed';
COMMENT ON FUNCTION discreet._is_needed(regclass, anyelement) IS
'Whether a transaction, under way or to come, may see what a dead row of a multilevel table owns.';

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
CREATE TRIGGER _levels_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON discreet._label_group
FOR EACH STATEMENT EXECUTE FUNCTION discreet._levels_changed();
CREATE TRIGGER _levels_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON discreet._clearance
FOR EACH STATEMENT EXECUTE FUNCTION discreet._levels_changed();
CREATE TRIGGER _levels_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON discreet._multilevel_table
FOR EACH STATEMENT EXECUTE FUNCTION discreet._levels_changed();
CREATE TRIGGER _levels_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON discreet._multilevel_trigger
FOR EACH STATEMENT EXECUTE FUNCTION discreet._levels_changed();
