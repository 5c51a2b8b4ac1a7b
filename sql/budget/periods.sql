-- What is charged to the periods of a dataset. Why that keeps the promise is in plpython/src/discreet/gate/periods.py.

-- discreet._period_begin: the first day of the period in which a moment lies, in UTC; NULL for one without a date. Months are
-- counted from the year 0, days from Monday 2000-01-03.
CREATE FUNCTION discreet._period_begin(moment timestamp, period interval)
RETURNS date
LANGUAGE plpgsql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    months int := extract(year FROM period) * 12 + extract(month FROM period);
    days int := extract(day FROM period);
    month int;
    day int;
BEGIN
    IF NOT (moment >= '0001-01-01' AND moment < '10000-01-01') THEN
        RETURN NULL;
    END IF;
    IF months > 0 THEN
        month := (extract(year FROM moment) * 12 + extract(month FROM moment) - 1)::int / months * months;
        RETURN CASE WHEN month < 12 THEN '0001-01-01' ELSE make_date(month / 12, month % 12 + 1, 1) END;
    END IF;
    day := moment::date - date '2000-01-03';
    RETURN greatest(date '2000-01-03' + (day - ((day % days) + days) % days), '0001-01-01');
END
$plpgsql$;
COMMENT ON FUNCTION discreet._period_begin(timestamp, interval) IS
'The first day of the period in which a moment lies, in UTC; NULL for one without a date.';

-- discreet._refuse_other_period: refuses an UPDATE that would move a row to another period; its WHEN says which would.
CREATE FUNCTION discreet._refuse_other_period()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = 'check_violation',
        MESSAGE = format('a row of %I.%I would move to another period', TG_TABLE_SCHEMA, TG_TABLE_NAME),
        DETAIL = 'The period of a row is that of its time, and pays for what is asked about the row.',
        HINT = 'Delete the row, and insert it with the other time.';
END
$plpgsql$;
COMMENT ON FUNCTION discreet._refuse_other_period() IS 'Refuses an UPDATE that would move a row to another period.';

-- discreet._keep_periods: makes the trigger that keeps rows of a table in their periods.
CREATE FUNCTION discreet._keep_periods(relation oid, column_name name, period interval)
RETURNS void
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    base text := (SELECT discreet._base_type(a.atttypid, 0) FROM pg_attribute a
                  WHERE a.attrelid = $1 AND a.attname = $2 AND a.attnum > 0 AND NOT a.attisdropped);
    moment text := CASE base WHEN 'timestamp with time zone' THEN format('pg_catalog.timezone(''UTC'', %%s.%I)', $2)
                             ELSE format('%%s.%I::pg_catalog.timestamp', $2) END;
BEGIN
    -- its name is the last one of all, so that no other trigger changes the row after it
    EXECUTE format(
        'CREATE TRIGGER "~discreet_period" BEFORE UPDATE ON %1$s FOR EACH ROW
         WHEN (OLD.%2$I IS DISTINCT FROM NEW.%2$I
               AND discreet._period_begin(%3$s, %5$L::pg_catalog.interval)
                   IS DISTINCT FROM discreet._period_begin(%4$s, %5$L::pg_catalog.interval))
         EXECUTE FUNCTION discreet._refuse_other_period()',
        $1::regclass, $2, format(moment, 'OLD'), format(moment, 'NEW'), $3);
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER "~discreet_period"', $1::regclass);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._keep_periods(oid, name, interval) IS
'Makes the trigger that keeps rows of a table in their periods.';

-- discreet._release_periods: takes that trigger away.
CREATE FUNCTION discreet._release_periods(relation oid)
RETURNS void
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    IF EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = $1 AND t.tgname = '~discreet_period') THEN
        EXECUTE format('DROP TRIGGER "~discreet_period" ON %s', $1::regclass);
    END IF;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._release_periods(oid) IS 'Takes the trigger away that keeps rows of a table in their periods.';

