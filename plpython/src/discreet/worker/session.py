"""A session, as the gate worker sees it: what PL/Python's plpy offers, done by the session that asks.

Each call that needs the session ends a step of the worker, which works for other sessions until the reply is there.
The gate's code does not notice: it runs in a greenlet of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NoReturn

from greenlet import getcurrent

from discreet.core.syntax import Json, SqlValue
from discreet.server.plpy import Plpy
from discreet.worker.messages import Reader, Writer, parameter

LONGEST_LOG = 2000


class SessionError(Exception):
    """A statement failed in the session, which goes on. `before`: what those gave that were sent before it."""

    def __init__(self, sqlstate: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.sqlstate, self.message, self.hint = sqlstate, message, hint
        self.before: list[Rows] = []


class Doing(Enum):
    """What a session does with a statement, as extension/worker_session.c knows it."""

    RUN = "O"
    RUN_AND_JOIN = "T"  # the texts of its rows come as one
    RUN_AND_KEEP = "K"  # its plan is kept
    ANALYSE = "P"  # which locks what it names; what comes of it is run later, if it is
    FINISH = "F"  # what puts the answer together: the last one is kept


@dataclass(frozen=True)
class Statement:
    """A statement of the gate's own, with the types of its parameters."""

    sql: str
    types: tuple[str, ...] = ()
    doing: Doing = Doing.RUN


def kept(sql: str, *types: str) -> Statement:
    """A statement that most questions need."""
    return Statement(sql, types, Doing.RUN_AND_KEEP)


@dataclass(frozen=True)
class Rows:
    """The rows of a statement."""

    names: tuple[str, ...]
    types: tuple[int, ...]
    rows: list[dict[str, Json]] = field(repr=False)

    def __iter__(self) -> Iterator[Mapping[str, Json]]:
        return iter(self.rows)

    def __getitem__(self, index: int) -> Mapping[str, Json]:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def nrows(self) -> int:
        return len(self.rows)

    def coltypes(self) -> list[int]:
        return list(self.types)


@dataclass(frozen=True)
class Finish:
    """The end of a conversation: the session runs this over released rows, as $1, and gives its user what comes out."""

    sql: str
    rows: str


class Session:
    """Plpy, and the facts that the session sent with its question. `worker`: the plpy of the worker itself.

    `worker_catalog` and `catalog` are versions of the catalogs: as the step under way sees them, and as the session saw
    them after its last statement. `meanwhile`: work that the worker can do, in small parts, while the session
    runs statements.
    """

    Error: type[Exception] = SessionError
    SPIError: type[Exception] = SessionError

    def __init__(
        self, worker: Plpy, facts: Mapping[str, str | None], types: list[str | None] | None, worker_catalog: int = 0
    ) -> None:
        self.worker, self.facts, self.types = worker, facts, types
        self.worker_catalog, self.catalog = worker_catalog, facts.get("catalog")
        self._notices: list[tuple[str, str]] = []
        self.meanwhile: Iterator[None] | None = None

    # -- plpy

    def prepare(self, query: str, types: Sequence[str]) -> Statement:
        """Nothing is sent before the statement is run."""
        return Statement(query, tuple(types))

    def execute(self, query: SqlValue, arguments: SqlValue = (), limit: int = 0) -> Rows:
        statement = Statement(query) if isinstance(query, str) else query
        (rows,) = self.execute_all([(statement, arguments)])
        return rows

    def notice(self, message: str, **fields: SqlValue) -> None:
        self._notices.append(("N", message))

    def warning(self, message: str, **fields: SqlValue) -> None:
        self._notices.append(("W", message))

    def tell_answer(self, answer: Mapping[str, Json]) -> None:
        """What the view last_answer shows from now on."""
        self._notices.append(("A", json.dumps(answer)))

    def log(self, message: str, **fields: SqlValue) -> None:
        self._notices.append(("L", message[:LONGEST_LOG]))

    def error(self, message: str, **fields: SqlValue) -> NoReturn:
        raise SessionError(fields.get("sqlstate", "XX000"), message, fields.get("hint"))

    # -- what a session can do

    def execute_all(self, calls: Sequence[tuple[Statement, Sequence[SqlValue]]]) -> list[Rows]:
        """Runs statements one after the other; the first that fails is raised, and ends it."""
        reply = self._run(calls)
        found: list[Rows] = []
        failure: SessionError | None = None
        while failure is None and len(found) < len(calls):
            try:
                found.append(_rows(reply))
            except SessionError as error:
                failure = error
        self.catalog = reply.text()
        if failure is not None:
            failure.before = found
            raise failure
        return found

    def joined(self, sql: str, types: tuple[str, ...] = (), arguments: Sequence[SqlValue] = ()) -> str:
        """The texts that a statement gives, with commas between them."""
        reply = self._run([(Statement(sql, types, Doing.RUN_AND_JOIN), arguments)])
        try:
            return _joined(reply)
        finally:
            self.catalog = reply.text()

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

    def _run(self, calls: Sequence[tuple[Statement, Sequence[SqlValue]]]) -> Reader:
        message = self.writer().letter("X").number(len(calls))
        for statement, arguments in calls:
            message.letter(statement.doing.value).text(statement.sql).number(len(statement.types))
            for type_name, value in zip(statement.types, arguments, strict=True):
                message.text(type_name).text(parameter(value))
        return self._exchange("S", message)

    def _exchange(self, to: str, message: Writer) -> Reader:
        self.worker_catalog, reply = getcurrent().parent.switch((to, message.message()))
        return Reader(reply)


def run(session: Session, query: str, **arguments: SqlValue) -> Rows:
    """Runs a statement whose parameters are written :name::type; each is sent as text and cast to its type."""
    values: list[SqlValue] = []
    types: list[str] = []
    for name, value in arguments.items():
        mark = f":{name}::"
        if mark not in query:
            raise KeyError(f"the statement has no parameter {name}")
        values.append(value)
        types.append("text[]" if isinstance(value, list) else "text")
        query = query.replace(mark, f"${len(values)}::{types[-1]}::")
    return session.execute(Statement(query, tuple(types)), values)


def _joined(reply: Reader) -> str:
    if reply.letter() == "E":
        raise SessionError(str(reply.text()), str(reply.text()), reply.text())
    return str(reply.text())


def _rows(reply: Reader) -> Rows:
    if reply.letter() == "E":
        raise SessionError(str(reply.text()), str(reply.text()), reply.text())
    columns = [(str(reply.text()), reply.number()) for _ in range(reply.number())]
    rows = [{name: reply.value(type_number) for name, type_number in columns} for _ in range(reply.number())]
    return Rows(tuple(name for name, _ in columns), tuple(type_number for _, type_number in columns), rows)
