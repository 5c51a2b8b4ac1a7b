"""A table with sealed columns: a view of the table's name over a base table that holds ciphertext.

The base table is the old table under another name: its rows, indexes, foreign keys, triggers and sequences stay.
The view shows the old columns, in their order, with their types. Sealed ones are calls of _unseal(); ids of rows are
not shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from discreet.core.quoting import identifier, literal

ROW = "_row_id"
TRIGGER = "discreet_sealed_insert"
LONGEST_BASE_NAME = 50


@dataclass(frozen=True)
class Column:
    """`sealed`: the id of a sealed column. `collation`: where it is not that of its type. `below`: of a domain."""

    name: str
    type_name: str
    default: str | None = None
    collation: str | None = None
    below: str | None = None
    sealed: str | None = None

    @property
    def quoted(self) -> str:
        return identifier(self.name)

    def unsealed(self, alias: str = "") -> str:
        """The value, from a row of the base table."""
        assert self.sealed is not None
        prefix = f"{alias}." if alias else ""
        value = (
            f"discreet._unseal({prefix}{self.quoted}, {prefix}{ROW}, {literal(self.sealed)}::uuid,"
            f" NULL::{self.below or self.type_name})::{self.type_name}"
        )
        return f"({value}) COLLATE {self.collation}" if self.collation is not None else value


@dataclass(frozen=True)
class Table:
    schema: str
    name: str
    base_name: str
    columns: tuple[Column, ...]

    @property
    def view(self) -> str:
        return f"{identifier(self.schema)}.{identifier(self.name)}"

    @property
    def base(self) -> str:
        return f"{identifier(self.schema)}.{identifier(self.base_name)}"

    def create_view(self) -> str:
        """Also where there is one: names and types of its columns stay."""
        shown = ", ".join(
            f"b.{each.quoted}" if each.sealed is None else f"{each.unsealed('b')} AS {each.quoted}"
            for each in self.columns
        )
        return f"CREATE OR REPLACE VIEW {self.view} AS SELECT {shown} FROM {self.base} b"  # noqa: S608 - names are quoted

    def hollow_view(self) -> str:
        """The view while the type of a column below it changes."""
        shown = ", ".join(
            f"NULL::{each.type_name}" + (f" COLLATE {each.collation}" if each.collation else "") + f" AS {each.quoted}"
            for each in self.columns
        )
        return f"CREATE OR REPLACE VIEW {self.view} AS SELECT {shown}"

    def defaults(self) -> Iterator[str]:
        for each in self.columns:
            if each.default is not None:
                yield f"ALTER VIEW {self.view} ALTER COLUMN {each.quoted} SET DEFAULT {each.default}"

    def create_trigger(self) -> str:
        return (
            f"CREATE TRIGGER {TRIGGER} INSTEAD OF INSERT ON {self.view}"
            " FOR EACH ROW EXECUTE FUNCTION discreet._sealed_insert()"
        )


def base_name(name: str, taken: frozenset[str]) -> str:
    """A name that is free in the schema."""
    short = name.encode()[:LONGEST_BASE_NAME].decode(errors="ignore")
    number = 1
    while True:
        candidate = f"{short}_sealed" if number == 1 else f"{short}_sealed{number}"
        if candidate not in taken:
            return candidate
        number += 1


def sealed_in_place(table: Table, column: Column, searchable: bool) -> list[str]:
    """The column of the base table becomes ciphertext, in one pass over the table."""
    assert column.sealed is not None
    alter = f"ALTER TABLE {table.base} ALTER COLUMN {column.quoted}"
    return [
        f"{alter} DROP DEFAULT",
        f"{alter} TYPE bytea USING discreet._seal({column.quoted}, {ROW}, {literal(column.sealed)}::uuid)",
        f"{alter} SET STORAGE EXTERNAL",
        *([] if searchable else [f"{alter} SET STATISTICS 0"]),
    ]


def unsealed_in_place(table: Table, column: Column) -> list[str]:
    alter = f"ALTER TABLE {table.base} ALTER COLUMN {column.quoted}"
    collation = f" COLLATE {column.collation}" if column.collation is not None else ""
    return [
        f"{alter} TYPE {column.type_name}{collation} USING {column.unsealed()}",
        f"{alter} SET STATISTICS -1",
        *([] if column.default is None else [f"{alter} SET DEFAULT {column.default}"]),
    ]
