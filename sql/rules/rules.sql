-- discreet.add_rule: what every row written to a table must satisfy.
CREATE FUNCTION discreet.add_rule(relation regclass, name text, rule text)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import rules
    return rules.add_rule(plpy, relation, name, rule)
$python$;
COMMENT ON FUNCTION discreet.add_rule(regclass, text, text) IS
'What every row written to a table must satisfy, over NEW and OLD, as in NEW.salary <= 2 * OLD.salary.';

-- discreet.add_limit: how many rows that satisfy a predicate a table may hold.
CREATE FUNCTION discreet.add_limit(relation regclass, name text, predicate text, at_most int)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import rules
    return rules.add_limit(plpy, relation, name, predicate, at_most)
$python$;
COMMENT ON FUNCTION discreet.add_limit(regclass, text, text, int) IS
'How many rows that satisfy a predicate, as in position = ''CEO'', a table may hold, also under concurrent writes.';

-- discreet.drop_rule: takes a rule or a limit away.
CREATE FUNCTION discreet.drop_rule(relation regclass, name text)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import rules
    return rules.drop_rule(plpy, relation, name)
$python$;
COMMENT ON FUNCTION discreet.drop_rule(regclass, text) IS 'Takes a rule or a limit of a table away.';
