"""Refusals that name the construct, and its place by the words around it.

Words, not a number: the text may be one that PostgreSQL has written, and the asker has never seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from discreet.core.errors import DiscreetError, MissingBoundsError, NamingColumnError, RefusedShapeError

BEFORE, AFTER = 30, 40  # characters
GENERAL_HINT = "docs/analyst.md lists the SQL that can be answered privately."


def refuse(
    construct: str, node: object = None, hint: str = GENERAL_HINT, error: type[DiscreetError] = RefusedShapeError
) -> NoReturn:
    raise located(error(construct, hint), node)


def refuse_tracker(construct: str, node: object = None) -> NoReturn:
    refuse(
        construct,
        node,
        "Ask about groups of people; columns that name a person may only be counted.",
        NamingColumnError,
    )


def refuse_unbounded(construct: str, node: object = None) -> NoReturn:
    refuse(
        f"{construct} has no bounds, so one person's influence has no limit",
        node,
        "A curator declares bounds with discreet.describe_column(table, column, lower => …, upper => …).",
        MissingBoundsError,
    )


def located(error: DiscreetError, node: object) -> DiscreetError:
    """The error, which arose at this node."""
    location = getattr(node, "location", None)
    error.location = None if location is None or location < 0 else location
    return error


@contextmanager
def refusing_at(node: object) -> Iterator[None]:
    """Errors that arise within and have no place of their own arose at this node."""
    try:
        yield
    except DiscreetError as error:
        raise error if error.location is not None else located(error, node) from None


@contextmanager
def quoting(text: str, whose: str = "") -> Iterator[None]:
    """Errors that arise within tell the words of the text at which they did, and `whose` text it is."""
    try:
        yield
    except DiscreetError as error:
        if error.location is not None:
            error.message += f" (in: {excerpt(text, error.location)})"
        error.message = whose + error.message
        error.location = None
        raise


def excerpt(text: str, location: int) -> str:
    """The words around a place."""
    start, end = max(location - BEFORE, 0), location + AFTER
    if start > 0:
        start = min(text.find(" ", start) + 1 or location, location)
    if end < len(text):
        end = max(text.rfind(" ", 0, end), location + 1)
    words = " ".join(text[start:end].split())
    return ("… " if start > 0 else "") + words + (" …" if end < len(text) else "")
