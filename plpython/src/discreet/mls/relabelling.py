"""Labels of many cells or rows changed in one act of an officer, as SQL over all rows at once.

The rows that are meant, and what is moved, stand in temporary tables: `AFFECTED` has the entity of each row, with the
labels that its cells show; `MOVED` has the live cells of one column that have another label than is wanted.

A cell that goes down becomes that of the row at the lower label, which is made if there is none, and is borrowed from
there. A cell that goes up becomes that of the row at the higher label, unless this has one of its own, and is taken
away below; rows above that borrowed it borrow it from its new place. Rows that the officer's session does not dominate
are neither read nor written: that they exist would be told.
"""

# ruff: noqa: S608 - names are quoted; predicates are checked expressions

from __future__ import annotations

from dataclasses import dataclass

from discreet.mls.table import ABSENT, OWN, Column, Table, entity_of, grave, listed, slot
from discreet.mls.view import visible

AFFECTED = "pg_temp.discreet_relabelled"
MOVED = "pg_temp.discreet_moved"
RAISED = "pg_temp.discreet_raised"
CHANGED = "pg_temp.discreet_changed"


def bare(name: str) -> str:
    return name.removeprefix("pg_temp.")


def begun() -> str:
    """A planted table of this name is an error: nothing that exists already is written to."""
    return f"CREATE TEMPORARY TABLE {bare(CHANGED)} (_entity bigint) ON COMMIT DROP"


def ended(raised: bool) -> str:
    return f"DROP TABLE {AFFECTED}, {CHANGED}" + (f", {RAISED}" if raised else "")


def locked(table: Table, label: int) -> str:
    """Writes affected rows up to the label of the session as they are: others who would change them wait."""
    return (
        f"UPDATE {table.base} t SET _dead = t._dead"
        f" WHERE EXISTS (SELECT FROM {AFFECTED} a WHERE {table.same_key('t', 'a')}) AND {visible('t', str(label))}"
    )


def fingerprint() -> str:
    """By which it is seen whether others are affected than before."""
    return f"SELECT count(*)::text || coalesce(sum(hashtextextended(a::text, 0)), 0) AS text FROM {AFFECTED} a"


def count_of(relation: str) -> str:
    """How many entities a temporary table names."""
    return f"SELECT count(DISTINCT _entity) AS count FROM {relation}"


def affected(table: Table, predicate: str) -> str:
    """The entities of rows that the session sees and the predicate means, with the label of each cell."""
    labels = listed(f"discreet._label_bits(v.{cell.label})" for cell in table.cells)
    keys = listed(f"s.{key.quoted}" for key in table.key)
    return (
        f"CREATE TEMPORARY TABLE {bare(AFFECTED)} ON COMMIT DROP AS"
        f" SELECT DISTINCT {keys}, ARRAY[{labels}]::bigint[] AS _labels, {entity_of('s')} AS _entity, s._key_label"
        f" FROM (SELECT * FROM {table.view} WHERE {predicate}) v"
        f" JOIN {table.base} s ON {table.same_key('s', 'v')} AND s._row_id = v.row_id"
    )


def live_labels(table: Table, label: int) -> str:
    return (
        f"SELECT DISTINCT t._label AS label FROM {table.base} t JOIN {AFFECTED} a ON {table.same_key('t', 'a')}"
        f" WHERE NOT t._dead AND {visible('t', str(label))}"
    )


def keys_affected(table: Table) -> str:
    return f"(SELECT DISTINCT {listed(key.quoted for key in table.key)} FROM {AFFECTED})"


