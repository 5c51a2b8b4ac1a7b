"""What the functions that publish tables share: the relation they read, the table they write, progress.

They run with the rights of who calls: reading what the caller may read, writing where the caller may.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from discreet.core.declarations import given, given_name
from discreet.core.errors import (
    DuplicateObjectError,
    InsufficientPrivilegeError,
    InvalidParameterError,
    UndefinedColumnError,
    WrongObjectTypeError,
)
from discreet.core.quoting import identifier
from discreet.core.syntax import SqlValue
from discreet.core.verdicts import judges
from discreet.server.plpy import Plpy, run

# seconds between two notices
PATIENCE = 3.0

RELATION = """
    SELECT c.oid, n.nspname AS schema, a.attname::text AS name, pg_catalog.format_type(a.atttypid, a.atttypmod) AS type,
           t.typcategory AS category
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
    WHERE c.oid = pg_catalog.to_regclass(:relation::text)
    ORDER BY a.attnum
"""

SEALED = """
    SELECT discreet._closed_key(:oid::oid) AS closed_key, discreet._ciphertext_of(:oid::oid) AS ciphertext_of
"""


@dataclass(frozen=True)
class Column:
    name: str
    quoted: str
    type: str
    category: str


@dataclass(frozen=True)
class Original:
    """A relation that is read. Its name is quoted where needed, as PostgreSQL prints a regclass."""

    name: str
    schema: str
    columns: tuple[Column, ...]

    @classmethod
    def of(cls, plpy: Plpy, relation: str | None) -> Original:
        name = given("relation", relation)
        rows = list(run(plpy, RELATION, relation=name))
        if not rows:
            raise InvalidParameterError(f"{name} has no columns", "Name a table or a view.")
        refuse_sealed(plpy, rows[0]["oid"], name)
        columns = tuple(Column(row["name"], identifier(row["name"]), row["type"], row["category"]) for row in rows)
        return cls(name, rows[0]["schema"], columns)

    def column(self, name: str | None, purpose: str) -> Column:
        wanted = given(purpose, name)
        for column in self.columns:
            if column.name == wanted:
                return column
        raise UndefinedColumnError(f"{self.name} has no column {wanted}", f"Name a column as {purpose}.")

    def some(self, names: Iterable[str | None] | None, purpose: str) -> list[Column]:
        listed = [self.column(name, purpose) for name in given(purpose, names)]
        if not listed or len({each.name for each in listed}) < len(listed):
            raise InvalidParameterError(f"{purpose} must name columns, each once", f"Name at least one in {purpose}.")
        return listed


def refuse_sealed(plpy: Plpy, oid: int, name: str) -> None:
    """Sealed columns are read by a publisher who has the key open: they would be read as NULL, or as ciphertext."""
    found = run(plpy, SEALED, oid=oid)[0]
    if found["ciphertext_of"] is not None:
        raise WrongObjectTypeError(
            f"{name} holds ciphertext of {found['ciphertext_of']}, which would be measured and released",
            f"Name {found['ciphertext_of']}.",
        )
    if found["closed_key"] is not None:
        raise InsufficientPrivilegeError(
            f'{name} has columns that are sealed under key "{found["closed_key"]}", which is not open',
            f"SELECT discreet.open_key('{found['closed_key']}', …) first: they would be read as NULL.",
        )


def new_table(plpy: Plpy, release: str | None, beside: Original) -> str:
    """The quoted name of a table that is not there yet; without a schema it goes to that of the source."""
    text = given_name("release", release)
    try:
        parts = run(plpy, "SELECT pg_catalog.parse_ident(:release::text) AS parts", release=text)[0]["parts"]
    except plpy.SPIError as error:
        if not judges(error):
            raise
        parts = []
    if len(parts) not in (1, 2):
        raise InvalidParameterError(f"release is {text!r}, which names no table", "Give a name, or schema.name.")
    name = ".".join(identifier(part) for part in ([beside.schema, *parts] if len(parts) == 1 else parts))
    if run(plpy, "SELECT pg_catalog.to_regclass(:name::text) IS NOT NULL AS there", name=name)[0]["there"]:
        raise DuplicateObjectError(f"there is a relation {name} already", "Drop it, or give another name.")
    return name


class Progress:
    """Tells now and then how far the work is."""

    def __init__(self, plpy: Plpy) -> None:
        self._plpy, self._told = plpy, time.monotonic()

    def __call__(self, message: str) -> None:
        if time.monotonic() - self._told > PATIENCE:
            self.say(message)

    def say(self, message: str) -> None:
        self._plpy.notice(message)
        self._told = time.monotonic()

    def share(self, doing: str) -> Callable[..., None]:
        """What a loop calls: with what is done of how much, where it knows."""

        def pulse(done: int = 0, of: int = 0) -> None:
            self(f"{doing}: {100 * done // of} %" if of else doing)

        return pulse


def array(values: Iterable[SqlValue]) -> str:
    """Whole numbers as the text of an array, which PostgreSQL reads faster than PL/Python converts a list."""
    return "{" + ",".join(map(str, values)) + "}"
