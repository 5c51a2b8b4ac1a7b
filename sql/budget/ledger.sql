-- discreet._ledger: calls discreet._ledger_<operation> by the ledger worker; what it writes is committed.
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
'Calls discreet._ledger_<operation> by the ledger worker; what it writes is committed.';

-- discreet._ledger_ping: says who runs the ledger.
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
COMMENT ON FUNCTION discreet._ledger_ping(jsonb) IS 'Says who runs the ledger, and whether it can write.';

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

-- discreet._roles_of: a role and the groups it is a member of; a superuser is no member by might alone. An array, by which few
-- lines are looked up in an index, however many roles there are.
CREATE FUNCTION discreet._roles_of(role name)
RETURNS oid[]
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN ARRAY(
        WITH RECURSIVE member(role) AS (
            SELECT oid FROM pg_roles WHERE rolname = $1
            UNION SELECT g.roleid FROM member m, LATERAL (
                SELECT a.roleid FROM pg_auth_members a WHERE a.member = m.role OFFSET 0) g)
        SELECT m.role FROM member m);
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
DECLARE
    holders oid[] := discreet._roles_of($1);
BEGIN
    RETURN EXISTS (SELECT FROM discreet._budget b WHERE b.dataset = $2 AND b.granted AND b.role = ANY (holders));
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
    -- there are fewer multilevel tables than others
    RETURN EXISTS (SELECT FROM discreet._multilevel_table m
                   WHERE (SELECT p.dataset FROM discreet._protected_table p WHERE p.relation = m.relation) = $1);
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

-- discreet._shortage: which limit a charge would break, if any, in the words of the refusal; and how many limits apply. VOLATILE,
-- so that a caller who has waited for a lock sees what was committed meanwhile.
CREATE FUNCTION discreet._shortage(
    dataset text, payers oid[], amount numeric, delta numeric, label bigint DEFAULT NULL,
    OUT limits bigint, OUT message text, OUT hint text)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
DECLARE
    short record;
    payer text;
BEGIN
    -- half of the delta of a zcdp dataset is bound in the conversion from rho; the limit that is broken comes first
    SELECT count(*) OVER () AS limits, bool_or(l.role = 0) OVER () AS capped, l.* INTO short
    FROM (SELECT l.*, l.amount_needed <= l.amount_limit AND l.delta_needed <= l.delta_limit / l.bound AS kept,
                 l.amount_needed <= l.amount_limit - coalesce(k.amount, 0) AS amount_enough,
                 l.delta_needed <= l.delta_limit / l.bound - coalesce(k.delta, 0) AS delta_enough
          FROM (SELECT b.role::oid AS role, b.epsilon_limit, b.delta_limit, b.amount_limit, d.bound,
                       b.amount_spent + coalesce(s.amount, 0) + $3 AS amount_needed,
                       b.delta_spent + coalesce(s.delta, 0) AS delta_spent,
                       b.delta_spent + coalesce(s.delta, 0) + $4 AS delta_needed
                FROM discreet._budget b
                JOIN (SELECT d.dataset, CASE d.accounting WHEN 'zcdp' THEN 2 ELSE 1 END AS bound
                      FROM discreet._dataset d) d USING (dataset)
                LEFT JOIN (SELECT l.role, sum(l.amount_spent) AS amount, sum(l.delta_spent) AS delta
                           FROM discreet._label_spent l
                           WHERE l.dataset = $1 AND ($5 IS NULL OR l.label = $5) AND l.role = ANY ($2)
                           GROUP BY l.role) s USING (role)
                WHERE b.dataset = $1 AND b.granted AND b.role = ANY ($2)) l
          -- of the cap, what is kept for others is not there
          LEFT JOIN LATERAL discreet._kept_for_others(
              $1, $2, $5, '-infinity', l.amount_limit - l.amount_needed + $3, l.delta_limit / l.bound - l.delta_needed + $4) k
              ON l.role = 0) l
    ORDER BY l.amount_enough AND l.delta_enough, l.role LIMIT 1;
    limits := coalesce(short.limits, 0);
    IF limits = 0 AND NOT EXISTS (SELECT FROM discreet._dataset d WHERE d.dataset = $1) THEN
        message := format('there is no dataset %I to pay from', $1);
        hint := format('A curator makes it with discreet.create_dataset(%L, epsilon).', $1);
        RETURN;
    END IF;
    IF 0::oid = ANY ($2) AND short.capped IS NOT TRUE THEN
        -- as after a restore that failed half way: no limit is not the same as no end
        message := format('the limit of dataset %I is missing', $1);
        hint := 'An administrator finds out with discreet.check_installation().';
        RETURN;
    END IF;
    payer := CASE WHEN short.role = 0 THEN format('dataset %I', $1) ELSE short.role::regrole::text END;
    IF short.kept AND NOT (short.amount_enough AND short.delta_enough) THEN
        message := format('what dataset %I has left%s is kept for other roles', $1,
            CASE WHEN $5 IS NOT NULL THEN ' at label ' || discreet._label($5) END);
        hint := 'View discreet.budget_status shows what is kept, and until when; a smaller epsilon costs less.';
    ELSIF NOT short.amount_enough THEN
        message := format('the budget of %s%s is exhausted',
            CASE WHEN short.role = 0 THEN payer ELSE format('%s in dataset %I', payer, $1) END,
            CASE WHEN $5 IS NOT NULL THEN ' at label ' || discreet._label($5) END);
        hint := 'View discreet.budget_status shows what is left; a smaller epsilon costs less.';
    ELSIF NOT short.delta_enough THEN
        message := format('this question needs delta %s for groups that are not declared; %s%s has %s', discreet._delta_text($4),
            CASE WHEN short.role = 0 THEN payer ELSE 'role ' || payer END,
            CASE WHEN $5 IS NOT NULL THEN ' at label ' || discreet._label($5) END,
            CASE WHEN short.delta_limit = 0 THEN 'none'
                 WHEN short.delta_spent >= short.delta_limit / short.bound THEN 'none left'
                 ELSE discreet._delta_text(short.delta_limit / short.bound - short.delta_spent) || ' left' END);
        hint := 'A curator can declare the groups: '
                'SELECT discreet.describe_column(table, column, categories => ARRAY[...])'
                || CASE WHEN short.role = 0 THEN '.' ELSE
                   format('; or give delta: SELECT discreet.grant_budget(%L, %L, %s, %s).', $1, payer, trim_scale(short.epsilon_limit),
                          discreet._delta_text((short.delta_spent + $4) * short.bound)) END;
    END IF;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._shortage(text, oid[], numeric, numeric, bigint) IS
