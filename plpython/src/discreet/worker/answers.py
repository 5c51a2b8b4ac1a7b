"""Questions in SQL: their answers as rows or as a cursor; the columns of an answer, and what lint() finds."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from discreet.core.errors import DiscreetError, DuplicateCursorError, InvalidParameterError
from discreet.core.quoting import identifier, literal
from discreet.gate.column_names import LONGEST_NAME
from discreet.gate.finish import Answered, rows_sql
from discreet.gate.plan import Plan
from discreet.gate.wish import Wish
from discreet.worker.asker import Asker
from discreet.worker.gate import answered, understood
from discreet.worker.policy import Asking
from discreet.worker.session import Finish, Session, Statement, run
from discreet.worker.text import TextQuestion


def answer(session: Session, sql: str, wish: Wish, finish: Callable[[Answered], str]) -> Finish:
    """What gives the rows of the answer; what it costs is paid before a row is read."""
    asker = Asker(session)
    if asker.wants_errors and session.types is None:
        wish = replace(wish, with_error=True)
    elif asker.wants_errors and session.types is not None:
        wish = replace(wish, named=len(session.types))
    with asker.own_search_path() as path:
        policy, rows = answered(asker, TextQuestion(asker, path, Asking(sql, wish, finish)))
    return Finish(finish(policy.plan), json.dumps(rows))


def open_cursor(session: Session, sql: str, wish: Wish, cursor: str) -> None:
    """Opens a cursor of this name on the answer, for the rest of the transaction."""
    asker = Asker(session)
    with asker.own_search_path() as path:
        refuse_cursor(session, cursor)  # before the question is charged
        wish = replace(wish, with_error=asker.wants_errors)
        policy, rows = answered(asker, TextQuestion(asker, path, Asking(sql, wish)))
        select = rows_sql(policy.plan, literal(json.dumps(rows)) + "::pg_catalog.jsonb")
        session.execute(f"DECLARE {identifier(cursor)} NO SCROLL CURSOR FOR {select}")


def refuse_cursor(session: Session, cursor: str) -> None:
    """Refuses a name that no cursor can be opened under now."""
    if not cursor:
        raise InvalidParameterError("cursor_name must not be empty", "Give a name, or leave it out: 'answer'.")
    if len(cursor.encode()) > LONGEST_NAME:
        raise InvalidParameterError(
            f"cursor_name is longer than {LONGEST_NAME} bytes", "PostgreSQL would truncate it: give a shorter one."
        )
    if run(session, "SELECT name FROM pg_catalog.pg_cursors WHERE name = :cursor::text", cursor=cursor):
        raise DuplicateCursorError(f'cursor "{cursor}" already exists', "CLOSE it first, or give another name.")


def columns(session: Session, sql: str) -> list[tuple[str, str]]:
    """Name and type of every column of the answer; nothing is asked."""
    asker = Asker(session)
    with asker.own_search_path() as path:
        plan = understood(asker, TextQuestion(asker, path, Asking(sql, Wish(with_error=asker.wants_errors)))).plan
        return list(zip(plan.output, column_types(session, plan), strict=True))


def types_of_errors(session: Session, sql: str, parameters: int) -> list[str]:
    """The type of the column of errors beside each column of the answer, empty where it is exact; nothing is asked.

    A question that is refused has none: it is refused when it is asked. The values of parameters change no column.
    """
    asker = Asker(session)
    wish = Wish(parameters=(None,) * parameters, with_error=True)
    with asker.own_search_path() as path:
        try:
            plan = understood(asker, TextQuestion(asker, path, Asking(sql, wish))).plan
        except DiscreetError:
            return []
        if not isinstance(plan, Plan):
            return []
        types = iter(column_types(session, plan))
        # each type is that of a column, or follows it as that of its error
        return [
            next(types) and "" if part.exact else next(types) and next(types) for part in plan.levels[-1].dependences
        ]


def column_types(session: Session, plan: Answered) -> list[str]:
    empty = session.execute(Statement(rows_sql(plan), ("jsonb",)), ["[]"])
    return [
        run(session, "SELECT pg_catalog.format_type(:type::oid, NULL) AS name", type=oid)[0]["name"]
        for oid in empty.coltypes()
    ]


def lint(session: Session, sql: str) -> list[tuple[str, str, str]]:
    """The refusal, if there is one, or what the asker may not expect."""
    asker = Asker(session)
    with asker.own_search_path() as path:
        try:
            return understood(asker, TextQuestion(asker, path, Asking(sql))).findings()
        except DiscreetError as error:
            return [(error.sqlstate, error.message, error.hint or "")]
