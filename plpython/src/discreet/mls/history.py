"""Who wrote which version of a row of a multilevel table, as SQL texts.

Noninterference. An entry is written at the label of the stored row that a statement makes or changes. A session that is
not trusted writes rows at its own label alone, so entries at a label are made by sessions of that label, and by trusted
acts. What is read is chosen by label before anything else, and batches, links and locks belong to one label each. So no
result of mls_history() at a label depends on what is done at labels that it does not dominate.
"""

# ruff: noqa: S608 - names are quoted; what else is in these texts comes from the catalog

from __future__ import annotations

from discreet.mls.table import ABSENT, OWN, Table, listed, literal
from discreet.mls.view import visible

TYPES = ["jsonb", "uuid", "bigint"]


def entries(table: Table) -> str:
    """The entries of key $1 in history $2 up to label $3, the oldest first."""
    keys = listed(f"({literal(key.name)}, (h.version -> {literal(key.name)})::jsonb, {OWN})" for key in table.key)
    cells = "".join(
        f", ({literal(cell.name)}, (h.version -> {literal(cell.name)})::jsonb, coalesce(v._source[{place}], {OWN}))"
        for place, cell in enumerate(table.cells, 1)
    )
    names = listed(literal(key.name) for key in table.key)
    # of what is written down, keys alone are read as values: those of other types may no longer be any
    read = listed(f"{key.quoted} {key.type_name}" for key in table.key)
    return (
        "SELECT h.at::text AS at, h.role, discreet._label(h.label) AS label, h.act, v._row_id AS row_id,"
        " discreet._label(v._key_label) AS key_label, c.version, c.borrowed"
        f" FROM jsonb_populate_record(NULL::{table.base}, $1) k"
        f" JOIN (SELECT h.*, h.label AS _label FROM discreet._history h) h ON h.history = $2"
        f" AND h.place = discreet._history_place(k.*, ARRAY[{names}]) AND {visible('h', '$3')}"
        f" CROSS JOIN LATERAL json_to_record(h.version)"
        f" v({read}, _row_id bigint, _key_label bigint, _source bigint[])"
        f" CROSS JOIN LATERAL (SELECT jsonb_object_agg(c.name, c.value) FILTER (WHERE c.source = {OWN}) AS version,"
        f" coalesce(jsonb_object_agg(c.name, discreet._label(c.source)) FILTER (WHERE c.source > {ABSENT}), '{{}}')"
        f" AS borrowed FROM (VALUES {keys}{cells}) c(name, value, source)) c"
        f" WHERE {table.same_key('v', 'k')} ORDER BY h.at, h.label, h.batch, h.number"
    )