@dataclass(frozen=True)
class Move:
    """One column of all affected rows that goes to a label, in a session at `session`; all labels are bits."""

    table: Table
    column: Column
    to: int
    session: int

    @property
    def place(self) -> int:
        return self.table.cells.index(self.column) + 1

    def owns(self, row: str) -> str:
        return f"({row}._source IS NULL OR {row}._source[{self.place}] = {OWN})"

    def sources(self, row: str, source: str) -> str:
        """The sources of a row after that of this column has become another one."""
        every = listed(
            source if place == self.place else f"coalesce({row}._source[{place}], {OWN})"
            for place in range(1, len(self.table.cells) + 1)
        )
        return f"ARRAY[{every}]::bigint[]"

    @property
    def is_down(self) -> str:
        return f"({self.to} & ~m._label) = 0"

    def find(self) -> str:
        """Live cells of affected entities; `is_best`: of several of an entity that go the same way, the highest."""
        table = self.table
        keys = listed(f"o.{key.quoted}" for key in table.key)
        return (
            f"CREATE TEMPORARY TABLE {bare(MOVED)} ON COMMIT DROP AS SELECT m.*,"
            f" m._label = bit_or(m._label) OVER (PARTITION BY m._entity, {self.is_down}) AS _is_best,"
            f" bit_or(m._label) OVER (PARTITION BY m._entity, {self.is_down}) AS _best"
            f" FROM (SELECT DISTINCT ON (o._row_id) {keys}, a._entity, a._key_label, o._label, o._row_id,"
            f" o.{self.column.quoted} AS _cell FROM {AFFECTED} a JOIN {table.base} o ON {table.same_key('o', 'a')}"
            f" AND {entity_of('o')} = a._entity AND o._label = a._labels[{self.place}] AND NOT o._dead"
            f" AND {self.owns('o')}"
            f" WHERE o._label <> {self.to}) m"
        )

    def noted(self) -> list[str]:
        """Keeps which entities were changed, and makes place for the next column."""
        return [f"INSERT INTO {CHANGED} SELECT _entity FROM {MOVED}", f"DROP TABLE {MOVED}"]

    def refusals(self) -> dict[str, str]:
        """What stands in the way of a move, each with the condition that finds its cells: then nothing is done."""
        down, up = self.is_down, f"(m._label & ~{self.to}) = 0"
        gone = (
            f"{down} AND m._key_label = {self.to} AND NOT EXISTS (SELECT FROM {self.table.base} t"
            f" WHERE {self.table.same_key('t', 'm')} AND t._row_id = m._entity AND NOT t._dead)"
        )
        return {
            "have a label that is neither above nor below the one that is given": f"NOT ({down}) AND NOT ({up})",
            "belong to keys whose label is not dominated by the one that is given": f"(m._key_label & ~{self.to}) <> 0",
            "have a label at which the role may not write": "NOT discreet._may_write_at(m._label)",
            "have several highest versions": f"NOT EXISTS (SELECT FROM {MOVED} b WHERE b._entity = m._entity"
            f" AND b._label = m._best AND (({self.to} & ~b._label) = 0) = ({down}))",
            "were deleted at the label that is given": gone,
        }

    def refused(self, condition: str) -> str:
        return f"SELECT count(DISTINCT m._entity) AS count FROM {MOVED} m WHERE {condition}"

    def statements(self) -> list[str]:
        return [
            self.to_root(),
            self.to_row("down"),
            self.borrowed_below(),
            self.to_row("up"),
            self.borrowed_above(),
            self.taken_below(),
        ]

    def to_root(self) -> str:
        """Down to the label of the key, where the root lives."""
        name = self.column.quoted
        return (
            f"UPDATE {self.table.base} t SET {name} = m._cell,"
            f" _source = CASE WHEN t._source IS NOT NULL THEN {self.sources('t', str(OWN))} END"
            f" FROM {MOVED} m WHERE m._is_best AND {self.is_down} AND m._key_label = {self.to}"
            f" AND {self.table.same_key('t', 'm')} AND t._row_id = m._entity AND NOT t._dead"
        )

    def to_row(self, way: str) -> str:
        """To a row at the label, which is made if there is none: what it does not own it borrows from the highest live
        row below. On the way up a value of its own stays."""
        table, to = self.table, str(self.to)
        wanted = f"{self.is_down} AND m._key_label <> {to}" if way == "down" else f"(m._label & ~{to}) = 0"
        kept = "" if way == "down" else f" WHERE NOT {self.owns('t')}"
        cells = list(enumerate(table.cells, 1))
        values = listed("m._cell" if cell == self.column else "NULL" for _, cell in cells)
        sources = listed(
            str(OWN)
            if cell == self.column
            else f"CASE WHEN s._source[{place}] >= 0 THEN s._source[{place}] ELSE coalesce(s._label, {ABSENT}) END"
            for place, cell in cells
        )
        return (
            f"INSERT INTO {table.base} AS t"
            f" ({table.columns()}, _row_id, _entity, _key_label, _label, _slot, _dead, _source)"
            f" SELECT {listed('m.' + key.quoted for key in table.key)}, {values}, discreet._random_id(), m._entity,"
            f" m._key_label, {to}, {slot('m._entity', f'{to}::bigint')}, false, ARRAY[{sources}]::bigint[]"
            f" FROM {MOVED} m LEFT JOIN LATERAL (SELECT s.* FROM {table.base} s WHERE {table.same_key('s', 'm')}"
            f" AND {entity_of('s')} = m._entity AND (s._label & ~{to}::bigint) = 0 AND s._label <> {to} AND NOT s._dead"
            f" ORDER BY s._label DESC LIMIT 1) s ON true WHERE m._is_best AND {wanted}"
            f" ON CONFLICT {table.conflict()} DO UPDATE SET {self.column.quoted} = excluded.{self.column.quoted},"
            f" _source = {self.sources('t', str(OWN))}{kept}"
        )

    def without(self, source: str, of_rows: str) -> str:
        """Rows lose the cell, and borrow it; a row above the root that owns nothing then is a tombstone."""
        sources = self.sources("t", source)
        owns = f"(t._entity IS NULL OR {OWN} = ANY ({sources}))"  # a root stays
        return (
            f"UPDATE {self.table.base} t SET {self.column.quoted} = NULL, _source = {sources}, _dead = NOT {owns},"
            f" _slot = CASE WHEN {owns} THEN t._slot ELSE {grave(self.table, 't')} END"
            f" FROM {MOVED} m WHERE {self.table.same_key('t', 'm')} AND t._row_id = m._row_id AND NOT t._dead"
            f" AND {of_rows}"
        )

    def borrowed_below(self) -> str:
        return self.without(str(self.to), self.is_down)

    def taken_below(self) -> str:
        """A root has it no more; a row above the root borrows what the root says."""
        return self.without(f"CASE WHEN t._entity IS NULL THEN {ABSENT} ELSE t._key_label END", f"NOT ({self.is_down})")

    def borrowed_above(self) -> str:
        """Rows above the new place that borrow a cell which goes up, directly or through others."""
        table, place = self.table, self.place
        entity = f"{table.same_key('w', 'm')} AND {entity_of('w')} = m._entity"
        return (
            f"WITH RECURSIVE chain (id, _entity, source) AS ("
            f" SELECT w._row_id, m._entity, w._source[{place}] FROM (SELECT DISTINCT ON (m._entity) * FROM {MOVED} m"
            f" WHERE NOT ({self.is_down})) m JOIN {table.base} w ON {entity} WHERE NOT w._dead"
            f" AND {visible('w', str(self.session))} AND ({self.to} & ~w._label) = 0 AND w._label <> {self.to}"
            f" AND w._source[{place}] >= 0"
            f" UNION ALL SELECT c.id, c._entity, b._source[{place}] FROM chain c"
            f" JOIN {table.base} b ON {entity_of('b')} = c._entity AND b._label = c.source AND NOT b._dead"
            f" AND b._source[{place}] >= 0)"
            f" UPDATE {table.base} w SET _source = {self.sources('w', str(self.to))} FROM {MOVED} m, chain c"
            f" WHERE NOT ({self.is_down}) AND c._entity = m._entity AND c.source = m._label"
            f" AND {table.same_key('w', 'm')} AND w._row_id = c.id"
        )


