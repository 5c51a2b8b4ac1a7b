"""What a multilevel table is made of, as the texts of its view and triggers need it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from discreet.core.quoting import identifier as identifier
from discreet.core.quoting import literal as literal

# columns of the base table beside the user's own
INTERNAL = ("_row_id", "_entity", "_key_label", "_label", "_slot", "_dead", "_source")
# variables of the triggers, and names inside views: where an expression of the user names a column, that must be meant
VARIABLES = ("_c", "_named", "_is_set", "_acted", "_labels", "_top", "_root", "_l", "_key", "_at", "_from", "_above",
             "_rows", "_shown", "_written", "_k", "_cell", "_is_best", "_best")  # fmt: skip
# what is named after the base table
PARTS = ("key", "above", "sources", "whole", "single", "versions", "insert", "update", "delete", "load")
# those that are inner views
VIEWS = ("single", "versions")
# columns of the view beside the user's own and their labels
SHOWN = ("tc", "row_id")
# where the value of a cell is; anything else is the label of the row from which it is borrowed
OWN, ABSENT = -2, -1


@dataclass(frozen=True)
class Column:
    """`equals`: its operator of equality as it is written, None when the type has none. `long`: of any length."""

    name: str
    type_name: str
    equals: str | None
    default: str | None = None
    long: bool = False

    @property
    def quoted(self) -> str:
        return identifier(self.name)

    @property
    def qualified_equals(self) -> str:
        return "OPERATOR(pg_catalog.=)" if self.equals == "=" else str(self.equals)

    @property
    def label(self) -> str:
        return identifier(f"{self.name}_label")


@dataclass(frozen=True)
class Generated:
    """A column that is computed from others; its label is the least upper bound of theirs."""

    column: Column
    expression: str
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Check:
    name: str
    expression: str


@dataclass(frozen=True)
class Reference:
    """The child's columns name a row of the parent by its key."""

    columns: tuple[str, ...]
    parent: str
    parent_key: tuple[Column, ...]


@dataclass(frozen=True)
class Child:
    """A multilevel table that names rows of this one, by columns in the order of the key."""

    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class LabelRule:
    """Which label the value of a column wants: SQL over NEW that gives its text, or NULL for any."""

    column: Column
    sql: str


@dataclass(frozen=True)
class Table:
    """`key` and `cells` in the order of the view."""

    schema: str
    name: str
    base_name: str
    key: tuple[Column, ...]
    cells: tuple[Column, ...]
    checks: tuple[Check, ...] = ()
    generated: tuple[Generated, ...] = ()
    references: tuple[Reference, ...] = ()
    children: tuple[Child, ...] = ()
    rules: tuple[LabelRule, ...] = ()

    @property
    def view(self) -> str:
        return f"{identifier(self.schema)}.{identifier(self.name)}"

    @property
    def base(self) -> str:
        return f"{identifier(self.schema)}.{identifier(self.base_name)}"

    def part(self, name: str) -> str:
        """An index, an inner view or a trigger function: see PARTS."""
        return f"{identifier(self.schema)}.{identifier(f'{self.base_name}_{name}')}"

    def attribute(self, column: Column) -> int:
        """The number of a column in the view, where every column is followed by its label."""
        return 2 * [*self.key, *self.cells].index(column) + 1

    def same_key(self, one: str, other: str) -> str:
        return " AND ".join(f"{one}.{key.quoted} {key.equals} {other}.{key.quoted}" for key in self.key)

    def same_entity(self, above: str, row: str) -> str:
        """That a row above the root belongs to the entity of another row; by the index of the key.

        A root has no entity, and 0 is the number of none. The coalesce() keeps plans off the index of rows above.
        While there are none, reading all of that index is cheaper, and a statement that makes thousands keeps its plan.
        """
        return (
            f"{self.same_key(above, row)} AND {above}._key_label = {row}._key_label"
            f" AND coalesce({above}._entity, 0) = {entity_of(row)}"
        )

    def conflict(self) -> str:
        """What is unique: the key with its label among roots, and an entity with a label among rows above."""
        return f"({listed(key.quoted for key in self.key)}, _key_label, _slot)"

    def columns_of(self, alias: str) -> str:
        return listed(f"{alias}.{column.quoted}" for column in (*self.key, *self.cells))

    def columns(self) -> str:
        return listed(column.quoted for column in (*self.key, *self.cells))


def entity_of(row: str) -> str:
    return f"coalesce({row}._entity, {row}._row_id)"


def slot(entity: str, label: str) -> str:
    """Of a row above the root that lives: one number for an entity and a label. A live root has 0."""
    return f"{entity} # ({label} << 1)"


def grave(table: Table, row: str) -> str:
    """The slot of a row that dies: its id, or one after that of the last tombstone of its label.

    So a row that is made anew at the label meets no tombstone in the index of the key, and does not wait for a purge.
    Of several tombstones of a label the one with the highest slot counts.
    """
    return (
        f"CASE WHEN {row}._entity IS NULL THEN {row}._row_id ELSE coalesce((SELECT max(g._slot) + 1 FROM {table.base} g"  # noqa: S608 - names are quoted
        f" WHERE {table.same_entity('g', row)} AND g._label = {row}._label AND g._dead), {row}._row_id) END"
    )


def listed(parts: Iterable[str]) -> str:
    return ", ".join(parts)
