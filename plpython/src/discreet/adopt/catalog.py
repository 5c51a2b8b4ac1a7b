"""Tables as the catalog has them: the answer of discreet._adoptable."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from discreet.core.errors import InvalidParameterError
from discreet.core.parser import load_parser
from discreet.core.path import IDENTIFIER, plain
from discreet.core.quoting import identifier
from discreet.core.syntax import Json

# written without quotes these mean themselves, unless they are keywords
SIMPLE = re.compile(r"[a-z_][a-z0-9_]*")
PERSON = re.compile(rf"\s*({IDENTIFIER})\.({IDENTIFIER})\.({IDENTIFIER})\s*")


def written(name: str) -> str:
    """An identifier, in quotes where it needs them."""
    load_parser()
    from pglast.keywords import COL_NAME_KEYWORDS, RESERVED_KEYWORDS, TYPE_FUNC_NAME_KEYWORDS

    reserved = RESERVED_KEYWORDS | TYPE_FUNC_NAME_KEYWORDS | COL_NAME_KEYWORDS
    if SIMPLE.fullmatch(name) and name not in reserved:
        return name
    return identifier(name)


@dataclass(frozen=True)
class Column:
    """`type`: that below all domains; `labels`: those of an enum; `checks`: what CHECKs say of it alone, over VALUE."""

    name: str
    type: str
    written_type: str = ""
    built_in: bool = True
    labels: tuple[str, ...] | None = None
    checks: tuple[str, ...] = ()
    not_null: bool = False
    comment: str | None = None
    declared: bool = False


@dataclass(frozen=True)
class Reference:
    """A foreign key."""

    constraint: str
    parent: tuple[str, str]
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    validated: bool = True
    deferrable: bool = False
    enforced: bool = True

    @property
    def leads_on(self) -> bool:
        """Whether protect() can follow it to the person: one column, and it holds at every moment."""
        return len(self.columns) == 1 and self.validated and self.enforced and not self.deferrable


@dataclass(frozen=True)
class Protection:
    dataset: str | None
    policy: str
    unit: str | None


@dataclass(frozen=True)
class Table:
    """`unique`: the columns that are unique by themselves."""

    schema: str
    name: str
    columns: tuple[Column, ...]
    unique: frozenset[str] = frozenset()
    references: tuple[Reference, ...] = ()
    protection: Protection | None = None
    owned: bool = True
    comment: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.schema, self.name

    @property
    def written(self) -> str:
        return f"{written(self.schema)}.{written(self.name)}"

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)


Tables = Mapping[tuple[str, str], Table]


@dataclass(frozen=True)
class Person:
    """The column that names people: 'shop.customers.customer_id'."""

    table: tuple[str, str]
    column: str

    @classmethod
    def parse(cls, text: str) -> Person:
        found = PERSON.fullmatch(text)
        if found is None:
            raise InvalidParameterError(
                f"person '{text}' is no column of a table",
                "Write the schema, the table and the column that names the person: 'shop.customers.customer_id'.",
            )
        schema, table, column = map(plain, found.groups())
        return cls((schema, table), column)


def tables_from_json(described: Json) -> Tables:
    return {(entry["schema"], entry["name"]): _table(entry) for entry in described}


def _table(entry: Mapping[str, Json]) -> Table:
    kept = entry["protection"]
    return Table(
        entry["schema"],
        entry["name"],
        tuple(_column(column) for column in entry["columns"]),
        frozenset(entry["unique"]),
        tuple(_reference(reference) for reference in entry["references"]),
        kept and Protection(kept["dataset"], kept["policy"], kept["unit"]),
        entry["owned"],
        entry["comment"],
    )


def _column(entry: Mapping[str, Json]) -> Column:
    return Column(
        entry["name"],
        entry["type"],
        entry["written_type"],
        entry["built_in"],
        None if entry["labels"] is None else tuple(entry["labels"]),
        tuple(entry["checks"]),
        entry["not_null"],
        entry["comment"],
        entry["declared"],
    )


def _reference(entry: Mapping[str, Json]) -> Reference:
    return Reference(
        entry["constraint"],
        (entry["schema"], entry["name"]),
        tuple(entry["columns"]),
        tuple(entry["keys"]),
        entry["validated"],
        entry["deferrable"],
        entry["enforced"],
    )
