"""Refusals that name the construct, and its place by the words around it.

Words, not a number: the text may be one that PostgreSQL has written, and the asker has never seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from pglast import ast

from discreet.core.errors import DiscreetError, MissingBoundsError, NamingColumnError, RefusedShapeError
from discreet.gate.hints import hint_for

BEFORE, AFTER = 30, 40  # characters
# what follows one of these says more of the construct, and is not what the message says of it
CLAUSE = re.compile(r"\b(that|which|whose|who|where)\b.*", re.DOTALL)
VERB = re.compile(r"\b(is|are|has|have|would|could|cannot|may|must|does|needs|holds?|singles out|name different)\b")
# a literal of the question may contain any word
LITERAL = re.compile(r"E?'(?:[^'\\]|''|\\.)*'|\"(?:[^\"]|\"\")*\"")
PLURAL = re.compile(
    r"(more than|two|several|fractions|numbers|values|names|quantiles|grouping sets|people|bounds|groups|rows)\b"
)


def refuse(
    construct: str, node: object = None, hint: str | None = None, error: type[DiscreetError] = RefusedShapeError
) -> NoReturn:
    """Refuses a construct: a message is a sentence, and says so where the words given only name it.

    What names people is told by the error itself: it singles out a person. What has no bounds is told by its caller.
    """
    told = error in (NamingColumnError, MissingBoundsError)
    raise located(error(construct if told else sentence(construct), hint or hint_for(construct)), node)


def sentence(construct: str) -> str:
    """A statement about the construct: as it is, where it has a verb, or that it is not supported."""
    if VERB.search(CLAUSE.sub("", LITERAL.sub("", construct))):
        return construct
    verb = "are" if PLURAL.match(construct) else "is"
    return f"{construct} {verb} not supported in questions about protected tables"


def refuse_tracker(construct: str, node: object = None) -> NoReturn:
    refuse(
        construct,
        node,
        "Ask about groups of people; columns that name a person may only be counted.",
        NamingColumnError,
    )


UNBOUNDED_HINT = (
    "A curator declares bounds with discreet.describe_column(table, column, lower => …, upper => …). A question can"
    " write them, too: least(greatest(value, 0), 20); of a count, least(count(*), 20)."
)


def refuse_unbounded(construct: str, node: object = None, hint: str = UNBOUNDED_HINT) -> NoReturn:
    refuse(f"{construct} has no bounds, so one person's influence has no limit", node, hint, MissingBoundsError)


def located(error: DiscreetError, node: object) -> DiscreetError:
    """The error, which arose at this node."""
    error.location = place_of(node)
    return error


def place_of(node: object) -> int | None:
    """Where a node stands in the text; a SELECT or a join, which has no place of its own: where its first part does."""
    location = getattr(node, "location", None)
    if location is not None:
        return None if location < 0 else int(location)
    below: list[object] = []
    if isinstance(node, tuple | list):
        below = list(node)
    elif isinstance(node, ast.Node):
        below = [getattr(node, slot) for slot in node]
    return min((place for place in map(place_of, below) if place is not None), default=None)


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