-- discreet._keeps_periods: whether that trigger watches all rows of a table.
CREATE FUNCTION discreet._keeps_periods(relation oid)
RETURNS boolean
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    RETURN (
        WITH RECURSIVE part(oid) AS (
            SELECT $1 UNION SELECT h.inhrelid FROM part p JOIN pg_inherits h ON h.inhparent = p.oid)
        SELECT bool_and(EXISTS (
            SELECT FROM pg_trigger t
            WHERE t.tgrelid = c.oid AND t.tgfoid = 'discreet._refuse_other_period()'::regprocedure AND t.tgenabled IN ('O', 'A')))
        FROM part p JOIN pg_class c ON c.oid = p.oid WHERE c.relkind <> 'p');
END
$plpgsql$;
COMMENT ON FUNCTION discreet._keeps_periods(oid) IS 'Whether every row of a table is kept in its period by a trigger.';

-- discreet._refuse_changed_period: a dataset keeps its periods: others would open anew what was spent.
CREATE FUNCTION discreet._refuse_changed_period()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = 'object_not_in_prerequisite_state',
        MESSAGE = format('the period of dataset %I cannot be changed', OLD.dataset),
        DETAIL = 'What was spent in the periods before would count in none of the new ones.',
        HINT = 'Create another dataset for other people.';
END
$plpgsql$;
COMMENT ON FUNCTION discreet._refuse_changed_period() IS 'Refuses to change the period of a dataset.';

CREATE TRIGGER _refuse_changed_period BEFORE UPDATE ON discreet._dataset FOR EACH ROW
WHEN (OLD.period IS DISTINCT FROM NEW.period OR OLD.period::text IS DISTINCT FROM NEW.period::text)
EXECUTE FUNCTION discreet._refuse_changed_period();
ALTER TABLE discreet._dataset ENABLE ALWAYS TRIGGER _refuse_changed_period;

