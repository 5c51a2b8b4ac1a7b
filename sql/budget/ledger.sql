-- discreet._ledger: calls discreet._ledger_<operation> on the connection that the C module holds; what it writes is committed.
CREATE FUNCTION discreet._ledger(operation name, request jsonb)
RETURNS jsonb
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'discreet_ledger';
COMMENT ON FUNCTION discreet._ledger(name, jsonb) IS
'Calls discreet._ledger_<operation> on the connection that the C module holds; what it writes is committed.';

-- discreet._ledger_ping: says who the ledger connection is.
CREATE FUNCTION discreet._ledger_ping(request jsonb)
RETURNS jsonb
LANGUAGE sql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT jsonb_build_object(
        'role', current_user,
        'synchronous_commit', current_setting('synchronous_commit'),
        'read_only', pg_is_in_recovery(),
        'echo', request)
$sql$;
COMMENT ON FUNCTION discreet._ledger_ping(jsonb) IS 'Says who the ledger connection is, and whether it can write.';

-- What every charge runs is PL/pgSQL: its plans are kept for the session, where an SQL function is planned at each call.

-- discreet._charge_hash: what binds a charge to the one before it.
CREATE FUNCTION discreet._charge_hash(previous bytea, charge discreet._charge)
RETURNS bytea
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN (
    SELECT sha256(coalesce(previous, '') || convert_to(jsonb_build_array(
        charge.dataset, charge.label, charge.id, extract(epoch FROM charge.at), charge.role, charge.epsilon, charge.amount,
        charge.delta, charge.question, charge.details)::text, 'UTF8')));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._charge_hash(bytea, discreet._charge) IS 'What binds a charge to the one before it.';

-- discreet._roles_of: a role and the groups it is a member of; a superuser is no member by might alone.
CREATE FUNCTION discreet._roles_of(role name)
RETURNS SETOF oid
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH RECURSIVE member(role) AS (
        SELECT oid FROM pg_roles WHERE rolname = $1
        UNION SELECT g.roleid FROM pg_auth_members g JOIN member m ON g.member = m.role)
    SELECT m.role FROM member m;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._roles_of(name) IS 'A role and the groups it is a member of.';

-- discreet._holds_budget: whether a role, or a group it is a member of, holds a budget in a dataset.
CREATE FUNCTION discreet._holds_budget(role name, dataset text)
RETURNS boolean
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN (
    SELECT EXISTS (SELECT FROM discreet._budget b
                   WHERE b.dataset = $2 AND b.granted AND b.role IN (SELECT discreet._roles_of($1))));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._holds_budget(name, text) IS
'Whether a role, or a group it is a member of, holds a budget in a dataset.';

-- discreet._is_multilevel: whether the tables of a dataset have labels, so that its budget is kept per label.
CREATE FUNCTION discreet._is_multilevel(dataset text)
RETURNS boolean
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN EXISTS (SELECT FROM discreet._protected_table p JOIN discreet._multilevel_table m USING (relation)
                   WHERE p.dataset = $1);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._is_multilevel(text) IS
'Whether the tables of a dataset have labels, so that its budget is kept per label.';

-- discreet._refuse: writes a refusal down, and gives it the form in which the ledger answers.
CREATE FUNCTION discreet._refuse(role name, code text, message text, hint text, question text, label bigint DEFAULT NULL)
RETURNS jsonb
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    INSERT INTO discreet._refusal (role, code, message, question, label) VALUES (role, code, message, question, label);
    SELECT jsonb_build_object('refused', jsonb_build_object('code', code, 'message', message, 'hint', hint))
$sql$;
COMMENT ON FUNCTION discreet._refuse(name, text, text, text, text, bigint) IS
'Writes a refusal down, and gives it the form in which the ledger answers.';

-- discreet._charge: takes an amount from the dataset's cap and from every limit that applies to the role, all or none.
-- Returns NULL when it is paid, and otherwise the refusal. Epsilon is what the question is worth, amount what it costs
-- in the currency of the dataset. With a label, what was spent at other labels is not looked at, and nothing waits for it.
CREATE FUNCTION discreet._charge(
    dataset text, role name, epsilon numeric, amount numeric, delta numeric, question text, details jsonb,
    label bigint DEFAULT NULL)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
DECLARE
    payers oid[] := ARRAY(SELECT discreet._roles_of($2)) || 0::oid;
    paid int;
    limits record;
    before record;
    charge discreet._charge;
