-- discreet._protection_of: the protected table whose rows a scan of the relation reads: itself, or the whole it is a part of.
CREATE FUNCTION discreet._protection_of(relation oid)
RETURNS SETOF discreet._protected_table
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
    WITH RECURSIVE ancestor(relation, height) AS (
        SELECT $1, 0 UNION SELECT i.inhparent, a.height + 1 FROM pg_inherits i JOIN ancestor a ON i.inhrelid = a.relation)
    -- OFFSET 0: each is looked up, however many protected tables there are
    SELECT p.* FROM ancestor a, LATERAL (SELECT * FROM discreet._protected_table t WHERE t.relation = a.relation OFFSET 0) p
    WHERE p.policy <> 'public'
    ORDER BY a.height DESC LIMIT 1;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._protection_of(oid) IS
'The protected table whose rows a scan of the relation reads: itself, or the whole it is a part of.';

-- discreet._never_null: whether no row has NULL in a column. Since PostgreSQL 18 a NOT NULL may be NOT VALID, which says nothing of
-- rows that were there, or NO INHERIT, which says nothing of rows in tables that inherit.
CREATE FUNCTION discreet._never_null(a pg_attribute)
RETURNS boolean
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    RETURN a.attnotnull AND NOT EXISTS (
        SELECT FROM pg_constraint n
        WHERE n.conrelid = a.attrelid AND n.contype = 'n' AND n.conkey = ARRAY[a.attnum] AND (NOT n.convalidated OR n.connoinherit));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._never_null(pg_attribute) IS 'Whether no row has NULL in a column, in the snapshot of the caller.';

-- discreet._files_of: the files of a relation and its parts, in the snapshot of the caller, as a digest. COPY FREEZE puts rows
-- into new files that older snapshots see, too: whatever is known of the rows of other files does not hold for those.
CREATE FUNCTION discreet._files_of(relation oid)
RETURNS text
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    files text;
BEGIN
    IF EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = $1) THEN
        WITH RECURSIVE part(relation) AS (
            SELECT $1 UNION SELECT i.inhrelid FROM pg_inherits i JOIN part p ON i.inhparent = p.relation)
        SELECT string_agg(c.oid || ':' || c.relfilenode, ',' ORDER BY c.oid) INTO files
        FROM part JOIN pg_class c ON c.oid = part.relation;
    ELSE
        SELECT c.oid || ':' || c.relfilenode INTO files FROM pg_class c WHERE c.oid = $1;
    END IF;
    RETURN encode(sha256(convert_to(files, 'UTF8')), 'hex');
END
$plpgsql$;
COMMENT ON FUNCTION discreet._files_of(oid) IS 'The files of a relation and its parts, in the snapshot of the caller, as a digest.';

-- discreet._single_columns: columns that are NOT NULL and unique, by an index that is always in force, in all rows of some
-- relations, as {"relation.column": files} by numbers: of the relation itself, or of the one that all of these are parts of. It is
-- STABLE and so looks with the snapshot of its caller: one that does not see a key, or that something is a part, may hold rows
-- from before.
CREATE FUNCTION discreet._single_columns(relations oid[])
RETURNS jsonb
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
DECLARE
    wholes oid[] := relations;
    whole oid;
    single jsonb := '{}';
BEGIN
    -- every charge comes here: most relations are no part of another
    IF EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = ANY (relations)) OR cardinality(relations) > 1 THEN
        wholes := ARRAY(
            WITH RECURSIVE ancestor(part, relation) AS (
                SELECT r, r FROM unnest($1) r
                UNION SELECT a.part, i.inhparent FROM pg_inherits i JOIN ancestor a ON i.inhrelid = a.relation)
            SELECT a.relation FROM ancestor a GROUP BY a.relation
            HAVING count(*) = (SELECT count(DISTINCT r) FROM unnest($1) r));
    END IF;
    -- one at a time: a plan for one relation is made once, one for an array of them for each charge
    FOREACH whole IN ARRAY wholes LOOP
        single := single || coalesce((
            SELECT jsonb_object_agg(format('%s.%s', i.indrelid, i.indkey[0]), discreet._files_of(i.indrelid))
            FROM pg_class c
            JOIN pg_index i ON i.indrelid = c.oid AND i.indisunique AND i.indimmediate AND i.indisvalid
                           AND i.indpred IS NULL AND i.indexprs IS NULL AND i.indnkeyatts = 1
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0] AND discreet._never_null(a)
            -- an index of a plain parent does not see the rows of tables that inherit from it
            WHERE c.oid = whole
              AND NOT (c.relkind <> 'p' AND EXISTS (SELECT FROM pg_inherits h WHERE h.inhparent = c.oid))), '{}');
    END LOOP;
    RETURN single;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._single_columns(oid[]) IS
