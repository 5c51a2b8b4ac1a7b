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
                SELECT FROM part, LATERAL (
                    SELECT t.policy FROM discreet._protected_table t WHERE t.relation = part.relation OFFSET 0) p
                WHERE p.policy <> 'public'))
       AND NOT EXISTS (SELECT FROM discreet._exempt_view e WHERE e.view = $3);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._guards(oid, oid, oid) IS
'Whether the gate stands before a table, for an analyst; view: 0 if named directly, the table itself if by a rule or policy.';

-- discreet._check_questions: refuses a statement with several questions before the first of them is charged, if one of them
-- would be refused. questions: objects with the arguments of query(), and the types of the columns that the caller names.
CREATE FUNCTION discreet._check_questions(questions jsonb)
RETURNS void
LANGUAGE discreet_worker
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
/* @PINNED_SETTINGS@ */
AS 'check_questions';
COMMENT ON FUNCTION discreet._check_questions(jsonb) IS
'Refuses a statement with several questions before the first of them is charged, if one of them would be refused.';

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
