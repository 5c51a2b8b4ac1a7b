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