'Columns of relations that are NOT NULL and unique by an index that is always in force, in the snapshot of the caller.';

-- discreet._one_row_per_person: whether the unit of a protected table is one of _single_columns.
CREATE FUNCTION discreet._one_row_per_person(protected discreet._protected_table)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    -- over a parent, many rows have one person, however unique the key to it is
    RETURN protected.parent IS NULL AND discreet._single_columns(ARRAY[protected.relation::oid])
           ? format('%s.%s', protected.relation::oid, protected.unit_attnum);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._one_row_per_person(discreet._protected_table) IS
'Whether the unit of a protected table is NOT NULL and unique by an index that is always in force.';

-- discreet._priced_aggregates: what the dp_ aggregates of one plan node cost, or why they are refused.
-- request: role, question, wish (epsilon), unreadable (a relation that the session user may not read), inside (relations
-- the aggregates read), unsafe (what the statement does that could let a person count for more), sites: function,
-- epsilon, sets; all_sites: those of the whole statement; keys: _single_columns in the snapshot of the statement.
-- answer: dataset, accounting, neighbours, amounts (per site and grouping set, joined by commas), epsilon, amount (of all).
CREATE FUNCTION discreet._priced_aggregates(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    asker name := request->>'role';
    question text := request->>'question';
    wish numeric := request->>'wish';
    inside oid[] := ARRAY(SELECT jsonb_array_elements_text(request->'inside')::oid);
    part discreet._protected_table;
    protected discreet._protected_table;
    several boolean := false;
    number int := 0;
    unit text;
    files text;
    wrong text;
    people discreet._dataset;
    gate constant text := 'Ask through discreet.query(), which bounds what one person can change.';
    problem text;
    hint text := gate;
    explicit numeric;
    sets_without bigint;
BEGIN
    IF request->>'unreadable' IS NOT NULL THEN
        RETURN discreet._refuse(asker, 'DP004', format('%s may not read %s, so dp_ aggregates over it are not for this role',
            asker, request->>'unreadable'), 'With a budget in its dataset, ask through discreet.query().', question);
    END IF;
    FOR part IN SELECT p.* FROM unnest(inside) r LEFT JOIN discreet._protection_of(r) p ON true LOOP
        several := several OR (number > 0 AND part.relation IS DISTINCT FROM protected.relation);
        number := number + 1;
        IF protected.relation IS NULL THEN
            protected := part;
        END IF;
    END LOOP;
    IF protected.relation IS NOT NULL THEN
        unit := format('%s.%s', protected.relation::oid, protected.unit_attnum);
        files := discreet._single_columns(ARRAY[protected.relation::oid])->>unit;
        SELECT w.problem INTO wrong FROM discreet._wrong_unit(protected) w;
    END IF;
    IF several THEN
        problem := 'dp_ aggregates read one protected table at a time, and no other rows with it';
    ELSIF request->>'unsafe' IS NOT NULL THEN
        problem := format('dp_ aggregates cannot bound one person''s influence through %s', request->>'unsafe');
    ELSIF protected.policy <> 'noisy' THEN
        problem := format('%s is protected by policy %L', protected.relation, protected.policy);
    ELSIF wrong IS NOT NULL THEN
        problem := wrong;
        hint := 'A curator has to protect the table anew, by the column that names the person of each row.';
    ELSIF protected.relation IS NOT NULL AND files IS NULL THEN
        problem := format('column %I of %s is not unique and NOT NULL: a person may have many rows', protected.unit, protected.relation);
    ELSIF protected.relation IS NOT NULL AND request->'keys'->>unit IS DISTINCT FROM files THEN
        problem := format('column %I of %s may not have been unique and NOT NULL when the snapshot of this statement was taken',
                          protected.unit, protected.relation);
        hint := 'Begin a new transaction, and ask by a statement of its own, outside of STABLE functions.';
    END IF;

    SELECT d.* INTO people FROM discreet._dataset d WHERE d.dataset = coalesce(protected.dataset, 'default');

    -- a wish is lowered to what the policy allows; a number written into the question is taken at its word
    SELECT sum((s->>'epsilon')::numeric * (s->>'sets')::int),
           sum((s->>'sets')::int) FILTER (WHERE s->>'epsilon' IS NULL)
    INTO explicit, sets_without
    FROM jsonb_array_elements(request->'all_sites') s;
    IF problem IS NULL AND explicit > protected.max_epsilon THEN
        problem := format('epsilon %s is more than the %s that one question about %s may cost', explicit,
                          protected.max_epsilon, protected.relation);
        hint := 'Give less.';
    ELSIF problem IS NULL AND sets_without > 0 AND protected.max_epsilon IS NOT NULL THEN
        wish := LEAST(wish, trunc((protected.max_epsilon - coalesce(explicit, 0)) / sets_without, 12));
        IF wish <= 0 THEN
            problem := format('no epsilon is left for the aggregates that name none, of the %s that one question about %s may cost',
                              protected.max_epsilon, protected.relation);
            hint := 'Give less.';
        END IF;
    END IF;
    IF problem IS NOT NULL THEN
        RETURN discreet._refuse(asker, 'DP001', problem, hint, question);
    END IF;
    IF NOT (protected.relation IS NULL OR discreet._holds_budget(asker, protected.dataset)
            OR EXISTS (SELECT FROM pg_roles r WHERE r.rolname = asker AND r.rolsuper)
            OR pg_has_role(asker, (SELECT c.relowner FROM pg_class c WHERE c.oid = protected.relation), 'USAGE')) THEN
        RETURN discreet._refuse(asker, 'DP004', format('%s holds no budget in dataset %I', asker, protected.dataset),
            format('A curator can give one: discreet.grant_budget(%L, role, epsilon).', protected.dataset), question);
    END IF;

    -- under zcdp an epsilon buys Gaussian noise of rho = epsilon^2 / 2
    RETURN (
    SELECT jsonb_build_object(
        'dataset', coalesce(protected.dataset, 'default'), 'accounting', people.accounting, 'neighbours', people.neighbours,
        'amounts', string_agg(amount::text, ',' ORDER BY n), 'epsilon', sum(e * sets), 'amount', sum(amount * sets))
    FROM (SELECT e, sets, n, CASE people.accounting WHEN 'zcdp' THEN e * e / 2 ELSE e END AS amount
          FROM jsonb_array_elements(request->'sites') WITH ORDINALITY AS site(s, n),
               LATERAL (SELECT coalesce((s->>'epsilon')::numeric, wish), (s->>'sets')::int) AS priced(e, sets)) priced);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._priced_aggregates(jsonb) IS
'The price of the dp_ aggregates of one plan node, or why they are refused.';

-- discreet._ledger_price_aggregates: what the dp_ aggregates of one statement cost, or the refusal. It depends on the request, on
-- catalogs and declarations, and on nothing else; so the ledger worker remembers it until one of these changes.
-- request: per plan node, what _priced_aggregates takes. answer: prices (per plan node, what that returns), charges (role,
-- dataset, epsilon, amount, question, details of each), and payer: charges of one payer can be made together.
CREATE FUNCTION discreet._ledger_price_aggregates(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    prices jsonb := '[]';
    charges jsonb := '[]';
    price jsonb;
BEGIN
    FOR node IN 0 .. jsonb_array_length(request) - 1 LOOP
        price := discreet._priced_aggregates(request->node);
        IF price ? 'refused' THEN
            RETURN price;
        END IF;
        prices := prices || price;
        charges := charges || jsonb_build_object(
            'role', request->0->'role', 'dataset', price->'dataset', 'epsilon', price->'epsilon', 'amount', price->'amount',
            'question', request->0->'question', 'details', jsonb_build_object('aggregates', request->node->'sites'));
    END LOOP;
    RETURN jsonb_build_object('prices', prices, 'charges', charges, 'payer', (request->0->>'role') || ' in ' || (price->>'dataset'));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_price_aggregates(jsonb) IS 'What the dp_ aggregates of one statement cost, or the refusal.';

-- discreet._ledger_charge_together: pays for single aggregates of some statements, all of one role in one dataset, or for none.
-- request: the charges that _ledger_price_aggregates gives. answer: whether they are paid.
CREATE FUNCTION discreet._ledger_charge_together(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    IF EXISTS (SELECT FROM jsonb_array_elements(request) c
               WHERE (c->'role', c->'dataset') IS DISTINCT FROM (request->0->'role', request->0->'dataset')) THEN
        RAISE EXCEPTION 'charges of several roles or datasets are not made together';
    END IF;
    RETURN to_jsonb(discreet._charge_together(
        request->0->>'dataset', request->0->>'role',
        ARRAY(SELECT ROW(NULL, NULL, NULL, NULL, NULL, (c->>'epsilon')::numeric, (c->>'amount')::numeric, 0, c->>'question',
                         c->'details', NULL)::discreet._charge
              FROM jsonb_array_elements(request) WITH ORDINALITY AS each(c, place) ORDER BY place)) IS NULL);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_charge_together(jsonb) IS
'Pays for single aggregates of some statements, all of one role in one dataset, or for none.';

-- discreet._ledger_charge_aggregates: pays for the dp_ aggregates of one statement, before any row is read: for all of its plan
-- nodes, or for none.
-- request: per plan node, what _priced_aggregates takes. answer: per plan node, what that returns.
CREATE FUNCTION discreet._ledger_charge_aggregates(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    asker name := request->0->>'role';
    question text := request->0->>'question';
    priced jsonb := discreet._ledger_price_aggregates(request);
    charge jsonb;
    sums record;
    short record;
    refusal jsonb;
BEGIN
    IF priced ? 'refused' THEN
        RETURN priced;
    END IF;
    -- of several, all are found affordable before the first is charged; in one order, so that no two statements wait for each other
    FOR sums IN SELECT p->>'dataset' AS dataset, sum((p->>'amount')::numeric) AS amount
                FROM jsonb_array_elements(priced->'charges') p WHERE jsonb_array_length(priced->'charges') > 1
                GROUP BY 1 ORDER BY 1 LOOP
        PERFORM FROM discreet._dataset d WHERE d.dataset = sums.dataset FOR NO KEY UPDATE;
        short := discreet._shortage(sums.dataset, discreet._roles_of(asker) || 0::oid, sums.amount, 0);
        IF short.message IS NOT NULL THEN
            RETURN discreet._refuse(asker, 'DP003', short.message, short.hint, question);
        END IF;
    END LOOP;
    FOR node IN 0 .. jsonb_array_length(request) - 1 LOOP
        charge := priced->'charges'->node;
        refusal := discreet._charge(charge->>'dataset', asker, (charge->>'epsilon')::numeric, (charge->>'amount')::numeric, 0,
                                    question, charge->'details');
        IF refusal IS NOT NULL AND node > 0 THEN
            RAISE EXCEPTION USING ERRCODE = 'DP003', MESSAGE = refusal->'refused'->>'message', HINT = refusal->'refused'->>'hint';
        ELSIF refusal IS NOT NULL THEN
            RETURN refusal;
        END IF;
    END LOOP;
    RETURN priced->'prices';
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_charge_aggregates(jsonb) IS
'Pays for the dp_ aggregates of one statement, before any row is read: for all of its plan nodes, or for none.';