'Which limit a charge would break, if any, in the words of the refusal; and how many limits apply.';

-- discreet._delta_text: a small number as people write it: 1e-8.
CREATE FUNCTION discreet._delta_text(delta numeric)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET extra_float_digits = 1
AS $plpgsql$
BEGIN
    RETURN regexp_replace(delta::float8::text, 'e-0', 'e-');
END
$plpgsql$;
COMMENT ON FUNCTION discreet._delta_text(numeric) IS 'A small number as people write it: 1e-8.';

-- discreet._charge_together: takes charges of one role from the dataset's cap and from every limit that applies to the role, all or
-- none. Of each charge epsilon (what the question is worth), amount (what it costs in the currency of the dataset), delta, question
-- and details are given. Returns NULL when they are paid, and otherwise the refusal, which is not written down. With a label, what
-- was spent at other labels is not looked at, and nothing waits for it.
CREATE FUNCTION discreet._charge_together(dataset text, role name, charges discreet._charge[], label bigint DEFAULT NULL)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
DECLARE
    payers oid[] := discreet._roles_of($2) || 0::oid;
    all_amounts numeric := 0;
    all_deltas numeric := 0;
    paid int;
    short record;
    last_id bigint;
    last_hash bytea;
    charge discreet._charge;
BEGIN
    FOREACH charge IN ARRAY charges LOOP
        IF charge.amount IS NULL OR charge.delta IS NULL
           OR NOT (charge.amount >= 0 AND charge.amount < 'Infinity' AND charge.delta >= 0 AND charge.delta < 1) THEN
            RAISE EXCEPTION 'a charge of amount %, delta %', charge.amount, charge.delta;
        END IF;
        all_amounts := all_amounts + charge.amount;
        all_deltas := all_deltas + charge.delta;
    END LOOP;

    -- charges of one dataset, or label, wait for each other here, so that each sees what the one before it left
    IF label IS NULL THEN
        PERFORM FROM discreet._dataset d WHERE d.dataset = $1 FOR NO KEY UPDATE;
    END IF;
    IF EXISTS (SELECT FROM discreet._dataset d WHERE d.dataset = $1 AND d.period IS NOT NULL) THEN
        -- what does not say which rows it reads is paid by no period
        RETURN jsonb_build_object('message', format('dataset %I has periods, from which only questions of the gate are paid', $1),
                                  'hint', 'Ask in plain SQL, or by discreet.query().');
    END IF;
    IF (label IS NOT NULL) <> discreet._is_multilevel($1) THEN
        RETURN jsonb_build_object('message', format('the tables of dataset %I have got labels, or lost them, meanwhile', $1),
                                  'hint', 'Ask again.');
    END IF;
    IF label IS NULL THEN
        PERFORM FROM discreet._budget b WHERE b.dataset = $1 AND b.granted AND b.role = ANY (payers) FOR UPDATE;
    ELSE
        INSERT INTO discreet._label_spent (dataset, label, role)
        SELECT $1, $4, b.role FROM discreet._budget b
        WHERE b.dataset = $1 AND b.granted AND b.role = ANY (payers) ORDER BY b.role
        ON CONFLICT DO NOTHING;
        PERFORM FROM discreet._label_spent s WHERE s.dataset = $1 AND s.label = $4 AND s.role = 0 FOR UPDATE;
    END IF;

    short := discreet._shortage($1, payers, all_amounts, all_deltas, label);
    IF short.message IS NOT NULL THEN
        RETURN jsonb_build_object('message', short.message, 'hint', short.hint);
    END IF;

    IF label IS NULL THEN
        UPDATE discreet._budget b SET amount_spent = b.amount_spent + all_amounts, delta_spent = b.delta_spent + all_deltas
        WHERE b.dataset = $1 AND b.granted AND b.role = ANY (payers) AND b.amount_spent + all_amounts <= b.amount_limit;
    ELSE
        UPDATE discreet._label_spent s SET amount_spent = s.amount_spent + all_amounts, delta_spent = s.delta_spent + all_deltas
        FROM discreet._budget b
        WHERE s.dataset = $1 AND s.label = $4 AND s.role = b.role AND b.dataset = $1 AND b.granted AND b.role = ANY (payers);
    END IF;
    GET DIAGNOSTICS paid = ROW_COUNT;
    IF paid <> short.limits THEN
        RAISE EXCEPTION USING ERRCODE = 'DP003', MESSAGE = 'a limit was changed while the charge was made',
            HINT = 'Ask again.';
    END IF;
    PERFORM discreet._spend_reserves($1, payers, label, '-infinity', all_amounts, all_deltas);

    SELECT c.id, c.hash INTO last_id, last_hash FROM discreet._charge c
    WHERE c.dataset = $1 AND c.label = coalesce($4, -1) ORDER BY c.id DESC LIMIT 1;
    FOREACH charge IN ARRAY charges LOOP
        charge.dataset := $1;
        charge.label := coalesce($4, -1);
        charge.id := coalesce(last_id, 0) + 1;
        charge.at := clock_timestamp();
        charge.role := $2;
        charge.hash := discreet._charge_hash(last_hash, charge);
        INSERT INTO discreet._charge SELECT charge.*;
        last_id := charge.id;
        last_hash := charge.hash;
    END LOOP;
    RETURN NULL;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._charge_together(text, name, discreet._charge[], bigint) IS
