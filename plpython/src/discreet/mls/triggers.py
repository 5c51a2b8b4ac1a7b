"""The triggers of a multilevel table, as text: PL/pgSQL that is made once, and looks up nothing but rows.

Each writes at the label of the session, `_c`, and looks at visible rows alone. So nothing of what it does, tells or
waits for depends on rows above: a key is unique with its label, rows of other labels are never touched, and what is
deleted stays as a tombstone for rows above that borrow from it.
"""

# ruff: noqa: S608 - names are quoted; what else is in these texts comes from the catalog

from __future__ import annotations

from discreet.core.errors import InvalidParameterError
from discreet.mls.label_rules import labels_by_rules, rules_kept
from discreet.mls.table import ABSENT, OWN, Column, Table, grave, listed, literal, slot
from discreet.mls.view import visible

ACTS = ("insert", "update", "delete")
HISTORY = "discreet_mls_history"
LONGEST_KEY = 2000
MOST_ARGUMENTS = 100


def header(table: Table, act: str, pinned: bool = True) -> str:
    """Setting the search path costs a fifth of an INSERT: a body that names all operators with their schema needs it
    not."""
    path = "SET search_path = pg_catalog, pg_temp\n" if pinned else ""
    return (
        f"FUNCTION {table.part(act)}()\nRETURNS trigger\nLANGUAGE plpgsql\nSECURITY DEFINER\n"
        f"{path}AS $trigger$\n#variable_conflict use_column\n"
    )


def duplicate_message(table: Table) -> str:
    return f"duplicate key in multilevel table {table.view}"


def duplicate(table: Table) -> str:
    return (
        "RAISE unique_violation USING\n"
        f"            MESSAGE = {literal(duplicate_message(table))},\n"
        "            HINT = 'A row with this key is visible at the label of the session.';"
    )


def checks(table: Table) -> str:
    """CHECKs hold for the row as its writer sees it."""
    every = [*table.key, *table.cells]
    row = listed(f"NEW.{column.quoted} AS {column.quoted}" for column in every)
    computed = listed([f"{each.expression} AS {each.column.quoted}" for each in table.generated])
    source = (
        f"(SELECT {row}) written" if not computed else f"(SELECT written.*, {computed} FROM (SELECT {row}) written) w"
    )
    return "".join(
        f"    IF NOT coalesce((SELECT {check.expression} FROM {source}), true) THEN\n"
        "        RAISE check_violation USING\n"
        f"            MESSAGE = {literal(f'row of multilevel table {table.view} violates check {check.name}')};\n"
        "    END IF;\n"
        for check in table.checks
    )


def references(table: Table) -> str:
    """A parent that the session does not see is as good as none."""
    text = ""
    for reference in table.references:
        named = " AND ".join(f"NEW.{column} IS NOT NULL" for column in reference.columns)
        same = " AND ".join(
            f"p.{key.quoted} {key.equals} NEW.{column}"
            for key, column in zip(reference.parent_key, reference.columns, strict=True)
        )
        text += (
            f"    IF {named} AND NOT EXISTS (SELECT FROM {reference.parent} p WHERE {same}) THEN\n"
            "        RAISE foreign_key_violation USING\n"
            f"            MESSAGE = {literal(f'row of {table.view} names no visible row of {reference.parent}')};\n"
            "    END IF;\n"
        )
    return text


def known_key(table: Table, label: str) -> str:
    same = " AND ".join(f"s.{key.quoted} {key.qualified_equals} NEW.{key.quoted}" for key in table.key)
    return (
        f"EXISTS (SELECT FROM {table.base} s WHERE {same} AND NOT s._dead"
        f" AND (s._label OPERATOR(pg_catalog.&) OPERATOR(pg_catalog.~) {label}) OPERATOR(pg_catalog.=) 0)"
    )


def generated_refused(table: Table) -> str:
    return "".join(
        f"    IF NEW.{each.column.quoted} IS NOT NULL THEN\n"
        "        RAISE generated_always USING\n"
        f"            MESSAGE = {literal(f'column {each.column.name} is generated and cannot be written')};\n"
        "    END IF;\n"
        for each in table.generated
    )


