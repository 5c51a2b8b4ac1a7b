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
    SELECT p.* FROM discreet._protected_table p JOIN ancestor a ON a.relation = p.relation
    WHERE p.policy <> 'public'
    ORDER BY a.height DESC LIMIT 1;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._protection_of(oid) IS
'The protected table whose rows a scan of the relation reads: itself, or the whole it is a part of.';

-- discreet._one_row_per_person: whether the unit is NOT NULL and unique by an index that is always in force; and was so before
-- any transaction from a number on, as those that a snapshot does not see: it may still hold rows from before.
CREATE FUNCTION discreet._one_row_per_person(protected discreet._protected_table, since xid DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN (
    SELECT EXISTS (SELECT FROM pg_attribute a
                   WHERE a.attrelid = protected.relation AND a.attnum = protected.unit_attnum AND a.attnotnull
                     AND (since IS NULL OR age(a.xmin) > age(since)))
       AND EXISTS (SELECT FROM pg_index i
                   WHERE i.indrelid = protected.relation AND i.indisunique AND i.indimmediate AND i.indisvalid
                     AND i.indpred IS NULL AND i.indexprs IS NULL AND i.indnkeyatts = 1
                     AND i.indkey[0] = protected.unit_attnum
                     AND (since IS NULL OR age(i.xmin) > age(since)))
       -- an index of a plain parent does not see the rows of tables that inherit from it
       AND NOT EXISTS (SELECT FROM pg_inherits h JOIN pg_class c ON c.oid = h.inhparent
                       WHERE h.inhparent = protected.relation AND c.relkind <> 'p')
       AND NOT EXISTS (
            WITH RECURSIVE part(relation, attached) AS (
                SELECT h.inhrelid, h.xmin FROM pg_inherits h WHERE h.inhparent = protected.relation
                UNION SELECT h.inhrelid, h.xmin FROM pg_inherits h JOIN part ON h.inhparent = part.relation)
            SELECT FROM part WHERE since IS NOT NULL AND age(part.attached) <= age(since)));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._one_row_per_person(discreet._protected_table, xid) IS
'Whether the unit is NOT NULL and unique by an index that is always in force, and was so before transactions from a number on.';

-- discreet._ledger_charge_aggregates: pays for the dp_ aggregates of one statement, before any row is read.
-- request: role, question, wish (epsilon), unreadable (a relation that the session user may not read), inside (relations
-- the aggregates read), unsafe (what the statement does that could let a person count for more), sites: function,
-- epsilon, sets; all_sites: those of the whole statement; since: what the asker's snapshot does not see begins there.
-- answer: accounting, neighbours, amounts (per site and grouping set, joined by commas).
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
    asker name := request->>'role';
    question text := request->>'question';
    wish numeric := request->>'wish';
    inside oid[] := ARRAY(SELECT jsonb_array_elements_text(request->'inside')::oid);
    protected discreet._protected_table;
    people discreet._dataset;
    gate constant text := 'Ask through discreet.query(), which bounds what one person can change.';
    problem text;
    hint text := gate;
    explicit numeric;
    sets_without bigint;
    epsilons numeric[];
    amounts numeric[];
    refusal jsonb;
BEGIN
    IF request->>'unreadable' IS NOT NULL THEN
        RETURN discreet._refuse(asker, 'DP004', format('%s may not read %s, so dp_ aggregates over it are not for this role',
            asker, request->>'unreadable'), 'With a budget in its dataset, ask through discreet.query().', question);
    END IF;
    SELECT p.* INTO protected FROM unnest(inside) r, discreet._protection_of(r) p LIMIT 1;
    IF (SELECT count(DISTINCT coalesce(p.relation, 0)) FROM unnest(inside) r LEFT JOIN discreet._protection_of(r) p ON true) > 1 THEN
        problem := 'dp_ aggregates read one protected table at a time, and no other rows with it';
    ELSIF request->>'unsafe' IS NOT NULL THEN
        problem := format('dp_ aggregates cannot bound one person''s influence through %s', request->>'unsafe');
    ELSIF protected.policy <> 'noisy' THEN
        problem := format('%s is protected by policy %L', protected.relation, protected.policy);
    ELSIF protected.relation IS NOT NULL AND NOT discreet._one_row_per_person(protected) THEN
        problem := format('column %I of %s is not unique and NOT NULL: a person may have many rows', protected.unit, protected.relation);
    ELSIF protected.relation IS NOT NULL AND NOT discreet._one_row_per_person(protected, (request->>'since')::xid) THEN
        problem := format('column %I of %s may not have been unique and NOT NULL when this transaction began',
                          protected.unit, protected.relation);
        hint := 'Begin a new transaction, or use READ COMMITTED.';
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
    SELECT array_agg(e * sets ORDER BY n), array_agg(CASE people.accounting WHEN 'zcdp' THEN e * e / 2 ELSE e END ORDER BY n),
           sum(CASE people.accounting WHEN 'zcdp' THEN e * e / 2 ELSE e END * sets)
    INTO epsilons, amounts, explicit
    FROM (SELECT coalesce((s->>'epsilon')::numeric, wish) AS e, (s->>'sets')::int AS sets, n
          FROM jsonb_array_elements(request->'sites') WITH ORDINALITY AS site(s, n)) priced;

    refusal := discreet._charge(coalesce(protected.dataset, 'default'), asker, (SELECT sum(e) FROM unnest(epsilons) e),
                                explicit, 0, question, jsonb_build_object('aggregates', request->'sites'));
    RETURN coalesce(refusal, jsonb_build_object(
        'accounting', people.accounting, 'neighbours', people.neighbours, 'amounts', array_to_string(amounts, ',')));
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_charge_aggregates(jsonb) IS
'Pays for the dp_ aggregates of one statement, before any row is read.';
