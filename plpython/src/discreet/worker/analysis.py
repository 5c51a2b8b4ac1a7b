"""Lets the session analyse the native statements of a question, before anything is charged."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.core.errors import RefusedShapeError
from discreet.core.verdicts import judges
from discreet.worker.acting import refuse_unstartable, starts
from discreet.worker.session import Doing, Rows, Session, SessionError, Statement


def analysed(
    session: Session, before: list[Statement], native: list[str], acting: int, finish: Sequence[str], levels: int
) -> list[Rows]:
    """Lets the server analyse native statements, which locks their tables, start them in the name of the owner, and
    put an answer without rows together: LIMIT -1 fails there already. Gives the rows of the statements before.

    `levels`: SELECTs of the question on top of each other.
    """
    first = [(statement, ()) for statement in before]
    locking = [(Statement(sql, doing=Doing.ANALYSE), ()) for sql in native]
    started = starts(acting, native)
    try:
        # the first is what is run in the end
        does = [Doing.FINISH, *(Doing.RUN for _ in finish[1:])]
        finished = [(Statement(sql, ("jsonb",), doing), ["[]"]) for sql, doing in zip(finish, does, strict=True)]
        found = session.execute_all([*first, *locking, *started, *finished])
    except SessionError as error:
        if not judges(error):
            raise
        found = error.before
        at_start = len(first) + len(locking) <= len(found) < len(first) + len(locking) + len(started)
        if at_start:
            refuse_unstartable(session, error)
        # ln(count(*)) over an answer fails where that has no rows
        at_finish = len(found) >= len(first) + len(locking) + len(started)
        if not (at_finish and levels > 1 and of_values(error)):
            raise RefusedShapeError(f"PostgreSQL does not understand the question: {error}", hint_for(error)) from None
    return found[: len(first)]


def hint_for(error: Exception) -> str:
    """A day plus a number of days wants an integer, and the gate counts in bigint."""
    wider = getattr(error, "sqlstate", None) == "42883" and "bigint" in str(error)
    around = " Whole numbers are bigint here; in plain SQL, compute around the answer: SELECT … FROM (SELECT …) AS t."
    return "Check types and names." + (around if wider else "")


def of_values(error: Exception) -> bool:
    """An error that other values would not lead to; those of LIMIT and OFFSET are constants."""
    state = str(getattr(error, "sqlstate", None))
    return state.startswith("22") and state not in ("2201W", "2201X")