def keys_refused(table: Table) -> str:
    """The error of the key's index would name rows and columns that the session must not see."""
    missing = " OR ".join(f"NEW.{key.quoted} IS NULL" for key in table.key)
    text = f"""    IF {missing} THEN
        RAISE not_null_violation USING MESSAGE = {literal(f"a key of multilevel table {table.view} is NULL")};
    END IF;
"""
    sizes = " OPERATOR(pg_catalog.+) ".join(
        f"pg_catalog.pg_column_size(NEW.{key.quoted})" for key in table.key if key.long
    )
    if sizes:
        text += f"""    IF {sizes} OPERATOR(pg_catalog.>) {LONGEST_KEY} THEN
        RAISE program_limit_exceeded USING MESSAGE = {literal(f"a key of multilevel table {table.view} is too long")};
    END IF;
"""
    return text


def written_label(labels: list[str]) -> str:
    """A function has at most 100 arguments."""
    calls = [
        f"discreet._written_label({listed(labels[start : start + MOST_ARGUMENTS])})"
        for start in range(0, len(labels), MOST_ARGUMENTS)
    ]
    if len(calls) == 1:
        return calls[0]
    return f"CASE WHEN {' AND '.join(f'{call} IS NOT NULL' for call in calls[1:])} THEN {calls[0]} END"


def insert_function(table: Table) -> str:
    cells = table.cells
    labels = [*(f"NEW.{column.label}" for column in (*table.key, *cells)), "NEW.tc"]
    source = "NULL"
    if cells:
        missing = " AND ".join(f"NEW.{cell.quoted} IS NOT NULL" for cell in cells)
        each = listed(f"CASE WHEN NEW.{cell.quoted} IS NULL THEN {ABSENT} ELSE {OWN} END" for cell in cells)
        source = f"CASE WHEN NOT ({missing}) THEN ARRAY[{each}]::bigint[] END"
    judged = rules_kept(table, lambda _: "NOT discreet._is_trusted()") + checks(table) + references(table)
    return (
        header(table, "insert", pinned=bool(table.checks or table.references or table.rules))
        + f"""DECLARE
    _c bigint;
BEGIN
{labels_by_rules(table)}    _c := {written_label(labels)};
{generated_refused(table)}{keys_refused(table)}    IF _c IS NULL THEN
        NEW.row_id := discreet._random_id();
        RETURN {table.part("load")}(NEW);
    END IF;
{judged}    NEW.row_id := discreet._insert_root(
        {literal(table.base)}::pg_catalog.regclass, NEW, _c,
        {source},
        {literal(duplicate_message(table))});
    RETURN NEW;
END
$trigger$"""
    )


