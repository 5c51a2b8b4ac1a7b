"""From a table to a multilevel one: what is kept, what is moved into view and triggers, what is refused, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from discreet.core.errors import (
    DuplicateObjectError,
    InvalidParameterError,
    UndefinedColumnError,
    WrongObjectTypeError,
)
from discreet.core.syntax import Json
from discreet.mls import view
from discreet.mls.classification import Labels, statements
from discreet.mls.table import INTERNAL, PARTS, SHOWN, VARIABLES, Check, Column, Generated, Table, identifier

RANDOM_TYPES = {"bigint": "discreet._random_id()", "integer": "(discreet._random_id() % 2147483648)::integer"}
LONGEST_BASE_NAME = 48


@dataclass(frozen=True)
class OldColumn:
    """`counted`: its default is a sequence; `sources`: of a generated column, the columns it is computed from; `long`:
    of any length."""

    name: str
    type_name: str
    equals: str | None
    ordered: bool
    default: str | None
    not_null: bool
    counted: bool
    generated: str | None
    sources: tuple[str, ...] = ()
    long: bool = False


@dataclass(frozen=True)
class OldTable:
    """A table as the catalog knows it. `obstacles`: what cannot be kept, each with a reason."""

    schema: str
    name: str
    columns: tuple[OldColumn, ...]
    checks: tuple[Check, ...]
    keys: tuple[tuple[str, frozenset[str]], ...]
    obstacles: tuple[tuple[str, str], ...]

    @property
    def quoted_name(self) -> str:
        return f"{identifier(self.schema)}.{identifier(self.name)}"


def multilevel(old: OldTable, key: list[str] | None, columns: list[str] | None, base_name: str) -> Table:
    """The multilevel table that an ordinary one becomes; whatever stands in the way is an error that says why."""
    if not key:
        raise InvalidParameterError("no key is given", "Name the columns that tell entities apart: ARRAY['name'].")
    by_name = {column.name: column for column in old.columns}
    for name in [*key, *(columns or ())]:
        if name not in by_name:
            raise UndefinedColumnError(
                f'{old.quoted_name} has no column "{name}"', f"Its columns are: {', '.join(by_name)}."
            )
    for group in (key, columns or []):
        if len(set(group)) < len(group):
            raise InvalidParameterError("a column is named twice", "Name each column once.")
    stored = [column for column in old.columns if column.generated is None]
    cells = [column.name for column in stored if column.name not in key] if columns is None else columns
    for name in [*key, *cells]:
        if by_name[name].generated is not None:
            raise InvalidParameterError(
                f'column "{name}" is generated',
                "It has the least upper bound of the labels of what it is computed from.",
            )
    if set(key) & set(cells):
        raise InvalidParameterError(f'column "{min(set(key) & set(cells))}" is in the key', "Keys have one label.")
    left_out = [column.name for column in stored if column.name not in {*key, *cells}]
    if left_out:
        raise InvalidParameterError(
            f"columns without a place: {', '.join(left_out)}",
            "Each column belongs to the key or has labels of its own; leave columns out to label all.",
        )
    refuse_names(old, [*key, *cells])
    refuse_obstacles(old, frozenset(key))
    for name in key:
        if by_name[name].equals is None or not by_name[name].ordered:
            raise InvalidParameterError(
                f'column "{name}" of type {by_name[name].type_name} cannot be a key: its values cannot be ordered',
                "Take a column of numbers, text, uuid or the like.",
            )
    generated = tuple(
        Generated(new_column(column), column.generated, column.sources)
        for column in old.columns
        if column.generated is not None
    )
    return Table(
        old.schema, old.name, base_name, tuple(new_column(by_name[name]) for name in key),
        tuple(new_column(by_name[name]) for name in cells), old.checks, generated,
    )  # fmt: skip


def new_column(old: OldColumn) -> Column:
    """A sequence would tell each session how much the others insert, so numbers are drawn at random instead."""
    default = old.default
    if old.counted:
        if old.type_name not in RANDOM_TYPES:
            raise WrongObjectTypeError(
                f'column "{old.name}" of type {old.type_name} is numbered by a sequence, which all labels would share',
                "Make it bigint: then numbers are drawn at random.",
            )
        default = RANDOM_TYPES[old.type_name]
    return Column(old.name, old.type_name, old.equals, default, old.long)


def refuse_names(old: OldTable, names: list[str]) -> None:
    every = [column.name for column in old.columns]
    for name in every:
        if name in SHOWN or name in INTERNAL or name in VARIABLES:
            raise DuplicateObjectError(f'column "{name}" has a name that a multilevel table needs', "Rename it.")
        if f"{name}_label" in every:
            raise DuplicateObjectError(
                f'column "{name}_label" has the name that the labels of column "{name}" need', "Rename it."
            )
        if len(f"{name}_label".encode()) > 63:
            raise InvalidParameterError(f'the name of column "{name}" is too long', "57 bytes leave room for _label.")


def refuse_obstacles(old: OldTable, key: frozenset[str]) -> None:
    """Names all of them at once, so that one round is enough to remove them."""
    found = dict.fromkeys(old.obstacles)
    for name, columns in old.keys:
        if columns != key:
            found[
                f"has the unique key {name}, which would tell of rows above a session's label",
                "Only the key of a multilevel table is unique, and only with its label: drop other unique keys.",
            ] = None
    if found:
        hints = dict.fromkeys(hint for _, hint in found)
        raise WrongObjectTypeError(
            f"{old.quoted_name} " + "; it ".join(obstacle for obstacle, _ in found), " ".join(hints)
        )


def base_name(name: str, taken: frozenset[str]) -> str:
    """A name for the table that holds the rows, such that nothing stands under the names that follow from it: somebody
    could have planted a function there, to own a trigger."""
    short = name.encode()[:LONGEST_BASE_NAME].decode(errors="ignore")
    for candidate in candidates(short):
        if taken.isdisjoint([candidate, *(f"{candidate}_{part}" for part in PARTS)]):
            return candidate
    raise AssertionError


def candidates(name: str) -> Iterator[str]:
    yield f"{name}_mls"
    number = 2
    while True:
        yield f"{name}_mls{number}"
        number += 1


def changes(old: OldTable, table: Table, constraints: list[str], labels: Labels | None = None) -> list[str]:
    """What makes the base table of the old one. It keeps rows, at the lowest level or `labels`, and plain indexes."""
    base = table.base
    alter = [f"DROP CONSTRAINT {identifier(name)}" for name in constraints]
    for column in old.columns:
        name = identifier(column.name)
        if column.generated is not None:
            alter.append(f"DROP COLUMN {name}")
        elif column.default is not None:
            alter.append(f"ALTER COLUMN {name} DROP DEFAULT")
        elif column.counted:
            alter.append(f"ALTER COLUMN {name} DROP IDENTITY")
    alter += [f"ALTER COLUMN {cell.quoted} DROP NOT NULL" for cell in table.cells]
    alter += [f"ALTER COLUMN {key.quoted} SET NOT NULL" for key in table.key]
    # what a scan looks at comes first
    added = (
        "ADD COLUMN _key_label bigint NOT NULL DEFAULT 0, ADD COLUMN _slot bigint NOT NULL DEFAULT 0,"
        f" ADD COLUMN _row_id bigint NOT NULL DEFAULT {'discreet._random_id()' if labels is None else 0},"
        " ADD COLUMN _label bigint NOT NULL DEFAULT 0, ADD COLUMN _dead boolean NOT NULL DEFAULT false,"
        " ADD COLUMN _entity bigint, ADD COLUMN _source bigint[]"
    )
    keys = ", ".join(key.quoted for key in table.key)
    index = f"{identifier(table.base_name + '_key')} ON {base} ({keys}, _key_label, _slot)"
    # read by mls_roots.c
    above = f"{identifier(table.base_name + '_above')} ON {base} (_label, _entity) INCLUDE (_dead)"
    return [
        f"ALTER TABLE {old.quoted_name} RENAME TO {identifier(table.base_name)}",
        *(f"ALTER TABLE {base} {change}" for change in alter),
        f"ALTER TABLE {base} {added}",
        f"ALTER TABLE {base} ALTER COLUMN _row_id DROP DEFAULT, ALTER COLUMN _key_label DROP DEFAULT,"
        " ALTER COLUMN _label DROP DEFAULT, ALTER COLUMN _slot DROP DEFAULT",
        *(() if labels is None else statements(table, labels)),
        f"CREATE UNIQUE INDEX {index}",
        f"CREATE INDEX {above} WHERE _entity IS NOT NULL",
        index_of_sources(table),
        index_of_whole_rows(table),
    ]


def index_of_sources(table: Table) -> str:
    """For mls_plans.c: what is shown by a scan of the extension, in the order of keys."""
    keys = ", ".join(key.quoted for key in table.key)
    name = identifier(f"{table.base_name}_sources")
    return f"CREATE INDEX {name} ON {table.base} ({keys}, _key_label) WHERE _source IS NOT NULL"


def index_of_whole_rows(table: Table) -> str:
    """In the order of keys, the roots that own all of their cells, and no rows with sources.

    The index of the key has all rows. ORDER BY key LIMIT would read it to the end where few rows are without sources.
    """
    keys = ", ".join(key.quoted for key in table.key)
    name = identifier(f"{table.base_name}_whole")
    return f"CREATE INDEX {name} ON {table.base} ({keys}, _key_label) WHERE _source IS NULL"


TOP = 2**62 - 1


def unlabelled(table: Table) -> list[str]:
    """The rows that the top label shows, put aside; then the base table is emptied."""
    columns = ", ".join(column.quoted for column in (*table.key, *table.cells))
    return [
        f"CREATE TEMPORARY TABLE discreet_plain_rows ON COMMIT DROP AS SELECT {columns}"  # noqa: S608
        f" FROM ({view.rows(table, str(TOP))}) shown",
        f"TRUNCATE {table.base}",
    ]


def back(table: Table, former: dict[str, Json]) -> list[str]:
    """The base table becomes an ordinary one again, with the rows that were put aside."""
    columns = ", ".join(column.quoted for column in (*table.key, *table.cells))
    name = f"{identifier(table.schema)}.{identifier(table.name)}"
    dropped = ", ".join(f"DROP COLUMN {column}" for column in INTERNAL)
    return [
        f"DROP INDEX {table.part('key')}",
        f"DROP INDEX {table.part('above')}",
        f"DROP INDEX {table.part('sources')}",
        f"DROP INDEX {table.part('whole')}",
        f"ALTER TABLE {table.base} {dropped}",
        f"ALTER TABLE {table.base} RENAME TO {identifier(table.name)}",
        *(
            f"ALTER TABLE {name} ADD COLUMN {each.column.quoted} {each.column.type_name}"
            f" GENERATED ALWAYS AS ({each.expression}) STORED"
            for each in table.generated
        ),
        f"INSERT INTO {name} ({columns}) SELECT {columns} FROM discreet_plain_rows",  # noqa: S608
        "DROP TABLE discreet_plain_rows",
        *(
            f"ALTER TABLE {name} ADD CONSTRAINT {identifier(c.name)} CHECK ({c.expression}) NOT VALID"
            for c in table.checks
        ),
        *(
            f"ALTER TABLE {name} ALTER COLUMN {identifier(column)} SET DEFAULT {value}"
            for column, value in former["defaults"].items()
        ),
    ]


def key_again(table: Table, former: dict[str, Json]) -> str:
    keys = ", ".join(key.quoted for key in table.key)
    kind = "PRIMARY KEY" if former["primary"] else "UNIQUE"
    return f"ALTER TABLE {identifier(table.schema)}.{identifier(table.name)} ADD {kind} ({keys})"
