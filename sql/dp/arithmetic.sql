-- Arithmetic of privacy, for curators who plan a budget. Nothing here reads data or spends.

-- discreet.compose_sequential: price of questions about the same people: the sum of their epsilons.
CREATE FUNCTION discreet.compose_sequential(epsilons numeric[])
RETURNS numeric
LANGUAGE discreet_python
IMMUTABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.compose_sequential(plpy, epsilons)
$python$;
COMMENT ON FUNCTION discreet.compose_sequential(numeric[]) IS
'Price of questions about the same people: the sum of their epsilons.';

-- discreet.compose_parallel: price of questions about disjoint sets of people: the largest of their epsilons.
CREATE FUNCTION discreet.compose_parallel(epsilons numeric[])
RETURNS numeric
LANGUAGE discreet_python
IMMUTABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.compose_parallel(plpy, epsilons)
$python$;
COMMENT ON FUNCTION discreet.compose_parallel(numeric[]) IS
'Price of questions about disjoint sets of people: the largest of their epsilons.';

-- discreet.group_epsilon: what an epsilon per person promises to a group of people: so many times as much.
CREATE FUNCTION discreet.group_epsilon(epsilon numeric, people int)
RETURNS numeric
LANGUAGE discreet_python
IMMUTABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.group_epsilon(plpy, epsilon, people)
$python$;
COMMENT ON FUNCTION discreet.group_epsilon(numeric, int) IS
'What an epsilon per person promises to a group of people: so many times as much.';

-- discreet.gaussian_rho: the largest rho that keeps within epsilon and delta.
CREATE FUNCTION discreet.gaussian_rho(epsilon numeric, delta numeric)
RETURNS numeric
LANGUAGE discreet_python
IMMUTABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.gaussian_rho(plpy, epsilon, delta)
$python$;
COMMENT ON FUNCTION discreet.gaussian_rho(numeric, numeric) IS
'The largest rho that keeps within epsilon and delta.';

-- discreet.zcdp_epsilon: the epsilon that rho comes to at a delta.
CREATE FUNCTION discreet.zcdp_epsilon(rho numeric, delta numeric)
RETURNS numeric
LANGUAGE discreet_python
IMMUTABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.zcdp_epsilon(plpy, rho, delta)
$python$;
COMMENT ON FUNCTION discreet.zcdp_epsilon(numeric, numeric) IS
'The epsilon that rho comes to at a delta.';

-- discreet.laplace_scale: scale of Laplace noise that makes a number of this sensitivity private.
CREATE FUNCTION discreet.laplace_scale(sensitivity numeric, epsilon numeric)
RETURNS numeric
LANGUAGE discreet_python
IMMUTABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.laplace_scale(plpy, sensitivity, epsilon)
$python$;
COMMENT ON FUNCTION discreet.laplace_scale(numeric, numeric) IS
'Scale of Laplace noise that makes a number of this sensitivity private.';

-- discreet.sensitivity: how much one person can change a statistic of values between bounds.
CREATE FUNCTION discreet.sensitivity(
    kind text, lower numeric, upper numeric, n bigint DEFAULT 1, neighbours text DEFAULT 'unbounded', may_be_null boolean DEFAULT false)
RETURNS numeric
LANGUAGE discreet_python
IMMUTABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.sensitivity(plpy, kind, lower, upper, n, neighbours, may_be_null)
$python$;
COMMENT ON FUNCTION discreet.sensitivity(text, numeric, numeric, bigint, text, boolean) IS
'How much one person can change a statistic of values between bounds, which may also be NULL before or after the change.';
