"""A cancel ends the function that is under way, whatever it does.

While PostgreSQL runs a statement for it, the statement fails. No code may take that for a failure of the statement's
own: `Interruptible` raises CancelledError instead, which is no Exception.

While Python itself works, the C module sends SIGWINCH (extension/python_limits.c). Python calls the handler below
between two steps of whatever code is under way, so that no loop needs to ask. It raises KeyboardInterrupt, no Exception
either, which the call handler of discreet_python turns into PostgreSQL's error.

What a session keeps between questions must therefore be replaced in one step, never changed in several.
"""

from __future__ import annotations

import builtins
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from discreet.core.syntax import SqlValue
from discreet.server.plpy import Plpy, Result

QUERY_CANCELED = "57014"


class CancelledError(BaseException):
    """A statement was cancelled, or took too long; `error` is what PL/Python raised."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class Interruptible:
    """plpy, except that no handler of errors catches a cancel."""

    def __init__(self, plpy: Plpy) -> None:
        self._plpy = plpy
        self.Error, self.SPIError = plpy.Error, plpy.SPIError
        self.error, self.warning, self.notice, self.log = plpy.error, plpy.warning, plpy.notice, plpy.log

    def prepare(self, query: str, types: Sequence[str]) -> SqlValue:
        with self._cancellable():
            return self._plpy.prepare(query, types)

    def execute(self, query: SqlValue, *arguments: SqlValue) -> Result:
        with self._cancellable():
            return self._plpy.execute(query, *arguments)

    @contextmanager
    def _cancellable(self) -> Iterator[None]:
        try:
            yield
        except self.SPIError as error:
            if getattr(error, "sqlstate", None) != QUERY_CANCELED:
                raise
            raise CancelledError(error) from None


class Imports:
    """In place of `__import__`: no import is ended halfway, since numpy cannot be loaded a second time."""

    def __init__(self, check: Callable[[], None]) -> None:
        self._check, self._usual, self.under_way = check, builtins.__import__, 0

    def __call__(self, *arguments: SqlValue, **named: SqlValue) -> SqlValue:
        self.under_way += 1
        try:
            return self._usual(*arguments, **named)
        finally:
            self.under_way -= 1
            if self.under_way == 0:
                self._check()


@cache
def watch_for_interrupts() -> None:
    """From now on; the second call in a session does nothing."""
    from ctypes import CDLL, c_int, c_uint32

    server = CDLL(None)
    pending = [c_int.in_dll(server, name) for name in ("QueryCancelPending", "ProcDiePending")]
    held_off = [c_uint32.in_dll(server, name) for name in ("InterruptHoldoffCount", "CritSectionCount")]

    def check() -> None:
        # a flag that PostgreSQL has acted on in the meantime is down again
        if any(flag.value for flag in pending) and not any(count.value for count in held_off):
            raise KeyboardInterrupt

    imports = Imports(check)

    def on_signal(number: int, frame: object) -> None:
        if not imports.under_way:
            check()

    builtins.__import__ = imports
    signal.signal(signal.SIGWINCH, on_signal)
    check()  # for what came before
