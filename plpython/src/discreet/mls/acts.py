"""What trusted sessions do across labels, and what every session does to settle versions: as SQL texts."""

# ruff: noqa: S608 - names are quoted; what else is in these texts comes from the catalog

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.core.errors import InvalidParameterError, UndefinedColumnError
from discreet.mls.table import ABSENT, OWN, Column, Table, entity_of, grave, identifier, listed, literal, slot
from discreet.mls.view import rows, visible


def key_columns(table: Table, key: Mapping[str, object] | None) -> None:
    """That a key is given as an object with exactly the columns of the key."""
    names = [column.name for column in table.key]
    if not isinstance(key, Mapping) or sorted(key) != sorted(names) or None in key.values():
        raise InvalidParameterError(
            "the key is not given as a JSON object with the columns of the key",
            "It has the form {" + ", ".join(f'"{name}": …' for name in names) + "}.",
        )


def cell(table: Table, name: str) -> Column:
    for column in table.cells:
        if column.name == name:
            return column
    listed_cells = ", ".join(column.name for column in table.cells)
    raise UndefinedColumnError(
        f'multilevel table {table.view} has no column "{name}" with labels of its own', f"There are: {listed_cells}."
    )


def held(table: Table) -> str:
    """Writes the live rows at a label, $2, of the entities of a key, $1, as they are: a session that would change them
    waits, and what was committed before is read later."""
    return (
        f"UPDATE {table.base} t SET _dead = t._dead FROM jsonb_populate_record(NULL::{table.base}, $1) k"
        f" WHERE {table.same_key('t', 'k')} AND NOT t._dead AND t._label = $2"
    )


def own_row(table: Table) -> str:
    """The live rows at a label, $2, of the entities of a key, $1."""
    return (
        f"SELECT t._row_id AS id, {entity_of('t')} AS entity, t._entity IS NULL AS is_root, t._key_label AS key_label,"
        f" t._source AS source FROM {table.base} t, jsonb_populate_record(NULL::{table.base}, $1) k"
        f" WHERE {table.same_key('t', 'k')} AND NOT t._dead AND t._label = $2"
    )


def row_at(table: Table) -> str:
    """The live row of the entity $2 of key $1 at label $3. The answer does not show whether there is a tombstone."""
    return (
        f"SELECT FROM {table.base} t, jsonb_populate_record(NULL::{table.base}, $1) k"
        f" WHERE {table.same_key('t', 'k')} AND {entity_of('t')} = $2 AND t._label = $3 AND NOT t._dead"
    )


def lower_to_root(table: Table, columns: list[Column]) -> str:
    """Cells of the row $2 become those of the root, which is alive."""
    sets = listed(f"{column.quoted} = r.{column.quoted}" for column in columns)
    sources = listed(
        str(OWN) if column in columns else f"coalesce(t._source[{place}], {OWN})"
        for place, column in enumerate(table.cells, 1)
    )
    return (
        f"UPDATE {table.base} t SET {sets}, _source = ARRAY[{sources}]::bigint[]"
        f" FROM {table.base} r, jsonb_populate_record(NULL::{table.base}, $1) k"
        f" WHERE {table.same_key('r', 'k')} AND r._row_id = $2 AND {table.same_key('t', 'r')} AND t._row_id = r._entity"
        " AND NOT r._dead AND NOT t._dead"
    )


def lower_to_row(table: Table, columns: list[Column]) -> str:
    """Cells of the row $2 become those of the row at label $3, which is made if there is none.

    What it does not own it borrows from the highest live row below; where none lives, it is absent.
    """
    cells = list(enumerate(table.cells, 1))
    values = listed(f"r.{column.quoted}" if column in columns else "NULL" for _, column in cells)
    sources = listed(
        str(OWN)
        if column in columns
        else f"CASE WHEN s._source[{place}] >= 0 THEN s._source[{place}] ELSE coalesce(s._label, {ABSENT}) END"
        for place, column in cells
    )
    again = listed(f"{column.quoted} = excluded.{column.quoted}" for column in columns)
    again_sources = listed(
        str(OWN) if column in columns else f"coalesce(t._source[{place}], {OWN})" for place, column in cells
    )
    return (
        f"INSERT INTO {table.base} AS t"
        f" ({table.columns()}, _row_id, _entity, _key_label, _label, _slot, _dead, _source)"
        f" SELECT {listed('r.' + key.quoted for key in table.key)}, {values}, discreet._random_id(), r._entity,"
        f" r._key_label, $3, {slot('r._entity', '$3')}, false, ARRAY[{sources}]::bigint[]"
        f" FROM jsonb_populate_record(NULL::{table.base}, $1) k"
        f" JOIN {table.base} r ON {table.same_key('r', 'k')} AND r._row_id = $2 AND NOT r._dead"
        f" LEFT JOIN LATERAL (SELECT s.* FROM {table.base} s WHERE {table.same_key('s', 'r')}"
        f" AND {entity_of('s')} = r._entity AND (s._label & ~$3) = 0 AND s._label <> $3 AND NOT s._dead"
        f" ORDER BY s._label DESC LIMIT 1) s ON true"
        f" ON CONFLICT {table.conflict()} DO UPDATE SET {again}, _source = ARRAY[{again_sources}]::bigint[]"
    )


