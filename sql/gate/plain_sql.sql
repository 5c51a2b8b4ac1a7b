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

-- discreet._tells_person: whether rows of a protected table that agree in a column belong to one person: it names the person, or a
-- row of the table itself, or the parent over which the row has its person.
CREATE FUNCTION discreet._tells_person(relation oid, attnum smallint)
RETURNS boolean
LANGUAGE sql
STABLE
STRICT
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT EXISTS (
        SELECT FROM discreet._protected_table t
        WHERE t.relation = $1 AND t.policy <> 'public'
          AND (t.unit_attnum = $2
               OR EXISTS (SELECT FROM pg_index i
                          WHERE i.indrelid = $1 AND i.indisunique AND i.indpred IS NULL AND i.indnkeyatts = 1
                            AND i.indkey[0] = $2)))
$sql$;
COMMENT ON FUNCTION discreet._tells_person(oid, smallint) IS
'Whether rows of a protected table that agree in a column belong to one person.';

-- discreet._is_hidden: whether a curator has hidden a column of a protected table.
CREATE FUNCTION discreet._is_hidden(relation oid, attnum smallint)
RETURNS boolean
LANGUAGE sql
STABLE
STRICT
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT EXISTS (SELECT FROM discreet._protected_column c
                   WHERE c.relation = $1 AND c.attnum = $2 AND c.visibility = 'hidden')
$sql$;
COMMENT ON FUNCTION discreet._is_hidden(oid, smallint) IS
'Whether a curator has hidden a column of a protected table.';

-- discreet._check_view: refuses the definition of a view that the gate would refuse in every question.
CREATE FUNCTION discreet._check_view(question text)
RETURNS void
LANGUAGE discreet_worker
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
/* @PINNED_SETTINGS@ */
AS 'check_view';
COMMENT ON FUNCTION discreet._check_view(text) IS
'Refuses the definition of a view that the gate would refuse in every question.';

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

-- discreet._clock: what a question of this session takes for a moment that it reads off the clock.
CREATE FUNCTION discreet._clock(moment timestamptz)
RETURNS timestamptz
LANGUAGE c
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_clock';
COMMENT ON FUNCTION discreet._clock(timestamptz) IS
'What a question of this session takes for a moment that it reads off the clock: by discreet.round_time, a step before it.';

-- discreet._as_of: what a question of this session takes for now(), where discreet.round_time is set.
CREATE FUNCTION discreet._as_of()
RETURNS timestamptz
LANGUAGE c
STABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_as_of';
COMMENT ON FUNCTION discreet._as_of() IS
'What a question of this session takes for now(), where discreet.round_time is set; else NULL.';

-- discreet._constants: types and values of expressions that are constants; NULLs for those that are none, or not built in.
CREATE FUNCTION discreet._constants(expressions text[])
RETURNS text[]
LANGUAGE c
STABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_constants';
COMMENT ON FUNCTION discreet._constants(text[]) IS
'Type and value, as texts, of each expression that is a constant made of built-in functions; NULLs for the others.';

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
