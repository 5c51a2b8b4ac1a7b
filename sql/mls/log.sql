-- discreet._label_event_hash: what binds an event to the one before it.
CREATE FUNCTION discreet._label_event_hash(previous bytea, event discreet._label_event)
RETURNS bytea
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT sha256(coalesce(previous, '') || convert_to(jsonb_build_array(
        event.id, extract(epoch FROM event.at), event.role, event.act, event.relation, event.details)::text, 'UTF8'))
$sql$;
COMMENT ON FUNCTION discreet._label_event_hash(bytea, discreet._label_event) IS 'What binds an event to the one before it.';

-- discreet._ledger_label_event: writes an event down, by the ledger worker, which commits it.
CREATE FUNCTION discreet._ledger_label_event(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    before record;
    event discreet._label_event;
BEGIN
    -- one after the other: each fits the one before it
    LOCK TABLE discreet._label_event IN SHARE ROW EXCLUSIVE MODE;
    SELECT e.id, e.hash INTO before FROM discreet._label_event e ORDER BY e.id DESC LIMIT 1;
    event := ROW(coalesce(before.id, 0) + 1, clock_timestamp(), request->>'role', request->>'act', request->>'relation',
                 request->'details', NULL)::discreet._label_event;
    event.hash := discreet._label_event_hash(before.hash, event);
    INSERT INTO discreet._label_event SELECT event.*;
    RETURN NULL;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_label_event(jsonb) IS 'Writes an event of multilevel tables down, bound to the one before it.';

-- discreet._label_log: writes an event of the session user down; it stays, whatever becomes of the transaction.
CREATE FUNCTION discreet._label_log(act text, relation text, details jsonb)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT discreet._ledger('label_event', jsonb_build_object(
        'role', session_user, 'act', act, 'relation', relation,
        'details', details || jsonb_build_object('label', discreet._label(NULL))))
$sql$;
COMMENT ON FUNCTION discreet._label_log(text, text, jsonb) IS
'Writes an event of the session user down; it stays, whatever becomes of the transaction.';

-- discreet._deny: writes a denied write down, and raises its error. Only triggers of multilevel tables, by their owner.
CREATE FUNCTION discreet._deny(relation text, act text, message text, hint text)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    PERFORM discreet._label_log('denied ' || act, relation, jsonb_build_object('reason', message));
    RAISE insufficient_privilege USING MESSAGE = message, HINT = hint;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._deny(text, text, text, text) IS 'Writes a denied write to a multilevel table down, and raises its error.';

-- discreet._sees: whether the session sees what has a label.
CREATE FUNCTION discreet._sees(label text)
RETURNS boolean
LANGUAGE c
STABLE
STRICT
PARALLEL RESTRICTED
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_sees';
COMMENT ON FUNCTION discreet._sees(text) IS 'Whether the session sees what has a label; superusers see all.';

-- discreet.mls_log: trusted operations, denied writes and changes of clearances, as far as the label of the session shows them.
CREATE VIEW discreet.mls_log WITH (security_barrier) AS
SELECT id, at, role, act, relation, details FROM discreet._label_event
WHERE details ->> 'label' IS NULL OR discreet._sees(details ->> 'label');
COMMENT ON VIEW discreet.mls_log IS
'Trusted operations, denied writes and changes of clearances; what was done at a label is shown to sessions that dominate it.';