# -- whole rows


def several_versions() -> str:
    return f"SELECT count(*) AS count FROM (SELECT _entity FROM {AFFECTED} GROUP BY _entity HAVING count(*) > 1) a"


def keys_not_below(to: int) -> str:
    return f"SELECT count(DISTINCT _entity) AS count FROM {AFFECTED} WHERE (_key_label & ~{to}) <> 0"


def keys_not_writable() -> str:
    return f"SELECT count(DISTINCT _entity) AS count FROM {AFFECTED} WHERE NOT discreet._may_write_at(_key_label)"


def raised_rows(table: Table, predicate: str, to: int) -> str:
    """The rows as the session sees them, with labels that dominate the given one; those that have it stay."""
    columns = listed(
        f"v.{column.quoted}, discreet._label(discreet._label_bits(v.{column.label}) | {to}) AS {column.label}"
        for column in (*table.key, *table.cells)
    )
    return (
        f"CREATE TEMPORARY TABLE {bare(RAISED)} ON COMMIT DROP AS"
        f" SELECT {entity_of('s')} AS _entity, {columns} FROM (SELECT * FROM {table.view} WHERE {predicate}) v"
        f" JOIN {table.base} s ON {table.same_key('s', 'v')} AND s._row_id = v.row_id AND s._key_label <> {to}"
    )


def raise_rows(table: Table, session: int) -> list[str]:
    """Insert above and delete below: rows that borrow from what is deleted keep what they see."""
    columns = listed(f"{column.quoted}, {column.label}" for column in (*table.key, *table.cells))
    return [
        f"UPDATE {table.base} t SET _dead = true, _slot = {grave(table, 't')} FROM {RAISED} r"
        f" WHERE {table.same_key('t', 'r')} AND {entity_of('t')} = r._entity AND NOT t._dead"
        f" AND {visible('t', str(session))}",
        f"INSERT INTO {table.view} ({columns}) SELECT {columns} FROM {RAISED}",
    ]
