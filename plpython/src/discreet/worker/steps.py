"""The steps of a gate worker: each takes a message, and gives the next one.

A conversation is a greenlet. It runs until it needs its session or the ledger, and is kept until the reply comes; the
worker serves others meanwhile. Nothing is kept of a conversation that has ended, however it ended. A step that takes
too long, whose session has left, or whose worker is to end, is interrupted wherever it is (server/interrupts.py).
"""

from __future__ import annotations

import traceback

from greenlet import GreenletExit, greenlet

from discreet.core.errors import DiscreetError
from discreet.server.interrupts import Interruptible, function_begins, watch_for_interrupts
from discreet.server.plpy import Plpy
from discreet.worker.entry import ENTRIES
from discreet.worker.messages import Reader
from discreet.worker.session import Finish, Session, SessionError

# senders and receivers of messages, as extension/worker_gate.c knows them
ABANDONED, IDLE, SESSION, SESSION_MEANWHILE, LAST = "A", "I", "S", "W", "F"
MORE, DONE = b"M", b"D"

CONVERSATIONS: dict[int, greenlet] = {}
SESSIONS: dict[int, Session] = {}
# the plpy of the worker, and what it is while a cancel must end everything
INTERRUPTIBLE: dict[str, Plpy] = {}


def watched_step(plpy: Plpy, conversation: int, sender: str, catalog: int, message: bytes) -> bytes:
    """`step()`, which ends, whatever it does, when it has taken too long or its worker is told to leave."""
    watch_for_interrupts()
    if INTERRUPTIBLE.get("of") is not plpy:
        INTERRUPTIBLE.update({"of": plpy, "is": Interruptible(plpy)})
    with function_begins():
        return step(INTERRUPTIBLE["is"], conversation, sender, catalog, message)


def step(plpy: Plpy, conversation: int, sender: str, catalog: int, message: bytes) -> bytes:
    """The next message of a conversation: a letter that says whom it is for, and the message.

    `catalog`: the version of the catalogs that this step sees.
    """
    if sender == IDLE:
        return MORE if work_ahead() else DONE
    if sender == ABANDONED:
        abandoned = CONVERSATIONS.pop(conversation, None)
        SESSIONS.pop(conversation, None)
        if abandoned is not None:
            abandoned.throw(GreenletExit)
        return b""
    try:
        return next_message(plpy, conversation, catalog, message)
    except BaseException:
        CONVERSATIONS.pop(conversation, None)
        SESSIONS.pop(conversation, None)
        raise


def next_message(plpy: Plpy, conversation: int, catalog: int, message: bytes) -> bytes:
    running = CONVERSATIONS.get(conversation)
    if running is None:
        running = CONVERSATIONS[conversation] = greenlet(converse)
        receiver, reply = running.switch(plpy, conversation, catalog, message)
    else:
        receiver, reply = running.switch((catalog, message))
    if running.dead:
        del CONVERSATIONS[conversation]
        SESSIONS.pop(conversation, None)
    elif receiver == SESSION and SESSIONS[conversation].meanwhile is not None:
        receiver = SESSION_MEANWHILE
    return bytes(receiver.encode() + reply)


def work_ahead() -> bool:
    """Does a small part of what a conversation can do before its session replies; whether there is more."""
    for session in SESSIONS.values():
        if session.meanwhile is not None:
            try:
                next(session.meanwhile)
            except StopIteration:
                session.meanwhile = None
            return True
    return False


def converse(plpy: Plpy, conversation: int, catalog: int, message: bytes) -> tuple[str, bytes]:
    """From the question of a session to its answer, or to the error that it gets instead."""
    first = Reader(message)
    name = str(first.text())
    facts = {str(first.text()): first.text() for _ in range(first.number())}
    types = first.value(1009)
    arguments = [first.value(first.number()) for _ in range(first.number())]
    session = SESSIONS[conversation] = Session(plpy, facts, types, catalog)
    try:
        answer = ENTRIES[name](session, *arguments)
    except (DiscreetError, SessionError) as error:
        return failed(session, error.sqlstate, error.message, error.hint)
    except RecursionError:
        return failed(session, "54001", "the question is nested too deeply", "Write it with fewer levels.")
    except Exception as error:
        session.log(f"discreet: {error!r} {traceback.format_exc()}")
        return failed(
            session,
            "XX000",
            "discreet met an error it did not foresee",
            "The server's log says where; please report it.",
        )
    if isinstance(answer, Finish):
        return LAST, session.writer().letter("F").text(answer.sql).text(answer.rows).message()
    last = session.writer().letter("V").number(len(answer))
    for row in answer:
        last.texts(row)
    return LAST, last.message()


def failed(session: Session, sqlstate: str, message: str, hint: str | None) -> tuple[str, bytes]:
    return LAST, session.writer().letter("E").text(sqlstate).text(message).text(hint).message()
