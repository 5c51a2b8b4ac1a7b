-- Answers already given, which are given again for nothing: for how long, and when no longer.

-- discreet._ledger_recall: the stored answer of a question, if its policy still holds and the role may ask.
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
    SELECT a.answer FROM discreet._answer a JOIN discreet._dataset d USING (dataset)
    WHERE a.key = decode(request->>'key', 'hex') AND a.dataset = request->>'dataset'
      AND (d.answer_lifetime IS NULL OR a.at > clock_timestamp() - d.answer_lifetime)
      AND discreet._holds_budget((request->>'role')::name, a.dataset));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_recall(jsonb) IS 'The stored answer of a question, if the role may ask.';

-- discreet._ledger_store: keeps an answer, so that it need not be paid twice; those of the dataset that are too old go.
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
    DELETE FROM discreet._answer a USING discreet._dataset d
    WHERE a.dataset = request->>'dataset' AND d.dataset = a.dataset AND a.at <= clock_timestamp() - d.answer_lifetime;
    INSERT INTO discreet._answer (key, dataset, answer)
    VALUES (decode(request->>'key', 'hex'), request->>'dataset', request->'answer')
    ON CONFLICT (key) DO UPDATE SET answer = excluded.answer, at = excluded.at;
    INSERT INTO discreet._accuracy (dataset, column_name, kind, numbers, half_width, relative)
    SELECT request->>'dataset', a->>'column', a->>'kind', (a->>'numbers')::int, (a->>'half_width')::numeric,
           (a->>'relative')::numeric
    FROM jsonb_array_elements(request->'accuracy') a;
    RETURN '{}';
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_store(jsonb) IS 'Keeps an answer, so that it need not be paid twice, and how exact it is.';

-- discreet.accuracy: how exact answers were.
CREATE VIEW discreet.accuracy WITH (security_barrier) AS
SELECT a.at, a.dataset, a.column_name, a.kind, a.numbers, a.half_width, a.relative FROM discreet._accuracy a;
COMMENT ON VIEW discreet.accuracy IS
'How exact the noisy columns of answers were: the median of their 95 % half-widths, also as a share of the numbers.';

-- discreet._drop_answers: a changed protection is another policy, under which nothing was answered yet.
CREATE FUNCTION discreet._drop_answers()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    DELETE FROM discreet._answer a USING discreet._protected_table p
    WHERE a.dataset = p.dataset AND p.relation IN (OLD.relation, NEW.relation);
    IF TG_TABLE_NAME = '_protected_table' THEN
        DELETE FROM discreet._answer a WHERE a.dataset IN (OLD.dataset, NEW.dataset);
    END IF;
    RETURN NULL;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._drop_answers() IS 'Drops the stored answers about people whose protection changed.';

CREATE TRIGGER drop_answers AFTER INSERT OR UPDATE OR DELETE ON discreet._protected_table
FOR EACH ROW EXECUTE FUNCTION discreet._drop_answers();
CREATE TRIGGER drop_answers AFTER INSERT OR UPDATE OR DELETE ON discreet._protected_column
FOR EACH ROW EXECUTE FUNCTION discreet._drop_answers();
