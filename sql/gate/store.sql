-- Answers already given, which are given again for nothing: for how long, and when no longer.

-- discreet._answers_epoch: how often the policy of a dataset has changed.
CREATE FUNCTION discreet._answers_epoch(dataset text)
RETURNS bigint
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN coalesce((SELECT e.epoch FROM discreet._answer_epoch e WHERE e.dataset = $1), 0);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._answers_epoch(text) IS 'How often the policy of a dataset has changed.';

-- discreet._sweep_answers: deletes a few answers of a dataset that are never given again: more than a question adds, and never so
-- many that who asks, or a curator, would wait for it.
CREATE FUNCTION discreet._sweep_answers(dataset text)
RETURNS void
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
DECLARE
    this_epoch bigint := discreet._answers_epoch($1);
    expired timestamptz := coalesce((SELECT clock_timestamp() - d.answer_lifetime FROM discreet._dataset d WHERE d.dataset = $1),
                                    '-infinity');
BEGIN
    -- two scans, each of which ends where the first row that is kept begins
    DELETE FROM discreet._answer a
    WHERE a.key = ANY (
        ARRAY(SELECT o.key FROM discreet._answer o WHERE o.dataset = $1 AND o.epoch < this_epoch
              ORDER BY o.dataset, o.epoch, o.at LIMIT 10 FOR UPDATE SKIP LOCKED)
        || ARRAY(SELECT o.key FROM discreet._answer o WHERE o.dataset = $1 AND o.epoch = this_epoch AND o.at <= expired
                 ORDER BY o.dataset, o.epoch, o.at LIMIT 10 FOR UPDATE SKIP LOCKED));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._sweep_answers(text) IS 'Deletes a few answers of a dataset that are never given again.';

-- discreet._ledger_recall: of measurements those that are stored, by their keys, if their policy still holds and the role may ask.
CREATE FUNCTION discreet._ledger_recall(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN (
    SELECT jsonb_object_agg(k, a.answer)
    FROM jsonb_array_elements_text(request->'keys') k
    CROSS JOIN LATERAL (SELECT * FROM discreet._answer o WHERE o.key = decode(k, 'hex') OFFSET 0) a
    JOIN discreet._dataset d USING (dataset)
    WHERE a.dataset = request->>'dataset'
      AND a.epoch = discreet._answers_epoch(a.dataset)
      AND (d.answer_lifetime IS NULL OR a.at > clock_timestamp() - d.answer_lifetime)
      AND discreet._holds_budget((request->>'role')::name, a.dataset));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_recall(jsonb) IS 'Of measurements those that are stored, if the role may ask.';

-- discreet._ledger_store: keeps measurements, so that they need not be paid twice; those of the dataset that are too old go.
-- request: role, dataset, label, accuracy, groups (of each grouping set), measurements: key, set (its place), answer (all but
-- the groups).
CREATE FUNCTION discreet._ledger_store(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    -- paid is paid already: what a crash takes back here is asked, and paid, again
    PERFORM set_config('synchronous_commit', 'off', true);
    -- more than are added
    PERFORM discreet._sweep_answers(request->>'dataset')
    FROM generate_series(0, jsonb_array_length(request->'measurements') / 10);
    INSERT INTO discreet._answer (key, dataset, epoch, answer)
    SELECT decode(m->>'key', 'hex'), request->>'dataset', discreet._answers_epoch(request->>'dataset'),
           (m->'answer') || jsonb_build_object('groups', request->'groups'->(m->>'set')::int)
    FROM jsonb_array_elements(request->'measurements') m ORDER BY 1
    ON CONFLICT (key) DO UPDATE SET answer = excluded.answer, epoch = excluded.epoch, at = excluded.at;
    INSERT INTO discreet._accuracy (dataset, column_name, kind, numbers, half_width, relative, role, label)
    SELECT request->>'dataset', a->>'column', a->>'kind', (a->>'numbers')::int, (a->>'half_width')::numeric,
           (a->>'relative')::numeric, request->>'role', (request->>'label')::bigint
    FROM jsonb_array_elements(request->'accuracy') a;
    RETURN '{}';
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_store(jsonb) IS 'Keeps measurements, so that they need not be paid twice, and how exact the answer is.';

-- discreet.accuracy: how exact answers were, to an analyst the own ones.
CREATE VIEW discreet.accuracy WITH (security_barrier) AS
SELECT a.at, a.dataset, a.column_name, a.kind, a.numbers, a.half_width, a.relative, a.role
FROM discreet._accuracy a
WHERE discreet._sees_all()
   OR (a.role = session_user AND (a.label IS NULL OR (a.label & ~discreet._label_bits(discreet._label(NULL))) = 0));
COMMENT ON VIEW discreet.accuracy IS
'How exact the noisy columns of answers were: the median of their 95 % half-widths, also as a share of the numbers; an analyst sees the own ones.';

-- discreet._drop_answers: a changed protection is another policy, under which nothing was answered yet.
CREATE FUNCTION discreet._drop_answers()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    changed text[] := ARRAY(SELECT p.dataset FROM discreet._protected_table p WHERE p.relation IN (OLD.relation, NEW.relation));
    people text;
BEGIN
    IF TG_TABLE_NAME = '_protected_table' THEN
        changed := changed || OLD.dataset || NEW.dataset;
    END IF;
    FOR people IN SELECT DISTINCT c FROM unnest(changed) c WHERE c IS NOT NULL ORDER BY c LOOP
        INSERT INTO discreet._answer_epoch AS known (dataset, epoch) VALUES (people, 1)
        ON CONFLICT (dataset) DO UPDATE SET epoch = known.epoch + 1;
        PERFORM discreet._sweep_answers(people);
    END LOOP;
    RETURN NULL;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._drop_answers() IS 'Gives no stored answer again about people whose protection changed.';

CREATE TRIGGER drop_answers AFTER INSERT OR UPDATE OR DELETE ON discreet._protected_table
FOR EACH ROW EXECUTE FUNCTION discreet._drop_answers();
CREATE TRIGGER drop_answers AFTER INSERT OR UPDATE OR DELETE ON discreet._protected_column
FOR EACH ROW EXECUTE FUNCTION discreet._drop_answers();