def load_function(table: Table) -> str:
    """A row whose labels are given is decomposed: one stored row at each of its labels, and one at their upper bound.

    In the row at a label, cells of that label are its own, and cells of lower labels borrowed from there; any other
    cell is borrowed from the root, where it is absent.
    """
    cells = table.cells
    count = len(cells)
    given = listed(f"coalesce(discreet._label_bits(NEW.{cell.label}), _c)" for cell in cells)
    values = listed(
        f"CASE WHEN _labels[{place}] = _l THEN NEW.{cell.quoted} END" for place, cell in enumerate(cells, 1)
    )
    absent = "".join(
        f"    IF NEW.{cell.quoted} IS NULL AND _labels[{place}] = _c THEN _labels[{place}] := {ABSENT}; END IF;\n"
        for place, cell in enumerate(cells, 1)
    )
    source = listed(
        f"CASE WHEN _labels[{place}] = _l THEN {OWN} WHEN _l = _key THEN {ABSENT}"
        f" WHEN _labels[{place}] <> {ABSENT} AND (_labels[{place}] & ~_l) = 0 THEN _labels[{place}] ELSE _key END"
        for place in range(1, count + 1)
    )
    written = "".join(
        f"    NEW.{cell.label} := discreet._label(NULLIF(_labels[{place}], {ABSENT}));\n"
        for place, cell in enumerate(cells, 1)
    )
    keys = "".join(f"    NEW.{key.label} := discreet._label(_key);\n" for key in table.key)
    key_labels = listed(f"discreet._label_bits(NEW.{key.label})" for key in table.key)
    body = f"""DECLARE
    _c bigint := discreet._written_label();
    _key bigint := coalesce({key_labels}, _c);
    _labels bigint[] := ARRAY[{given}]::bigint[];
    _top bigint := _key;
    _root bigint := NEW.row_id;
    _l bigint;
BEGIN
    IF NOT discreet._is_trusted() THEN
        PERFORM discreet._deny({literal(table.view)}, 'INSERT', 'only trusted sessions give labels when they write',
            'Leave the label columns out: what is written has the label of the session.');
    END IF;
    IF EXISTS (SELECT FROM unnest(ARRAY[{key_labels}]::bigint[]) k WHERE k <> _key) THEN
        RAISE invalid_parameter_value USING MESSAGE = 'the columns of a key have one label';
    END IF;
    IF EXISTS (SELECT FROM unnest(_labels || _key) k WHERE (k & ~_c) <> 0) THEN
        RAISE insufficient_privilege USING MESSAGE = 'a label is above that of the session',
            HINT = 'Load with a session whose label dominates all labels that it gives.';
    END IF;
    IF NOT (SELECT bool_and(discreet._may_write_at(k)) FROM unnest(_labels || _key) k) THEN
        RAISE insufficient_privilege USING MESSAGE = 'a label is below those at which the role may write',
            HINT = 'View discreet.clearances shows to security officers from which label on it may.';
    END IF;
    IF EXISTS (SELECT FROM unnest(_labels) k WHERE (_key & ~k) <> 0) THEN
        RAISE invalid_parameter_value USING MESSAGE = 'the label of a cell does not dominate that of the key';
    END IF;
{absent}{checks(table)}{references(table)}    FOREACH _l IN ARRAY _labels LOOP
        _top := _top | CASE WHEN _l = {ABSENT} THEN 0 ELSE _l END;
    END LOOP;
    FOR _l IN SELECT DISTINCT k FROM unnest(_labels || _key || _top) k WHERE k <> {ABSENT} ORDER BY k LOOP
        INSERT INTO {table.base} ({table.columns()}, _row_id, _entity, _key_label, _label, _slot, _dead, _source)
        SELECT {listed(f"NEW.{key.quoted}" for key in table.key)}{", " + values if cells else ""},
            NEW.row_id, CASE WHEN _l <> _key THEN _root END, _key, _l,
            CASE WHEN _l = _key THEN 0 ELSE {slot("_root", "_l")} END, false, ARRAY[{source}]::bigint[]
        WHERE _l <> _key OR NOT {known_key(table, "_c")}
        ON CONFLICT {table.conflict()} DO NOTHING;
        IF NOT FOUND THEN
            {duplicate(table)}
        END IF;
        EXIT WHEN _l = _top;
        NEW.row_id := discreet._random_id();
    END LOOP;
{keys}{written}    NEW.tc := discreet._label(CASE WHEN {ABSENT} = ANY (_labels) THEN _c ELSE _top END);
    RETURN NEW;
END
$trigger$"""
    return (
        f"FUNCTION {table.part('load')}(new {table.view})\nRETURNS {table.view}\n"
        "LANGUAGE plpgsql\nVOLATILE\nSECURITY DEFINER\nSET search_path = pg_catalog, pg_temp\nAS $trigger$\n"
        f"#variable_conflict use_column\n{body}"
    )


def changed(table: Table, place: int) -> str:
    """Values of a type without equality are compared as texts."""
    cell = table.cells[place]
    text = "" if cell.equals else "::text"
    return f"NEW.{cell.quoted}{text} IS DISTINCT FROM OLD.{cell.quoted}{text}"


