-- discreet.grant_budget: lets a role and its members ask about a dataset.
CREATE FUNCTION discreet.grant_budget(dataset text, role regrole, epsilon numeric, delta numeric DEFAULT 0, forever boolean DEFAULT false)
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
    return entry.grant_budget(plpy, dataset, role, epsilon, delta, forever)
$python$;
COMMENT ON FUNCTION discreet.grant_budget(text, regrole, numeric, numeric, boolean) IS
'Lets a role and its members ask about a dataset up to a limit, of each period or for ever; what was spent before stays spent.';

-- discreet.revoke_budget: takes the budget of a role away.
CREATE FUNCTION discreet.revoke_budget(dataset text, role regrole)
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
    return entry.revoke_budget(plpy, dataset, role)
$python$;
COMMENT ON FUNCTION discreet.revoke_budget(text, regrole) IS 'Takes the budget of a role away; what it spent is remembered.';

-- discreet._zcdp_epsilon_spent: what an amount of rho has cost as epsilon, at the delta of its dataset.
CREATE FUNCTION discreet._zcdp_epsilon_spent(rho numeric, delta numeric)
RETURNS numeric
LANGUAGE discreet_python
IMMUTABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.zcdp_epsilon_spent(plpy, rho, delta)
$python$;
COMMENT ON FUNCTION discreet._zcdp_epsilon_spent(numeric, numeric) IS
'What an amount of rho has cost as epsilon, at the delta of its dataset.';