'Takes charges of one role from the dataset''s cap and from every limit that applies to the role, all or none.';

-- discreet._charge: takes one charge, as _charge_together does. Returns NULL when it is paid, and otherwise the refusal, written down.
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
DECLARE
    refusal jsonb := discreet._charge_together($1, $2,
        ARRAY[ROW(NULL, NULL, NULL, NULL, NULL, $3, $4, $5, $6, $7, NULL)::discreet._charge], $8);
BEGIN
    IF refusal IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN discreet._refuse($2, 'DP003', refusal->>'message', refusal->>'hint', $6, $8);
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
           c.first_bad IS NULL AND b.dataset IS NOT NULL AND c.amount = b.amount AND c.delta = b.delta AND p.differs IS NULL,
           c.first_bad,
           CASE WHEN c.first_bad IS NOT NULL THEN 'charge ' || c.first_bad || ' does not fit the one before it'
                WHEN b.dataset IS NULL THEN 'the limit of the dataset is missing'
                WHEN c.amount <> b.amount THEN 'the charges add up to ' || c.amount || ', but ' || b.amount || ' is spent'
                WHEN c.delta <> b.delta THEN 'the deltas add up to ' || c.delta || ', but ' || b.delta || ' is spent'
                WHEN p.differs IS NOT NULL THEN 'the charges of period ' || p.differs || ' do not add up to what is spent in it'
                ELSE 'every charge fits the one before it' END,
           c.head, CASE WHEN c.label >= 0 THEN discreet._label(c.label) END
    FROM chain c LEFT JOIN spent b USING (dataset, label)
    LEFT JOIN LATERAL discreet._period_that_differs(c.dataset) AS p(differs) ON c.label < 0
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
    UNION ALL
    SELECT 'multilevel history at ' || h.label, NULL, h.intact, h.first_bad, h.finding, h.head, NULL
    FROM discreet._verify_history() h
    ORDER BY 1, 7 NULLS FIRST
$sql$;
COMMENT ON FUNCTION discreet.verify_log() IS
'Recomputes the hash chain of every dataset, of the log of multilevel tables (dataset NULL), and of their history at each label that the session sees; names the first charge that does not fit, and the head for keeping elsewhere.';
