"""Who wrote which version of a row of a multilevel table, as SQL texts.

Noninterference. An entry is written at the label of the stored row that a statement makes or changes. A session that is
not trusted writes rows at its own label alone, so entries at a label are made by sessions of that label, and by trusted
acts. What is read is chosen by label before anything else, and batches, links and locks belong to one label each. So no
result of mls_history() at a label depends on what is done at labels that it does not dominate.

What an officer relabels upwards is to be seen below no more, in entries from before neither: they keep their place in
their chain, and a mark of the column with the label at which it is shown. Marked are the entries of a key at the label
from which a value is moved, and those where the column was marked before and is shown there: an entry that held the
value when it came to that label is one of them. Who saw a marked value dominates that label, and sees that it moves.
"""

# ruff: noqa: S608 - names are quoted; what else is in these texts comes from the catalog

from __future__ import annotations

from collections.abc import Iterable

from discreet.mls.table import ABSENT, OWN, Column, Table, listed, literal
from discreet.mls.view import visible

TYPES = ["jsonb", "uuid", "bigint"]


def entries(table: Table) -> str:
    """The entries of key $1 in history $2 up to label $3, the oldest first."""
    keys = listed(f"({literal(key.name)}, {value(key)}, {OWN})" for key in table.key)
    cells = "".join(
        f", ({literal(cell.name)}, CASE WHEN ({label_of(cell)} & ~$3) = 0 THEN {value(cell)} END,"
        f" CASE WHEN ({label_of(cell)} & ~$3) = 0 THEN coalesce(v._source[{place}], {OWN}) END)"
        for place, cell in enumerate(table.cells, 1)
    )
    names = listed(literal(key.name) for key in table.key)
    # of what is written down, keys alone are read as values: those of other types may no longer be any
    read = listed(f"{key.quoted} {key.type_name}" for key in table.key)
    return (
        "SELECT h.at::text AS at, h.role, discreet._label(h.label) AS label, h.act, v._row_id AS row_id,"
        " discreet._label(v._key_label) AS key_label, c.version, c.borrowed"
        f" FROM jsonb_populate_record(NULL::{table.base}, $1) k"
        f" JOIN (SELECT h.*, {label_of(table.key[0])} AS _label FROM discreet._history h) h ON h.history = $2"
        f" AND h.place = discreet._history_place(k.*, ARRAY[{names}]) AND {visible('h', '$3')}"
        f" CROSS JOIN LATERAL json_to_record(h.version)"
        f" v({read}, _row_id bigint, _key_label bigint, _source bigint[])"
        f" CROSS JOIN LATERAL (SELECT jsonb_object_agg(c.name, c.value) FILTER (WHERE c.source = {OWN}) AS version,"
        f" coalesce(jsonb_object_agg(c.name, discreet._label(c.source)) FILTER (WHERE c.source > {ABSENT}), '{{}}')"
        f" AS borrowed FROM (VALUES {keys}{cells}) c(name, value, source)) c"
        f" WHERE {table.same_key('v', 'k')} ORDER BY h.at, h.label, h.batch, h.number"
    )


def value(column: Column) -> str:
    return f"(h.version -> {literal(column.name)})::jsonb"


def label_of(column: Column) -> str:
    """At which a column of an entry is shown, if it is its own; that of a key counts for all of the entry."""
    return f"coalesce((h.raised ->> {literal(column.name)})::bigint, h.label)"


def raised(table: Table, moved: str, columns: Iterable[Column], condition: str, to: int) -> str:
    """Columns of entries of history $1, of the keys in a temporary table `m`, are shown at a higher label."""
    names = listed(literal(key.name) for key in table.key)
    marks = listed(f"({literal(column.name)}, {label_of(column)} | {to})" for column in columns)
    return (
        "UPDATE discreet._history h SET raised = coalesce(h.raised, '{}') ||"
        f" (SELECT jsonb_object_agg(c.name, c.label) FROM (VALUES {marks}) c(name, label))"
        f" FROM {moved} m WHERE h.history = $1 AND h.place = discreet._history_place(m.*, ARRAY[{names}])"
        f" AND {condition}"
    )


def raised_cells(table: Table, moved: str, column: Column, is_up: str, to: int) -> str:
    """Of values that go up, `m._label` being where they were."""
    marked = f"h.raised ? {literal(column.name)} AND (m._label & ~{label_of(column)}) = 0"
    return raised(table, moved, [column], f"{is_up} AND (h.label = m._label OR ({marked}))", to)


def raised_rows(table: Table, affected: str, to: int, session: int) -> str:
    """Of whole rows, with all that the session at a label sees of them."""
    seen = f"(m._key_label & ~h.label) = 0 AND (h.label & ~{session}::bigint) = 0"
    return raised(table, affected, (*table.key, *table.cells), f"m._key_label <> {to} AND {seen}", to)
