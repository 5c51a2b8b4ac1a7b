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
