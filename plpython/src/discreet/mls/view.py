"""The view of a multilevel table, as text.

Most entities have one row, their root, whose label is that of the key. The view shows these as they are stored, unless
a row above the root is visible to the session; such entities have few rows, and the whole of the rules is for them:
1. rows with a label below that of the session, with the row that each cell comes from (`discreet._instance`);
2. no row that says nothing of its own; 3. absent cells filled from the one row above that has a value there;
4. absent cells with the label of the session, which is what NULL becomes in `discreet._label`.
"""

# ruff: noqa: S608 - names are quoted; what else is in these texts comes from the catalog

from __future__ import annotations

from discreet.mls.table import ABSENT, OWN, Generated, Table, entity_of, identifier, listed


def visible(alias: str, label: str | None) -> str:
    """That the label, or that of the session, dominates that of the row.

    A subquery that computes the label of the session once would keep parallel workers from the whole view.
    """
    return f"discreet._visible({alias}._label)" if label is None else f"({alias}._label & ~{label}) = 0"


def single_rows(table: Table, label: str | None) -> str:
    """Roots without a visible row above."""
    cells = "".join(
        f",\n        r.{cell.quoted}, CASE WHEN r._source IS NULL OR r._source[{place}] <> {ABSENT} THEN r._label END"
        f" AS {cell.label}"
        for place, cell in enumerate(table.cells, 1)
    )
    above = (
        f"\n      AND NOT EXISTS (SELECT FROM {table.base} n\n"
        f"        WHERE n._entity IS NOT NULL AND {table.same_key('n', 'r')} AND n._key_label = r._key_label\n"
        f"          AND n._entity = r._row_id AND NOT n._dead AND {visible('n', label)})"
    )
    return (
        f"    SELECT {listed('r.' + key.quoted for key in table.key)}, r._key_label, r._row_id{cells}\n"
        f"    FROM {table.base} r\n"
        f"    WHERE r._entity IS NULL AND NOT r._dead AND {visible('r', label)}"
    ) + (above if table.cells else "")


def several_rows(table: Table, label: str | None) -> str:
    """Entities with a visible row above their root."""
    keys = listed(key.quoted for key in table.key)
    whole = (
        f"(PARTITION BY {{entity}}, {listed('{alias}.' + key.quoted for key in table.key)}, {{alias}}._key_label\n"
        "            ORDER BY {alias}._label ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"
    )
    entity = entity_of("s")
    own = "'{" + ",".join([str(OWN)] * len(table.cells)) + "}'::bigint[]"
    resolved = "".join(
        f",\n            nth_value(s.{cell.quoted}, s._from[{place}]) OVER entity AS {cell.quoted},"
        f" s._labels[s._from[{place}]] AS {cell.label}"
        for place, cell in enumerate(table.cells, 1)
    )
    shown = "".join(f", i.{cell.quoted}, i.{cell.label}" for cell in table.cells)
    return (
        f"    SELECT {listed('i.' + key.quoted for key in table.key)}, i._key_label, i._row_id{shown}\n"
        f"    FROM (\n"
        f"        SELECT {listed('s.' + key.quoted for key in table.key)}, s._key_label, s._row_id, s._from{resolved}\n"
        f"        FROM (\n"
        f"            SELECT {keys}, _key_label, _row_id, _label, {entity} AS _entity,"
        f" {listed('s.' + cell.quoted for cell in table.cells)},\n"
        f"                array_agg(s._label) OVER entity AS _labels,\n"
        f"                discreet._instance(s._label, array_agg(s._label) OVER entity,\n"
        f"                    array_agg(s._dead) OVER entity,\n"
        f"                    array_agg(coalesce(s._source, {own})) OVER entity) AS _from\n"
        f"            FROM {table.base} s\n"
        f"            WHERE {visible('s', label)} AND EXISTS (SELECT FROM {table.base} n\n"
        f"                WHERE n._entity IS NOT NULL AND {table.same_entity('n', 's')}\n"
        f"                  AND NOT n._dead AND {visible('n', label)})\n"
        f"            WINDOW entity AS {whole.format(entity=entity, alias='s')}) s\n"
        f"        WINDOW entity AS {whole.format(entity='s._entity', alias='s')}) i\n"
        f"    WHERE i._from IS NOT NULL"
    )


def generated_label(table: Table, column: Generated) -> str:
    labels = {each.name: f"x.{each.label}" for each in table.cells} | {key.name: "x._key_label" for key in table.key}
    return " | ".join([labels[name] for name in column.sources] or ["x._key_label"])


def rows(table: Table, label: str | None = None) -> str:
    """A SELECT of what a label shows, in the columns of the view."""
    parts = [single_rows(table, label)] + ([several_rows(table, label)] if table.cells else [])
    shown = [f"x.{key.quoted}, discreet._label(x._key_label) AS {key.label}" for key in table.key]
    shown += [f"x.{cell.quoted}, discreet._label(x.{cell.label}) AS {cell.label}" for cell in table.cells]
    labels = ["x._key_label", *(f"x.{cell.label}" for cell in table.cells)]
    for column in table.generated:
        shown.append(f"{column.expression} AS {column.column.quoted}")
        shown.append(f"discreet._label({generated_label(table, column)}) AS {column.column.label}")
    shown.append(f"discreet._label({' | '.join(labels)}) AS tc")
    shown.append("x._row_id AS row_id")
    union = "\n  UNION ALL\n".join(parts)
    return f"SELECT {(',' + chr(10) + '    ').join(shown)}\nFROM (\n{union}) x"


def create_view(table: Table) -> str:
    return f"CREATE VIEW {table.view} WITH (security_barrier) AS\n{rows(table)}"


def defaults(table: Table) -> list[str]:
    """A row that is inserted has the label of the session."""
    every = [(f"{column.name}_label", "discreet._label(NULL)") for column in (*table.key, *table.cells)]
    every.append(("tc", "discreet._label(NULL)"))
    every += [(column.name, column.default) for column in (*table.key, *table.cells) if column.default is not None]
    return [f"ALTER VIEW {table.view} ALTER COLUMN {identifier(name)} SET DEFAULT {value}" for name, value in every]
