-- discreet.create_release_view: a view that shows only rows of classes that are large enough, whatever the table becomes.
CREATE FUNCTION discreet.create_release_view(
    name text,
    relation regclass,
    quasi_identifiers text[],
    k int,
    sensitive text DEFAULT NULL,
    l int DEFAULT NULL,
    keep text[] DEFAULT NULL,
    unit text DEFAULT NULL)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
/* @PINNED_FORMATS@ */
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.create_release_view(plpy, name, relation, quasi_identifiers, k, sensitive, l, keep, unit)
$python$;
COMMENT ON FUNCTION discreet.create_release_view(text, regclass, text[], int, text, int, text[], text) IS
'Makes a view that shows only rows of classes of at least k rows, or people told apart by the column unit, and l sensitive values, kept right as the data changes.';

-- discreet._require_reader: what was published of columns is the business of those who may read them.
CREATE FUNCTION discreet._require_reader(source text, columns text[], hint text)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    -- to_regclass() reads a quoted name in quadratic time, which no cancel ends
    IF length(source) > 10000 THEN
        RAISE program_limit_exceeded USING MESSAGE = 'source has more than 10,000 characters', HINT = 'Give a shorter name.';
    END IF;
    IF has_any_column_privilege(discreet._caller(), to_regclass(source), 'SELECT') IS NOT TRUE
       OR EXISTS (SELECT FROM pg_attribute a
                  WHERE a.attrelid = to_regclass(source) AND a.attname = ANY (columns)
                    AND NOT has_column_privilege(discreet._caller(), a.attrelid, a.attnum, 'SELECT')) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'insufficient_privilege',
            MESSAGE = format('permission denied for %s', coalesce(source, 'NULL')),
            HINT = hint;
    END IF;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._require_reader(text, text[], text) IS
'Raises unless the caller may read a table, and those of these columns that it has.';

-- discreet._remember_release: what was published is known to later releases.
CREATE FUNCTION discreet._remember_release(published jsonb, labels text[], sizes bigint[])
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    used text[] := ARRAY(SELECT jsonb_array_elements_text(published -> 'quasi_identifiers'))
        || array_remove(ARRAY[published ->> 'sensitive', published -> 'definition' ->> 'unit'], NULL);
BEGIN
    IF length(published ->> 'release') > 10000 THEN
        RAISE program_limit_exceeded USING MESSAGE = 'release has more than 10,000 characters', HINT = 'Give a shorter name.';
    END IF;
    PERFORM discreet._require_reader(published ->> 'source', used, 'Releases are made with your own rights: you need SELECT on it.');
    -- a release that was never made must not prevent others
    IF used <@ ARRAY(SELECT a.attname::text FROM pg_attribute a
                     WHERE a.attrelid = to_regclass(published ->> 'source') AND a.attnum > 0 AND NOT a.attisdropped) IS NOT TRUE
       OR NOT EXISTS (SELECT FROM pg_class c
                      WHERE c.oid = to_regclass(published ->> 'release')
                        AND c.relkind = CASE published ->> 'kind' WHEN 'view' THEN 'v' ELSE 'r' END
                        AND pg_has_role(discreet._caller(), c.relowner, 'USAGE')) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('%s is no release of yours', coalesce(published ->> 'release', 'NULL')),
            HINT = 'Call discreet.anonymize() or discreet.create_release_view(), which remember what they make.';
    END IF;
    WITH made AS (
        INSERT INTO discreet._release (release, relation, source, kind, quasi_identifiers, sensitive, k, l, t, definition,
                                       report, publisher)
        SELECT p.release, p.source::regclass, p.source, p.kind,
               ARRAY(SELECT jsonb_array_elements_text(p.quasi_identifiers)), p.sensitive, p.k, p.l, p.t, p.definition,
               p.report, r.rolname
        FROM jsonb_to_record(published) AS p(release text, source text, kind text, quasi_identifiers jsonb, sensitive text,
                                             k int, l int, t float8, definition jsonb, report jsonb),
             pg_roles r
        WHERE r.oid = discreet._caller()
        RETURNING id)
    INSERT INTO discreet._release_class (release, class, label, size)
    SELECT made.id, c.class - 1, c.label, c.size
    FROM made, ROWS FROM (unnest(labels), unnest(sizes)) WITH ORDINALITY AS c(label, size, class);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._remember_release(jsonb, text[], bigint[]) IS 'What was published is known to later releases.';

