-- discreet.mls_define: names the levels, lowest first, the compartments and the tree of groups of which labels are made.
CREATE FUNCTION discreet.mls_define(levels text[], compartments text[] DEFAULT '{}', groups jsonb DEFAULT NULL)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls
    return mls.define(plpy, levels, compartments, groups)
$python$;
COMMENT ON FUNCTION discreet.mls_define(text[], text[], jsonb) IS
'Names the levels, lowest first, the compartments and the tree of groups of which labels are made; later calls may add to the end of levels and compartments.';

-- discreet.mls_clear: gives a login role its clearance; NULL takes it away.
CREATE FUNCTION discreet.mls_clear(role regrole, label text, write_from text DEFAULT NULL)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls
    return mls.clear(plpy, role, label, write_from)
$python$;
COMMENT ON FUNCTION discreet.mls_clear(regrole, text, text) IS
'Gives a login role its clearance, the highest label of its sessions, and the lowest label at which it may write; a NULL label takes it away.';

-- discreet.mls_table: turns a table into a multilevel one, its rows at the lowest level, or with the labels that are given.
CREATE FUNCTION discreet.mls_table(relation regclass, key text[], columns text[] DEFAULT NULL, labels jsonb DEFAULT NULL)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls
    return mls.make_multilevel(plpy, relation, key, columns, labels)
$python$;
COMMENT ON FUNCTION discreet.mls_table(regclass, text[], text[], jsonb) IS
'Turns a table into a multilevel one: a view of its name, whose rows and cells have labels, over a hidden table. Labels gives those of the rows that are there, by column: a label, or an expression over the row.';

-- discreet.mls_reference: lets columns of a multilevel table name only rows of another that the writing session sees.
CREATE FUNCTION discreet.mls_reference(child regclass, columns text[], parent regclass)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls
    return mls.reference(plpy, child, columns, parent)
$python$;
COMMENT ON FUNCTION discreet.mls_reference(regclass, text[], regclass) IS
'Lets columns of a multilevel table name only rows of another that the writing session sees.';

-- discreet.mls_rule: which label the values of a column want; NULL takes the rule away.
CREATE FUNCTION discreet.mls_rule(relation regclass, column_name text, label_expression text)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls_rules
    return mls_rules.rule(plpy, relation, column_name, label_expression)
$python$;
COMMENT ON FUNCTION discreet.mls_rule(regclass, text, text) IS
'Which label the values of a column want: a label, or an expression over the row. Loads by trusted sessions get it, other sessions must dominate it. NULL takes the rule away.';

-- discreet.mls_drop: removes a multilevel table with all its rows.
CREATE FUNCTION discreet.mls_drop(relation regclass)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls
    return mls.drop(plpy, relation)
$python$;
COMMENT ON FUNCTION discreet.mls_drop(regclass) IS
'Removes a multilevel table with all its rows.';

-- discreet.mls_plain: turns a multilevel table back into an ordinary one, of the rows that the top label shows.
CREATE FUNCTION discreet.mls_plain(relation regclass)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls
    return mls.plain(plpy, relation)
$python$;
COMMENT ON FUNCTION discreet.mls_plain(regclass) IS
'Turns a multilevel table back into an ordinary one, of the rows that the top label shows.';

-- discreet.clearances: who may see up to which label.
CREATE VIEW discreet.clearances WITH (security_barrier) AS
SELECT c.role, discreet._label(c.label) AS label, pg_catalog.pg_has_role(c.role, 'discreet_trusted', 'MEMBER') AS trusted,
       discreet._label(c.write_from) AS write_from
FROM discreet._clearance c;
COMMENT ON VIEW discreet.clearances IS
'Which login roles may see up to which label, which of them are trusted, and the lowest label at which they may write.';

-- discreet.multilevel_tables: the multilevel tables, and where their rows are.
CREATE VIEW discreet.multilevel_tables WITH (security_barrier) AS
SELECT t.relation, t.base, t.key, t.cells AS columns FROM discreet._multilevel_table t;
COMMENT ON VIEW discreet.multilevel_tables IS 'Multilevel tables, the tables that hold their rows, their keys and columns.';

-- discreet._mls_rebuild: makes views, functions and triggers of all multilevel tables as this version does.
CREATE FUNCTION discreet._mls_rebuild()
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls_rebuild
    return mls_rebuild.rebuild_all(plpy)
$python$;
COMMENT ON FUNCTION discreet._mls_rebuild() IS
'Makes views, functions and triggers of all multilevel tables as this version does; the update of the extension calls it.';

-- discreet.mls_import: a label of another system, in the words of this one.
CREATE FUNCTION discreet.mls_import(label text, format text)
RETURNS text
LANGUAGE discreet_python
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls
    return mls.import_label(plpy, label, format)
$python$;
COMMENT ON FUNCTION discreet.mls_import(text, text) IS
'The label that a text of another system stands for: format oracle (Label Security) or accumulo (visibility expressions); what no label can express is refused.';

-- discreet.mls_export: a label as another system writes it.
CREATE FUNCTION discreet.mls_export(label text, format text)
RETURNS text
LANGUAGE discreet_python
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import mls
    return mls.export_label(plpy, label, format)
$python$;
COMMENT ON FUNCTION discreet.mls_export(text, text) IS
'A label as another system writes it: format oracle (Label Security) or accumulo (visibility expressions).';