-- discreet._ledger_opened: the first and the last period that the ledger has opened, that of the day on which the dataset was made,
-- and that of today; the latter two are always open.
CREATE FUNCTION discreet._ledger_opened(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    RETURN (
        SELECT jsonb_build_array(
            least(made, (SELECT s.period FROM discreet._period_spent s
                         WHERE s.role = 0 AND s.dataset = d.dataset AND s.period > '-infinity' ORDER BY s.period LIMIT 1)),
            greatest(today, (SELECT s.period FROM discreet._period_spent s
                             WHERE s.role = 0 AND s.dataset = d.dataset AND s.period < 'infinity' ORDER BY s.period DESC LIMIT 1)),
            made, today)
        FROM discreet._dataset d,
             LATERAL (SELECT discreet._period_begin(d.created_at AT TIME ZONE 'UTC', d.period),
                             discreet._period_begin(clock_timestamp() AT TIME ZONE 'UTC', d.period)) AS always(made, today)
        WHERE d.dataset = request->>'dataset' AND d.period IS NOT NULL);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_opened(jsonb) IS
'The first and the last period that the ledger has opened for a dataset, that in which it was made, and that of today.';

-- discreet._periods_of: the periods of a request, in order.
CREATE FUNCTION discreet._periods_of(request jsonb)
RETURNS date[]
LANGUAGE plpgsql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET DateStyle = 'ISO, MDY'
AS $plpgsql$
BEGIN
    RETURN ARRAY(SELECT DISTINCT p::date FROM jsonb_array_elements_text(request->'periods') p ORDER BY 1);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._periods_of(jsonb) IS 'The periods of a request, in order.';

-- discreet._period_dues: what requests take from each period together; the lifetime is called infinity.
CREATE FUNCTION discreet._period_dues(requests jsonb)
RETURNS TABLE (period date, amount numeric, delta numeric)
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT due.period, sum(due.amount), sum(due.delta)
    FROM jsonb_array_elements(requests) r,
         LATERAL (SELECT p, (r->>'amount')::numeric, (r->>'delta')::numeric FROM unnest(discreet._periods_of(r)) p
                  UNION ALL SELECT 'infinity', (r->'lifetime'->>'amount')::numeric, (r->'lifetime'->>'delta')::numeric
                  WHERE jsonb_typeof(r->'lifetime') = 'object') AS due(period, amount, delta)
    GROUP BY due.period
$sql$;
COMMENT ON FUNCTION discreet._period_dues(jsonb) IS 'What requests take from each period together; the lifetime is called infinity.';

-- discreet._period_lines: each line of a limit that requests touch: what the limit is, without what of it is kept for other roles,
-- what is spent of it, what is due.
CREATE FUNCTION discreet._period_lines(dataset text, payers oid[], requests jsonb)
RETURNS TABLE (
    role oid, period date, forever boolean, amount_limit numeric, delta_limit numeric, amount_spent numeric, delta_spent numeric,
    amount_due numeric, delta_due numeric, amount_kept numeric, delta_kept numeric)
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT l.role, l.period, false, l.amount_limit - coalesce(k.amount, 0), l.delta_limit - coalesce(k.delta, 0),
           l.amount_spent, l.delta_spent, l.amount_due, l.delta_due, coalesce(k.amount, 0), coalesce(k.delta, 0)
    FROM (SELECT b.role::oid AS role, due.period,
                 -- of the lifetime, a role has the part that it has of every period
                 CASE WHEN due.period < 'infinity' THEN b.amount_limit
                      WHEN b.role = 0 THEN d.lifetime_amount
                      ELSE b.amount_limit * d.lifetime_amount / cap.amount_limit END AS amount_limit,
                 b.delta_limit / CASE d.accounting WHEN 'zcdp' THEN 2 ELSE 1 END AS delta_limit,
                 coalesce(s.amount_spent, 0) AS amount_spent, coalesce(s.delta_spent, 0) AS delta_spent,
                 due.amount AS amount_due, due.delta AS delta_due
          FROM discreet._budget b
          JOIN discreet._dataset d USING (dataset)
          JOIN discreet._budget cap ON cap.dataset = b.dataset AND cap.role = 0
          CROSS JOIN discreet._period_dues($3) due
          LEFT JOIN discreet._period_spent s ON s.dataset = b.dataset AND s.role = b.role AND s.period = due.period
          WHERE b.dataset = $1 AND b.granted AND b.role = ANY ($2) AND NOT (b.forever AND due.period < 'infinity')) l
    -- of the cap, what is kept for others is not there
    LEFT JOIN LATERAL discreet._kept_for_others(
        $1, $2, NULL, l.period, l.amount_limit - l.amount_spent, l.delta_limit - l.delta_spent) k ON l.role = 0
    UNION ALL
    SELECT b.role::oid, NULL, true, b.amount_limit, b.delta_limit / CASE d.accounting WHEN 'zcdp' THEN 2 ELSE 1 END,
           b.amount_spent, b.delta_spent, due.amount, due.delta, 0, 0
    FROM discreet._budget b JOIN discreet._dataset d USING (dataset)
    CROSS JOIN (SELECT sum((r->>'amount')::numeric), sum((r->>'delta')::numeric) FROM jsonb_array_elements($3) r) AS due(amount, delta)
    WHERE b.dataset = $1 AND b.granted AND b.role = ANY ($2) AND b.forever
$sql$;
COMMENT ON FUNCTION discreet._period_lines(text, oid[], jsonb) IS
'Each line of a limit that requests touch: what the limit is, what is spent of it, what is due.';

-- discreet._period_name: what people call a period.
CREATE FUNCTION discreet._period_name(period date)
RETURNS text
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET DateStyle = 'ISO, MDY'
AS $sql$
    SELECT CASE period WHEN '-infinity' THEN 'undated' WHEN 'infinity' THEN 'lifetime' ELSE period::text END
$sql$;
COMMENT ON FUNCTION discreet._period_name(date) IS 'What people call a period: its first day, undated, or lifetime.';

-- discreet._period_shortage: which limit a charge would break, if any, in the words of the refusal: who has used up what, and the
-- nearest periods of which enough is left.
CREATE FUNCTION discreet._period_shortage(
    dataset text, payers oid[], requests jsonb, OUT message text, OUT hint text)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    capped boolean;
    held interval;
    short record;
    payer text;
    dry date[];
    place int;
    begins date;
    ends date;
    tried date;
    asked date[] := ARRAY(SELECT d.period FROM discreet._period_dues($3) d WHERE d.period < 'infinity' ORDER BY 1);
    most jsonb;
BEGIN
    SELECT d.period INTO held FROM discreet._dataset d WHERE d.dataset = $1;
    IF NOT FOUND THEN
        message := format('there is no dataset %I to pay from', $1);
        hint := format('A curator makes it with discreet.create_dataset(%L, epsilon).', $1);
        RETURN;
    END IF;
    SELECT EXISTS (SELECT FROM discreet._budget b WHERE b.dataset = $1 AND b.role = 0 AND b.granted) INTO capped;
    IF 0::oid = ANY ($2) AND NOT capped THEN
        message := format('the limit of dataset %I is missing', $1);
        hint := 'An administrator finds out with discreet.check_installation().';
        RETURN;
    END IF;
    -- the dataset's own cap comes first, then the limit that most periods break
    SELECT l.role, l.forever, bool_and(l.amount_spent + l.amount_due <= l.amount_limit) AS amount_enough,
           l.period = 'infinity' AS lifetime, max(l.delta_limit) AS delta_limit, max(l.delta_due) AS delta_due,
           bool_and(l.amount_spent + l.amount_due <= l.amount_limit + l.amount_kept
                    AND l.delta_spent + l.delta_due <= l.delta_limit + l.delta_kept) AS kept
    INTO short
    FROM discreet._period_lines($1, $2, $3) l
    WHERE NOT (l.amount_spent + l.amount_due <= l.amount_limit AND l.delta_spent + l.delta_due <= l.delta_limit)
    GROUP BY l.role, l.forever, l.period = 'infinity'
    ORDER BY l.role, l.period = 'infinity' NULLS FIRST LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    payer := CASE WHEN short.role = 0 THEN format('dataset %I', $1)
                  ELSE format('%s in dataset %I', short.role::regrole, $1) END;
    IF short.forever THEN
        message := format('the budget of %s is exhausted', payer);
        hint := 'View discreet.budget_status shows what is left; a smaller epsilon costs less.';
        RETURN;
    END IF;
    IF short.lifetime THEN
        message := format(CASE WHEN short.kept THEN 'what %s has left for tables without a time is kept for other roles'
                               WHEN short.amount_enough THEN 'the delta of %s for tables without a time is exhausted'
                               ELSE 'the budget of %s for tables without a time is exhausted' END, payer);
        hint := 'Ask about tables with a time alone, or about fewer periods: each of them counts.';
        RETURN;
    END IF;

    SELECT array_agg(l.period ORDER BY l.period) INTO dry
    FROM discreet._period_lines($1, $2, $3) l
    WHERE l.period < 'infinity'
      AND NOT (l.amount_spent + l.amount_due <= l.amount_limit AND l.delta_spent + l.delta_due <= l.delta_limit);
    dry := ARRAY(SELECT DISTINCT p FROM unnest(dry) p ORDER BY p);
    message := format(
        CASE WHEN short.kept THEN 'what %1$s has left in %2$s is kept for other roles'
             WHEN short.amount_enough THEN 'this question needs delta %3$s for groups that are not declared, which %1$s has not left in %2$s'
             ELSE 'the budget of %1$s is exhausted in %2$s' END,
        payer,
        array_to_string(ARRAY(SELECT discreet._period_name(p) FROM unnest(dry[1:3]) p), ', ')
        || CASE WHEN cardinality(dry) > 3 THEN format(' and %s more periods', cardinality(dry) - 3) ELSE '' END,
        discreet._delta_text(short.delta_due));

    -- of the periods of the question, the last of those that are enough, and those before it; else the next one that is enough
    FOR place IN REVERSE cardinality(asked) .. 1 LOOP
        CONTINUE WHEN asked[place] = '-infinity';
        IF asked[place] = ANY (dry) THEN
            EXIT WHEN begins IS NOT NULL;
        ELSIF begins IS NULL OR asked[place] + held = begins THEN
            ends := coalesce(ends, asked[place] + held);
            begins := asked[place];
        END IF;
    END LOOP;
    IF begins IS NULL THEN
        tried := (SELECT max(p) FROM unnest(asked) p WHERE p > '-infinity');
        most := (SELECT jsonb_build_object('amount', max(d.amount), 'delta', max(d.delta))
                 FROM discreet._period_dues($3) d WHERE d.period < 'infinity');
        FOR n IN 1 .. 100 LOOP
            tried := tried + held;
            IF NOT EXISTS (
                SELECT FROM discreet._period_lines($1, $2, jsonb_build_array(most || jsonb_build_object('periods', ARRAY[tried]))) l
                WHERE NOT (l.amount_spent + l.amount_due <= l.amount_limit AND l.delta_spent + l.delta_due <= l.delta_limit)) THEN
                begins := tried;
                ends := tried + held;
                EXIT;
            END IF;
        END LOOP;
    END IF;
    hint := CASE WHEN begins IS NULL AND short.kept THEN
                     'View discreet.budget_status shows what is kept, and until when; a smaller epsilon costs less.'
                 WHEN begins IS NULL THEN 'A smaller epsilon costs less.'
                 ELSE format('There is enough left from %s to before %s: compare the time with these dates, or ask with a smaller epsilon.',
                             discreet._period_name(begins), discreet._period_name(ends)) END;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._period_shortage(text, oid[], jsonb) IS
'Which limit a charge of periods would break, if any, in the words of the refusal.';

-- discreet._charge_periods: takes one charge from each period that it names and from the lifetime, of the dataset's cap and of
-- every limit that applies to the role, all or none. Returns NULL when it is paid, and otherwise the refusal, written down.
CREATE FUNCTION discreet._charge_periods(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
DECLARE
    people text := request->>'dataset';
    asker name := request->>'role';
    payers oid[] := discreet._roles_of((request->>'role')::name) || 0::oid;
    due_periods date[] := discreet._periods_of(request);
    short record;
    held interval;
    charge discreet._charge;
BEGIN
    IF (SELECT bool_and(amount IS NOT NULL AND delta IS NOT NULL AND amount >= 0 AND amount < 'Infinity' AND delta >= 0 AND delta < 1)
        FROM discreet._period_dues(jsonb_build_array(request))) IS NOT TRUE
       OR NOT ((request->>'amount')::numeric >= 0 AND (request->>'delta')::numeric >= 0) OR 'infinity' = ANY (due_periods) THEN
        RAISE EXCEPTION 'a charge of amount %, delta %, lifetime % to periods %',
            request->'amount', request->'delta', request->'lifetime', request->'periods';
    END IF;
    -- charges of one dataset wait for each other here, so that each sees what the one before it left
    SELECT d.period INTO held FROM discreet._dataset d WHERE d.dataset = people FOR NO KEY UPDATE;
    IF held IS DISTINCT FROM (request->>'period')::interval OR discreet._is_multilevel(people)
       OR EXISTS (SELECT FROM unnest(due_periods) p WHERE p > '-infinity' AND discreet._period_begin(p::timestamp, held) <> p) THEN
        RETURN discreet._refuse(asker, 'DP003', format('the periods of dataset %I have changed meanwhile', people), 'Ask again.',
                                request->>'question');
    END IF;
    PERFORM FROM discreet._budget b WHERE b.dataset = people AND b.granted AND b.role = ANY (payers) FOR UPDATE;
    short := discreet._period_shortage(people, payers, jsonb_build_array(request));
    IF short.message IS NOT NULL THEN
        RETURN discreet._refuse(asker, 'DP003', short.message, short.hint, request->>'question');
    END IF;

    INSERT INTO discreet._period_spent AS s (dataset, period, role, amount_spent, delta_spent)
    SELECT people, due.period, b.role, due.amount, due.delta
    FROM discreet._budget b CROSS JOIN discreet._period_dues(jsonb_build_array(request)) due
    WHERE b.dataset = people AND b.granted AND b.role = ANY (payers)
    ON CONFLICT (role, dataset, period) DO UPDATE SET
        amount_spent = s.amount_spent + excluded.amount_spent, delta_spent = s.delta_spent + excluded.delta_spent;
    PERFORM discreet._spend_reserves(people, payers, NULL, due.period, due.amount, due.delta)
    FROM discreet._period_dues(jsonb_build_array(request)) due;
    UPDATE discreet._budget b
    SET amount_spent = b.amount_spent + (request->>'amount')::numeric, delta_spent = b.delta_spent + (request->>'delta')::numeric
    WHERE b.dataset = people AND b.granted AND b.role = ANY (payers);

    SELECT c.id, c.hash INTO charge.id, charge.hash FROM discreet._charge c
    WHERE c.dataset = people AND c.label = -1 ORDER BY c.id DESC LIMIT 1;
    charge := ROW(people, -1, coalesce(charge.id, 0) + 1, clock_timestamp(), asker, (request->>'epsilon')::numeric,
                  (request->>'amount')::numeric, (request->>'delta')::numeric, request->>'question',
                  request->'details' || jsonb_build_object('periods', due_periods, 'lifetime', request->'lifetime'),
                  charge.hash)::discreet._charge;
    charge.hash := discreet._charge_hash(charge.hash, charge);
    INSERT INTO discreet._charge SELECT charge.*;
    RETURN NULL;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._charge_periods(jsonb) IS
'Takes one charge from each period that it names and from the lifetime, all or none.';

-- discreet._period_that_differs: the first period of a dataset in which another amount is spent than its charges say.
CREATE FUNCTION discreet._period_that_differs(dataset text)
RETURNS text
LANGUAGE sql
STABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT discreet._period_name(min(period))
    FROM (SELECT s.period, s.amount_spent AS amount, s.delta_spent AS delta FROM discreet._period_spent s
          WHERE s.dataset = $1 AND s.role = 0) AS spent
    FULL JOIN (SELECT d.* FROM (
                   SELECT jsonb_agg(c.details || jsonb_build_object('amount', c.amount, 'delta', c.delta)) AS charges
                   FROM discreet._charge c WHERE c.dataset = $1 AND c.details ? 'periods') AS all_of_them,
               LATERAL discreet._period_dues(all_of_them.charges) d) AS charged USING (period)
    WHERE spent.amount IS DISTINCT FROM charged.amount OR spent.delta IS DISTINCT FROM charged.delta
$sql$;
COMMENT ON FUNCTION discreet._period_that_differs(text) IS
'The first period of a dataset in which another amount is spent than its charges say.';

-- discreet._left_in_periods: what is left in the periods of a request, as _ledger_left tells it: the least of them.
CREATE FUNCTION discreet._left_in_periods(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    payers oid[] := discreet._roles_of((request->>'role')::name);
BEGIN
    RETURN (
        SELECT jsonb_build_object(
            'left_for_dataset', trim_scale(min(l.amount_limit - l.amount_spent) FILTER (WHERE l.role = 0))::text,
            'left_for_role', trim_scale(min(l.amount_limit - l.amount_spent) FILTER (WHERE l.role <> 0))::text,
            'lines', jsonb_agg(jsonb_build_object(
                'epsilon_limit', CASE l.period WHEN 'infinity' THEN round(b.epsilon_limit * d.lifetime_epsilon / cap.epsilon_limit, 20)
                                               ELSE b.epsilon_limit END::text,
                'spent', l.amount_spent::text, 'delta_left', (l.delta_limit - l.delta_spent)::text))
                FILTER (WHERE l.role <> 0))
        FROM discreet._period_lines(request->>'dataset', payers || 0::oid, jsonb_build_array(request)) l
        JOIN discreet._budget b ON b.dataset = request->>'dataset' AND b.role = l.role
        JOIN discreet._budget cap ON cap.dataset = b.dataset AND cap.role = 0
        JOIN discreet._dataset d ON d.dataset = b.dataset);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._left_in_periods(jsonb) IS 'What is left in the periods of a request.';
