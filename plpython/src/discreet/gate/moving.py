"""Moving windows: for which span an answer is, where the clock of the question goes in steps.

The clock is moved before the question is read (extension/gate_moving.c, worker/text.py). So all questions of one step
are the same question, and paid once. Here the spans are told: what the conditions leave open of each column of time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime

from discreet.gate.plan import Plan
from discreet.gate.schema import TIMES
from discreet.gate.spans import TURNED, conditions_below, conjuncts
from discreet.gate.tree import Column, Compare, Constant, Expression, Output

WORDS = {">=": "from", ">": "after", "<": "to before", "<=": "to", "=": "at"}


def moved_clock(plan: Plan) -> Iterator[str]:
    """What was taken for now(), and for which spans the answer is."""
    if plan.as_of is None:
        return
    each = [m.subject.condition for m in plan.measurements if m.subject.condition is not None]
    found = [spans([*plan.conditions, *conditions_below(plan.source.rows)]), *(spans([one]) for one in each)]
    told = list(dict.fromkeys(span for some in found for span in some))
    yield taken_for_now(plan.as_of) + (f": {', '.join(told)}" if told else "")


def taken_for_now(moment: datetime) -> str:
    return f"now() taken as {as_text(moment)}"


def spans(conditions: Iterable[Expression]) -> list[str]:
    """For each column, what the conditions leave open of it, in words."""
    ends: dict[str, dict[str, str]] = {}
    for condition in conjuncts(conditions):
        for column, name, moment in bounds(condition):
            ends.setdefault(column, {})[WORDS[name]] = as_text(moment)
    order = list(WORDS.values())
    return [
        " ".join([column, *(f"{word} {found[word]}" for word in sorted(found, key=order.index))])
        for column, found in ends.items()
    ]


def bounds(condition: Expression) -> Iterator[tuple[str, str, date]]:
    """A column of time, a comparison, and the moment that it is compared with."""
    if not isinstance(condition, Compare) or condition.name not in TURNED:
        return
    for one, other, name in (
        (condition.left, condition.right, condition.name),
        (condition.right, condition.left, TURNED[condition.name]),
    ):
        if isinstance(other, Constant) and isinstance(other.value, date) and one.family in TIMES:
            named = named_column(one)
            if named is not None:
                yield named, name, other.value


def named_column(value: Expression) -> str | None:
    """The column that a value is, but for what guards it."""
    while not isinstance(value, Column | Output):
        if len(value.parts) != 1:
            return None
        (value,) = value.parts
    return value.name


def as_text(moment: date) -> str:
    """A date, or a moment; with a time zone, it is told in UTC."""
    if not isinstance(moment, datetime):
        return moment.isoformat()
    if moment.tzinfo is not None:
        return as_text(moment.astimezone(UTC).replace(tzinfo=None)) + " UTC"
    return moment.isoformat(sep=" ", timespec="seconds")
