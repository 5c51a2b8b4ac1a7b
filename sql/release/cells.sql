-- discreet.suppress: writes a cross table in which unsafe cells, and others that would tell them, are hidden.
CREATE FUNCTION discreet.suppress(
    cells regclass,
    dimensions text[],
    value text,
    threshold numeric,
    release text,
    hierarchies jsonb DEFAULT '{}',
    contributor text DEFAULT NULL,
    dominance_n int DEFAULT NULL,
    dominance_percent numeric DEFAULT NULL,
    p_percent numeric DEFAULT NULL,
    protection numeric DEFAULT 10,
    total text DEFAULT 'Total',
    audit text DEFAULT 'auto',
    counts boolean DEFAULT NULL)
RETURNS jsonb
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
/* @PINNED_FORMATS@ */
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_crosstables
    return release_crosstables.suppress(plpy, cells, dimensions, value, threshold, release, hierarchies=hierarchies,
        contributor=contributor, dominance_n=dominance_n, dominance_percent=dominance_percent,
        p_percent=p_percent, protection=protection, total=total, audit=audit, counts=counts)
$python$;
COMMENT ON FUNCTION discreet.suppress(regclass, text[], text, numeric, text, jsonb, text, int, numeric, numeric, numeric, text, text, boolean) IS
'Writes a cross table with all margins, from cells or records, in which unsafe cells are hidden, and others so that no hidden cell can be computed
from what is published. Returns a report.';

-- discreet.audit_cells: what can be told about the cells that a published cross table hides.
CREATE FUNCTION discreet.audit_cells(
    cells regclass,
    dimensions text[],
    value text,
    hierarchies jsonb DEFAULT '{}',
    total text DEFAULT 'Total')
RETURNS TABLE (cell jsonb, lower numeric, upper numeric, disclosed boolean)
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
/* @PINNED_FORMATS@ */
AS $python$
    # @PYTHON_PATH@
    from discreet.server import release_crosstables
    return release_crosstables.audit_cells(plpy, cells, dimensions, value, hierarchies, total)
$python$;
COMMENT ON FUNCTION discreet.audit_cells(regclass, text[], text, jsonb, text) IS
'What can be told about each hidden cell (NULL) of a cross table with margins: the least and the largest value it can have, by linear programming.';
