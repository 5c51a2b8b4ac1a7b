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
-- The label is that of the session, not of the caller: so no call makes sessions of another label wait.
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
    SELECT DISTINCT t.relation::oid, $2, discreet._session_label()
    FROM discreet._multilevel_trigger t
    WHERE t.relation = $1 AND t.rule = $2 AND discreet._session_label() IS NOT NULL
    ON CONFLICT (relation, name, label) DO UPDATE SET transaction = excluded.transaction
    WHERE turn.transaction <> excluded.transaction
$sql$;
COMMENT ON FUNCTION discreet._take_turn(oid, text) IS
'Makes others of the session''s label wait who would take a place under a limit of a multilevel table.';

-- discreet._keep_trigger: writes down which triggers of a multilevel table keep a rule; others do not run.
CREATE FUNCTION discreet._keep_trigger(relation oid, names name[], function name, rule text)
RETURNS void
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    PERFORM discreet._require_own($1);
    INSERT INTO discreet._multilevel_trigger (relation, name, function, rule) SELECT $1, n, $3, $4 FROM unnest($2) n;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._keep_trigger(oid, name[], name, text) IS
'Writes down which triggers of a multilevel table of the caller''s own keep a rule.';

-- discreet._forget_trigger: forgets the triggers of a rule, and tells which they were.
CREATE FUNCTION discreet._forget_trigger(relation oid, rule text)
RETURNS TABLE (name name, function name)
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    PERFORM discreet._require_own($1);
    RETURN QUERY DELETE FROM discreet._multilevel_trigger t WHERE t.relation = $1 AND t.rule = $2 RETURNING t.name, t.function;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._forget_trigger(oid, text) IS
'Forgets the triggers of a rule of a multilevel table of the caller''s own, and tells which they were.';

-- discreet._require_own: that the caller owns a relation.
CREATE FUNCTION discreet._require_own(relation oid)
RETURNS void
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = $1 AND pg_has_role(discreet._caller(), c.relowner, 'USAGE')) THEN
        RAISE insufficient_privilege USING MESSAGE = format('%s is not yours', $1::regclass),
            HINT = 'Its owner, being a curator, or a superuser can do this.';
    END IF;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._require_own(oid) IS 'That the caller owns a relation.';

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
WHERE t.tgfoid = 'discreet._refuse_row()'::regprocedure AND t.tgparentid = 0 AND t.tgname LIKE 'rule %'
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
SELECT t.tgrelid::regclass, m.rule, substr(m.name::text, 1, strpos(m.name::text, ' ') - 1),
       convert_from(substring(t.tgargs FROM 1 FOR argument.ends - 1), getdatabaseencoding()),
       NULLIF(convert_from(substring(t.tgargs FROM argument.ends + 1 FOR length(t.tgargs) - argument.ends - 1), 'SQL_ASCII'), '')::int,
       NULL
FROM pg_catalog.pg_trigger t JOIN discreet._multilevel_trigger m ON m.relation = t.tgrelid AND m.name = t.tgname
CROSS JOIN LATERAL (SELECT position('\x00'::bytea IN t.tgargs)) argument(ends)
WHERE m.rule IS NOT NULL AND t.tgnargs = 2;
COMMENT ON VIEW discreet.rules IS 'The integrity rules and limits of tables, as PostgreSQL keeps them.';
