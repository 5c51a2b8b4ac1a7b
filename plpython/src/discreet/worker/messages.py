"""Messages between a session, a gate worker and the ledger worker, as extension/worker_session.c writes and reads them.

Numbers are 4 bytes, big-endian. A text is its length and its bytes in UTF-8; the length -1 is NULL. A list is its
number of elements and the elements.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal

from discreet.core.quoting import element
from discreet.core.syntax import SqlValue

LENGTH = struct.Struct("!i")
NULL = LENGTH.pack(-1)


class Writer:
    """Puts a message together."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def number(self, value: int) -> Writer:
        self._parts.append(LENGTH.pack(value))
        return self

    def text(self, value: str | None) -> Writer:
        if value is None:
            self._parts.append(NULL)
        else:
            written = value.encode()
            self._parts += (LENGTH.pack(len(written)), written)
        return self

    def texts(self, values: Iterable[str | None]) -> Writer:
        listed = list(values)
        self.number(len(listed))
        for value in listed:
            self.text(value)
        return self

    def letter(self, value: str) -> Writer:
        self._parts.append(value.encode())
        return self

    def message(self) -> bytes:
        return b"".join(self._parts)


class Reader:
    """Takes a message apart, from its beginning to its end."""

    def __init__(self, message: bytes) -> None:
        self._message, self._at = message, 0

    def number(self) -> int:
        (value,) = LENGTH.unpack_from(self._message, self._at)
        self._at += LENGTH.size
        return int(value)

    def letter(self) -> str:
        self._at += 1
        return chr(self._message[self._at - 1])

    def taken(self) -> bytes | None:
        (length,) = LENGTH.unpack_from(self._message, self._at)
        begin = self._at + LENGTH.size
        if length < 0:
            self._at = begin
            return None
        self._at = end = begin + length
        return self._message[begin:end]

    def text(self) -> str | None:
        value = self.taken()
        return None if value is None else value.decode()

    def rest(self) -> bytes:
        return self._message[self._at :]

    def value(self, type_number: int) -> SqlValue:
        """A value of an SQL type, as PL/Python would give it."""
        value = self.taken()
        if value is None:
            return None
        element = ELEMENTS.get(type_number)
        if element is None:
            return VALUES.get(type_number, bytes.decode)(value)
        elements = Reader(value)
        return [elements.value(element) for _ in range(elements.number())]


# by pg_type.oid: what is not a text in Python
VALUES: Mapping[int, Callable[[bytes], SqlValue]] = {
    16: b"t".__eq__,
    17: bytes,
    20: int,
    21: int,
    23: int,
    26: int,
    700: float,
    701: float,
    1700: lambda value: Decimal(value.decode()),
}
# arrays, and the types of their elements
ELEMENTS: Mapping[int, int] = {
    1000: 16,
    1001: 17,
    1005: 21,
    1007: 23,
    1009: 25,
    1016: 20,
    1028: 26,
    1003: 19,
    1231: 1700,
    2210: 2205,
}


def parameter(value: SqlValue) -> str | None:
    """A value as PostgreSQL's input functions read it."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    if isinstance(value, list | tuple):
        return "{" + ",".join(map(_element, value)) + "}"
    return repr(value) if isinstance(value, float) else str(value)


def _element(value: SqlValue) -> str:
    if isinstance(value, list | tuple):
        return str(parameter(value))
    text = parameter(value)
    return "NULL" if text is None else element(text)
