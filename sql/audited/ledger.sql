-- The history of audited tables, by the ledger worker: read there, and written only where nothing came in between.

-- discreet._ledger_audit_read: what came after a position. request: relation, after.
-- answer: seed, position (how far the history has come; null, perhaps with the unit's old type: nothing can be said), start (from
-- where it is told), base, events, known (people), numbers (of columns, by attnum).
-- A long history comes in pieces: who reads asks again, after the last event.
CREATE FUNCTION discreet._ledger_audit_read(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_variable
DECLARE
    audited oid := (request->>'relation')::oid;
    start bigint := (request->>'after')::bigint;
    piece constant bigint := 4000000;
    history discreet._audit;
    whole discreet._audit_base;
    events jsonb;
BEGIN
    SELECT a.* INTO history FROM discreet._audit a WHERE a.relation = audited;
    IF NOT FOUND THEN
        RETURN jsonb_build_object('position', NULL);
    END IF;
    -- another type has another hash: every person would seem new
    IF history.unit_type <> (SELECT format_type(u.atttypid, NULL)
                             FROM discreet._protected_table p JOIN pg_attribute u ON u.attrelid = p.relation AND u.attnum = p.unit_attnum
                             WHERE p.relation = audited) THEN
        RETURN jsonb_build_object('position', NULL, 'unit_type', history.unit_type);
    END IF;
    IF start < history.floor OR start > history.position OR start = 0 THEN
        SELECT b.* INTO whole FROM discreet._audit_base b
        WHERE b.relation = audited AND b.position BETWEEN history.floor AND history.position;
        start := coalesce(whole.position, history.floor);
    END IF;
    SELECT jsonb_agg(jsonb_build_object('position', e.position, 'event', translate(encode(e.event, 'base64'), E'\n', ''))
                     ORDER BY e.position)
    INTO events
    FROM (SELECT s.*, sum(length(s.event)) OVER (ORDER BY s.position) - length(s.event) AS before
          FROM discreet._audit_event s WHERE s.relation = audited AND s.position > start) e
    WHERE e.before < piece;
    RETURN jsonb_build_object(
        'seed', history.seed, 'position', history.position, 'start', start,
        'base', translate(encode(whole.base, 'base64'), E'\n', ''), 'events', coalesce(events, '[]'),
        'numbers', (SELECT jsonb_object_agg(c.attnum, c.number) FROM discreet._audit_column c
                    WHERE c.relation = audited AND c.attnum IS NOT NULL),
        'known', (SELECT coalesce(jsonb_agg(jsonb_build_array(k.person::text, k.unit_value)), '[]') FROM discreet._audit_known k WHERE k.relation = audited));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_audit_read(jsonb) IS 'The history of an audited table after a position.';

-- discreet._ledger_audit_record: writes an answer down before it leaves, unless something came in between.
-- request: role, relation, dataset, position (that the decision was made at), event (or null: nothing new), columns,
-- questions (of each column), question, details.
CREATE FUNCTION discreet._ledger_audit_record(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_variable
DECLARE
    asker name := request->>'role';
    audited oid := (request->>'relation')::oid;
    people text := request->>'dataset';
    reached bigint := (request->>'position')::bigint;
    refusal jsonb;
BEGIN
    IF NOT discreet._holds_budget(asker, people) THEN
        RETURN discreet._refuse(asker, 'DP004', format('%s holds no budget in dataset %I', asker, people),
            format('A curator can give one: discreet.grant_budget(%L, role, epsilon).', people), request->>'question');
    END IF;
    -- answers about one table wait for each other here
    PERFORM FROM discreet._audit a WHERE a.relation = audited AND a.position = reached FOR UPDATE;
    IF NOT FOUND OR NOT EXISTS (SELECT FROM discreet._protected_table p
                                WHERE p.relation = audited AND p.policy = 'audited' AND p.dataset = people) THEN
        RETURN jsonb_build_object('recorded', false);
    END IF;
    IF request->>'event' IS NOT NULL THEN
        reached := reached + 1;
        UPDATE discreet._audit a SET position = reached WHERE a.relation = audited;
        INSERT INTO discreet._audit_event (relation, position, role, columns, questions, event)
        VALUES (audited, reached, asker, ARRAY(SELECT jsonb_array_elements_text(request->'columns')::int2),
                ARRAY(SELECT jsonb_array_elements_text(request->'questions')::int), decode(request->>'event', 'base64'));
    END IF;
    refusal := discreet._charge(people, asker, 0, 0, 0, request->>'question', request->'details');
    IF refusal IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = refusal->'refused'->>'code', MESSAGE = refusal->'refused'->>'message',
            HINT = refusal->'refused'->>'hint';
    END IF;
    RETURN jsonb_build_object('recorded', true, 'position', reached);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_audit_record(jsonb) IS 'Writes an answer about an audited table down before it leaves.';

-- discreet._ledger_audit_base: keeps a history put together. request: relation, position, base.
CREATE FUNCTION discreet._ledger_audit_base(request jsonb)
RETURNS jsonb
LANGUAGE sql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $sql$
    INSERT INTO discreet._audit_base (relation, position, base)
    SELECT a.relation, (request->>'position')::bigint, decode(request->>'base', 'base64')
    FROM discreet._audit a
    WHERE a.relation = (request->>'relation')::oid AND (request->>'position')::bigint BETWEEN a.floor AND a.position
    ON CONFLICT (relation) DO UPDATE SET position = excluded.position, base = excluded.base
    WHERE _audit_base.position < excluded.position;
    SELECT '{}'::jsonb
$sql$;
COMMENT ON FUNCTION discreet._ledger_audit_base(jsonb) IS 'Keeps the history of an audited table put together.';
