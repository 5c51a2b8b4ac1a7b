-- Everything here is read with the rights of who calls. NULL semantics: 'own' (NULL equals NULL), 'wildcard' (NULL may be
-- anything), 'conservative' (NULL equals nothing, so that its row stands alone).

-- discreet.k_anonymity: size of the smallest group that shares its quasi-identifiers.
CREATE FUNCTION discreet.k_anonymity(relation regclass, quasi_identifiers text[], nulls text DEFAULT 'own', unit text DEFAULT NULL)
RETURNS bigint
LANGUAGE discreet_python
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
/* @PINNED_FORMATS@ */
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.k_anonymity(plpy, relation, quasi_identifiers, nulls, unit)
$python$;
COMMENT ON FUNCTION discreet.k_anonymity(regclass, text[], text, text) IS
'Size of the smallest group of rows, or of people told apart by the column unit, that share their quasi-identifiers; NULL for an empty table.';

-- discreet.l_diversity: how many values of a sensitive column each group is spread over.
CREATE FUNCTION discreet.l_diversity(
    relation regclass,
    quasi_identifiers text[],
    sensitive text,
    kind text DEFAULT 'distinct',
    c numeric DEFAULT 1,
    nulls text DEFAULT 'own',
    unit text DEFAULT NULL)
RETURNS float8
LANGUAGE discreet_python
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
/* @PINNED_FORMATS@ */
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.l_diversity(plpy, relation, quasi_identifiers, [sensitive], kind, c, nulls, unit)
$python$;
COMMENT ON FUNCTION discreet.l_diversity(regclass, text[], text, text, numeric, text, text) IS
'The largest l for which every group is l-diverse: distinct, entropy, or recursive with a factor c; over rows, or over people told apart by the column unit.';

-- discreet.l_diversity: how many values of a sensitive column each group is spread over.
CREATE FUNCTION discreet.l_diversity(
    relation regclass,
    quasi_identifiers text[],
    sensitive text[],
    kind text DEFAULT 'distinct',
    c numeric DEFAULT 1,
    nulls text DEFAULT 'own',
    unit text DEFAULT NULL)
RETURNS float8
LANGUAGE discreet_python
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
/* @PINNED_FORMATS@ */
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.l_diversity(plpy, relation, quasi_identifiers, sensitive, kind, c, nulls, unit)
$python$;
COMMENT ON FUNCTION discreet.l_diversity(regclass, text[], text[], text, numeric, text, text) IS
'The largest l for which every group is l-diverse: distinct, entropy, or recursive with a factor c; over rows, or over people told apart by the column unit. Of several sensitive columns the worst.';

-- discreet.t_closeness: how far a sensitive column is spread otherwise in a group than in the table.
CREATE FUNCTION discreet.t_closeness(
    relation regclass,
    quasi_identifiers text[],
    sensitive text,
    distance text DEFAULT 'equal',
    hierarchy jsonb DEFAULT NULL,
    nulls text DEFAULT 'own')
RETURNS float8
LANGUAGE discreet_python
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
/* @PINNED_FORMATS@ */
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.t_closeness(plpy, relation, quasi_identifiers, [sensitive], distance, hierarchy, nulls)
$python$;
COMMENT ON FUNCTION discreet.t_closeness(regclass, text[], text, text, jsonb, text) IS
'The largest earth mover''s distance between a group and the table: equal, ordered, or hierarchical over a tree.';

-- discreet.t_closeness: how far a sensitive column is spread otherwise in a group than in the table.
CREATE FUNCTION discreet.t_closeness(
    relation regclass,
    quasi_identifiers text[],
    sensitive text[],
    distance text DEFAULT 'equal',
    hierarchy jsonb DEFAULT NULL,
    nulls text DEFAULT 'own')
RETURNS float8
LANGUAGE discreet_python
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
/* @PINNED_FORMATS@ */
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.t_closeness(plpy, relation, quasi_identifiers, sensitive, distance, hierarchy, nulls)
$python$;
COMMENT ON FUNCTION discreet.t_closeness(regclass, text[], text[], text, jsonb, text) IS
'The largest earth mover''s distance between a group and the table: equal, ordered, or hierarchical over a tree. Of several sensitive columns the worst.';

-- discreet.measure: k, every l and every t at once, from one pass over the rows.
CREATE FUNCTION discreet.measure(
    relation regclass,
    quasi_identifiers text[],
    sensitive text[],
    nulls text DEFAULT 'own',
    unit text DEFAULT NULL)
RETURNS TABLE(measure text, sensitive_column text, value float8)
LANGUAGE discreet_python
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
/* @PINNED_FORMATS@ */
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.measure(plpy, relation, quasi_identifiers, sensitive, nulls, unit)
$python$;
COMMENT ON FUNCTION discreet.measure(regclass, text[], text[], text, text) IS
'k, l and t of a table at once, from one pass over its rows; k and l over people, when a column unit tells them apart.';

-- discreet.disclosure_risk: who could be found again in a table.
CREATE FUNCTION discreet.disclosure_risk(
    relation regclass,
    quasi_identifiers text[],
    population bigint DEFAULT NULL,
    unit text DEFAULT NULL,
    nulls text DEFAULT 'own')
RETURNS TABLE(measure text, value float8)
LANGUAGE discreet_python
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
/* @PINNED_FORMATS@ */
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_entry
    return release_entry.disclosure_risk(plpy, relation, quasi_identifiers, population, unit, nulls)
$python$;
COMMENT ON FUNCTION discreet.disclosure_risk(regclass, text[], bigint, text, text) IS
'Uniques, the risks of prosecutor, journalist and marketer, estimated population uniques, and special uniques.';
