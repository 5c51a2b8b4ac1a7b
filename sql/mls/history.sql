-- discreet._history_note: the trigger that writes stored rows of a multilevel table down (extension/mls_history.c).
CREATE FUNCTION discreet._history_note()
RETURNS trigger
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_history_note';
COMMENT ON FUNCTION discreet._history_note() IS 'Writes stored rows of a multilevel table down, after they were inserted or updated.';

-- discreet._history_place: where entries of a key are.
CREATE FUNCTION discreet._history_place(of_row record, key text[])
RETURNS bigint
LANGUAGE c
STABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_history_place';
COMMENT ON FUNCTION discreet._history_place(record, text[]) IS 'Where the entries of a key in the history are.';

-- discreet._history_hash: the hash of an entry.
CREATE FUNCTION discreet._history_hash(entry discreet._history)
RETURNS bytea
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT sha256(convert_to(concat(
        entry.label, ',', entry.batch, ',', entry.number, ',', entry.history, ',', entry.place, ',',
        (extract(epoch FROM entry.at) * 1000000)::bigint, ',', entry.act, ',', length(entry.role::text), ':', entry.role, ',',
        entry.version), 'UTF8'))
$sql$;
COMMENT ON FUNCTION discreet._history_hash(discreet._history) IS 'The hash of an entry of the history.';

-- discreet._history_link_hash: what binds a link to the one before it.
CREATE FUNCTION discreet._history_link_hash(previous bytea, link discreet._history_link)
RETURNS bytea
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT sha256(coalesce(previous, '') || convert_to(concat(
        link.label, ',', link.batch, ',', link.id, ',', (extract(epoch FROM link.at) * 1000000)::bigint, ',', link.entries, ',',
        encode(link.digest, 'hex'), ',', link.role), 'UTF8'))
$sql$;
COMMENT ON FUNCTION discreet._history_link_hash(bytea, discreet._history_link) IS 'What binds a link of the history to the one before it.';

-- discreet._verify_history: recomputes the chains of all labels that the session sees.
CREATE FUNCTION discreet._verify_history()
RETURNS TABLE (label text, intact boolean, first_bad bigint, finding text, head text)
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $sql$
    WITH seen AS (
        SELECT k.label, discreet._label(k.label) AS text
        FROM (SELECT l.label FROM discreet._history_link l UNION SELECT h.label FROM discreet._history h) k
        WHERE discreet._sees(discreet._label(k.label))),
    batch AS (
        SELECT h.label, h.batch, count(*) AS entries, sha256(string_agg(h.hash, '' ORDER BY h.number)) AS digest,
               bool_and(h.hash = discreet._history_hash(h)) AS fits
        FROM discreet._history h WHERE h.label IN (SELECT s.label FROM seen s) GROUP BY h.label, h.batch),
    link AS (
        SELECT label, l.id, l.hash,
               l.batch IS NOT NULL AND coalesce(b.fits AND b.entries = l.entries AND b.digest = l.digest, false)
               AND (l.id IS NULL OR l.id = row_number() OVER chain
                    AND l.hash = discreet._history_link_hash(lag(l.hash) OVER chain, l.whole)) AS fits
        FROM (SELECT k AS whole, k.* FROM discreet._history_link k WHERE k.label IN (SELECT s.label FROM seen s)) l
        FULL JOIN batch b USING (label, batch)
        WINDOW chain AS (PARTITION BY label ORDER BY l.id))
    SELECT s.text, bool_and(l.fits), min(l.id) FILTER (WHERE NOT l.fits),
           CASE WHEN bool_and(l.fits) THEN 'every version fits the one before it, ' || count(l.id) || ' transactions'
                WHEN min(l.id) FILTER (WHERE NOT l.fits) IS NULL THEN 'a version has no link, or a link other versions'
                ELSE 'link ' || min(l.id) FILTER (WHERE NOT l.fits) || ' does not fit its versions, or the link before it' END,
           encode((array_agg(l.hash ORDER BY l.id DESC) FILTER (WHERE l.id IS NOT NULL))[1], 'hex')
    FROM seen s JOIN link l USING (label)
    GROUP BY s.label, s.text ORDER BY s.label
$sql$;
COMMENT ON FUNCTION discreet._verify_history() IS
'Recomputes the chains of who wrote what into multilevel tables, of all labels that the session sees.';

-- discreet.mls_history: who wrote which version of a row at which label, and when.
CREATE FUNCTION discreet.mls_history(relation regclass, key jsonb)
RETURNS TABLE (at timestamptz, role name, label text, act text, row_id bigint, key_label text, version jsonb, borrowed jsonb)
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls_history
    return mls_history.history(plpy, relation, key)
$python$;
COMMENT ON FUNCTION discreet.mls_history(regclass, jsonb) IS
'Who wrote which version of the rows of a key, at which label and when, as far as the session dominates it: values of its own, and the labels from which others are borrowed.';

-- discreet.mls_keep_history: whether it is written down who writes which version of a multilevel table.
CREATE FUNCTION discreet.mls_keep_history(relation regclass, keep boolean DEFAULT true)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls_history
    return mls_history.keep_history(plpy, relation, keep)
$python$;
COMMENT ON FUNCTION discreet.mls_keep_history(regclass, boolean) IS
'Whether it is written down who writes which version of a multilevel table; what was written down stays.';
