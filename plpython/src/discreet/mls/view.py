"""The view of a multilevel table, as text.

Most rows are roots that own all of their cells. The view shows these as they are stored (`discreet._is_single`). Rows
that borrow cells from others, and roots with absent cells, have sources; the whole of the rules is for them, in a scan
of the extension (`discreet._is_version`, extension/mls_versions.c). An absent cell has the label of the session, which
is what NULL becomes in `discreet._label`.
"""

# ruff: noqa: S608 - names are quoted; what else is in these texts comes from the catalog

from __future__ import annotations

from discreet.mls.table import Generated, Table, identifier, listed, literal


def visible(alias: str, label: str) -> str:
    """That the label dominates that of the row."""
    return f"({alias}._label & ~{label}) = 0"


def single_rows(table: Table, label: str | None) -> str:
    """Roots without sources: all of their cells are their own, and they are shown as they are stored."""
    cells = "".join(f",\n        r.{cell.quoted}, r._key_label AS {cell.label}" for cell in table.cells)
    return (
        f"    SELECT {listed('r.' + key.quoted for key in table.key)}, r._key_label, r._row_id{cells}\n"
        f"    FROM {table.base} r\n"
        f"    WHERE r._source IS NULL AND discreet._is_single(r._key_label, r._slot, r._source, {label or 'NULL'})"
    )


def version_rows(table: Table, label: str | None) -> str:
    """Rows with sources, which the scan of _is_version shows with all cells, and with labels in place of sources."""
    cells = "".join(
        f",\n        r.{cell.quoted}, r._source[{place}] AS {cell.label}" for place, cell in enumerate(table.cells, 1)
    )
    names = listed(literal(cell.name) for cell in table.cells)
    return (
        f"    SELECT {listed('r.' + key.quoted for key in table.key)}, r._key_label, r._row_id{cells}\n"
        f"    FROM {table.base} r\n"
        f"    WHERE r._source IS NOT NULL AND discreet._is_version(r._label, ARRAY[{names}], {label or 'NULL'})"
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
    parts = [single_rows(table, label)] + ([version_rows(table, label)] if table.cells else [])
    return "\nUNION ALL\n".join(shown_columns(table, part) for part in parts)


def create_views(table: Table) -> dict[str, str]:
    """The view, and before it one for each of its parts.

    PostgreSQL takes a view that is a UNION ALL apart, barrier or not, and hands conditions down to parts that are no
    barriers: functions of users would see rows before it is known whether these are visible.
    """
    texts = {table.part("single"): single_rows(table, None)}
    if table.cells:
        texts[table.part("versions")] = version_rows(table, None)
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
