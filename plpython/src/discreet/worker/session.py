"""A session, as the gate worker sees it: what PL/Python's plpy offers, done by the session that asks.

Each call that needs the session ends a step of the worker, which works for other sessions until the reply is there.
The gate's code does not notice: it runs in a greenlet of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from greenlet import getcurrent

from discreet.worker.messages import Reader, Writer, parameter

LONGEST_LOG = 2000


class SessionError(Exception):
    """A statement failed in the session, which goes on."""

    def __init__(self, sqlstate: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.sqlstate, self.message, self.hint = sqlstate, message, hint


@dataclass(frozen=True)
class Statement:
    """A statement of the gate's own, with the types of its parameters. `kept`: the session keeps its plan."""

    sql: str
    types: tuple[str, ...] = ()
    kept: bool = False


@dataclass(frozen=True)
class Rows:
    """The rows of a statement."""

    names: tuple[str, ...]
    types: tuple[int, ...]
    rows: list[dict[str, Any]] = field(repr=False)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.rows)

    def __getitem__(self, index: int) -> Mapping[str, Any]:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def nrows(self) -> int:
        return len(self.rows)

    def coltypes(self) -> list[int]:
        return list(self.types)


class Session:
    """Plpy, and the facts that the session sent with its question."""

    Error: type[Exception] = SessionError
    SPIError: type[Exception] = SessionError

    def __init__(self, facts: Mapping[str, str | None], types: list[str | None] | None) -> None:
        self.facts, self.types = facts, types
        self._notices: list[tuple[str, str]] = []

    # -- plpy

    def prepare(self, query: str, types: Sequence[str]) -> Statement:
        """Nothing is sent: see analyse()."""
        return Statement(query, tuple(types))

    def execute(self, query: Any, arguments: Any = (), limit: int = 0) -> Rows:
        statement = Statement(query) if isinstance(query, str) else query
        (rows,) = self.execute_all([(statement, arguments)])
        return rows

    def notice(self, message: str, **fields: Any) -> None:
        self._notices.append(("N", message))

    def warning(self, message: str, **fields: Any) -> None:
        self._notices.append(("W", message))

    def log(self, message: str, **fields: Any) -> None:
        self._notices.append(("L", message[:LONGEST_LOG]))

    def error(self, message: str, **fields: Any) -> NoReturn:
        raise SessionError(fields.get("sqlstate", "XX000"), message, fields.get("hint"))

    # -- what a session can do

    def execute_all(self, calls: Sequence[tuple[Statement, Sequence[Any]]]) -> list[Rows]:
        """Runs statements one after the other; the first that fails is raised, and ends it."""
        message = self.writer().letter("X").number(len(calls))
        for statement, arguments in calls:
            message.letter("K" if statement.kept else "O").text(statement.sql).number(len(statement.types))
            for type_name, value in zip(statement.types, arguments, strict=True):
                message.text(type_name).text(parameter(value))
        return _rows(self._exchange("S", message), len(calls))

    def analyse(self, statements: Sequence[Statement]) -> None:
        """Lets PostgreSQL parse and analyse statements, and lock what they name."""
        message = self.writer().letter("P").number(len(statements))
        for statement in statements:
            message.text(statement.sql).number(len(statement.types))
            for type_name in statement.types:
                message.text(type_name)
        _rows(self._exchange("S", message), 0)

    def charge(self, operation: str, request: str) -> str | None:
        """Calls the ledger worker, which commits what it writes; its answer as JSON."""
        reply = self._exchange("L", Writer().text(operation).text(request).text(None))
        kind = reply.letter()
        if kind == "E":
            raise SessionError(str(reply.text()), str(reply.text()), reply.text())
        return None if kind == "N" else reply.rest().decode()

    # -- inside

    def writer(self) -> Writer:
        """A message to the session, which begins with what its user is told."""
        message = Writer().number(len(self._notices))
        for kind, words in self._notices:
            message.letter(kind).text(words)
        self._notices.clear()
        return message

    def _exchange(self, to: str, message: Writer) -> Reader:
        reply = getcurrent().parent.switch((to, message.message()))
        return Reader(reply)


def run(session: Session, query: str, **arguments: Any) -> Rows:
    """Runs a statement whose parameters are written :name::type; each is sent as text and cast to its type."""
    values: list[Any] = []
    types: list[str] = []
    for name, value in arguments.items():
        mark = f":{name}::"
        if mark not in query:
            raise KeyError(f"the statement has no parameter {name}")
        values.append(value)
        types.append("text[]" if isinstance(value, list) else "text")
        query = query.replace(mark, f"${len(values)}::{types[-1]}::")
    return session.execute(Statement(query, tuple(types)), values)


def _rows(reply: Reader, number: int) -> list[Rows]:
    found: list[Rows] = []
    while len(found) < number or number == 0:
        kind = reply.letter()
        if kind == "E":
            raise SessionError(str(reply.text()), str(reply.text()), reply.text())
        if kind == "D":
            break
        columns = [(str(reply.text()), reply.number()) for _ in range(reply.number())]
        names, types = zip(*columns, strict=True) if columns else ((), ())
        rows = [{name: reply.value(type_number) for name, type_number in columns} for _ in range(reply.number())]
        found.append(Rows(tuple(names), tuple(types), rows))
    return found
