-- Parts of a dataset's budget that are kept for a role. They change who may spend what of the dataset's cap, never how much is
-- spent of it: every charge is still held against the whole cap, so a reserve has no part in the promise.

-- discreet._reserves_left: of each reserve that has not ended, what is left of it in a period, oldest first: what was not yet
-- spent of it, as far as the cap has it after the reserves before it. A dataset without periods has one, -infinity.
CREATE FUNCTION discreet._reserves_left(
    dataset text, label bigint, period date, amount_left numeric, delta_left numeric)
RETURNS TABLE (role oid, until timestamptz, amount numeric, delta numeric)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH kept AS (
        -- of the lifetime, a reserve has the part that it has of every period
        SELECT r.role::oid AS role, r.until, r.made_at,
               greatest(CASE WHEN $3 = 'infinity' THEN r.amount * d.lifetime_amount / b.amount_limit ELSE r.amount END
                        - coalesce(s.amount_spent, 0), 0) AS amount,
               greatest(r.delta - coalesce(s.delta_spent, 0), 0) AS delta
        FROM discreet._reserve r
        JOIN discreet._dataset d ON d.dataset = r.dataset
        JOIN discreet._budget b ON b.role = 0 AND b.dataset = r.dataset
        LEFT JOIN discreet._reserve_spent s
               ON s.dataset = r.dataset AND s.role = r.role AND s.label = coalesce($2, -1) AND s.period = $3
        WHERE r.dataset = $1 AND r.until > clock_timestamp()
          AND EXISTS (SELECT FROM pg_roles p WHERE p.oid = r.role))
    SELECT k.role, k.until,
           greatest(least(k.amount, $4 - coalesce(sum(k.amount) OVER older, 0)), 0),
           greatest(least(k.delta, $5 - coalesce(sum(k.delta) OVER older, 0)), 0)
    FROM kept k
    WINDOW older AS (ORDER BY k.made_at, k.role ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._reserves_left(text, bigint, date, numeric, numeric) IS
'Of each reserve of a dataset that has not ended, what is left of it in a period.';

-- discreet._kept_for_others: how much of what a cap has left in a period is kept for roles that do not pay.
CREATE FUNCTION discreet._kept_for_others(
    dataset text, payers oid[], label bigint, period date, amount_left numeric, delta_left numeric,
    OUT amount numeric, OUT delta numeric)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    amount := 0;
    delta := 0;
    IF EXISTS (SELECT FROM discreet._reserve r WHERE r.dataset = $1) THEN
        SELECT coalesce(sum(k.amount), 0), coalesce(sum(k.delta), 0) INTO amount, delta
        FROM discreet._reserves_left($1, $3, $4, $5, $6) k WHERE NOT k.role = ANY ($2);
    END IF;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._kept_for_others(text, oid[], bigint, date, numeric, numeric) IS
'How much of what a cap has left in a period is kept for roles that do not pay.';

-- discreet._spend_reserves: writes down what a charge takes of the reserves of those who pay, those that end first before others.
CREATE FUNCTION discreet._spend_reserves(
    dataset text, payers oid[], label bigint, period date, amount numeric, delta numeric)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
DECLARE
    mine record;
    amount_due numeric := $5;
    delta_due numeric := $6;
BEGIN
    IF NOT EXISTS (SELECT FROM discreet._reserve r WHERE r.dataset = $1 AND r.role = ANY (payers)) THEN
        RETURN;
    END IF;
    FOR mine IN
        SELECT k.* FROM discreet._reserves_left($1, $3, $4, 'Infinity', 'Infinity') k
        WHERE k.role = ANY (payers) ORDER BY k.until, k.role LOOP
        INSERT INTO discreet._reserve_spent AS s (dataset, role, label, period, amount_spent, delta_spent)
        VALUES ($1, mine.role, coalesce($3, -1), $4, least(mine.amount, amount_due), least(mine.delta, delta_due))
        ON CONFLICT (dataset, role, label, period) DO UPDATE SET
            amount_spent = s.amount_spent + excluded.amount_spent, delta_spent = s.delta_spent + excluded.delta_spent;
        amount_due := greatest(amount_due - mine.amount, 0);
        delta_due := greatest(delta_due - mine.delta, 0);
        EXIT WHEN amount_due = 0 AND delta_due = 0;
    END LOOP;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._spend_reserves(text, oid[], bigint, date, numeric, numeric) IS
'Writes down what a charge takes of the reserves of those who pay.';

-- discreet._log_act: writes an act of a curator into the log of charges of a dataset; it costs nothing.
CREATE FUNCTION discreet._log_act(dataset text, question text, details jsonb)
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
    charge discreet._charge;
    last_id bigint;
    last_hash bytea;
BEGIN
    -- as every charge does
    PERFORM FROM discreet._dataset d WHERE d.dataset = $1 FOR NO KEY UPDATE;
    SELECT c.id, c.hash INTO last_id, last_hash FROM discreet._charge c
    WHERE c.dataset = $1 AND c.label = -1 ORDER BY c.id DESC LIMIT 1;
    charge := ROW($1, -1, coalesce(last_id, 0) + 1, clock_timestamp(),
                  (SELECT r.rolname FROM pg_roles r WHERE r.oid = discreet._caller()), 0, 0, 0, $2, $3, NULL)::discreet._charge;
    charge.hash := discreet._charge_hash(last_hash, charge);
    INSERT INTO discreet._charge SELECT charge.*;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._log_act(text, text, jsonb) IS 'Writes an act of a curator into the log of charges of a dataset.';

-- discreet._keep_reserve: keeps a part of the cap for a role, instead of what was kept for it before. Returns how much of the cap is
-- not spent and not kept for others, and writes nothing where that is too little. What happens at the same time waits for the lock.
CREATE FUNCTION discreet._keep_reserve(dataset text, role oid, epsilon numeric, amount numeric, until timestamptz)
RETURNS numeric
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET DateStyle = 'ISO, MDY'
AS $plpgsql$
#variable_conflict use_column
DECLARE
    cap record;
    free numeric;
    ends text := CASE WHEN isfinite($5) THEN ($5 AT TIME ZONE 'UTC')::text || '+00' ELSE $5::text END;
BEGIN
    PERFORM FROM discreet._dataset d WHERE d.dataset = $1 FOR NO KEY UPDATE;
    SELECT b.amount_limit, b.amount_spent, b.delta_limit / CASE d.accounting WHEN 'zcdp' THEN 2 ELSE 1 END AS delta_limit,
           d.period IS NULL AND NOT discreet._is_multilevel($1) AS single
    INTO cap
    FROM discreet._budget b JOIN discreet._dataset d USING (dataset)
    WHERE b.dataset = $1 AND b.role = 0 FOR UPDATE OF b;
    -- each period, and each label, has the cap to itself, and a new one has spent nothing
    free := CASE WHEN cap.single THEN
        cap.amount_limit - cap.amount_spent - coalesce((
            SELECT sum(k.amount) FROM discreet._reserves_left($1, NULL, '-infinity', 'Infinity', 1) k WHERE k.role <> $2), 0)
    ELSE
        cap.amount_limit - coalesce((
            SELECT sum(r.amount) FROM discreet._reserve r
            WHERE r.dataset = $1 AND r.role <> $2 AND r.until > clock_timestamp()
              AND EXISTS (SELECT FROM pg_roles p WHERE p.oid = r.role)), 0)
    END;
    IF amount > free THEN
        RETURN free;
    END IF;
    DELETE FROM discreet._reserve_spent s WHERE s.dataset = $1 AND s.role = $2;
    DELETE FROM discreet._reserve r WHERE r.dataset = $1 AND r.role = $2;
    INSERT INTO discreet._reserve (dataset, role, epsilon, amount, delta, until)
    VALUES ($1, $2, $3, $4, cap.delta_limit * $4 / cap.amount_limit, $5);
    PERFORM discreet._log_act(
        $1, format('SELECT discreet.reserve_budget(%L, %L, %s, %L)', $1, $2::regrole, $3, ends),
        jsonb_build_object('act', 'reserve_budget', 'for', $2::regrole::text, 'epsilon', $3::text, 'until', ends));
    RETURN free;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._keep_reserve(text, oid, numeric, numeric, timestamptz) IS
'Keeps a part of a dataset''s cap for a role; returns how much of it there was to keep.';

-- discreet._end_reserve: ends what is kept for a role; whether there was something.
CREATE FUNCTION discreet._end_reserve(dataset text, role oid)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    PERFORM FROM discreet._dataset d WHERE d.dataset = $1 FOR NO KEY UPDATE;
    DELETE FROM discreet._reserve_spent s WHERE s.dataset = $1 AND s.role = $2;
    DELETE FROM discreet._reserve r WHERE r.dataset = $1 AND r.role = $2;
    IF FOUND THEN
        PERFORM discreet._log_act($1, format('SELECT discreet.release_budget(%L, %L)', $1, $2::regrole),
                                  jsonb_build_object('act', 'release_budget', 'for', $2::regrole::text));
        RETURN true;
    END IF;
    RETURN false;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._end_reserve(text, oid) IS 'Ends what is kept for a role; whether there was something.';

-- discreet.reserve_budget: keeps a part of a dataset's budget for a role and its members.
CREATE FUNCTION discreet.reserve_budget(dataset text, role regrole, epsilon numeric, until timestamptz)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.reserve_budget(plpy, dataset, role, epsilon, until)
$python$;
COMMENT ON FUNCTION discreet.reserve_budget(text, regrole, numeric, timestamptz) IS
'Keeps a part of a dataset''s budget, of each period, for a role and its members until a moment; instead of what was kept for it before.';

-- discreet.release_budget: gives back to all roles what is kept for one.
CREATE FUNCTION discreet.release_budget(dataset text, role regrole)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.release_budget(plpy, dataset, role)
$python$;
COMMENT ON FUNCTION discreet.release_budget(text, regrole) IS
'Ends, before its time, what reserve_budget() keeps for a role; what was spent of it stays spent.';
