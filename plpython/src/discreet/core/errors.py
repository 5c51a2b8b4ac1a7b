"""Errors as SQL users know them: a SQLSTATE, a message that says what, a hint that says what to do."""

from __future__ import annotations

from typing import ClassVar

from discreet.core import codes


class DiscreetError(Exception):
    """An error meant for the user. Crosses to SQL as SQLSTATE, message and hint, without a traceback.

    What is raised is a subclass; each SQLSTATE belongs to one, and further ones below it share it.
    """

    sqlstate: ClassVar[str]

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.location: int | None = None


class InvalidParameterError(DiscreetError):
    """An argument has a value the function has no meaning for."""

    sqlstate = "22023"


class LimitExceededError(DiscreetError):
    """More than the function takes: its time or memory would have no bound."""

    sqlstate = "54000"


class UndefinedObjectError(DiscreetError):
    """A dataset, role or protection that does not exist."""

    sqlstate = "42704"


class UndefinedColumnError(DiscreetError):
    """A column that the table does not have."""

    sqlstate = "42703"


class DuplicateObjectError(DiscreetError):
    """Something of this name is there already."""

    sqlstate = "42710"


class DuplicateCursorError(DiscreetError):
    """A cursor of this name is open already."""

    sqlstate = "42P03"


class WrongObjectTypeError(DiscreetError):
    """A relation of a kind that cannot be protected."""

    sqlstate = "42809"


class InsufficientPrivilegeError(DiscreetError):
    """The caller may not do this."""

    sqlstate = "42501"


class InvalidRuleError(DiscreetError):
    """The text of an integrity rule that is none, or is more than one."""

    sqlstate = "42P17"


class BrokenRuleError(DiscreetError):
    """Rows that an integrity rule forbids."""

    sqlstate = "23514"


class RefusedShapeError(DiscreetError):
    """A question of a shape that cannot be answered privately."""

    sqlstate = codes.REFUSED_SHAPE.sqlstate


class UnknownColumnError(RefusedShapeError):
    """A question names a column that nothing in its FROM clause has, or that is hidden."""


class TrackerError(DiscreetError):
    """A question that singles out a person."""

    sqlstate = codes.TRACKER.sqlstate


class NamingColumnError(TrackerError):
    """A use of a column that names people; `construct`: which use."""

    def __init__(self, construct: str, hint: str) -> None:
        super().__init__(f"{construct} singles out a person", hint)
        self.construct = construct


class ExhaustedBudgetError(DiscreetError):
    """A price that a limit does not leave."""

    sqlstate = codes.EXHAUSTED.sqlstate


class NoAccessError(DiscreetError):
    """The asker holds no budget for these people, or may not read the table."""

    sqlstate = codes.NO_ACCESS.sqlstate


class MissingBoundsError(DiscreetError):
    """One person's influence has no declared limit."""

    sqlstate = codes.MISSING_BOUNDS.sqlstate


class UnsafeReleaseError(DiscreetError):
    """A release that does not keep its promise, or that gives people away together with an earlier one."""

    sqlstate = codes.UNSAFE_RELEASE.sqlstate


class AuditDenialError(DiscreetError):
    """An exact answer that, with those before it, would tell about few people."""

    sqlstate = codes.AUDIT_DENIAL.sqlstate


class TouchedDataError(DiscreetError):
    """Anything that goes wrong after the data was touched: one constant message."""

    sqlstate = codes.TOUCHED_DATA.sqlstate

    def __init__(self) -> None:
        super().__init__(
            "the question could not be answered; what it costs is paid",
            "The reason is not told, since it could depend on the data. The server's log has it.",
        )
