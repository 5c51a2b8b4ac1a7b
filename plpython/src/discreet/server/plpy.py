"""What this package uses of the module `plpy` that PL/Python gives to a function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn, Protocol

from discreet.core.syntax import Json, SqlValue

Row = Mapping[str, Json]


class Result(Protocol):
    def __iter__(self) -> Iterator[Row]: ...
    def __getitem__(self, index: int) -> Row: ...
    def __len__(self) -> int: ...
    def nrows(self) -> int: ...
    def coltypes(self) -> list[int]: ...


class Plpy(Protocol):
    """`execute` and `prepare` are subtransactions of their own: what fails can be caught, and leaves nothing behind.

    There is no `subtransaction` here: its objects are never freed (PostgreSQL 15, plpy_subxactobject.c).
    """

    Error: type[Exception]
    SPIError: type[Exception]

    def prepare(self, query: str, types: Sequence[str]) -> SqlValue: ...
    def execute(self, query: SqlValue, arguments: SqlValue = ..., limit: int = ...) -> Result: ...
    def error(self, message: str, **fields: SqlValue) -> NoReturn: ...
    def warning(self, message: str, **fields: SqlValue) -> None: ...
    def notice(self, message: str, **fields: SqlValue) -> None: ...
    def log(self, message: str, **fields: SqlValue) -> None: ...


PLANS: dict[tuple[str, tuple[str, ...]], SqlValue] = {}


def prepared(plpy: Plpy, query: str, types: Sequence[str] = ()) -> SqlValue:
    """The plan of a statement that every question runs alike, kept for the session.

    PostgreSQL makes it anew where the search_path or the catalog is another.
    """
    key = (query, tuple(types))
    if key not in PLANS:
        PLANS[key] = plpy.prepare(query, list(types))
    return PLANS[key]


def run(plpy: Plpy, query: str, **arguments: SqlValue) -> Result:
    """Runs a statement whose parameters are written :name::type; each is sent as text and cast to its type.

    Where the caller's search_path holds, "text" alone could be a domain of the caller, with a CHECK to run.
    """
    values = []
    for name, value in arguments.items():
        mark = f":{name}::"
        if mark not in query:
            raise KeyError(f"the statement has no parameter {name}")
        values.append(value if value is None or isinstance(value, list) else str(value))
        type_name = "pg_catalog.text[]" if isinstance(value, list) else "pg_catalog.text"
        query = query.replace(mark, f"${len(values)}::{type_name}::")
    types = ["pg_catalog.text[]" if isinstance(value, list) else "pg_catalog.text" for value in values]
    return plpy.execute(plpy.prepare(query, types), values)
