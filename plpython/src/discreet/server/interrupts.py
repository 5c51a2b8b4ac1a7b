"""A cancel ends the function that is under way, whatever it does.

While PostgreSQL runs a statement for it, the statement fails. No code may take that for a failure of the statement's
own: `Interruptible` raises CancelledError instead, which is no Exception.

While Python itself works, the C module sends SIGWINCH (extension/python_limits.c). Python calls the handler below
between two steps of whatever code is under way, so that no loop needs to ask. It raises KeyboardInterrupt, no Exception
either, which the call handler of discreet_python turns into PostgreSQL's error.

While PL/Python's own code runs, called by `Interruptible`, the handler does nothing. Where PL/Python cannot make an
exception of an error of PostgreSQL, it jumps over Python's frames, and the next function crashes on what is left.

What a session keeps between questions must therefore be replaced in one step, never changed in several.
"""

from __future__ import annotations

import builtins
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from discreet.core.syntax import SqlValue
from discreet.server.plpy import Plpy, Result

QUERY_CANCELED = "57014"
Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


class CancelledError(BaseException):
    """A statement was cancelled, or took too long; `error` is what PL/Python raised."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class Watch:
    """`calls`: how many of PL/Python's own code are under way, for the function that is. `check`: raises the cancel."""

    calls = 0
    check: Callable[[], None] = staticmethod(lambda: None)


def undisturbed(function: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """A function of PL/Python's; what comes while it runs is noticed when it returns."""

    @wraps(function)
    def called(*arguments: Arguments.args, **named: Arguments.kwargs) -> Answer:
        Watch.calls += 1
        try:
            answer = function(*arguments, **named)
        finally:
            Watch.calls -= 1
        Watch.check()
        return answer

    return called


@contextmanager
def function_begins() -> Iterator[None]:
    """A function of the extension, which a statement of another one may have called."""
    around, Watch.calls = Watch.calls, 0
    try:
        yield
    finally:
        Watch.calls = around


class Interruptible:
    """plpy, except that no handler of errors catches a cancel."""

    def __init__(self, plpy: Plpy) -> None:
        self._prepare, self._execute = undisturbed(plpy.prepare), undisturbed(plpy.execute)
        self.Error, self.SPIError = plpy.Error, plpy.SPIError
        self.error, self.warning = undisturbed(plpy.error), undisturbed(plpy.warning)
        self.notice, self.log = undisturbed(plpy.notice), undisturbed(plpy.log)

    def prepare(self, query: str, types: Sequence[str]) -> SqlValue:
        with self._cancellable():
            return self._prepare(query, types)

    def execute(self, query: SqlValue, *arguments: SqlValue) -> Result:
        with self._cancellable():
            return self._execute(query, *arguments)

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
    Watch.check = staticmethod(check)

    def on_signal(number: int, frame: object) -> None:
        if not imports.under_way and not Watch.calls:
            check()

    builtins.__import__ = imports
    signal.signal(signal.SIGWINCH, on_signal)
    check()  # for what came before