def borrow(table: Table, columns: list[Column]) -> str:
    """Cells of the row $2 are borrowed from label $3, where a row lives; a row without own cells becomes a tombstone.

    That the row there lives is seen in the snapshot in which it is borrowed from: a purge keeps what this may see.
    """
    sources = listed(
        "$3" if column in columns else f"t._source[{place}]" for place, column in enumerate(table.cells, 1)
    )
    sets = listed(f"{column.quoted} = NULL" for column in columns)
    owns = f"({OWN} = ANY (ARRAY[{sources}]::bigint[]))"
    return (
        f"UPDATE {table.base} t SET {sets}, _source = ARRAY[{sources}]::bigint[], _dead = NOT {owns},"
        f" _slot = CASE WHEN {owns} THEN t._slot ELSE {grave(table, 't')} END"
        f" FROM jsonb_populate_record(NULL::{table.base}, $1) k WHERE {table.same_key('t', 'k')} AND t._row_id = $2"
        f" AND NOT t._dead AND EXISTS (SELECT FROM {table.base} b WHERE {table.same_key('b', 't')}"
        f" AND {entity_of('b')} = t._entity AND b._label = $3 AND NOT b._dead)"
    )


def live_labels(table: Table) -> str:
    """The labels up to $2 at which rows of key $1 live."""
    return (
        f"SELECT DISTINCT t._label AS label FROM {table.base} t, jsonb_populate_record(NULL::{table.base}, $1) k"
        f" WHERE {table.same_key('t', 'k')} AND NOT t._dead AND {visible('t', '$2')}"
    )


@dataclass(frozen=True)
class Condition:
    """What every row that a label shows must satisfy: a CHECK, or a rule over NEW."""

    what: str
    sql: str


def conditions(table: Table, rules: Mapping[str, str]) -> list[Condition]:
    """The CHECKs of a table, and its rules by their names."""
    return [
        *(Condition(f"check {check.name}", check.expression) for check in table.checks),
        *(Condition(f'rule "{name}"', rule) for name, rule in rules.items()),
    ]


def broken_rows(table: Table, judged: list[Condition], label: int, keys: str) -> str:
    """Rows of the given keys that a label shows and that violate a condition: which one, and the row."""
    names = [column.quoted for column in (*table.key, *table.cells, *(each.column for each in table.generated))]
    shown = (
        f"SELECT {listed('shown.' + name for name in names)} FROM ({rows(table, f'{label}::bigint')}) shown,"
        f" {keys} k WHERE {table.same_key('shown', 'k')}"
    )
    found = " UNION ALL ".join(
        f"SELECT {literal(each.what)} AS what, ROW(new.*)::text AS text FROM written new"
        f" WHERE NOT coalesce(({each.sql}), true)"
        for each in judged
    )
    return f"WITH written AS ({shown}) {found}"


def key_given(table: Table) -> str:
    """The key $1, as rows that others are compared with."""
    return f"jsonb_populate_record(NULL::{table.base}, $1)"


def purge(table: Table) -> str:
    """Removes tombstones from which no row borrows, and no open transaction may borrow.

    No other statement touches a tombstone, so no session waits for this.
    """
    return (
        f"DELETE FROM {table.base} d"
        f" WHERE d._dead AND NOT discreet._is_needed({literal(table.base)}::pg_catalog.regclass, d)"
    )


def report(table: Table) -> str:
    """Of each key with several visible rows, the columns in which these differ, and what each says."""
    keys = listed(f"v.{key.quoted}" for key in table.key)
    build = listed(f"'{key.name.replace(chr(39), chr(39) * 2)}', {key.quoted}" for key in table.key)
    columns = " UNION ALL ".join(
        f"SELECT {keys}, '{column.name.replace(chr(39), chr(39) * 2)}' AS column_name, {place} AS place,"
        f" jsonb_agg(DISTINCT jsonb_build_object('label', v.{column.label}, 'value', v.{column.quoted})) AS versions"
        f" FROM {table.view} v GROUP BY {keys} HAVING count(*) > 1"
        for place, column in enumerate([*table.key[:1], *table.cells], 1)
    )
    return (
        f"SELECT jsonb_build_object({build}) AS key, column_name, versions FROM ({columns}) c"
        " WHERE jsonb_array_length(versions) > 1 ORDER BY key, place"
    )


def update_visible(table: Table, given: list[str]) -> str:
    """Updates the visible rows of a key with the columns given in $1."""
    sets = listed(f"{identifier(name)} = k.{identifier(name)}" for name in given)
    return (
        f"UPDATE {table.view} v SET {sets} FROM jsonb_populate_record(NULL::{table.view}, $1) k"
        f" WHERE {table.same_key('v', 'k')}"
    )


def is_visible(table: Table) -> str:
    return (
        f"SELECT FROM {table.view} v, jsonb_populate_record(NULL::{table.view}, $1) k"
        f" WHERE {table.same_key('v', 'k')} LIMIT 1"
    )


def insert_row(table: Table, given: list[str]) -> str:
    columns = listed(identifier(name) for name in given)
    return f"INSERT INTO {table.view} ({columns}) SELECT {columns} FROM jsonb_populate_record(NULL::{table.view}, $1)"