BEGIN
    IF amount IS NULL OR delta IS NULL OR NOT (amount >= 0 AND amount < 'Infinity' AND delta >= 0 AND delta < 1) THEN
        RAISE EXCEPTION 'a charge of amount %, delta %', amount, delta;
    END IF;

    -- charges of one dataset, or label, wait for each other here, so that each sees what the one before it left
    IF label IS NULL THEN
        PERFORM FROM discreet._dataset d WHERE d.dataset = $1 FOR NO KEY UPDATE;
    ELSE
        PERFORM FROM discreet._dataset d WHERE d.dataset = $1;
    END IF;
    IF NOT FOUND THEN
        RETURN discreet._refuse($2, 'DP003', format('there is no dataset %I to pay from', $1),
            format('A curator makes it with discreet.create_dataset(%L, epsilon).', $1), question, label);
    END IF;
    IF (label IS NOT NULL) <> discreet._is_multilevel($1) THEN
        RETURN discreet._refuse($2, 'DP003', format('the tables of dataset %I have got labels, or lost them, meanwhile', $1),
            'Ask again.', question, label);
    END IF;
    IF label IS NULL THEN
        PERFORM FROM discreet._budget b WHERE b.dataset = $1 AND b.granted AND b.role = ANY (payers) FOR UPDATE;
    ELSE
        INSERT INTO discreet._label_spent (dataset, label, role)
        SELECT $1, $8, b.role FROM discreet._budget b
        WHERE b.dataset = $1 AND b.granted AND b.role = ANY (payers) ORDER BY b.role
        ON CONFLICT DO NOTHING;
        PERFORM FROM discreet._label_spent s WHERE s.dataset = $1 AND s.label = $8 AND s.role = 0 FOR UPDATE;
    END IF;

    -- half of the delta of a zcdp dataset is bound in the conversion from rho
    SELECT count(*) AS payers, coalesce(bool_or(locked.role = 0), false) AS capped,
           min(locked.role) FILTER (WHERE NOT (locked.amount_enough AND locked.delta_enough)) AS short INTO limits
    FROM (SELECT b.role::oid AS role, b.amount_spent + coalesce(s.amount, 0) + $4 <= b.amount_limit AS amount_enough,
                 b.delta_spent + coalesce(s.delta, 0) + $5
                 <= b.delta_limit / CASE d.accounting WHEN 'zcdp' THEN 2 ELSE 1 END AS delta_enough
          FROM discreet._budget b JOIN discreet._dataset d USING (dataset)
          LEFT JOIN (SELECT l.role, sum(l.amount_spent) AS amount, sum(l.delta_spent) AS delta
                     FROM discreet._label_spent l
                     WHERE l.dataset = $1 AND ($8 IS NULL OR l.label = $8) GROUP BY l.role) s USING (role)
          WHERE b.dataset = $1 AND b.granted AND b.role = ANY (payers)) locked;
    IF NOT limits.capped THEN
        -- as after a restore that failed half way: no limit is not the same as no end
        RETURN discreet._refuse($2, 'DP003', format('the limit of dataset %I is missing', $1),
            'An administrator finds out with discreet.check_installation().', question, label);
    END IF;
    IF limits.short IS NOT NULL THEN
        RETURN discreet._refuse($2, 'DP003',
            format('the budget of %s%s is exhausted', CASE limits.short WHEN 0 THEN 'dataset ' || quote_ident($1)
                   ELSE limits.short::regrole::text || ' in dataset ' || quote_ident($1) END,
                   CASE WHEN label IS NOT NULL THEN ' at label ' || discreet._label(label) END),
            'View discreet.budget_status shows what is left; a smaller epsilon costs less.', question, label);
    END IF;

    IF label IS NULL THEN
        UPDATE discreet._budget b SET amount_spent = b.amount_spent + $4, delta_spent = b.delta_spent + $5
        WHERE b.dataset = $1 AND b.granted AND b.role = ANY (payers) AND b.amount_spent + $4 <= b.amount_limit;
    ELSE
        UPDATE discreet._label_spent s SET amount_spent = s.amount_spent + $4, delta_spent = s.delta_spent + $5
        FROM discreet._budget b
        WHERE s.dataset = $1 AND s.label = $8 AND s.role = b.role AND b.dataset = $1 AND b.granted AND b.role = ANY (payers);
    END IF;
    GET DIAGNOSTICS paid = ROW_COUNT;
    IF paid <> limits.payers THEN
        RAISE EXCEPTION USING ERRCODE = 'DP003', MESSAGE = 'a limit was changed while the charge was made',
            HINT = 'Ask again.';
    END IF;

    SELECT c.id, c.hash INTO before FROM discreet._charge c
    WHERE c.dataset = $1 AND c.label = coalesce($8, -1) ORDER BY c.id DESC LIMIT 1;
    charge := ROW($1, coalesce($8, -1), coalesce(before.id, 0) + 1, clock_timestamp(), $2, $3, $4, $5, $6, $7, NULL)::discreet._charge;
    charge.hash := discreet._charge_hash(before.hash, charge);
    INSERT INTO discreet._charge SELECT charge.*;
    RETURN NULL;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._charge(text, name, numeric, numeric, numeric, text, jsonb, bigint) IS