def update_function(table: Table) -> str:
    cells = list(enumerate(table.cells, 1))
    is_set = listed(f"coalesce({table.attribute(cell)} = ANY (_named), false)" for _, cell in cells)
    differs = listed(changed(table, place - 1) for place, _ in cells)
    fixed = [f"NEW.{key.quoted} {key.equals} OLD.{key.quoted}" for key in table.key]
    fixed += [f"NEW.{column.label} = OLD.{column.label}" for column in (*table.key, *table.cells)]
    fixed += ["NEW.row_id = OLD.row_id"]
    generated = "".join(
        f"    IF NEW.{each.column.quoted}::text IS DISTINCT FROM OLD.{each.column.quoted}::text THEN\n"
        "        RAISE generated_always USING\n"
        f"            MESSAGE = {literal(f'column {each.column.name} is generated and cannot be written')};\n"
        "    END IF;\n"
        for each in table.generated
    )
    in_place = listed(
        f"{cell.quoted} = CASE WHEN _is_set[{place}] THEN NEW.{cell.quoted} ELSE t.{cell.quoted} END"
        for place, cell in cells
    )
    owned = listed(f"CASE WHEN _is_set[{place}] THEN {OWN} ELSE t._source[{place}] END" for place, _ in cells)
    own_values = listed(f"CASE WHEN _is_set[{place}] THEN NEW.{cell.quoted} END" for place, cell in cells)
    borrowed = listed(
        f"CASE WHEN _is_set[{place}] THEN {OWN} WHEN s._source[{place}] >= 0 THEN s._source[{place}] ELSE s._label END"
        for place, _ in cells
    )
    key = "".join(f"    NEW.{key.quoted} := OLD.{key.quoted};\n" for key in table.key)
    kept = "".join(
        f"        IF NOT _is_set[{place}] THEN NEW.{cell.quoted} := OLD.{cell.quoted}; END IF;\n"
        for place, cell in cells
    )
    # also what others of the same label have set meanwhile
    written = "".join(
        f"    IF _written._source IS NULL OR _written._source[{place}] = {OWN} THEN\n"
        f"        NEW.{cell.quoted} := _written.{cell.quoted};\n"
        f"        NEW.{cell.label} := discreet._label(_c);\n"
        "    END IF;\n"
        for place, cell in cells
    )

    def is_own(column: Column) -> str:
        if column in table.key:
            return "_written._entity IS NULL"
        return f"(_written._source IS NULL OR _written._source[{table.cells.index(column) + 1}] = {OWN})"

    return (
        header(table, "update")
        + f"""DECLARE
    _c bigint := discreet._written_label();
    _named int2[];
    _is_set boolean[];
    _acted record;
    _written {table.base}%ROWTYPE;
BEGIN
    IF ({" AND ".join(fixed)}) IS NOT TRUE THEN
        RAISE feature_not_supported USING
            MESSAGE = {literal(f"keys, labels and ids of multilevel table {table.view} cannot be updated")},
            HINT = 'DELETE and INSERT give a row another key; discreet.mls_declassify() lowers a label.';
    END IF;
{key}{generated}    -- the columns that the statement sets, which a hook of the extension tells; else those that differ
    -- where another writer tells, through a view around this one, all other columns are judged as they were
    IF starts_with(NEW.tc, '{{') THEN
        _named := NEW.tc;
        _is_set := ARRAY[{is_set}]::boolean[];
{kept}    ELSIF NEW.tc IS DISTINCT FROM OLD.tc THEN
        RAISE feature_not_supported USING MESSAGE = 'column tc cannot be set',
            HINT = 'It is the least upper bound of the labels of the row.';
    ELSE
        _is_set := ARRAY[{differs}]::boolean[];
    END IF;
    NEW.tc := OLD.tc;
    IF NOT coalesce(true = ANY (_is_set), false) THEN
        RETURN NEW;
    END IF;
"""
        + (
            f"""    UPDATE {table.base} t SET {in_place},
        _source = CASE WHEN t._source IS NOT NULL THEN ARRAY[{owned}] END
    WHERE {table.same_key("t", "OLD")} AND t._row_id = OLD.row_id AND t._label = _c AND NOT t._dead
    RETURNING t.* INTO _written;
    IF NOT FOUND THEN
        -- the row lives at a lower label; of several it must be the highest
        SELECT s._label AS label, coalesce(s._entity, s._row_id) AS entity, s._dead AS dead,
            coalesce(bool_or((s._label & ~o._label) = 0), false) AS is_below, count(o._label) > 0 AS has_others
        INTO _acted
        FROM {table.base} s LEFT JOIN {table.base} o ON {table.same_entity("o", "s")}
            AND NOT o._dead AND {visible("o", "_c")} AND (o._label & ~s._label) <> 0
        WHERE {table.same_key("s", "OLD")} AND s._row_id = OLD.row_id
        GROUP BY s._label, s._entity, s._row_id, s._dead;
        IF _acted.entity IS NULL OR _acted.dead OR _acted.label = _c OR _acted.is_below THEN
            RETURN NULL;
        END IF;
        IF _acted.has_others THEN
            RAISE feature_not_supported USING
                MESSAGE = {literal(f"an entity of multilevel table {table.view} has several highest versions")},
                HINT = 'At the label of one of them, or above both, discreet.mls_uplevel() settles which value holds.';
        END IF;
        INSERT INTO {table.base} AS t ({table.columns()}, _row_id, _entity, _key_label, _label, _slot, _dead, _source)
        SELECT {listed("s." + key.quoted for key in table.key)}, {own_values},
            discreet._random_id(), _acted.entity, s._key_label, _c, {slot("_acted.entity", "_c")}, false,
            ARRAY[{borrowed}]
        FROM {table.base} s
        WHERE {table.same_key("s", "OLD")} AND s._row_id = OLD.row_id AND NOT s._dead
        ON CONFLICT {table.conflict()} DO UPDATE SET {in_place}, _source = ARRAY[{owned}]
        RETURNING t.* INTO _written;
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
    END IF;
    NEW.row_id := _written._row_id;
{written}    -- judged is what is written: a row that is skipped breaks nothing
{rules_kept(table, is_own)}{checks(table)}{references(table)}    NEW.tc := discreet._label(_c);
"""
            if cells
            else ""
        )
        + "    RETURN NEW;\nEND\n$trigger$"
    )


