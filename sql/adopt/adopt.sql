-- discreet.propose: what to declare for people and all tables about them, from the catalog alone.
CREATE FUNCTION discreet.propose(person text, schemas text[] DEFAULT NULL)
RETURNS TABLE (step int, statement text, reason text, decide boolean)
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import adopt
    return adopt.propose(plpy, person, schemas)
$python$;
COMMENT ON FUNCTION discreet.propose(text, text[]) IS
'What to declare for people (''shop.customers.customer_id'') and all tables about them, from the catalog alone: a script to review. decide: a human must say.';

-- discreet.adopt: declares what propose() would, as far as nothing must be decided; a share of the budget buys limits of rows.
CREATE FUNCTION discreet.adopt(
    person text,
    epsilon numeric,
    delta numeric,
    schemas text[] DEFAULT NULL,
    share numeric DEFAULT 0.1)
RETURNS TABLE (step int, statement text, reason text, decide boolean)
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import adopt
    return adopt.adopt(plpy, person, epsilon, delta, schemas, share)
$python$;
COMMENT ON FUNCTION discreet.adopt(text, numeric, numeric, text[], numeric) IS
'Declares what propose() would where nothing must be decided, all or nothing; a share of the budget pays suggest_rows(). Returns what was done, and what is left to decide.';

-- discreet._adopt_declared: makes the declarations of adopt(). Rehearsed, it ends in an error that takes everything back.
CREATE FUNCTION discreet._adopt_declared(
    person text,
    epsilon numeric,
    delta numeric,
    schemas text[],
    limits jsonb,
    rehearsed boolean)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import adopt
    return adopt.declare(plpy, person, epsilon, delta, schemas, limits, rehearsed)
$python$;
COMMENT ON FUNCTION discreet._adopt_declared(text, numeric, numeric, text[], jsonb, boolean) IS
'Makes the declarations of adopt(); rehearsed, takes them back.';

-- discreet._ledger_create_dataset: the dataset of adopt(), committed at once: what it pays for limits must have a payer that stays.
-- request: role, dataset, epsilon, delta, amount
CREATE FUNCTION discreet._ledger_create_dataset(request jsonb)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    INSERT INTO discreet._dataset (dataset, accounting, neighbours, owner)
    VALUES (request->>'dataset', 'pure', 'unbounded', request->>'role')
    ON CONFLICT (dataset) DO NOTHING;
    IF FOUND THEN
        INSERT INTO discreet._budget (dataset, role, epsilon_limit, delta_limit, amount_limit)
        VALUES (request->>'dataset', 0, (request->>'epsilon')::numeric, (request->>'delta')::numeric, (request->>'amount')::numeric);
    END IF;
    RETURN to_jsonb(FOUND);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._ledger_create_dataset(jsonb) IS
'The dataset of adopt(), committed before it pays for anything.';