'Takes an amount from the dataset''s cap and from every limit that applies to the role, all or none.';

-- discreet.verify_log: recomputes the hash chain of every dataset, and of each of its labels.
CREATE FUNCTION discreet.verify_log()
RETURNS TABLE (dataset text, charges bigint, intact boolean, first_bad bigint, finding text, head text, label text)
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $sql$
    WITH link AS (
        SELECT c.dataset, c.label, c.id, c.amount, c.delta, c.hash,
               c.id = row_number() OVER chain
               AND c.hash = discreet._charge_hash(lag(c.hash) OVER chain, c) AS fits
        FROM discreet._charge c
        WINDOW chain AS (PARTITION BY c.dataset, c.label ORDER BY c.id)),
    spent(dataset, label, amount, delta) AS (
        SELECT b.dataset, -1, b.amount_spent, b.delta_spent FROM discreet._budget b WHERE b.role = 0
        UNION ALL
        SELECT s.dataset, s.label, s.amount_spent, s.delta_spent FROM discreet._label_spent s WHERE s.role = 0),
    ledger AS (
        SELECT d.dataset, -1 AS label FROM discreet._dataset d
        UNION SELECT s.dataset, s.label FROM spent s WHERE s.label >= 0
        UNION SELECT c.dataset, c.label FROM discreet._charge c WHERE c.label >= 0),
    chain AS (
        SELECT d.dataset, d.label, count(l.id) AS charges, min(l.id) FILTER (WHERE NOT l.fits) AS first_bad,
               coalesce(sum(l.amount), 0) AS amount, coalesce(sum(l.delta), 0) AS delta,
               encode((array_agg(l.hash ORDER BY l.id DESC) FILTER (WHERE l.id IS NOT NULL))[1], 'hex') AS head
        FROM ledger d LEFT JOIN link l USING (dataset, label)
        GROUP BY d.dataset, d.label)
    SELECT c.dataset, c.charges,
           c.first_bad IS NULL AND b.dataset IS NOT NULL AND c.amount = b.amount AND c.delta = b.delta, c.first_bad,
           CASE WHEN c.first_bad IS NOT NULL THEN 'charge ' || c.first_bad || ' does not fit the one before it'
                WHEN b.dataset IS NULL THEN 'the limit of the dataset is missing'
                WHEN c.amount <> b.amount THEN 'the charges add up to ' || c.amount || ', but ' || b.amount || ' is spent'
                WHEN c.delta <> b.delta THEN 'the deltas add up to ' || c.delta || ', but ' || b.delta || ' is spent'
                ELSE 'every charge fits the one before it' END,
           c.head, CASE WHEN c.label >= 0 THEN discreet._label(c.label) END
    FROM chain c LEFT JOIN spent b USING (dataset, label)
    UNION ALL
    SELECT NULL, count(*), bool_and(l.fits), min(l.id) FILTER (WHERE NOT l.fits),
           CASE WHEN bool_and(l.fits) THEN 'every event of multilevel tables fits the one before it'
                ELSE 'event ' || min(l.id) FILTER (WHERE NOT l.fits) || ' of multilevel tables does not fit the one before it' END,
           encode((array_agg(l.hash ORDER BY l.id DESC))[1], 'hex'), NULL
    FROM (SELECT e.id, e.hash, e.id = row_number() OVER chain
                 AND e.hash = discreet._label_event_hash(lag(e.hash) OVER chain, e) AS fits
          FROM discreet._label_event e
          WINDOW chain AS (ORDER BY e.id)) l
    HAVING count(*) > 0
    ORDER BY 1, 7 NULLS FIRST
$sql$;
COMMENT ON FUNCTION discreet.verify_log() IS
'Recomputes the hash chain of every dataset, and of the log of multilevel tables (dataset NULL); names the first charge that does not fit, and the head for keeping elsewhere.';