def children(table: Table) -> str:
    """A parent that visible rows name stays; rows that are not visible do not count."""
    text = ""
    for child in table.children:
        same = " AND ".join(
            f"k.{column} {key.equals} OLD.{key.quoted}" for key, column in zip(table.key, child.columns, strict=True)
        )
        text += (
            f"    IF EXISTS (SELECT FROM {child.name} k WHERE {same}) THEN\n"
            "        RAISE foreign_key_violation USING\n"
            f"            MESSAGE = {literal(f'row of {table.view} is named by visible rows of {child.name}')};\n"
            "    END IF;\n"
        )
    return text


def delete_function(table: Table) -> str:
    return (
        header(table, "delete")
        + f"""DECLARE
    _c bigint := discreet._written_label();
    _at bigint;
BEGIN
{children(table)}    IF discreet._delete_root({literal(table.base)}::pg_catalog.regclass, OLD, _c) THEN
        RETURN OLD;
    END IF;
    -- a row above a root, or one that another session has changed meanwhile
    UPDATE {table.base} t
    SET _dead = true, _slot = {grave(table, "t")}
    WHERE {table.same_key("t", "OLD")} AND t._row_id = OLD.row_id AND t._label = _c AND NOT t._dead;
    IF NOT FOUND THEN
        SELECT s._label INTO _at FROM {table.base} s
        WHERE {table.same_key("s", "OLD")} AND s._row_id = OLD.row_id;
        IF _at <> _c THEN
            PERFORM discreet._deny({literal(table.view)}, 'DELETE',
                'a row that lives at a lower label cannot be deleted',
                'A session deletes rows at its own label; tc and the labels of the row tell where it lives.');
        END IF;
        RETURN NULL;
    END IF;
    RETURN OLD;
END
$trigger$"""
    )


def functions(table: Table) -> list[str]:
    """To be put behind CREATE, or CREATE OR REPLACE."""
    texts = [load_function(table), insert_function(table), update_function(table), delete_function(table)]
    if any(text.count("$trigger$") != 2 for text in texts):
        # a name, a CHECK or a default would end the body of a function, and go on as SQL
        raise InvalidParameterError(
            f"a name or an expression of {table.view} has $trigger$ in it", "Write it otherwise."
        )
    return texts


def trigger_name(act: str) -> str:
    return f"discreet_mls_{act}"


def history_trigger(table: Table, history: str) -> str:
    """Of the hidden table. `history`: the number of its history."""
    keys = listed(literal(key.name) for key in table.key)
    return (
        f"CREATE TRIGGER {HISTORY} AFTER INSERT OR UPDATE ON {table.base}\n"
        f"FOR EACH ROW EXECUTE FUNCTION discreet._history_note({literal(history)}, {keys})"
    )


def create_triggers(table: Table) -> list[str]:
    return [
        f"CREATE TRIGGER {trigger_name(act)} INSTEAD OF {act.upper()} ON {table.view}\n"
        f"FOR EACH ROW EXECUTE FUNCTION {table.part(act)}()"
        for act in ACTS
    ]
