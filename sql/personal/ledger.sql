-- The ledger's side of questions that people pay for themselves.

-- discreet._ledger_charge_personal: writes a question down, and takes its price from the limits of the role; the dataset's own
-- cap is not touched, for its people pay each for themselves.
CREATE FUNCTION discreet._ledger_charge_personal(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    asker name := request->>'role';
    people text := request->>'dataset';
    price numeric := request->>'epsilon';
    payers oid[] := discreet._roles_of(asker);
    short record;
    refusal jsonb;
BEGIN
    IF NOT discreet._holds_budget(asker, people) THEN
        RETURN discreet._refuse(asker, 'DP004', format('%s holds no budget in dataset %I', asker, people),
            format('A curator can give one: discreet.grant_budget(%L, role, epsilon).', people), request->>'question');
    END IF;
    PERFORM FROM discreet._dataset d WHERE d.dataset = people FOR NO KEY UPDATE;
    PERFORM FROM discreet._budget b WHERE b.dataset = people AND b.granted AND b.role = ANY (payers) FOR UPDATE;
    short := discreet._shortage(people, payers, price, 0);
    IF short.message IS NOT NULL THEN
        RETURN discreet._refuse(asker, 'DP003', short.message, short.hint, request->>'question');
    END IF;
    refusal := discreet._charge(people, asker, price, 0, 0, request->>'question', request->'details' || '{"policy": "personal"}');
    IF refusal IS NOT NULL THEN
        RETURN refusal;
    END IF;
    UPDATE discreet._budget b SET amount_spent = b.amount_spent + price
    WHERE b.dataset = people AND b.granted AND b.role = ANY (payers);
    RETURN discreet._ledger_left(request);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_charge_personal(jsonb) IS
'Writes a question of policy personal down, and takes its price from the limits of the role.';

-- discreet._personal_head: the head of a dataset's ledger, locked until the end of the transaction; made if there is none.
CREATE FUNCTION discreet._personal_head(dataset text)
RETURNS discreet._personal_ledger
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
DECLARE
    head discreet._personal_ledger;
BEGIN
    SELECT l.* INTO head FROM discreet._personal_ledger l WHERE l.dataset = $1 FOR UPDATE;
    IF NOT FOUND THEN
        LOCK TABLE discreet._personal_ledger IN SHARE ROW EXCLUSIVE MODE;
        INSERT INTO discreet._personal_ledger (dataset, ledger)
        SELECT $1, coalesce(max(l.ledger), 0) + 1 FROM discreet._personal_ledger l
        ON CONFLICT (dataset) DO NOTHING;
        SELECT l.* INTO STRICT head FROM discreet._personal_ledger l WHERE l.dataset = $1 FOR UPDATE;
    END IF;
    RETURN head;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._personal_head(text) IS 'The head of a dataset''s ledger, locked; made if there is none.';

-- discreet._personal_append: gives the next numbers to a list of people, and returns the new digest.
CREATE FUNCTION discreet._personal_append(head discreet._personal_ledger, units bytea)
RETURNS bytea
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    per_page constant int := 1350;
    numbered int := head.people + discreet._personal_number(units);
    after bytea := sha256(head.digest || units);
BEGIN
    INSERT INTO discreet._personal_people VALUES (head.ledger, head.people, units, after);
    INSERT INTO discreet._personal_page
    SELECT head.ledger, n, discreet._personal_blank()
    FROM generate_series((head.people + per_page - 1) / per_page, (numbered + per_page - 1) / per_page - 1) n;
    UPDATE discreet._personal_ledger l SET people = numbered, digest = after WHERE l.ledger = head.ledger;
    RETURN after;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._personal_append(discreet._personal_ledger, bytea) IS
'Gives the next numbers to a list of people.';

-- discreet._ledger_personal_people: the people who came after those of a digest, or all people. Answer: a byte (1: all people), the digest, a list.
CREATE FUNCTION discreet._ledger_personal_people(request jsonb, bytes bytea)
RETURNS bytea
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    head discreet._personal_ledger := discreet._personal_head(request->>'dataset');
    seen bytea := decode(request->>'digest', 'hex');
    after int;
BEGIN
    SELECT max(p.first) INTO after FROM discreet._personal_people p WHERE p.ledger = head.ledger AND p.digest = seen;
    RETURN CASE WHEN after IS NULL THEN '\x01'::bytea ELSE '\x00' END || head.digest || coalesce((
        SELECT string_agg(p.units, '' ORDER BY p.first) FROM discreet._personal_people p
        WHERE p.ledger = head.ledger AND p.first > coalesce(after, -1)), '');
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_personal_people(jsonb, bytea) IS 'The people who came after those of a digest, or all people.';

-- discreet._ledger_personal_add: numbers people; NULL when the asker does not know the people who are numbered already.
CREATE FUNCTION discreet._ledger_personal_add(request jsonb, bytes bytea)
RETURNS bytea
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    head discreet._personal_ledger := discreet._personal_head(request->>'dataset');
BEGIN
    IF head.digest IS DISTINCT FROM decode(request->>'digest', 'hex') THEN
        RETURN NULL;
    END IF;
    RETURN discreet._personal_append(head, bytes);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_personal_add(jsonb, bytea) IS 'Gives numbers to people.';

-- discreet._ledger_personal_pay: takes the price of a question from the people who can pay it; bytes: the rows of each person that take part.
-- NULL when the asker does not know the people who are numbered already. All pages are written, no matter which people pay.
CREATE FUNCTION discreet._ledger_personal_pay(request jsonb, bytes bytea)
RETURNS bytea
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    head discreet._personal_ledger := discreet._personal_head(request->>'dataset');
    budget int;
    exceptions record;
    paid bytea;
BEGIN
    IF head.digest IS DISTINCT FROM decode(request->>'digest', 'hex') THEN
        RETURN NULL;
    END IF;
    SELECT trunc(p.unit_epsilon * 100000) INTO STRICT budget
    FROM discreet._protected_table p JOIN pg_class c ON c.oid = p.relation JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = request->>'schema' AND c.relname = request->>'table' AND p.policy = 'personal' AND p.dataset = head.dataset;
    SELECT coalesce(array_agg(b.number ORDER BY b.number), '{}') AS numbers,
           coalesce(array_agg(b.budget ORDER BY b.number), '{}') AS budgets INTO exceptions
    FROM discreet._personal_budget b WHERE b.ledger = head.ledger;
    paid := discreet._personal_pay(head.ledger, head.applied, head.people, bytes, (request->>'price')::bigint, budget,
                                   exceptions.numbers, exceptions.budgets);
    UPDATE discreet._personal_ledger l SET applied = head.applied + 1 WHERE l.ledger = head.ledger;
    RETURN paid;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_personal_pay(jsonb, bytea) IS 'Takes the price of a question from who can pay it.';
