"""Refusals that name the construct and its place in the text."""

from __future__ import annotations

from typing import Any, NoReturn

from discreet.core.errors import DiscreetError, MissingBoundsError, RefusedShapeError, TrackerError

GENERAL_HINT = "docs/analyst.md lists the SQL that can be answered privately."


def refuse(
    construct: str, node: Any = None, hint: str = GENERAL_HINT, error: type[DiscreetError] = RefusedShapeError
) -> NoReturn:
    raise error(f"{construct}{place(node)}", hint)


def refuse_tracker(construct: str, node: Any = None) -> NoReturn:
    refuse(
        f"{construct} singles out a person",
        node,
        "Ask about groups of people; columns that name a person may only be counted.",
        TrackerError,
    )


def refuse_unbounded(construct: str, node: Any = None) -> NoReturn:
    refuse(
        f"{construct} has no bounds, so one person's influence has no limit",
        node,
        "A curator declares bounds with discreet.describe_column(table, column, lower => …, upper => …).",
        MissingBoundsError,
    )


def place(node: Any) -> str:
    location = getattr(node, "location", None)
    return "" if location is None or location < 0 else f" (at character {location + 1})"
