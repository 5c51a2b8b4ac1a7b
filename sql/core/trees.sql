-- What trees in the catalogs hold. PostgreSQL reads them; nothing looks at their text.

-- discreet._tree_columns: numbers of the columns that the tree of an index or a CHECK names; 0 is the whole row.
CREATE FUNCTION discreet._tree_columns(tree pg_node_tree)
RETURNS int2[]
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
AS 'MODULE_PATHNAME', 'discreet_tree_columns';
COMMENT ON FUNCTION discreet._tree_columns(pg_node_tree) IS 'Numbers of the columns that the tree of an index or a CHECK names; 0 is the whole row.';

-- discreet._tree_calls: the functions that a tree calls by name.
CREATE FUNCTION discreet._tree_calls(tree pg_node_tree)
RETURNS oid[]
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
AS 'MODULE_PATHNAME', 'discreet_tree_calls';
COMMENT ON FUNCTION discreet._tree_calls(pg_node_tree) IS 'The functions that a tree calls by name.';

-- discreet._tree_is_union: whether the rule of a view is a UNION, INTERSECT or EXCEPT.
CREATE FUNCTION discreet._tree_is_union(tree pg_node_tree)
RETURNS boolean
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
AS 'MODULE_PATHNAME', 'discreet_tree_is_union';
COMMENT ON FUNCTION discreet._tree_is_union(pg_node_tree) IS 'Whether the rule of a view is a UNION, INTERSECT or EXCEPT.';

-- discreet._tree_conditions: what a CHECK says of one column alone, as conditions about VALUE that all hold; column 0 of a domain.
CREATE FUNCTION discreet._tree_conditions(tree pg_node_tree, column_number int2)
RETURNS text[]
LANGUAGE c
STABLE
STRICT
PARALLEL SAFE
AS 'MODULE_PATHNAME', 'discreet_tree_conditions';
COMMENT ON FUNCTION discreet._tree_conditions(pg_node_tree, int2) IS
'What a CHECK says of one column alone, as conditions about VALUE that all hold; column 0 of a domain.';

-- discreet._constrained_columns: columns of which enums, domains and CHECKs say something: their labels, and conditions about VALUE.
-- Constraints count that hold for all rows: validated, enforced, and not NO INHERIT. They are declarations, never facts.
CREATE FUNCTION discreet._constrained_columns(relation oid)
RETURNS TABLE (attnum int2, labels text[], checks text[])
LANGUAGE plpgsql
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
ROWS 5
SET search_path = pg_catalog, pg_temp
SET DateStyle = 'ISO, YMD'
SET TimeZone = 'UTC'
AS $plpgsql$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    -- each column with its type and those below it, as long as they are domains
    WITH RECURSIVE typed(attnum, type) AS (
        SELECT a.attnum, a.atttypid FROM pg_attribute a WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped
        UNION ALL
        SELECT c.attnum, t.typbasetype FROM typed c JOIN pg_type t ON t.oid = c.type AND t.typtype = 'd'),
    said AS (
        SELECT c.attnum, k.conname, s.condition
        FROM typed c JOIN pg_constraint k ON k.contypid = c.type AND k.contype = 'c'
             CROSS JOIN unnest(discreet._tree_conditions(k.conbin, 0::int2)) AS s(condition)
        WHERE k.convalidated AND coalesce((to_jsonb(k)->>'conenforced')::boolean, true)
        UNION ALL
        SELECT u.attnum, k.conname, s.condition
        FROM pg_constraint k CROSS JOIN unnest(k.conkey) AS u(attnum)
             CROSS JOIN unnest(discreet._tree_conditions(k.conbin, u.attnum)) AS s(condition)
        WHERE k.conrelid = $1 AND k.contype = 'c' AND k.convalidated AND NOT k.connoinherit
          AND coalesce((to_jsonb(k)->>'conenforced')::boolean, true)),
    labelled AS (
        SELECT c.attnum, array_agg(e.enumlabel::text ORDER BY e.enumsortorder) AS labels
        FROM typed c JOIN pg_enum e ON e.enumtypid = c.type GROUP BY c.attnum),
    checked AS (SELECT s.attnum, array_agg(s.condition ORDER BY s.conname, s.condition) AS checks FROM said s GROUP BY s.attnum)
    SELECT attnum, l.labels, coalesce(k.checks, '{}') FROM labelled l FULL JOIN checked k USING (attnum);
END
$plpgsql$;
COMMENT ON FUNCTION discreet._constrained_columns(oid) IS
'Columns of which enums, domains and CHECKs say something: labels, and conditions about VALUE that hold for all rows.';

-- discreet._implied: what a column declares by itself: bounds, and the values that it can have, as texts.
CREATE FUNCTION discreet._implied(type text, labels text[], checks text[])
RETURNS TABLE (lower text, upper text, categories text[])
LANGUAGE discreet_python
IMMUTABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.server import entry
    return entry.implied(plpy, type, labels, checks)
$python$;
COMMENT ON FUNCTION discreet._implied(text, text[], text[]) IS
'What a column declares by itself, by its type, the labels of an enum, and conditions about VALUE.';
