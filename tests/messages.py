"""How messages reach the user: a refusal has SQLSTATE, message and hint, and nothing of the machinery."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from psycopg.errors import Diagnostic
from tests.databases import Connection

MACHINERY = re.compile(r"Traceback|PL/Python|plpy|spiexceptions|\.py\b|discreet\.server")


@contextmanager
def refused(sqlstate: str, message: str, hint: str | None) -> Iterator[None]:
    """The statement inside is refused with this SQLSTATE, and with texts that contain these."""
    with pytest.raises(psycopg.Error) as caught:
        yield
    error = caught.value
    assert (error.sqlstate, error.diag.message_primary) == (sqlstate, Containing(message))
    assert error.diag.message_hint == (None if hint is None else Containing(hint))
    for text in (
        error.diag.message_primary,
        error.diag.message_detail,
        error.diag.message_hint,
        error.diag.context,
    ):
        assert not MACHINERY.search(text or ""), text


class Containing(str):
    """Equal to whatever text contains it, so that pytest shows both texts when they differ."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and str(self) in other

    __hash__ = str.__hash__


def notices(connection: Connection) -> list[tuple[str, str | None, str | None]]:
    """A list that fills with severity, message and hint of each notice from now on."""
    heard: list[tuple[str, str | None, str | None]] = []

    def hear(notice: Diagnostic) -> None:
        heard.append((notice.severity or "", notice.message_primary, notice.message_hint))

    connection.add_notice_handler(hear)
    return heard
