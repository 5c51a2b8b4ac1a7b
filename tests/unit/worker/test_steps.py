"""Conversations of a gate worker, with sessions that are played by the test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from discreet.core.errors import RefusedShapeError
from discreet.worker import steps
from discreet.worker.messages import Reader, Writer
from discreet.worker.session import Finish, Session, SessionError, Statement

WORKER: Any = None


def question(name: str) -> bytes:
    return Writer().text(name).number(1).text("user").text("nora").text(None).number(0).message()


def rows(*values: str) -> bytes:
    """A reply to one statement: rows of one column of type text."""
    message = Writer().letter("R").number(1).text("x").number(25).number(len(values))
    for value in values:
        message.text(value)
    return message.text("catalog").message()


def asked(reply: bytes) -> str:
    """The statement that a session is to run."""
    assert reply[:1] == b"S"
    reader = Reader(reply[1:])
    assert (reader.number(), reader.letter(), reader.number(), reader.letter()) == (0, "X", 1, "O")
    return str(reader.text())


def echo(session: Session) -> list[list[str]]:
    found = session.execute("SELECT 1")[0]["x"]
    return [[f"{session.facts['user']} {found} {session.execute(Statement('SELECT 2'))[0]['x']}"]]


def caught(session: Session) -> list[list[str]]:
    try:
        session.execute("SELECT 1/0")
    except SessionError as error:
        return [[error.sqlstate]]
    return []


def refused(session: Session) -> list[list[str]]:
    session.notice("heard")
    raise RefusedShapeError("no", "never")


def broken(session: Session) -> list[list[str]]:
    raise KeyError("secret")


DONE_AHEAD: list[int] = []


def parts() -> Iterator[None]:
    for part in range(2):
        DONE_AHEAD.append(part)
        yield


def ahead(session: Session) -> list[list[str]]:
    session.meanwhile = parts()
    session.execute("SELECT 1")
    session.meanwhile = None
    return [["done"]]


def finished(session: Session) -> Finish:
    return Finish("SELECT $1", "[[1]]")


@pytest.fixture(autouse=True)
def entries(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    known = {"echo": echo, "caught": caught, "refused": refused, "broken": broken, "finished": finished, "ahead": ahead}
    monkeypatch.setattr(steps, "ENTRIES", known)
    yield
    assert steps.CONVERSATIONS == {}
    assert steps.SESSIONS == {}


def test_conversations_do_not_mix() -> None:
    assert asked(steps.step(WORKER, 1, "S", 0, question("echo"))) == "SELECT 1"
    assert asked(steps.step(WORKER, 2, "S", 0, question("echo"))) == "SELECT 1"
    assert asked(steps.step(WORKER, 1, "S", 0, rows("a"))) == "SELECT 2"
    assert asked(steps.step(WORKER, 2, "S", 0, rows("b"))) == "SELECT 2"
    for number, answer in ((2, "nora b d"), (1, "nora a c")):
        reply = steps.step(WORKER, number, "S", 0, rows("c" if number == 1 else "d"))
        assert reply == b"F" + Writer().number(0).letter("V").number(1).texts([answer]).message()


def test_a_statement_that_fails_can_be_caught() -> None:
    steps.step(WORKER, 1, "S", 0, question("caught"))
    failed = Writer().letter("E").text("22012").text("division by zero").text(None).text("catalog").message()
    assert steps.step(WORKER, 1, "S", 0, failed)[:1] == b"F"


def test_a_refusal_comes_with_what_was_said_before_it() -> None:
    reader = Reader(steps.step(WORKER, 1, "S", 0, question("refused"))[1:])
    assert (reader.number(), reader.letter(), reader.text()) == (1, "N", "heard")
    assert (reader.letter(), reader.text(), reader.text(), reader.text()) == ("E", "DP001", "no", "never")


def test_an_error_that_was_not_foreseen_tells_its_words_to_the_log_only() -> None:
    reader = Reader(steps.step(WORKER, 1, "S", 0, question("broken"))[1:])
    assert (reader.number(), reader.letter()) == (1, "L")
    assert "secret" in str(reader.text())
    assert (reader.letter(), reader.text()) == ("E", "XX000")
    assert "secret" not in str(reader.text()) + str(reader.text())


def test_the_session_finishes_the_answer() -> None:
    reply = steps.step(WORKER, 1, "S", 0, question("finished"))
    assert reply == b"F" + Writer().number(0).letter("F").text("SELECT $1").text("[[1]]").message()


def test_nothing_is_kept_of_an_abandoned_conversation() -> None:
    steps.step(WORKER, 1, "S", 0, question("echo"))
    assert list(steps.CONVERSATIONS) == [1]
    assert steps.step(WORKER, 1, "A", 0, b"") == b""
    assert steps.step(WORKER, 7, "A", 0, b"") == b""


def test_a_worker_goes_on_with_a_question_while_its_session_runs_a_statement() -> None:
    assert steps.step(WORKER, 1, "S", 0, question("ahead"))[:1] == b"W"
    assert [steps.step(WORKER, 0, "I", 0, b"") for _ in range(4)] == [b"M", b"M", b"M", b"D"]
    assert DONE_AHEAD == [0, 1]
    assert steps.step(WORKER, 1, "S", 0, rows("a"))[:1] == b"F"