-- discreet._earlier_releases: what was published of a table before; until the end of the transaction no other session publishes it.
-- Only to roles that may read all columns that it was made from. Where columns are gone, the classes are not shown.
CREATE FUNCTION discreet._earlier_releases(source text)
RETURNS TABLE(release text, kind text, quasi_identifiers text[], k int, l int, sensitive text, definition jsonb, labels text[], sizes bigint[])
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    PERFORM discreet._require_reader(source, '{}', 'Releases are made with your own rights: you need SELECT on it.');
    -- who comes second waits here; with a snapshot in which the first is not yet seen it ends in an error
    INSERT INTO discreet._release_turn AS t (relation) VALUES (to_regclass(source))
    ON CONFLICT (relation) DO UPDATE SET turn = t.turn + 1;
    PERFORM discreet._require_reader(
        _earlier_releases.source, r.quasi_identifiers,
        format('Release %s was made from columns that you may not read, and a new one is compared with it.', r.release))
    FROM discreet._release r
    WHERE r.source = _earlier_releases.source OR r.relation = to_regclass(_earlier_releases.source);
    RETURN QUERY
    SELECT r.release, r.kind, r.quasi_identifiers, r.k, r.l, r.sensitive,
           CASE WHEN there.all_columns THEN r.definition ELSE '{"method": "view"}' END,
           coalesce(array_agg(c.label ORDER BY c.class) FILTER (WHERE c.class IS NOT NULL), '{}'),
           coalesce(array_agg(c.size ORDER BY c.class) FILTER (WHERE c.class IS NOT NULL), '{}')
    FROM discreet._release r
    CROSS JOIN LATERAL (
        SELECT r.quasi_identifiers <@ ARRAY(
            SELECT a.attname::text FROM pg_attribute a
            WHERE a.attrelid = to_regclass(_earlier_releases.source) AND a.attnum > 0 AND NOT a.attisdropped)) AS there(all_columns)
    LEFT JOIN discreet._release_class c ON c.release = r.id AND there.all_columns
    WHERE r.source = _earlier_releases.source OR r.relation = to_regclass(_earlier_releases.source)
    GROUP BY r.id, there.all_columns
    ORDER BY r.at;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._earlier_releases(text) IS
'What was published of a table before; until the end of the transaction no other session publishes it.';

-- discreet.forget_release: a release that never left the house is no longer minded.
-- Whose the table is may forget what others made of it: they would keep it from being published.
CREATE FUNCTION discreet.forget_release(release text)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    who constant oid := discreet._caller();
    gone discreet._release;
BEGIN
    FOR gone IN
        DELETE FROM discreet._release r
        WHERE r.release = forget_release.release
          AND (r.publisher = (SELECT rolname FROM pg_roles WHERE oid = who)
               OR pg_has_role(who, (SELECT c.relowner FROM pg_class c
                                    WHERE c.oid IN (r.relation, to_regclass(r.source))
                                    ORDER BY c.oid = r.relation DESC LIMIT 1), 'USAGE')
               OR (SELECT rolsuper FROM pg_roles WHERE oid = who))
        RETURNING r.*
    LOOP
        DELETE FROM discreet._release_class c WHERE c.release = gone.id;
        RAISE LOG 'discreet: % forgot release % of %, published by % at %', who::regrole, gone.release, gone.source, gone.publisher, gone.at;
    END LOOP;
    IF gone.id IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'undefined_object',
            MESSAGE = format('there is no release %s of yours', coalesce(release, 'NULL')),
            HINT = 'View discreet.releases shows what was published, and by whom.';
    END IF;
END
$plpgsql$;
COMMENT ON FUNCTION discreet.forget_release(text) IS
'A release that never left the house is no longer minded when later ones are checked; for who published it, or owns the table. What was seen cannot be forgotten.';

-- discreet.releases: what was published.
CREATE VIEW discreet.releases WITH (security_barrier) AS
SELECT r.release, r.relation, r.kind, r.quasi_identifiers, r.sensitive, r.k, r.l, r.t,
       (r.report ->> 'published')::bigint AS published, (r.report ->> 'suppressed')::bigint AS suppressed,
       (r.report ->> 'loss')::float8 AS loss, r.publisher, r.at, r.report
FROM discreet._release r;
COMMENT ON VIEW discreet.releases IS 'What was published of which table, what it promises, and what was lost.';
