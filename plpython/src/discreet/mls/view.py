"""The view of a multilevel table, as text.

Most entities have one row, their root, whose label is that of the key. The view shows these as they are stored, unless
a row above the root is visible to the session, which is one call for a root (`discreet._is_single`). Entities with
visible rows above are few, and the whole of the rules is for them (`discreet._instances`), in two halves, so that two
processes can share them:
1. rows with a label below that of the session, with the row that each cell comes from;
2. no row that says nothing of its own; 3. absent cells filled from the one row above that has a value there;
4. absent cells with the label of the session, which is what NULL becomes in `discreet._label`.
"""

# ruff: noqa: S608 - names are quoted; what else is in these texts comes from the catalog

from __future__ import annotations

from discreet.mls.table import ABSENT, Generated, Table, identifier, listed, literal


def visible(alias: str, label: str) -> str:
    """That the label dominates that of the row."""
    return f"({alias}._label & ~{label}) = 0"


def single_rows(table: Table, label: str | None) -> str:
    """Roots without a row above that is visible to the label, or to the session."""
    cells = "".join(
        f",\n        r.{cell.quoted},"
        f" CASE WHEN r._source IS NULL OR r._source[{place}] <> {ABSENT} THEN r._key_label END AS {cell.label}"
        for place, cell in enumerate(table.cells, 1)
    )
    condition = f"discreet._is_single({literal(table.base)}::regclass, r._key_label, r._slot, r._row_id)"
    if label is not None:
        condition = (
            f"r._slot = 0 AND {visible('r', label)} AND NOT EXISTS (SELECT FROM {table.base} n\n"
            f"        WHERE n._entity = r._row_id AND NOT n._dead AND {visible('n', label)})"
        )
    return (
        f"    SELECT {listed('r.' + key.quoted for key in table.key)}, r._key_label, r._row_id{cells}\n"
        f"    FROM {table.base} r\n"
        f"    WHERE {condition}"
    )


# ids are random, below 2^63
HALVES = {"several": f"< {2**62}", "others": f">= {2**62}"}


def several_rows(table: Table, label: str | None, half: str | None = None) -> str:
    """Entities with a visible row above their root; of a half, those whose first such row has an id in it."""
    cells = "".join(
        f",\n        (i._shown).{cell.quoted}, (i._shown)._source[{place}] AS {cell.label}"
        for place, cell in enumerate(table.cells, 1)
    )
    names = listed(literal(cell.name) for cell in table.cells)
    seen = (
        f"_above._label = ANY (discreet._above_labels({literal(table.base)}::regclass))"
        if label is None
        else visible("_above", label)
    )
    if half is not None:
        seen += f" AND _above._row_id {half}"
    keys = listed("_above." + key.quoted for key in table.key)
    # in the order of keys, in which the next root is near the last
    return (
        f"    SELECT {listed('i.' + key.quoted for key in table.key)}, i._key_label, (i._shown)._row_id{cells}\n"
        f"    FROM (\n"
        f"        SELECT {keys}, _above._key_label, discreet._instances(\n"
        f"            {literal(table.base)}::regclass, _above._rows, ARRAY[{names}], {label or 'NULL'}) AS _shown\n"
        f"        FROM (\n"
        f"            SELECT {keys}, _above._key_label, _above AS _rows\n"
        f"            FROM {table.base} _above\n"
        f"            WHERE _above._entity IS NOT NULL AND {seen}\n"
        f"            ORDER BY {keys}) _above) i"
    )


def generated_label(table: Table, column: Generated) -> str:
    labels = {each.name: f"x.{each.label}" for each in table.cells} | {key.name: "x._key_label" for key in table.key}
    return " | ".join([labels[name] for name in column.sources] or ["x._key_label"])


def shown_columns(table: Table, rows: str) -> str:
    """The columns of the view, of rows with labels as numbers."""
    shown = [f"x.{key.quoted}, discreet._label(x._key_label) AS {key.label}" for key in table.key]
    shown += [f"x.{cell.quoted}, discreet._label(x.{cell.label}) AS {cell.label}" for cell in table.cells]
    labels = ["x._key_label", *(f"x.{cell.label}" for cell in table.cells)]
    for column in table.generated:
        shown.append(f"{column.expression} AS {column.column.quoted}")
        shown.append(f"discreet._label({generated_label(table, column)}) AS {column.column.label}")
    shown.append(f"discreet._label({' | '.join(labels)}) AS tc")
    shown.append("x._row_id AS row_id")
    return f"SELECT {(',' + chr(10) + '    ').join(shown)}\nFROM (\n{rows}) x"


def rows(table: Table, label: str) -> str:
    """A SELECT of what a label shows, in the columns of the view."""
    parts = [single_rows(table, label)] + ([several_rows(table, label)] if table.cells else [])
    return "\nUNION ALL\n".join(shown_columns(table, part) for part in parts)


def create_views(table: Table) -> dict[str, str]:
    """The view, and before it one for each of its parts.

    PostgreSQL takes a view that is a UNION ALL apart, barrier or not, and hands conditions down to parts that are no
    barriers: functions of users would see rows before it is known whether these are visible.
    """
    texts = {table.part("single"): single_rows(table, None)}
    if table.cells:
        texts |= {table.part(name): several_rows(table, None, half) for name, half in HALVES.items()}
    parts = {name: shown_columns(table, text) for name, text in texts.items()}
    whole = "\nUNION ALL ".join(f"SELECT * FROM {name}" for name in parts)
    return {
        name: f"CREATE VIEW {name} WITH (security_barrier) AS\n{text}"
        for name, text in (parts | {table.view: whole}).items()
    }


def defaults(table: Table) -> list[str]:
    """A row that is inserted has the label of the session; where a rule knows better, its trigger sees that none is
    given."""
    ruled = {rule.column.name for rule in table.rules}
    if ruled & {key.name for key in table.key}:
        ruled |= {key.name for key in table.key}
    every = [
        (f"{column.name}_label", "NULL" if column.name in ruled else "discreet._label(NULL)")
        for column in (*table.key, *table.cells)
    ]
    every.append(("tc", "discreet._label(NULL)"))
    every += [(column.name, column.default) for column in (*table.key, *table.cells) if column.default is not None]
    return [f"ALTER VIEW {table.view} ALTER COLUMN {identifier(name)} SET DEFAULT {value}" for name, value in every]
